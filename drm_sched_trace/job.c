// SPDX-License-Identifier: GPL-2.0
/*
 * job.c - the life of a job: submitted, at its queue's head, held by fences, dispatched, finished
 *
 * A job's time until dispatch falls into three parts. Jobs of an entity run in order, so until
 * the one before it was dispatched it is behind that one (hol). From then on the scheduler looks
 * at its dependencies, one at a time: each that was not signaled holds it until
 * drm_sched_entity_wakeup() (dep). The rest it was ready and the ring was not (ring).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "drm_sched_trace.h"
#include "drm_sched_trace_events.h"

/* Dependencies of one job that are looked at; they are few, one a context. */
#define DS_MAX_DEPS	256

/* ---- other jobs ---- */

/*
 * The job whose fence @f is: of the two it has, "scheduled" is of the context before. @sf is any
 * job's fence, to compare with. Return: false if @f is no job's.
 */
static bool ds_fence_job(const struct dma_fence *f, const struct drm_sched_fence *sf, u64 *ctx)
{
	if (ds_fence_ops(f) == ds_fence_ops(&sf->scheduled))
		*ctx = f->context + 1;
	else if (ds_fence_ops(f) == ds_fence_ops(&sf->finished))
		*ctx = f->context;
	else
		return false;
	return true;
}

/* The submitter of the job @rival->ctx:seqno, if it is known. */
static void ds_rival_find(struct ds_rival *rival)
{
	const struct ds_job *rec;
	struct kstall_slot slot;

	if (!kstall_inflight_find(&ds_jobs, ds_key(rival->ctx, rival->seqno), &slot))
		return;
	rec = slot.rec;
	rival->who = rec->who;
	rival->priority = rec->priority;
	rival->known = true;
	kstall_inflight_unlock(&slot);
}

/* A copy of a job's record. Return: false if it is not known; then @copy is untouched. */
bool ds_job_peek(u64 key, struct ds_job *copy)
{
	struct kstall_slot slot;

	if (!kstall_inflight_find(&ds_jobs, key, &slot))
		return false;
	*copy = *(struct ds_job *)slot.rec;
	kstall_inflight_unlock(&slot);
	return true;
}

static u32 ds_job_depth(u64 key)
{
	struct kstall_slot slot;
	u32 depth;

	if (!kstall_inflight_find(&ds_jobs, key, &slot))
		return 0;
	depth = ((struct ds_job *)slot.rec)->depth;
	kstall_inflight_unlock(&slot);
	return depth;
}

/* ---- submission ---- */

/* What a job depends on: how many fences, and the longest chain of unfinished jobs. */
struct ds_deps {
	u32 nr;
	u32 depth;
	bool gang_leader;
};

/* Counts them, and finds the longest chain of unfinished jobs. A chain's node is its fence. */
static void ds_deps_find(struct ds_deps *deps, struct drm_sched_job *job)
{
	struct dma_fence *f;
	unsigned long i;
	u64 ctx;

	xa_for_each(&job->dependencies, i, f) {
		f = dma_fence_chain_contained(f) ?: f;
		if (ds_fence_job(f, job->s_fence, &ctx)) {
			deps->depth = max(deps->depth, ds_job_depth(ds_key(ctx, f->seqno)));
			deps->gang_leader |= ctx != f->context;
		}
		if (++deps->nr == DS_MAX_DEPS)
			break;
	}
}

static __always_inline void ds_job_fill(struct ds_job *rec, const struct drm_sched_job *job,
					u64 now, const struct ds_deps *deps)
{
	*rec = (struct ds_job){
		.submit_ns = now,
		.client_id = ds_client_id(job->s_fence),
		.credits = ds_credits(job),
		.deps = deps->nr,
		.depth = deps->depth + 1,
		.cpu_node = numa_node_id(),
		.priority = ds_priority(job),
		.gang_leader = deps->gang_leader,
	};
	kstall_who_read(&rec->who, current);
}

/* Not inline, as ds_run_emit(). */
static noinline void ds_queue_notes(struct drm_sched_job *job, u64 now,
				    const struct ds_deps *deps)
{
	struct ds_job rec;

	ds_job_fill(&rec, job, now, deps);
	if (trace_drm_sched_entity_migrate_enabled())
		ds_migrate_check(job, &rec);
	if (trace_drm_sched_submit_block_enabled())
		ds_submit_note(job, &rec);
}

