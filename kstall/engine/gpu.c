// SPDX-License-Identifier: GPL-2.0
/* Jobs of gpu_sched: what became of them splits the wait for their fence. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define JOBS 65536		/* the last so many */

struct ks_job {
	u64 ctx, seqno;
	u64 submit, dispatch, complete;
	u64 hol, dep;		/* of submit to dispatch */
	u64 hwq;
	u64 dep_ns;		/* of the fence that held it the longest */
	struct ks_culprit who, held_by;
	u32 ring;		/* "ring NAME of DEVICE" */
};

static const struct ks_form job_form = { "job {0}:{1} of {2}/{3} on {4}", "{4}, {n} jobs", 1 << 4 };
static const struct ks_form fence_form = { "fence {0}:{1} ({2})", "{2}, {n} fences", 1 << 2 };
static const struct ks_form fence_of_form = { "fence {0}:{1} of {3}/{4} ({2})", "{2}, {n} fences", 1 << 2 };

/* @comm: of the task that it belongs to, if that is known */
static struct ks_culprit fence(u64 ctx, u64 seqno, const char *driver, const char *timeline,
			       const char *comm, s32 pid)
{
	char buf[160];
	u32 where = ks_intern(ks_fmt(buf, sizeof(buf), "%s %s", driver, timeline));

	if (!pid)
		return (struct ks_culprit){
			.form = &fence_form, .strings = 1 << 2, .v = { ctx, seqno, where },
		};
	return (struct ks_culprit){
		.form = &fence_of_form,
		.strings = 1 << 2 | 1 << 3,
		.v = { ctx, seqno, where, ks_intern(comm), pid },
	};
}

static struct ks_job *slot(struct ks_engine *e, u64 ctx, u64 seqno)
{
	if (!e->jobs)
		e->jobs = ks_alloc(JOBS * sizeof(*e->jobs));
	return &e->jobs[(ctx * 0x9e3779b97f4a7c15ULL + seqno) % JOBS];
}

static struct ks_job *find(struct ks_engine *e, u64 ctx, u64 seqno)
{
	struct ks_job *j = slot(e, ctx, seqno);

	/* By another clock it is not known when what became of it was. */
	return ctx && !e->other_clock && j->ctx == ctx && j->seqno == seqno ? j : NULL;
}

static struct ks_job *get(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = slot(e, ev->num[5], ev->num[6]);
	char buf[160];
	u32 on;

	if (j->ctx == ev->num[5] && j->seqno == ev->num[6])
		return j;
	memset(j, 0, sizeof(*j));
	j->ctx = ev->num[5];
	j->seqno = ev->num[6];
	on = ks_intern(ks_fmt(buf, sizeof(buf), "%s %s", ev->str[3], ev->str[7]));
	j->who = (struct ks_culprit){
		.form = &job_form,
		.strings = 1 << 2 | 1 << 4,
		.v = { j->ctx, j->seqno, ks_intern(ev->str[2]), (s32)ev->num[0], on },
	};
	j->ring = ks_intern(ks_fmt(buf, sizeof(buf), "ring %s of %s", ev->str[7], ev->str[3]));
	return j;
}

/* For a picture: the job's number on its ring and on who waits for it. */
static u64 flow_of(const struct ks_job *j)
{
	return (j->ctx * 0x9e3779b97f4a7c15ULL + j->seqno) | 1ULL << 63;
}

/*
 * ... wait_ns, 5 fence_ctx 6 fence_seqno 7 ring 8 submit_ts 9 dispatch_ts 10 hol_ns 11 dep_ns
 * 12 in_flight
 */
void ks_on_job_dispatch(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);

	j->submit = ev->num[8];
	j->dispatch = ev->num[9];
	j->hol = ev->num[10];
	j->dep = ev->num[11];
	if (e->counted)
		e->counted(e, ks_string(j->ring), ev->num[12]);
}

/* ... total_ns, 5 fence_ctx 6 fence_seqno 7 ring 8 submit_ts 9 wait_ns 10 hwq_ns */
void ks_on_job_complete(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);
	char who[KS_TEXT];

	j->submit = ev->num[8];
	j->dispatch = j->submit + ev->num[9];
	j->complete = j->submit + ev->num[4];
	j->hwq = ev->num[10];
	if (e->elsewhere && !e->other_clock && j->dispatch < j->complete)
		e->elsewhere(e, ks_string(j->ring), ks_culprit_text(who, &j->who), j->dispatch,
			     j->complete, flow_of(j));
}

