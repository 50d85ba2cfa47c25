// SPDX-License-Identifier: GPL-2.0
/* Jobs of gpu_sched: what became of them splits the wait for their fence. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define JOBS 65536		/* the last so many */

struct ks_job {
	u64 ctx, seqno;
	u64 submit, dispatch, complete;
	u64 hol, dep, ring;	/* of submit to dispatch */
	u64 hwq, run;
	u64 dep_ns;		/* of the fence that held it the longest */
	u32 who, held_by, ring_name;
};

static struct ks_job *slot(struct ks_engine *e, u64 ctx, u64 seqno)
{
	if (!e->jobs)
		e->jobs = ks_alloc(JOBS * sizeof(*e->jobs));
	return &e->jobs[(ctx * 0x9e3779b97f4a7c15ULL + seqno) % JOBS];
}

static struct ks_job *find(struct ks_engine *e, u64 ctx, u64 seqno)
{
	struct ks_job *j = slot(e, ctx, seqno);

	return ctx && j->ctx == ctx && j->seqno == seqno ? j : NULL;
}

static struct ks_job *get(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = slot(e, ev->num[5], ev->num[6]);
	char buf[160];

	if (j->ctx == ev->num[5] && j->seqno == ev->num[6])
		return j;
	memset(j, 0, sizeof(*j));
	j->ctx = ev->num[5];
	j->seqno = ev->num[6];
	j->who = ks_intern(ks_fmt(buf, sizeof(buf), "job %llu:%llu of %s/%d on %s %s",
				  (unsigned long long)j->ctx, (unsigned long long)j->seqno,
				  ev->str[2], (s32)ev->num[0], ev->str[3], ev->str[7]));
	j->ring_name = ks_intern(ks_fmt(buf, sizeof(buf), "ring %s of %s", ev->str[7], ev->str[3]));
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
		e->counted(e, ks_string(j->ring_name), ev->num[12]);
}

/* ... total_ns, 5 fence_ctx 6 fence_seqno 7 ring 8 submit_ts 9 wait_ns 10 hwq_ns */
void ks_on_job_complete(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);

	j->submit = ev->num[8];
	j->dispatch = j->submit + ev->num[9];
	j->complete = j->submit + ev->num[4];
	j->hwq = ev->num[10];
	if (e->elsewhere && j->dispatch < j->complete)
		e->elsewhere(e, ks_string(j->ring_name), ks_string(j->who), j->dispatch,
			     j->complete, flow_of(j));
}

/*
 * ... wait_ns, 5 fence_ctx 6 fence_seqno 7 ring 8 dep_ctx 9 dep_seqno 10 dep_pid 11 dep_comm
 * 12 dep_timeline 13 dep_driver
 */
void ks_on_dep_wait(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_job *j = get(e, ev);
	char who[48] = "", buf[200];

	if (ev->num[4] < j->dep_ns)
		return;
	j->dep_ns = ev->num[4];
	if (ev->num[10])
		ks_fmt(who, sizeof(who), " of %s/%d", ev->str[11], (s32)ev->num[10]);
	j->held_by = ks_intern(ks_fmt(
		buf, sizeof(buf), "fence %llu:%llu%s (%s %s)", (unsigned long long)ev->num[8],
		(unsigned long long)ev->num[9], who, ev->str[13], ev->str[12]));
}

static void lay(struct ks_engine *e, struct ks_thread *t, u64 *at, u64 ns, u64 begin, u64 end,
		const char *phase, u32 culprit)
{
	struct ks_what what = { .layer = KS_FENCE, .phase = ks_intern(phase), .culprit = culprit };

	ks_carve(e, t, max_u64(*at, begin), min_u64(*at + ns, end), KS_HELD, what);
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

	lay(e, t, &at, min_u64(j->hol, until(at, dispatch)), begin, end, "behind", j->who);
	lay(e, t, &at, min_u64(j->dep, until(at, dispatch)), begin, end, "dependency",
	    j->held_by ? j->held_by : j->who);
	lay(e, t, &at, until(at, dispatch), begin, end, "ring", j->ring_name);
	lay(e, t, &at, min_u64(j->hwq, until(at, complete)), begin, end, "hw_queue", j->ring_name);
	lay(e, t, &at, until(at, complete), begin, end, "running", j->who);
	lay(e, t, &at, until(at, end), begin, end, "done", j->who);
	for (size_t i = t->nr; i-- > 0 && t->seg[i].begin >= begin;)
		t->seg[i].flow = t->seg[i].what.layer == KS_FENCE ? flow_of(j) : 0;
}

/* dma_fence_wait: ... wait_ns, 5 fence_ctx 6 fence_seqno 7 driver 8 timeline */
void ks_on_fence_wait(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_find(e, ev->pid);
	u64 begin = ev->ts - min_u64(ev->ts, ev->num[4]);
	struct ks_what what = { .layer = KS_FENCE, .phase = ks_intern("wait") };
	struct ks_job *j = find(e, ev->num[5], ev->num[6]);
	char buf[160];

	if (!t || !t->in_job || (s32)ev->num[KS_EV_PID] != ev->pid)
		return;
	what.culprit = ks_intern(ks_fmt(buf, sizeof(buf), "fence %llu:%llu (%s %s)",
					(unsigned long long)ev->num[5],
					(unsigned long long)ev->num[6], ev->str[7], ev->str[8]));
	if (j)
		lay_job(e, t, j, begin, ev->ts);
	ks_carve(e, t, begin, ev->ts, KS_HELD, what);
}

/* drm_sched_submit_block: ... blocked_ns, 5 total_ns 6 fence_ns 7 validate_ns 8 lock_ns 9 ring */
void ks_on_submit_block(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_find(e, ev->pid);
	u64 fence = ev->num[6], validate = ev->num[7], lock = ev->num[8];
	const char *phase = fence >= validate && fence >= lock ? "fence"
			    : validate >= lock		       ? "buffers"
							       : "lock";
	struct ks_what what = { .layer = KS_GPU_SUBMIT };
	u64 from = ev->ts - min_u64(ev->ts, ev->num[5]);
	char buf[96];

	if (!t || !t->in_job || (s32)ev->num[KS_EV_PID] != ev->pid || !ev->num[4])
		return;
	what.phase = ks_intern(phase);
	what.culprit = ks_intern(ks_fmt(buf, sizeof(buf), "ring %s of %s", ev->str[9], ev->str[3]));
	ks_thread_enter(e, t, ev->ts, t->state);
	ks_carve(e, t, ks_asleep_since(t, max_u64(from, t->ready), ev->num[4]), ev->ts, KS_ASLEEP,
		 what);
}