/* In the submitter, before the job is in the queue: nobody else knows it yet. */
KSTALL_PROBE(ds_on_queue,
	     TP_PROTO(struct drm_sched_job *job, struct drm_sched_entity *ent), TP_ARGS(job, ent))
{
	const struct dma_fence *finished = &job->s_fence->finished;
	u64 now = kstall_now();
	struct ds_deps deps = { };
	struct kstall_slot slot;

	if (!xa_empty(&job->dependencies))
		ds_deps_find(&deps, job);
	if (kstall_inflight_insert(&ds_jobs, ds_key(finished->context, finished->seqno), now,
				   &slot)) {
		ds_job_fill(slot.rec, job, now, &deps);
		kstall_inflight_unlock(&slot);
	}
	if (trace_drm_sched_entity_migrate_enabled() || trace_drm_sched_submit_block_enabled())
		ds_queue_notes(job, now, &deps);
}

/* ---- priority inversion ---- */

/* Is it the first of this job? */
static bool ds_invert_once(u64 key)
{
	struct kstall_slot slot;
	struct ds_job *rec;
	bool first;

	if (!kstall_inflight_find(&ds_jobs, key, &slot))
		return false;
	rec = slot.rec;
	first = !rec->inverted;
	rec->inverted = true;
	kstall_inflight_unlock(&slot);
	return first;
}

static void ds_invert_emit(const struct ds_job *rec, const struct drm_gpu_scheduler *sched,
			   u64 ctx, u64 seqno, u64 wait_ns, int cause, const struct ds_rival *rival)
{
	struct kstall_drm_inversion e = { .rival = rival };

	if (!kstall_long_enough(&kstall_event_drm_sched_prio_inversion, wait_ns) ||
	    !ds_invert_once(ds_key(ctx, seqno)))
		return;
	e.job = ds_job_event(rec, sched, ctx, seqno);
	trace_drm_sched_prio_inversion(wait_ns, ds_key(ctx, seqno),
				       ds_key(rival->ctx, rival->seqno), cause, &e);
}

/*
 * The job was ready; was one of lower priority dispatched since, after which there was no room for
 * this one? @last: the ring's last jobs by priority, before this one.
 */
static void ds_invert_check(const struct drm_sched_job *job, const struct ds_job *rec,
			    const struct ds_last *last)
{
	u64 ready_ns = max3(rec->submit_ns, rec->head_ns, rec->woken_ns);
	const struct dma_fence *finished = &job->s_fence->finished;
	int prio;

	for (prio = rec->priority + 1; prio < DS_NR_PRIO; prio++) {
		if (last[prio].ns <= ready_ns ||
		    last[prio].in_flight + rec->credits <= ds_limit(job->sched))
			continue;
		ds_invert_emit(rec, job->sched, finished->context, finished->seqno,
			       kstall_delta(rec->dispatch_ns, ready_ns), DS_INVERT_CREDITS,
			       &last[prio].job);
		return;
	}
}

/* ---- dependencies ---- */

/*
 * The scheduler is about to wait for @f, or so it seems: before 6.17 it fires for every fence
 * considered, and up to now @f may be signaled before the callback is added. It was a wait if
 * drm_sched_entity_wakeup() follows; if not the next one, or the dispatch, does away with it.
 */
KSTALL_PROBE(ds_on_block, TP_PROTO(struct drm_sched_job *job, struct dma_fence *f),
	     TP_ARGS(job, f))
{
	const struct drm_sched_fence *sf = job->s_fence;
	struct ds_wait wait = {
		.since_ns = kstall_now(),
		.seqno = sf->finished.seqno,
		.scheduled_ops = ds_fence_ops(&sf->scheduled),
	};
	struct kstall_slot slot;

	f = dma_fence_chain_contained(f) ?: f;
	wait.dep.ctx = f->context;
	wait.dep.seqno = f->seqno;
	if (ds_fence_job(f, sf, &wait.dep.ctx))
		ds_rival_find(&wait.dep);
	ds_fence_names(f, wait.driver, sizeof(wait.driver), wait.timeline, sizeof(wait.timeline));
	if (kstall_inflight_insert(&ds_waits, sf->scheduled.context, wait.since_ns, &slot)) {
		memcpy(slot.rec, &wait, sizeof(wait));
		kstall_inflight_unlock(&slot);
	}
}

/* Adds a wait to the job's account and copies that out. Return: false if it is not known. */
static bool ds_job_held(u64 key, u64 now, u64 wait_ns, struct ds_job *copy)
{
	struct kstall_slot slot;
	struct ds_job *rec;

	if (!kstall_inflight_find(&ds_jobs, key, &slot))
		return false;
	rec = slot.rec;
	rec->woken_ns = now;
	rec->dep_ns += wait_ns;
	*copy = *rec;
	kstall_inflight_unlock(&slot);
	return true;
}