/*
 * ... wait_ns, 5 fence_ctx 6 fence_seqno 7 ring 8 dep_ctx 9 dep_seqno 10 dep_pid 11 dep_comm
 * 12 dep_timeline 13 dep_driver
 */
void ks_on_dep_wait(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);

	if (ev->num[4] < j->dep_ns)
		return;
	j->dep_ns = ev->num[4];
	j->held_by = fence(ev->num[8], ev->num[9], ev->str[13], ev->str[12], ev->str[11],
			   (s32)ev->num[10]);
}

static void lay(struct ks_engine *e, struct ks_thread *t, u64 *at, u64 ns, u64 begin, u64 end,
		const char *phase, struct ks_culprit culprit)
{
	struct ks_what what = { .layer = KS_FENCE, .phase = ks_intern(phase), .culprit = culprit };

	ks_carve(e, t, max_u64(*at, begin), min_u64(*at + ns, end), KS_MEASURED, what);
	*at += ns;
}

static u64 until(u64 at, u64 end)
{
	return end > at ? end - at : 0;
}

/* The wait [begin, end] for this job's fence, by what the job did. */
static void lay_job(struct ks_engine *e, struct ks_thread *t, const struct ks_job *j, u64 begin,
		    u64 end)
{
	u64 at = j->submit;
	u64 complete = j->complete ? j->complete : end;
	u64 dispatch = j->dispatch ? j->dispatch : complete;
	struct ks_culprit ring = ks_named(ks_string(j->ring));

	lay(e, t, &at, min_u64(j->hol, until(at, dispatch)), begin, end, "behind", j->who);
	lay(e, t, &at, min_u64(j->dep, until(at, dispatch)), begin, end, "dependency",
	    j->held_by.form ? j->held_by : j->who);
	lay(e, t, &at, until(at, dispatch), begin, end, "ring", ring);
	lay(e, t, &at, min_u64(j->hwq, until(at, complete)), begin, end, "hw_queue", ring);
	lay(e, t, &at, until(at, complete), begin, end, "running", j->who);
	lay(e, t, &at, until(at, end), begin, end, "done", j->who);
	for (size_t i = t->nr; i-- > 0 && t->seg[i].begin >= begin;)
		t->seg[i].flow = t->seg[i].what.layer == KS_FENCE ? flow_of(j) : 0;
}

/* dma_fence_wait: ... wait_ns, 5 fence_ctx 6 fence_seqno 7 driver 8 timeline */
void ks_on_fence_wait(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_own_thread(e, ev);
	u64 begin = ev->ts - min_u64(ev->ts, ev->num[4]);
	struct ks_what what = { .layer = KS_FENCE, .phase = ks_intern("wait") };
	struct ks_job *j = find(e, ev->num[5], ev->num[6]);

	if (!t)
		return;
	what.culprit = fence(ev->num[5], ev->num[6], ev->str[7], ev->str[8], "", 0);
	ks_thread_runs(e, t, ev->ts);
	if (j)
		lay_job(e, t, j, begin, ev->ts);
	ks_carve(e, t, begin, ev->ts, KS_MEASURED, what);
}

/* drm_sched_submit_block: ... blocked_ns, 5 total_ns 6 fence_ns 7 validate_ns 8 lock_ns 9 ring */
void ks_on_submit_block(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_own_thread(e, ev);
	u64 fence = ev->num[6], validate = ev->num[7], lock = ev->num[8];
	const char *phase = fence >= validate && fence >= lock ? "fence"
			    : validate >= lock		       ? "buffers"
							       : "lock";
	struct ks_what what = { .layer = KS_GPU_SUBMIT };
	u64 from = ev->ts - min_u64(ev->ts, ev->num[5]);
	char buf[96];

	if (!t || !ev->num[4])
		return;
	what.phase = ks_intern(phase);
	what.culprit = ks_named(ks_fmt(buf, sizeof(buf), "ring %s of %s", ev->str[9], ev->str[3]));
	ks_thread_runs(e, t, ev->ts);
	ks_carve(e, t, ks_asleep_since(t, max_u64(from, t->ready), ev->num[4]), ev->ts, KS_ASLEEP,
		 what);
}
