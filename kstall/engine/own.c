// SPDX-License-Identifier: GPL-2.0
/* Intervals of the thread itself: kstall's events that the thread wrote when they ended. */
#include <string.h>

#include "engine/engine.h"

struct ks_thread *ks_own_thread(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t;

	if ((s32)ev->num[KS_EV_PID] != ev->pid)
		return NULL;
	t = ks_thread_of(e, ev);
	if (t && !t->comm[0])
		ks_printable(t->comm, sizeof(t->comm), ev->str[KS_EV_COMM]);
	return t;
}

static u64 begin_of(const struct ks_event *ev, u64 ns)
{
	return ev->ts - min_u64(ev->ts, ns);
}

/* A function that is built in has no module. */
static const char *text_of(const struct ks_event *ev, u8 field)
{
	const char *text = ev->str[field], *name = ev->type->fields[field];

	return !*text && name && strstr(name, "module") ? "kernel" : text;
}

/* The values of the type's form: the device, and what it has in addition. */
static struct ks_culprit culprit(const struct ks_event *ev)
{
	static const u8 fields[] = { KS_EV_DEV, KS_EV_MORE, KS_EV_MORE + 1 };
	struct ks_culprit c = { .form = ev->type->form.one ? &ev->type->form : NULL };

	for (size_t i = 0; c.form && i < ARRAY_SIZE(fields); i++) {
		bool is_text = i == 0 || ev->str[fields[i]] != ks_no_text;

		c.v[i] = is_text ? ks_intern(text_of(ev, fields[i])) : ev->num[fields[i]];
		c.strings |= is_text << i;
	}
	return c;
}

void ks_on_own(struct ks_engine *e, const struct ks_event *ev)
{
	const struct ks_type *type = ev->type;
	struct ks_thread *t = ks_own_thread(e, ev);
	u64 begin = begin_of(ev, ev->num[KS_EV_NS]);
	u32 states = type->carve == KS_ASLEEP_SUM ? KS_ASLEEP : KS_MEASURED;
	struct ks_what what = {.layer = type->layer,
			       .phase = ks_intern(type->phase ? type->phase : "")};

	if (!t || !ev->num[KS_EV_NS])
		return;
	what.culprit = culprit(ev);
	ks_thread_runs(e, t, ev->ts);
	if (type->carve == KS_ASLEEP_SUM)
		begin = ks_asleep_since(t, max_u64(t->call_begin, t->ready), ev->num[KS_EV_NS]);
	if (type->layer == KS_WRITEBACK)
		ks_carve_requests(e, t, begin, KS_WRITEBACK);
	ks_carve(e, t, begin, ev->ts, states, what);
}

static const struct ks_form cq_form = { "cq {id} of {dev}", "{n} completions on {dev}", 1 << 1, { "id", "dev" } };

/* What was waited for until wait_ns ago was a completion. */
void ks_on_comp_channel(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_own_thread(e, ev);
	struct ks_what what = { .layer = KS_RDMA, .phase = ks_intern("completion") };

	if (!t)
		return;
	what.culprit = (struct ks_culprit){
		.form = &cq_form, .strings = 1 << 1, .v = { (u32)KS_NUM(ev, ib_comp_channel, cq_id), ks_intern(KS_STR(ev, ib_comp_channel, dev)) },
	};
	ks_thread_runs(e, t, ev->ts);
	ks_carve(e, t, max_u64(t->call_begin, t->ready), ev->ts, KS_ASLEEP, what);
}