static void ds_dep_emit(const struct ds_wait *wait, const struct ds_job *rec,
			const struct drm_gpu_scheduler *sched, u64 ctx, u64 wait_ns,
			int result, bool pipelined)
{
	struct kstall_drm_dep e = {
		.job = {
			.id = ds_id(sched, &rec->who, rec->cpu_node),
			.ring = sched->name,
			.fence_ctx = ctx,
			.fence_seqno = wait->seqno,
			.client_id = rec->client_id,
			.priority = rec->priority,
		},
		.dep = &wait->dep,
		.driver = wait->driver,
		.timeline = wait->timeline,
		.pipelined = pipelined,
	};

	if (trace_drm_sched_dep_wait_enabled() &&
	    kstall_long_enough(&kstall_event_drm_sched_dep_wait, wait_ns))
		trace_drm_sched_dep_wait(wait_ns, ds_key(ctx, wait->seqno),
					 ds_key(wait->dep.ctx, wait->dep.seqno), result, &e);
}

/* A fence's callback: of the entity that waits for it */
KSTALL_FN(void, ds_dep_callback, struct dma_fence *, f, struct dma_fence_cb *, cb);

/* Return: false if the entity waits for nothing, as far as it was seen. */
static bool ds_dep_ended(struct pt_regs *regs)
{
	const struct dma_fence *f = kstall_arg(regs, ds_dep_callback, f);
	const struct drm_sched_entity *ent =
		container_of(kstall_arg(regs, ds_dep_callback, cb), struct drm_sched_entity, cb);
	u64 wait_ns, now = kstall_now(), ctx = ent->fence_context + 1;
	struct ds_wait wait;
	struct ds_job rec;

	if (!kstall_inflight_take(&ds_waits, ent->fence_context, &wait))
		return false;
	wait_ns = kstall_delta(now, wait.since_ns);
	if (!ds_job_held(ds_key(ctx, wait.seqno), now, wait_ns, &rec))
		return true;
	ds_dep_emit(&wait, &rec, ent->rq->sched, ctx, wait_ns, 0,
		    ds_fence_ops(f) == wait.scheduled_ops);
	if (trace_drm_sched_prio_inversion_enabled() && wait.dep.known &&
	    wait.dep.priority > rec.priority)
		ds_invert_emit(&rec, ent->rq->sched, ctx, wait.seqno, wait_ns, DS_INVERT_DEPENDENCY,
			       &wait.dep);
	return true;
}

/*
 * drm_sched_entity_wakeup(struct dma_fence *f, struct dma_fence_cb *cb): signaled, with the fence's
 * lock held; the callback is part of the entity, and the entity's ring is about to be woken.
 */
bool ds_wakeup_enter(void *data, struct pt_regs *regs)
{
	if (!ds_dep_ended(regs))
		kstall_inflight_unmatched(&ds_waits);
	return false;
}

/*
 * drm_sched_entity_clear_dep(), with the same arguments: the callback itself where the job that is
 * waited for is on the same ring, and part of the other one. Gone since "drm/sched: Remove
 * optimization that causes hang when killing dependent jobs" (Debian: 6.12.41, 6.1.153).
 */
bool ds_clear_dep_enter(void *data, struct pt_regs *regs)
{
	ds_dep_ended(regs);
	return false;
}

/* ---- dispatch ---- */

/* @copy: NULL if nobody needs it. Return: false if the job is not known. */
static bool ds_job_dispatched(u64 key, u64 now, struct ds_job *copy)
{
	struct kstall_slot slot;
	struct ds_job *rec;

	if (!kstall_inflight_find(&ds_jobs, key, &slot))
		return false;
	rec = slot.rec;
	rec->dispatch_ns = now;
	if (copy)
		*copy = *rec;
	kstall_inflight_unlock(&slot);
	return true;
}

/* The next job of the entity, if there is one already, is at the queue's head now. */
static void ds_job_to_head(u64 key, u64 now)
{
	struct kstall_slot slot;

	if (!kstall_inflight_find(&ds_jobs, key, &slot))
		return;
	((struct ds_job *)slot.rec)->head_ns = now;
	kstall_inflight_unlock(&slot);
}

