// SPDX-License-Identifier: GPL-2.0
/* Laying intervals into a thread's segments. What is labelled already stays: it is inside. */
#include <string.h>

#include "engine/engine.h"

static struct ks_done *copy(const struct ks_done *d)
{
	return d ? memcpy(ks_alloc(sizeof(*d)), d, sizeof(*d)) : NULL;
}

/* Segment @i ends at @at, a new one after it has the rest. Returns the new one's index. */
size_t ks_split(struct ks_thread *t, size_t i, u64 at)
{
	struct ks_seg *s;

	t->seg = ks_grow(t->seg, &t->room, t->nr + 1, sizeof(*t->seg));
	s = &t->seg[i];
	memmove(s + 1, s, (t->nr - i) * sizeof(*s));
	t->nr++;
	s[0].end = s[1].begin = at;
	s[1].first = 0;
	s[1].done = copy(s[0].done);
	return i + 1;
}

static void label(struct ks_seg *s, struct ks_what what)
{
	s->what.layer = what.layer;
	s->what.phase = what.phase;
	s->what.culprit = what.culprit;
	s->first = 0;
}

/* Into the segments that exist; the one that goes on is not among them. */
static void carve(struct ks_thread *t, u64 begin, u64 end, u32 states, struct ks_what what)
{
	size_t first = t->nr;

	if (begin >= end)
		return;
	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > begin;) {
		struct ks_seg *s = &t->seg[i];

		if (s->what.layer || s->begin >= end || !(states & (1 << s->what.state)))
			continue;
		if (s->end > end)
			ks_split(t, i, end);
		first = t->seg[i].begin < begin ? ks_split(t, i, begin) : i;
		label(&t->seg[first], what);
	}
	if (first < t->nr)
		t->seg[first].first = 1;
}

/* What has been added up already cannot be told any more. */
static void note_late(struct ks_engine *e, struct ks_thread *t, u64 begin)
{
	bool late = false;

	for (struct ks_step *s = t->steps; s; s = s->next) {
		if (begin < t->ready && s->begin < t->ready && t->since > t->ready) {
			s->lost++;
			late = true;
		}
	}
	e->late += late;
}

void ks_carve(struct ks_engine *e, struct ks_thread *t, u64 begin, u64 end, u32 states,
	      struct ks_what what)
{
	ks_thread_enter(e, t, e->now, t->state);
	if (begin < t->ready)
		note_late(e, t, begin);
	carve(t, begin, end, states, what);
}

static void carve_phases(struct ks_thread *t, u64 begin, u64 end, const struct ks_done *d, u8 layer,
			 u32 culprit)
{
	for (u8 i = 0; i < d->nr; i++) {
		const struct ks_phase *p = &d->phase[i];
		struct ks_what what = { .layer = layer, .phase = p->name, .culprit = culprit };

		carve(t, max_u64(begin, p->begin), min_u64(end, p->end), KS_ASLEEP, what);
	}
}

/* By the parts of something done elsewhere: only sleep, as the thread itself did nothing of it. */
void ks_carve_done(struct ks_engine *e, struct ks_thread *t, u64 begin, u64 end,
		   const struct ks_done *d, u8 layer, u32 culprit)
{
	ks_thread_enter(e, t, e->now, t->state);
	carve_phases(t, begin, end, d, layer, culprit);
}

/*
 * When did the sleep begin that makes up the last @ns? A sum of sleeps is measured until the
 * thread runs again, so what it waited for its CPU after one counts.
 */
u64 ks_asleep_since(const struct ks_thread *t, u64 from, u64 ns)
{
	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > from && ns;) {
		const struct ks_seg *s = &t->seg[i];
		u64 len = s->end - max_u64(s->begin, from);

		if (s->what.state == KS_ON_CPU)
			continue;
		if (len >= ns)
			return s->end - ns;
		ns -= len;
		if (!ns)
			return max_u64(s->begin, from);
	}
	return from;
}

/*
 * A sleep that no interval of the thread explains belongs to what ended it, if that was done for
 * this thread; what lies outside of its parts is its layer's, too.
 */
void ks_resolve(struct ks_engine *e, struct ks_thread *t, u64 until)
{
	(void)e;
	for (size_t i = 0; i < t->nr && t->seg[i].end <= until; i++) {
		struct ks_seg *s = &t->seg[i];
		u64 begin = s->begin, end = s->end;
		struct ks_done *d = s->done;
		struct ks_what rest;

		if (!d || s->what.layer || s->what.state != KS_BLOCKED || d->pid < 0)
			continue;
		s->done = NULL;
		rest = (struct ks_what){ .layer = d->layer, .phase = ks_intern("wait"),
					 .culprit = d->culprit };
		carve_phases(t, begin, end, d, d->layer, d->culprit);
		carve(t, begin, end, KS_ASLEEP, rest);
		t->seg[i].done = d;	/* freed with the segment */
	}
}
