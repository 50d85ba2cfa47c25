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

static const struct ks_form job_form = {
	"job {ctx}:{seqno} of {comm}/{pid} on {ring}", "{ring}, {n} jobs", 1 << 4, { "ctx", "seqno", "comm", "pid", "ring" },
};
static const struct ks_form fence_form = {
	"fence {ctx}:{seqno} ({where})", "{where}, {n} fences", 1 << 2, { "ctx", "seqno", "where" },
};
static const struct ks_form fence_of_form = {
	"fence {ctx}:{seqno} of {comm}/{pid} ({where})", "{where}, {n} fences", 1 << 2, { "ctx", "seqno", "where", "comm", "pid" },
};

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

KS_SAME_FIELD(drm_sched_job_dispatch, drm_sched_job_complete, fence_ctx);
KS_SAME_FIELD(drm_sched_job_dispatch, drm_sched_job_complete, fence_seqno);
KS_SAME_FIELD(drm_sched_job_dispatch, drm_sched_job_complete, ring);
KS_SAME_FIELD(drm_sched_job_dispatch, drm_sched_dep_wait, fence_ctx);
KS_SAME_FIELD(drm_sched_job_dispatch, drm_sched_dep_wait, fence_seqno);
KS_SAME_FIELD(drm_sched_job_dispatch, drm_sched_dep_wait, ring);

/* The job of any of these events. */
static struct ks_job *get(struct ks_engine *e, const struct ks_event *ev)
{
	u64 ctx = KS_NUM(ev, drm_sched_job_dispatch, fence_ctx), seqno = KS_NUM(ev, drm_sched_job_dispatch, fence_seqno);
	const char *ring = KS_STR(ev, drm_sched_job_dispatch, ring), *dev = ev->str[KS_EV_DEV];
	struct ks_job *j = slot(e, ctx, seqno);
	char buf[160];
	u32 on;

	if (j->ctx == ctx && j->seqno == seqno)
		return j;
	memset(j, 0, sizeof(*j));
	j->ctx = ctx;
	j->seqno = seqno;
	on = ks_intern(ks_fmt(buf, sizeof(buf), "%s %s", dev, ring));
	j->who = (struct ks_culprit){
		.form = &job_form,
		.strings = 1 << 2 | 1 << 4,
		.v = { ctx, seqno, ks_intern(ev->str[KS_EV_COMM]), (s32)ev->num[KS_EV_PID], on },
	};
	j->ring = ks_intern(ks_fmt(buf, sizeof(buf), "ring %s of %s", ring, dev));
	return j;
}

/* For a picture: the job's number on its ring and on the thread that waits for it. */
static u64 flow_of(const struct ks_job *j)
{
	return (j->ctx * 0x9e3779b97f4a7c15ULL + j->seqno) | 1ULL << 63;
}

void ks_on_job_dispatch(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);

	j->submit = KS_NUM(ev, drm_sched_job_dispatch, submit_ts);
	j->dispatch = KS_NUM(ev, drm_sched_job_dispatch, dispatch_ts);
	j->hol = KS_NUM(ev, drm_sched_job_dispatch, hol_ns);
	j->dep = KS_NUM(ev, drm_sched_job_dispatch, dep_ns);
	if (e->counted)
		e->counted(e, ks_string(j->ring), KS_NUM(ev, drm_sched_job_dispatch, in_flight));
}

void ks_on_job_complete(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);
	char who[KS_TEXT];

	j->submit = KS_NUM(ev, drm_sched_job_complete, submit_ts);
	j->dispatch = j->submit + KS_NUM(ev, drm_sched_job_complete, wait_ns);
	j->complete = j->submit + KS_NUM(ev, drm_sched_job_complete, total_ns);
	j->hwq = KS_NUM(ev, drm_sched_job_complete, hwq_ns);
	if (e->elsewhere && !e->other_clock && j->dispatch < j->complete)
		e->elsewhere(e, ks_string(j->ring), ks_culprit_text(who, &j->who), j->dispatch,
			     j->complete, flow_of(j));
}

void ks_on_dep_wait(struct ks_engine *e, const struct ks_event *ev)
{
	u64 ns = KS_NUM(ev, drm_sched_dep_wait, wait_ns);
	struct ks_job *j = get(e, ev);

	if (ns < j->dep_ns)
		return;
	j->dep_ns = ns;
	j->held_by = fence(KS_NUM(ev, drm_sched_dep_wait, dep_ctx), KS_NUM(ev, drm_sched_dep_wait, dep_seqno),
			   KS_STR(ev, drm_sched_dep_wait, dep_driver), KS_STR(ev, drm_sched_dep_wait, dep_timeline),
			   KS_STR(ev, drm_sched_dep_wait, dep_comm), (s32)KS_NUM(ev, drm_sched_dep_wait, dep_pid));
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

void ks_on_fence_wait(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_own_thread(e, ev);
	u64 begin = ev->ts - min_u64(ev->ts, KS_NUM(ev, dma_fence_wait, wait_ns));
	u64 ctx = KS_NUM(ev, dma_fence_wait, fence_ctx), seqno = KS_NUM(ev, dma_fence_wait, fence_seqno);
	struct ks_what what = { .layer = KS_FENCE, .phase = ks_intern("wait") };
	struct ks_job *j = find(e, ctx, seqno);

	if (!t)
		return;
	what.culprit = fence(ctx, seqno, KS_STR(ev, dma_fence_wait, driver), KS_STR(ev, dma_fence_wait, timeline), "", 0);
	ks_thread_runs(e, t, ev->ts);
	if (j)
		lay_job(e, t, j, begin, ev->ts);
	ks_carve(e, t, begin, ev->ts, KS_MEASURED, what);
}

void ks_on_submit_block(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_own_thread(e, ev);
	u64 blocked = KS_NUM(ev, drm_sched_submit_block, blocked_ns);
	u64 fence = KS_NUM(ev, drm_sched_submit_block, fence_ns);
	u64 validate = KS_NUM(ev, drm_sched_submit_block, validate_ns);
	u64 lock = KS_NUM(ev, drm_sched_submit_block, lock_ns);
	const char *phase = fence >= validate && fence >= lock ? "fence"
			    : validate >= lock		       ? "buffers"
							       : "lock";
	struct ks_what what = { .layer = KS_GPU_SUBMIT };
	u64 from = ev->ts - min_u64(ev->ts, KS_NUM(ev, drm_sched_submit_block, total_ns));
	char buf[96];

	if (!t || !blocked)
		return;
	what.phase = ks_intern(phase);
	what.culprit = ks_named(ks_fmt(buf, sizeof(buf), "ring %s of %s", KS_STR(ev, drm_sched_submit_block, ring),
				       ev->str[KS_EV_DEV]));
	ks_thread_runs(e, t, ev->ts);
	ks_carve(e, t, ks_asleep_since(t, max_u64(from, t->ready), blocked), ev->ts, KS_ASLEEP, what);
}