/* Jobs given to the ring that have not finished, as far as they were seen. */
u32 ds_ring_jobs(const struct drm_gpu_scheduler *sched)
{
	struct kstall_slot slot;
	u32 jobs;

	if (!kstall_inflight_find(&ds_rings, (unsigned long)sched, &slot))
		return 0;
	jobs = ((struct ds_ring *)slot.rec)->jobs;
	kstall_inflight_unlock(&slot);
	return jobs;
}

/*
 * The ring has one job more. Only its own worker comes here, so nobody else inserts its record.
 * Return: false if there is no room for it.
 */
static bool ds_ring_dispatched(const struct drm_gpu_scheduler *sched, u64 now,
			       struct kstall_slot *slot)
{
	if (!kstall_inflight_find(&ds_rings, (unsigned long)sched, slot) &&
	    !kstall_inflight_insert(&ds_rings, (unsigned long)sched, now, slot))
		return false;
	((struct ds_ring *)slot->rec)->jobs++;
	return true;
}

static void ds_ring_count(const struct drm_gpu_scheduler *sched, u64 now)
{
	struct kstall_slot slot;

	if (ds_ring_dispatched(sched, now, &slot))
		kstall_inflight_unlock(&slot);
}

/* For the search for inversions. @before: the last jobs up to now. */
static void ds_ring_note(const struct drm_gpu_scheduler *sched, const struct ds_job *rec,
			 const struct drm_sched_fence *sf, struct ds_last *before)
{
	struct ds_last last = {
		.ns = rec->dispatch_ns,
		.in_flight = ds_in_flight(sched),
		.job = { .ctx = sf->finished.context, .seqno = sf->finished.seqno,
			 .who = rec->who, .priority = rec->priority, .known = true },
	};
	struct kstall_slot slot;
	struct ds_ring *ring;

	if (!ds_ring_dispatched(sched, last.ns, &slot)) {
		memset(before, 0, sizeof(ring->last));
		return;
	}
	ring = slot.rec;
	memcpy(before, ring->last, sizeof(ring->last));
	ring->last[rec->priority] = last;
	kstall_inflight_unlock(&slot);
}

static void ds_dispatch_emit(const struct drm_sched_job *job, const struct ds_job *rec,
			     struct drm_sched_entity *ent)
{
	u64 wait_ns = kstall_delta(rec->dispatch_ns, rec->submit_ns);
	u64 head_ns = max(rec->head_ns, rec->submit_ns);
	u64 hol_ns = min(head_ns - rec->submit_ns, wait_ns);
	u64 dep_ns = min(rec->dep_ns, wait_ns - hol_ns);
	struct kstall_drm_job e = ds_job_event(rec, job->sched, job->s_fence->finished.context,
					       job->s_fence->finished.seqno);

	if (!kstall_long_enough(&kstall_event_drm_sched_job_dispatch, wait_ns))
		return;
	e.hol_ns = hol_ns;
	e.dep_ns = dep_ns;
	e.ring_ns = wait_ns - hol_ns - dep_ns;
	e.job_count = spsc_queue_count(&ent->job_queue);
	e.in_flight = ds_in_flight(job->sched);
	e.limit = ds_limit(job->sched);
	trace_drm_sched_job_dispatch(wait_ns, ds_key(e.fence_ctx, e.fence_seqno), rec->credits,
				     rec->priority, &e);
}

/* Not inline: the kernel zeroes what is on a function's stack, and most runs need none of this. */
static noinline bool ds_run_emit(const struct drm_sched_job *job, struct drm_sched_entity *ent,
				 u64 key, u64 now)
{
	struct ds_last before[DS_NR_PRIO];
	struct ds_job rec;

	if (!ds_job_dispatched(key, now, &rec))
		return false;
	if (trace_drm_sched_prio_inversion_enabled()) {
		ds_ring_note(job->sched, &rec, job->s_fence, before);
		ds_invert_check(job, &rec, before);
	} else {
		ds_ring_count(job->sched, now);
	}
	if (trace_drm_sched_job_dispatch_enabled())
		ds_dispatch_emit(job, &rec, ent);
	return true;
}

static bool ds_run_count(const struct drm_sched_job *job, u64 key, u64 now)
{
	if (!ds_job_dispatched(key, now, NULL))
		return false;
	ds_ring_count(job->sched, now);
	return true;
}

