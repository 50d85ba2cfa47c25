// SPDX-License-Identifier: GPL-2.0
/* Intervals of the thread itself: kstall's events that the thread wrote when they ended. */
#include <string.h>

#include "engine/engine.h"

/* A worker that did it in the name of a task: not that task's own time. */
static struct ks_thread *own(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_find(e, ev->pid);

	if (!t || !t->in_job || (s32)ev->num[KS_EV_PID] != ev->pid)
		return NULL;
	return t;
}

static u64 begin_of(const struct ks_event *ev, u64 ns)
{
	return ev->ts - min_u64(ev->ts, ns);
}

/* A sleep in it that a block request ended is split by that request's parts. */
static void split_by_requests(struct ks_engine *e, struct ks_thread *t, u64 begin, u8 layer)
{
	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > begin;) {
		struct ks_seg s = t->seg[i];

		if (!s.done || s.what.layer)
			continue;
		t->seg[i].done = NULL;
		ks_carve_done(e, t, max_u64(s.begin, begin), s.end, s.done, layer, s.done->culprit);
		t->seg[i].done = s.done;
	}
}

void ks_on_own(struct ks_engine *e, const struct ks_event *ev)
{
	const struct ks_type *type = ev->type;
	struct ks_thread *t = own(e, ev);
	u64 begin = begin_of(ev, ev->num[KS_EV_NS]);
	u32 states = type->carve == KS_ASLEEP_SUM ? KS_ASLEEP : KS_HELD;
	struct ks_what what = {.layer = type->layer,
			       .phase = ks_intern(type->phase ? type->phase : "")};
	char buf[160];

	if (!t || !ev->num[KS_EV_NS] || KS_IN_IRQ(ev->flags))
		return;
	what.culprit = ks_intern(ks_describe(buf, sizeof(buf), type->culprit, ev));
	ks_thread_enter(e, t, ev->ts, t->state);
	if (type->carve == KS_ASLEEP_SUM)
		begin = ks_asleep_since(t, max_u64(t->call_begin, t->ready), ev->num[KS_EV_NS]);
	if (type->layer == KS_WRITEBACK)
		split_by_requests(e, t, begin, KS_WRITEBACK);
	ks_carve(e, t, begin, ev->ts, states, what);
}

/* ib_comp_channel: ... wait_ns, 5 cq_id: what was waited for until wait_ns ago was a completion. */
void ks_on_comp_channel(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = own(e, ev);
	struct ks_what what = { .layer = KS_RDMA, .phase = ks_intern("completion") };
	char buf[96];

	if (!t)
		return;
	what.culprit =
		ks_intern(ks_fmt(buf, sizeof(buf), "cq %u of %s", (u32)ev->num[5], ev->str[3]));
	ks_carve(e, t, max_u64(t->call_begin, t->ready), ev->ts, KS_ASLEEP, what);
}
