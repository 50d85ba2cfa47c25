// SPDX-License-Identifier: GPL-2.0
/* kstall timeline: a recording for Perfetto's user interface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/recording.h"
#include "trace/pftrace.h"

/* Requests of a disk overlap, slices of a track must not: as many lanes as it takes. */
#define MAX_LANES 32

struct object {
	u32 name;
	u64 track;
	bool counter;
	u64 lane[MAX_LANES], until[MAX_LANES];
	u32 lanes;
};

struct timeline {
	struct ks_pftrace *out;
	struct object *objects;
	size_t nr, room;
	u64 slices;
};

static struct object *object(struct timeline *tl, const char *name, bool counter)
{
	u32 id = ks_intern(name);

	for (size_t i = tl->nr; i-- > 0;) {
		if (tl->objects[i].name == id && tl->objects[i].counter == counter)
			return &tl->objects[i];
	}
	tl->objects = ks_grow(tl->objects, &tl->room, tl->nr + 1, sizeof(*tl->objects));
	tl->objects[tl->nr] = (struct object){
		.name = id,
		.counter = counter,
		.track = ks_pftrace_track(tl->out, ks_string(id), 0, counter),
	};
	return &tl->objects[tl->nr++];
}

static u64 lane(struct timeline *tl, struct object *o, u64 begin, u64 end)
{
	u32 i = 0;

	while (i < o->lanes && o->until[i] > begin)
		i++;
	if (i == MAX_LANES)
		return 0;
	if (i == o->lanes)
		o->lane[o->lanes++] =
			ks_pftrace_track(tl->out, ks_string(o->name), o->track, false);
	o->until[i] = end;
	return o->lane[i];
}

/* A thread that is called otherwise from now on is so on the same track; another one of the same number has its own. */
static void name_track(struct timeline *tl, struct ks_thread *t)
{
	u32 name = ks_intern(t->comm);

	if (t->track && t->track_name == name)
		return;
	t->track = ks_pftrace_thread(tl->out, t->track, t->tgid, t->tid, t->comm);
	t->track_name = name;
}

static void segment(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s)
{
	struct timeline *tl = e->priv;
	char name[KS_TEXT], culprit[KS_TEXT];

	if (s->what.layer == KS_ABSENT_LAYER)
		return;
	name_track(tl, t);
	ks_pftrace_slice(tl->out, t->track, s->begin, s->end, ks_state_name[s->what.state],
			 ks_part_name(name, &s->what), ks_culprit_text(culprit, &s->what.culprit), s->flow);
	tl->slices++;
}

static void elsewhere(struct ks_engine *e, const char *track, const char *name, u64 begin, u64 end,
		      u64 flow)
{
	struct timeline *tl = e->priv;
	struct object *o = object(tl, track, false);
	u64 at = lane(tl, o, begin, end);

	if (at && begin < end)
		ks_pftrace_slice(tl->out, at, begin, end, "elsewhere", name, "", flow);
}

static void counted(struct ks_engine *e, const char *name, s64 value)
{
	struct timeline *tl = e->priv;

	ks_pftrace_count(tl->out, object(tl, name, true)->track, e->now, value);
}

static void step_done(struct ks_engine *e, struct ks_step *s)
{
	char track[96], name[80];

	if (e->by != KS_BY_EVERY) {
		ks_fmt(track, sizeof(track), "%ss of %s/%d", s->kind, s->comm, s->tid);
		elsewhere(e, track, ks_fmt(name, sizeof(name), "%s %s", s->kind, s->id), s->begin,
			  s->end, 0);
	}
	ks_step_free(s);
}

struct job {
	struct ks_options *o;
	FILE *out;
};

static int timeline(void *arg)
{
	struct job *job = arg;
	struct ks_options *o = job->o;
	struct ks_engine *e = ks_alloc(sizeof(*e));
	struct timeline tl = { .out = ks_pftrace_new(job->out, o->output) };
	char name[KS_TEXT];

	e->step_done = step_done;
	e->segment = segment;
	e->elsewhere = elsewhere;
	e->counted = counted;
	e->priv = &tl;
	ks_recording_read(e, o, o->input);
	ks_pftrace_free(tl.out);
	ks_output_close(job->out, o->output);
	printf("%s: %llu slices of threads, %zu other tracks; open it in https://ui.perfetto.dev\n",
	       ks_printable(name, sizeof(name), o->output), (unsigned long long)tl.slices, tl.nr);
	ks_engine_free(e);
	free(e);
	free(tl.objects);
	return 0;
}

int ks_cmd_timeline(struct ks_options *o, char **args)
{
	struct job job = { .o = o };

	o->input = *args;
	/* Here, so that it is removed if the child crashes. */
	job.out = ks_output_open(o->output, 0666);
	return ks_in_child(o->input, timeline, &job);
}
