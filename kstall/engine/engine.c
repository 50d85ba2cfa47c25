// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "engine/engine.h"

#define LOOK_EVERY (NSEC / 4)

static void start(struct ks_engine *e, u64 ts)
{
	struct ks_thread *t;

	e->begin = e->now = e->window = ts;
	ks_for_each_thread(e, t) {
		t->since = t->ready = ts;
		ks_thread_follow(e, t);
	}
}

void ks_engine_feed(struct ks_engine *e, const struct ks_event *ev)
{
	u64 before = e->now;

	if (!e->events && ks_names_threads(ev)) {
		ev->type->fn(e, ev);
		return;
	}
	if (!e->events)
		start(e, ev->ts);
	e->events++;
	/* A clock that went back (a CPU's, before it was corrected) must not make time negative. */
	if (ev->ts > e->now)
		e->now = ev->ts;
	ks_step_windows(e, e->now);
	if (e->live && e->now / LOOK_EVERY != before / LOOK_EVERY)
		ks_steps_overdue(e);
	ks_done_context(e, ev);
	if (ev->ts == e->now) {
		ev->type->fn(e, ev);
	} else {
		struct ks_event at = *ev;

		at.ts = e->now;
		at.type->fn(e, &at);
	}
}

void ks_engine_lost(struct ks_engine *e, u64 from, u64 to, u64 nr)
{
	nr = nr ? nr : 1;
	e->lost += nr;
	e->lost_there = to > e->lost_until && from > e->lost_until ? nr : e->lost_there + nr;
	e->lost_until = max_u64(e->lost_until, to);
	ks_steps_lost(e, from, to, nr);
}

void ks_engine_finish(struct ks_engine *e, u64 end)
{
	end = max_u64(end, e->now);
	ks_threads_finish(e, end);
}

void ks_engine_free(struct ks_engine *e)
{
	ks_threads_free(e);
	ks_calls_free(e);
	free(e->context);
	free(e->unseen);
	free(e->faults);
	free(e->evictions);
	free(e->ports);
	free(e->changes);
	free(e->jobs);
	free(e->issued);
	free(e->disks);
	free(e->log);
	free(e->picked);
}