/* In the ring's worker, just before ops->run_job(). job->entity is NULL since 6.7. */
KSTALL_PROBE(ds_on_run,
	     TP_PROTO(struct drm_sched_job *job, struct drm_sched_entity *ent), TP_ARGS(job, ent))
{
	const struct drm_sched_fence *sf = job->s_fence;
	u64 key = ds_key(sf->finished.context, sf->finished.seqno), now = kstall_now();
	struct kstall_slot slot;
	bool known;

	if (kstall_inflight_find(&ds_waits, sf->scheduled.context, &slot))
		kstall_inflight_erase(&ds_waits, sf->scheduled.context, &slot);
	ds_job_to_head(ds_key(sf->finished.context, sf->finished.seqno + 1), now);
	if (trace_drm_sched_prio_inversion_enabled() || trace_drm_sched_job_dispatch_enabled())
		known = ds_run_emit(job, ent, key, now);
	else
		known = ds_run_count(job, key, now);
	if (!known)
		kstall_inflight_unmatched(&ds_jobs);
}

/* ---- the end ---- */

/* The ring's end of it. Return: when the job before this one finished, 0 if not known. */
static u64 ds_ring_done(const struct drm_gpu_scheduler *sched, u64 now)
{
	struct kstall_slot slot;
	struct ds_ring *ring;
	u64 before;

	if (!kstall_inflight_find(&ds_rings, (unsigned long)sched, &slot))
		return 0;
	ring = slot.rec;
	before = ring->done_ns;
	ring->done_ns = now;
	if (ring->jobs)
		ring->jobs--;
	kstall_inflight_unlock(&slot);
	return before;
}

/*
 * A ring works on one job after the other: this one's turn came when it was dispatched or when
 * the one before it finished, whichever was later.
 */
static void ds_complete_emit(const struct drm_sched_fence *sf, const struct ds_job *rec,
			     u64 now, u64 before, int result)
{
	u64 total_ns = kstall_delta(now, rec->submit_ns);
	struct kstall_drm_job e = ds_job_event(rec, sf->sched, sf->finished.context,
					       sf->finished.seqno);

	if (!kstall_long_enough(&kstall_event_drm_sched_job_complete, total_ns))
		return;
	e.wait_ns = total_ns;
	if (rec->dispatch_ns) {
		e.wait_ns = min(kstall_delta(rec->dispatch_ns, rec->submit_ns), total_ns);
		if (before > rec->dispatch_ns)
			e.hwq_ns = min(before - rec->dispatch_ns, total_ns - e.wait_ns);
	}
	e.run_ns = total_ns - e.wait_ns - e.hwq_ns;
	trace_drm_sched_job_complete(total_ns, ds_key(e.fence_ctx, e.fence_seqno), rec->credits,
				     result, &e);
}

/* A job that ends before it was dispatched may have been held by a fence up to now. */
static void ds_dep_cancelled(const struct drm_sched_fence *sf, struct ds_job *rec, u64 now)
{
	struct kstall_slot slot;
	struct ds_wait wait;
	bool held;

	if (!kstall_inflight_find(&ds_waits, sf->scheduled.context, &slot))
		return;
	held = ((struct ds_wait *)slot.rec)->seqno == sf->finished.seqno;
	kstall_inflight_unlock(&slot);
	if (held && kstall_inflight_take(&ds_waits, sf->scheduled.context, &wait))
		ds_dep_emit(&wait, rec, sf->sched, sf->finished.context,
			    kstall_delta(now, wait.since_ns), -ECANCELED, false);
}

/* All jobs pass, maybe in hardirq. */
bool ds_finished_enter(void *data, struct pt_regs *regs)
{
	const struct drm_sched_fence *sf = kstall_arg(regs, drm_sched_fence_finished, fence);
	u64 before = 0, now = kstall_now();
	struct ds_job *rec;

	rec = kstall_inflight_detach(&ds_jobs, ds_key(sf->finished.context, sf->finished.seqno));
	if (!rec) {
		kstall_inflight_unmatched(&ds_jobs);
		return false;
	}
	if (rec->dispatch_ns)
		before = ds_ring_done(sf->sched, now);
	else
		ds_dep_cancelled(sf, rec, now);
	if (trace_drm_sched_job_complete_enabled())
		ds_complete_emit(sf, rec, now, before, ds_finished_result(sf, regs));
	kstall_inflight_put(&ds_jobs, rec);
	return false;
}

KSTALL_FN(void, drm_sched_fini, struct drm_gpu_scheduler *, sched);
KSTALL_CHECK_FN(drm_sched_fini, drm_sched_fini);

bool ds_ring_fini_enter(void *data, struct pt_regs *regs)
{
	unsigned long sched = (unsigned long)kstall_arg(regs, drm_sched_fini, sched);
	struct ds_ring ring;

	kstall_inflight_take(&ds_rings, sched, &ring);
	return false;
}
