// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "cmd/recording.h"
#include "trace/source.h"

bool ks_is_recording(const char *path)
{
	static const char magic[] = "\x17\x08\x44tracing";
	char head[sizeof(magic) - 1];
	FILE *f = fopen(path, "r");
	bool is;

	if (!f)
		return false;
	is = fread(head, sizeof(head), 1, f) == 1 && !memcmp(head, magic, sizeof(head));
	fclose(f);
	return is;
}

static bool has_process(const struct ks_engine *e, s32 pid)
{
	const struct ks_thread *t;

	ks_for_each_thread(e, t) {
		if (t->in_job && (!pid || t->tgid == pid || t->tid == pid))
			return true;
	}
	return false;
}

/* One of several pids may be missing: the others have an answer. */
static void check_scope(const struct ks_engine *e, const char *name)
{
	const struct ks_scope *s = &e->scope;
	bool any = has_process(e, 0);

	if (!any && s->comm)
		ks_die("no process %s in %s", s->comm, name);
	for (size_t i = 0; i < s->nr_pids; i++) {
		if (has_process(e, s->pids[i]))
			continue;
		if (!any)
			ks_die("no process %d in %s", s->pids[i], name);
		ks_warn("no process %d in %s", s->pids[i], name);
	}
}

/* Why a recording lacks markers, if its recorder has said so; else @usual. */
static const char *why_unmarked(const struct ks_engine *e, const char *usual)
{
	for (size_t i = 0; i < e->nr_unseen; i++) {
		if (!strcmp(e->unseen[i].layer, "marker"))
			return e->unseen[i].why;
	}
	return usual;
}

static void check_marks(const struct ks_engine *e, const char *name)
{
	if (e->by == KS_BY_MARKER && !e->markers)
		ks_die("%s has no markers: %s", name, why_unmarked(e, "no line \"kstall step ...\""));
	if (e->by == KS_BY_NCCL && !e->markers)
		ks_die("%s has no collectives: %s", name,
		       why_unmarked(e, "no line \"kstall nccl ...\" of the profiler plugin"));
	if (e->by == KS_BY_CALL && !e->calls)
		ks_die("%s has no call of a function: it has to be recorded with --step uprobe:...", name);
}

u64 ks_recording_read(struct ks_engine *e, const struct ks_options *o, const char *name)
{
	static char comm[KS_COMM];
	struct ks_file *f = ks_file_open(name);
	u64 bad;

	e->by = o->by;
	e->every = o->every;
	e->scope = (struct ks_scope){ o->target.pids, o->target.nr_pids, NULL };
	if (o->target.comm)	/* as the engine has names */
		e->scope.comm = ks_printable(comm, sizeof(comm), o->target.comm);
	ks_file_run(f, e);
	bad = ks_file_bad(f);
	ks_file_close(f);
	check_marks(e, name);
	check_scope(e, name);
	return bad;
}

bool ks_recording_again(struct ks_options *o, bool markers, u64 steps, const char *name)
{
	if (o->by == KS_BY_AUTO && !markers) {
		o->by = KS_BY_EVERY;
		o->every = NSEC;
		o->unasked = true;
		return true;
	}
	if (!o->unasked || o->by != KS_BY_EVERY || steps)
		return false;
	ks_warn("%s: no step of a second has ended in it, so the whole is one (--step all)", name);
	o->by = KS_BY_ALL;
	o->step = "all";
	return true;
}
