// SPDX-License-Identifier: GPL-2.0
/*
 * Is on what should be recorded? The kernel is asked: what a module loaded again brings is off, and
 * its address, its name and the ids of its events may be those it had before.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recorder/recorder.h"
#include "trace/tracing.h"

char *ks_rec_event_file(char *buf, size_t size, const struct ks_rec_event *e, const char *file)
{
	return ks_fmt(buf, size, "events/%s/%s/%s", e->system, e->name, file);
}

/* @on: the file set_event, "SYSTEM:EVENT" a line */
static bool has_event(const char *on, const struct ks_rec_event *e)
{
	char line[256];
	size_t n;

	ks_fmt(line, sizeof(line), "%s:%s\n", e->system, e->name);
	n = strlen(line);
	for (; on && *on; on = strchr(on, '\n'), on = on ? on + 1 : NULL) {
		if (!strncmp(on, line, n))
			return true;
	}
	return false;
}

static bool is_there(const struct ks_rec_event *e)
{
	char path[256];

	return ks_tracefs_has(ks_rec_event_file(path, sizeof(path), e, "enable"));
}

struct look {
	struct ks_rings rings;
	char *on[KS_MAX_RINGS];		/* set_event; NULL: recorder stop, or somebody, has switched the ring off */
};

static bool is_on(struct look *l, const struct ks_ring *ring, const struct ks_rec_event *e)
{
	return ring && has_event(l->on[ring - l->rings.ring], e);
}

/* In a ring that is switched off nothing is wanted; there may be no room for a ring. */
static bool is_off(struct look *l, const struct ks_rec_event *e)
{
	struct ks_ring *ring;
	char name[40];

	if (e->when == KS_REC_OFF || is_on(l, ks_rings_find(&l->rings, KS_REC_OWN), e))
		return false;
	ring = ks_rings_find(&l->rings, ks_ring_name(name, sizeof(name), e));
	if (ring ? !l->on[ring - l->rings.ring] : l->rings.nr == KS_MAX_RINGS)
		return false;
	return !is_on(l, ring, e) && is_there(e);
}

/* An inode has a number of its own each time, be it of a module that is loaded again at once. */
static u64 modules(const struct ks_rec_config *c)
{
	char path[128], module[64];
	const char *last = "";
	struct stat st;
	u64 sum = 0;

	for (size_t i = 0; i < c->nr_events; i++) {
		const char *system = c->events[i].system;

		if (!strcmp(system, last))
			continue;
		last = system;
		ks_fmt(path, sizeof(path), "/sys/module/%s",
		       ks_rec_module(module, sizeof(module), system));
		sum = sum * 31 + (stat(path, &st) ? 0 : st.st_ino);
	}
	return sum;
}

static char *text_of(struct tracefs_instance *in, const char *file)
{
	return ks_ring_text(in, file) ?: ks_strdup("");
}

/* False: all rings that were started are switched off. One that has what a crash left may not have been. */
static bool look(struct look *l, const struct ks_rec_config *c)
{
	int started = 0, recording = 0;

	ks_rings_open(&l->rings, c, false);
	for (int i = 0; i < l->rings.nr; i++) {
		struct ks_ring *ring = &l->rings.ring[i];
		bool ours = strcmp(ring->name, KS_REC_OWN) && !ring->last;

		l->on[i] = NULL;
		started += ours;
		if (ks_ring_file_is(ring, "tracing_on", "0"))
			continue;
		l->on[i] = text_of(ring->in, "set_event");
		recording += ours;
	}
	return recording || !started;
}

void ks_rec_look(struct ks_rec_state *s, const struct ks_rec_config *c,
		 struct tracefs_instance *triggers)
{
	char *trigger = text_of(triggers, "set_event");
	struct look l;

	s->off = 0;
	s->modules = modules(c);
	s->real_ns = ks_real_ns();
	s->stopped = !look(&l, c);
	for (size_t i = 0; i < c->nr_events; i++) {
		const struct ks_rec_event *e = &c->events[i];

		if (is_off(&l, e) || (e->trigger && !has_event(trigger, e) && is_there(e)))
			s->off = s->off * 31 + i + 1;
	}
	for (int i = 0; i < l.rings.nr; i++)
		free(l.on[i]);
	ks_rings_close(&l.rings);
	free(trigger);
}
