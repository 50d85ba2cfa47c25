// SPDX-License-Identifier: GPL-2.0
/* Laying intervals into a thread's segments. What is labelled already stays: it is inside. */
#include <string.h>

#include "engine/engine.h"

/* Segment @i ends at @at, a new one after it has the rest. Returns the new one's index. */
static size_t split(struct ks_thread *t, size_t i, u64 at)
{
	struct ks_seg *s;

	t->seg = ks_grow(t->seg, &t->room, t->nr + 1, sizeof(*t->seg));
	s = &t->seg[i];
	memmove(s + 1, s, (t->nr - i) * sizeof(*s));
	t->nr++;
	s[0].end = s[1].begin = at;
	if (s[0].done)
		s[1].done = memcpy(ks_alloc(sizeof(*s[0].done)), s[0].done, sizeof(*s[0].done));
	return i + 1;
}

static void label(struct ks_seg *s, struct ks_what what)
{
	s->what.layer = what.layer;
	s->what.phase = what.phase;
	s->what.culprit = what.culprit;
}

/* Into the segments that exist; the one that goes on is not among them. */
static void carve(struct ks_thread *t, u64 begin, u64 end, u32 states, struct ks_what what)
{
	if (begin >= end)
		return;
	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > begin;) {
		struct ks_seg *s = &t->seg[i];
		size_t at;

		if (s->what.layer || s->begin >= end || !(states & (1 << s->what.state)))
			continue;
		if (s->end > end)
			split(t, i, end);
		at = t->seg[i].begin < begin ? split(t, i, begin) : i;
		label(&t->seg[at], what);
	}
}

/* What has been added up already cannot be changed any more, be it printed or not. */
static void note_late(struct ks_engine *e, struct ks_thread *t, u64 begin)
{
	bool late = begin < t->given;

	for (struct ks_step *s = t->steps; s && s->begun; s = s->next) {
		if (s->begin >= t->ready || t->since <= t->ready)
			continue;
		s->lost++;
		late = true;
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

/* Segment @i by the phases of the request that ended it. */
static void carve_request(struct ks_thread *t, size_t i, u64 begin, u8 layer)
{
	const struct ks_done *d = t->seg[i].done;	/* stays where it is when segments are split */
	const u64 from = max_u64(t->seg[i].begin, begin), to = t->seg[i].end;

	for (u8 p = 0; p < d->nr; p++) {
		struct ks_what what = { .layer = layer, .phase = d->phase[p].name, .culprit = d->phase[p].culprit };

		carve(t, max_u64(from, d->phase[p].begin), min_u64(to, d->phase[p].end), KS_ASLEEP, what);
	}
}

/* The sleeps since @begin: only sleep, as the thread itself did nothing of a request. */
void ks_carve_requests(struct ks_engine *e, struct ks_thread *t, u64 begin, u8 layer)
{
	ks_thread_enter(e, t, e->now, t->state);
	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > begin;) {
		if (t->seg[i].done && !t->seg[i].what.layer)
			carve_request(t, i, begin, layer);
	}
}

/*
 * When did the sleep begin that makes up the last @ns? A sum of sleeps is measured until the
 * thread runs again, so what it waited for its CPU after one counts; not what it waited because it
 * was preempted. Of several sleeps of a call it is a guess that the last were meant.
 */
u64 ks_asleep_since(const struct ks_thread *t, u64 from, u64 ns)
{
	u64 waited = 0, until = 0;	/* for a CPU, since the segment that is looked at */

	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > from && ns;) {
		const struct ks_seg *s = &t->seg[i];
		u64 len = s->end - max_u64(s->begin, from);

		if (s->what.state == KS_CPU_WAIT || s->what.state == KS_QUOTA) {
			waited += len;
			until = until ? until : s->end;
			continue;
		}
		if (s->what.state == KS_BLOCKED) {
			len += waited;
			if (len >= ns)
				return (waited ? until : s->end) - ns;
			ns -= len;
			if (!ns)
				return max_u64(s->begin, from);
		}
		waited = until = 0;
	}
	return from;
}
