/* SPDX-License-Identifier: GPL-2.0 */
/*
 * drm_sched_trace_events.h - the module's events
 *
 * Both the fields and the TP_PROTO() arguments (what rawtracepoint: and raw_tp programs see)
 * are ABI: they are only ever added to, at the end. Documentation/events.md is generated
 * from the comments here.
 *
 * A job is named as the kernel does since 6.17: by its finished fence, context:seqno, in two
 * fields; in arguments by one number, context << 32 | seqno.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM drm_sched

#ifndef _DRM_SCHED_TRACE_EVENTS_TYPES
#define _DRM_SCHED_TRACE_EVENTS_TYPES

#include "drm_sched_trace.h"

KSTALL_DECLARE_TIMED_EVENT(drm_sched_job_dispatch);
KSTALL_DECLARE_TIMED_EVENT(drm_sched_job_complete);
KSTALL_DECLARE_TIMED_EVENT(drm_sched_dep_wait);
KSTALL_DECLARE_TIMED_EVENT_MIN(drm_sched_prio_inversion, 100000);
KSTALL_DECLARE_TIMED_EVENT(drm_sched_job_timeout);
KSTALL_DECLARE_TIMED_EVENT(drm_sched_reset);
KSTALL_DECLARE_EVENT(drm_sched_entity_migrate);
KSTALL_DECLARE_TIMED_EVENT(drm_sched_entity_kill);
KSTALL_DECLARE_TIMED_EVENT(drm_sched_submit_block);
KSTALL_DECLARE_TIMED_EVENT(dma_fence_wait);
KSTALL_DECLARE_TIMED_EVENT(ttm_bo_evict);
KSTALL_DECLARE_TIMED_EVENT(ttm_bo_swap);

/* DS_PRIO_* */
#define ds_show_priority(val)						\
	__print_symbolic(val, { 0, "kernel" }, { 1, "high" }, { 2, "normal" }, \
			 { 3, "low" }, { 255, "-" })

/* drm_sched_prio_inversion: cause */
#define DS_INVERT_CREDITS	0
#define DS_INVERT_DEPENDENCY	1

#define ds_show_invert(val)						\
	__print_symbolic(val, { 0, "credits" }, { 1, "dependency" })

/* drm_sched_entity_kill: op */
#define DS_ENTITY_FLUSH	0
#define DS_ENTITY_FINI	1

#define ds_show_entity_op(val)						\
	__print_symbolic(val, { 0, "flush" }, { 1, "fini" })

/* dma_fence_wait: kind, DS_WAIT_* */
#define ds_show_wait(val)						\
	__print_symbolic(val, { 0, "single" }, { 1, "any" }, { 2, "resv" }, { 3, "syncobj" })

/* ttm_bo_evict, ttm_bo_swap: memory types; from 3 on they are the driver's own */
#define ds_show_mem(val)						\
	__print_symbolic(val, { 0, "system" }, { 1, "tt" }, { 2, "vram" }, { 3, "priv0" }, \
			 { 4, "priv1" }, { 5, "priv2" }, { 6, "priv3" }, { 7, "priv4" },	\
			 { 8, "priv5" })

/**
 * struct kstall_drm_job - a job; rest of the events of jobs, timeouts and resets
 * @id: identity, the submitter's
 * @ring: name of its scheduler
 * @fence_ctx: context of its finished fence
 * @fence_seqno: sequence number of its finished fence
 * @client_id: DRM client
 * @priority: DS_PRIO_*
 * @gang_leader: depends on another job being scheduled
 * @submit_ns: when it was submitted
 * @dispatch_ns: when it was dispatched, 0 if never
 * @hol_ns: drm_sched_job_dispatch: behind earlier jobs of its entity
 * @dep_ns: drm_sched_job_dispatch: held by fences
 * @ring_ns: drm_sched_job_dispatch: ready, the ring busy
 * @wait_ns: drm_sched_job_complete: until it was dispatched
 * @hwq_ns: drm_sched_job_complete: behind other jobs in the hardware's queue
 * @run_ns: drm_sched_job_complete: the rest
 * @age_ns: drm_sched_job_timeout: since it was dispatched
 * @deps: fences it depended on
 * @depth: length of the chain of unfinished jobs it ends
 * @credits: what it takes of @limit
 * @job_count: jobs left in its entity's queue
 * @in_flight: credits of the ring in use
 * @limit: credits of the ring
 */
struct kstall_drm_job {
	struct kstall_id id;
	const char *ring;
	u64 fence_ctx;
	u64 fence_seqno;
	u64 client_id;
	u8 priority;
	bool gang_leader;
	u64 submit_ns;
	u64 dispatch_ns;
	union {
		struct {
			u64 hol_ns;
			u64 dep_ns;
			u64 ring_ns;
		};
		struct {
			u64 wait_ns;
			u64 hwq_ns;
			u64 run_ns;
		};
		u64 age_ns;
	};
	u32 deps;
	u32 depth;
	u32 credits;
	u32 job_count;
	u32 in_flight;
	u32 limit;
};

/* Which job, and what is known of it; the rest is 0. */
static inline struct kstall_drm_job ds_job_event(const struct ds_job *rec,
						 const struct drm_gpu_scheduler *sched,
						 u64 ctx, u64 seqno)
{
	return (struct kstall_drm_job){
		.id = ds_id(sched, &rec->who, rec->cpu_node),
		.ring = sched->name,
		.fence_ctx = ctx,
		.fence_seqno = seqno,
		.client_id = rec->client_id,
		.priority = rec->priority,
		.gang_leader = rec->gang_leader,
		.submit_ns = rec->submit_ns,
		.dispatch_ns = rec->dispatch_ns,
		.deps = rec->deps,
		.depth = rec->depth,
		.credits = rec->credits,
	};
}

/**
 * struct kstall_drm_dep - rest of drm_sched_dep_wait
 * @job: the job that was held; up to its priority
 * @dep: the job that held it, or a fence that is no job's
 * @driver: name of the fence's driver
 * @timeline: name of its timeline
 * @pipelined: waited only until the other job was dispatched
 */
struct kstall_drm_dep {
	struct kstall_drm_job job;
	const struct ds_rival *dep;
	const char *driver;
	const char *timeline;
	bool pipelined;
};

/**
 * struct kstall_drm_inversion - rest of drm_sched_prio_inversion
 * @job: the job that waited; up to its priority
 * @rival: the job it waited for
 */
struct kstall_drm_inversion {
	struct kstall_drm_job job;
	const struct ds_rival *rival;
};

/**
 * struct kstall_drm_move - rest of drm_sched_entity_migrate
 * @job: the first job on the new ring; up to its priority
 * @from_ring: name of the ring before
 */
struct kstall_drm_move {
	struct kstall_drm_job job;
	const char *from_ring;
};

/**
 * struct kstall_drm_wait - rest of dma_fence_wait
 * @id: identity of the waiter
 * @wait: what it waited for
 */
struct kstall_drm_wait {
	struct kstall_id id;
	const struct ds_fence_wait *wait;
};

/**
 * struct kstall_drm_entity - rest of drm_sched_entity_kill
 * @id: identity of the task that flushes or kills
 * @ring: the entity's
 * @fence_ctx: context of its jobs' finished fences
 * @jobs_lost: jobs that were queued and will not run
 */
struct kstall_drm_entity {
	struct kstall_id id;
	const char *ring;
	u64 fence_ctx;
	u32 jobs_lost;
};

/**
 * struct kstall_drm_submit - rest of drm_sched_submit_block
 * @job: the last job submitted; up to its priority
 * @total_ns: the whole ioctl
 * @ns: waited in, by DS_IN_*
 */
struct kstall_drm_submit {
	struct kstall_drm_job job;
	u64 total_ns;
	const u64 *ns;
};

/**
 * struct kstall_drm_bo - rest of ttm_bo_evict and ttm_bo_swap
 * @id: identity of the task that causes it
 * @owner: the task that created the buffer, zero if not known
 * @from: memory type it was in
 * @to: memory type it goes to
 * @out: swapped out, else in
 */
struct kstall_drm_bo {
	struct kstall_id id;
	struct kstall_who owner;
	u8 from;
	u8 to;
	bool out;
};

/* The job's name, after the identity, in every event about one. */
#define DS_JOB_FIELDS							\
	KSTALL_ID_FIELDS						\
	KSTALL_NAME_FIELD(ring)						\
	__field(u64, fence_ctx)						\
	__field(u64, fence_seqno)					\
	__field(u64, client_id)						\
	__field(u8, priority)

#define DS_JOB_ASSIGN(_j)						\
	do {								\
		KSTALL_ID_ASSIGN(&(_j)->id);				\
		KSTALL_NAME_ASSIGN(ring, (_j)->ring);			\
		__entry->fence_ctx = (_j)->fence_ctx;			\
		__entry->fence_seqno = (_j)->fence_seqno;		\
		__entry->client_id = (_j)->client_id;			\
		__entry->priority = (_j)->priority;			\
	} while (0)

#define DS_JOB_FMT	KSTALL_ID_FMT " ring=%s fence=%llu:%llu client_id=%llu priority=%s"
#define DS_JOB_ARGS							\
	KSTALL_ID_ARGS, __entry->ring, __entry->fence_ctx, __entry->fence_seqno, \
	__entry->client_id, ds_show_priority(__entry->priority)

/* Another job or fence in the event, @_p before each name. */
#define DS_RIVAL_FIELDS(_p)						\
	__field(u64, _p##_ctx)						\
	__field(u64, _p##_seqno)					\
	__field(bool, _p##_known)					\
	__field(u8, _p##_priority)					\
	__field(s32, _p##_pid)						\
	__field(s32, _p##_tgid)						\
	__array(char, _p##_comm, TASK_COMM_LEN)

#define DS_RIVAL_ASSIGN(_p, _r)						\
	do {								\
		__entry->_p##_ctx = (_r)->ctx;				\
		__entry->_p##_seqno = (_r)->seqno;			\
		__entry->_p##_known = (_r)->known;			\
		__entry->_p##_priority = (_r)->known ? (_r)->priority : DS_PRIO_UNKNOWN; \
		__entry->_p##_pid = (_r)->who.pid;			\
		__entry->_p##_tgid = (_r)->who.tgid;			\
		memcpy(__entry->_p##_comm, (_r)->who.comm, TASK_COMM_LEN); \
	} while (0)

#define DS_RIVAL_FMT(_p)						\
	_p "=%llu:%llu " _p "_known=%d " _p "_priority=%s " _p "_pid=%d " _p "_tgid=%d " \
	_p "_comm=%s"
#define DS_RIVAL_ARGS(_p)						\
	__entry->_p##_ctx, __entry->_p##_seqno, __entry->_p##_known,	\
	ds_show_priority(__entry->_p##_priority), __entry->_p##_pid,	\
	__entry->_p##_tgid, __entry->_p##_comm

#endif /* _DRM_SCHED_TRACE_EVENTS_TYPES */

#if !defined(_DRM_SCHED_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DRM_SCHED_TRACE_EVENTS_H

#include <linux/tracepoint.h>

/**
 * drm_sched_job_dispatch - a job reaches the hardware
 *
 * Fires just before the driver's run_job(). wait_ns = hol_ns + dep_ns + ring_ns, to the
 * nanosecond. The identity is the task that submitted the job, often a submission thread of
 * the program.
 *
 * @dev: the GPU's BDF
 * @ring: name of the scheduler
 * @fence_ctx: context of the job's finished fence; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client (as in the process's fdinfo), 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low
 * @submit_ts: CLOCK_MONOTONIC in ns when the driver submitted it
 * @dispatch_ts: CLOCK_MONOTONIC in ns of this event
 * @wait_us: wait_ns in µs, rounded down
 * @wait_ns: from submission to dispatch
 * @hol_ns: of it behind earlier jobs of the same entity (queue)
 * @dep_ns: of it held by fences it depended on, as far as the scheduler waited for them
 * @ring_ns: the rest: ready, but the ring had no room or its worker did not come
 * @deps: fences it depended on when it was submitted, at most 256 counted; not those a driver
 *	adds while the job is at the head
 * @depth: length of the longest chain of dependent, unfinished jobs that ends with it; 1: none
 * @job_count: jobs left in the entity's queue
 * @credits: what it takes of the limit
 * @in_flight: credits in use on the ring, this job included
 * @limit: the ring's credits
 * @gang_leader: depends on another job being scheduled, which amdgpu uses for gangs
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, job, credits, priority, struct.
 * Parameter: drm_sched_job_dispatch_min_ns.
 * Overhead: per job two tracepoint probes, one function entry and one table record; per
 * dependency a look-up, and per wait for one a tracepoint probe and a function entry.
 * Reach: 6.1 and later, drivers on gpu_sched: amdgpu, xe, nouveau (6.12 and later), amdxdna and
 * other accelerators, lima, panfrost, v3d, etnaviv. Not NVIDIA's own driver, i915, user-mode
 * queues, nor what amdgpu submits directly. Jobs submitted after enabling; others
 * count as unmatched in the status file. Before 6.8 credits is 1 and the limit counts jobs;
 * client_id is 0 before 6.17 but in stable releases of 6.12. xe and nouveau have a ring for each
 * user queue: in_flight is that queue's, and the hardware's own queueing is in run_ns.
 */
KSTALL_TRACE_EVENT(drm_sched_job_dispatch,
	TP_PROTO(u64 wait_ns, u64 job, u32 credits, int priority, const struct kstall_drm_job *j),
	TP_ARGS(wait_ns, job, credits, priority, j),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(u64, submit_ts)
		__field(u64, dispatch_ts)
		__field(u64, wait_us)
		__field(u64, wait_ns)
		__field(u64, hol_ns)
		__field(u64, dep_ns)
		__field(u64, ring_ns)
		__field(u32, deps)
		__field(u32, depth)
		__field(u32, job_count)
		__field(u32, credits)
		__field(u32, in_flight)
		__field(u32, limit)
		__field(bool, gang_leader)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(j);
		__entry->submit_ts = j->submit_ns;
		__entry->dispatch_ts = j->dispatch_ns;
		__entry->wait_us = div_u64(wait_ns, NSEC_PER_USEC);
		__entry->wait_ns = wait_ns;
		__entry->hol_ns = j->hol_ns;
		__entry->dep_ns = j->dep_ns;
		__entry->ring_ns = j->ring_ns;
		__entry->deps = j->deps;
		__entry->depth = j->depth;
		__entry->job_count = j->job_count;
		__entry->credits = credits;
		__entry->in_flight = j->in_flight;
		__entry->limit = j->limit;
		__entry->gang_leader = j->gang_leader;
		__entry->duration_ns = wait_ns;
	),
	TP_printk(DS_JOB_FMT " submit_ts=%llu dispatch_ts=%llu wait_us=%llu wait_ns=%llu hol_ns=%llu dep_ns=%llu ring_ns=%llu deps=%u depth=%u job_count=%u credits=%u in_flight=%u limit=%u gang_leader=%d duration_ns=%llu",
		  DS_JOB_ARGS, __entry->submit_ts, __entry->dispatch_ts, __entry->wait_us,
		  __entry->wait_ns, __entry->hol_ns, __entry->dep_ns, __entry->ring_ns,
		  __entry->deps, __entry->depth, __entry->job_count, __entry->credits,
		  __entry->in_flight, __entry->limit, __entry->gang_leader,
		  __entry->duration_ns)
);

/**
 * drm_sched_job_complete - a job is over, however it ended
 *
 * Once a job: when its finished fence is about to be signaled. total_ns = wait_ns + hwq_ns +
 * run_ns, to the nanosecond. A job that was killed or cancelled before it ran has
 * dispatch_ts=0 and wait_ns=total_ns.
 *
 * @dev: the GPU's BDF
 * @ring: name of the scheduler
 * @fence_ctx: context of the job's finished fence; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client, 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low
 * @result: 0, or the errno the fence reports: -ESRCH (-3) killed with its entity, -ECANCELED
 *	(-125) skipped because its entity is guilty or given up in a reset, -ETIME (-62) after a
 *	hang, or the driver's own
 * @total_ns: from submission to here
 * @wait_ns: of it until dispatch
 * @hwq_ns: of it on the hardware behind the ring's earlier job
 * @run_ns: the rest: the hardware worked on it
 * @submit_ts: CLOCK_MONOTONIC in ns of the submission
 * @dispatch_ts: CLOCK_MONOTONIC in ns of the dispatch, 0: it never was
 * @credits: what it took of the ring's limit
 * @duration_ns: total_ns under the name common to all events
 *
 * Arguments: total_ns, job, credits, result, struct.
 * Parameter: drm_sched_job_complete_min_ns.
 * Overhead: as drm_sched_job_dispatch; armed together they cost what one does, and an event.
 * Reach: as drm_sched_job_dispatch. hwq_ns and run_ns take the ring's jobs to end in order.
 * Fires in the GPU's interrupt for most drivers.
 */
KSTALL_TRACE_EVENT(drm_sched_job_complete,
	TP_PROTO(u64 total_ns, u64 job, u32 credits, int result, const struct kstall_drm_job *j),
	TP_ARGS(total_ns, job, credits, result, j),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(s32, result)
		__field(u64, total_ns)
		__field(u64, wait_ns)
		__field(u64, hwq_ns)
		__field(u64, run_ns)
		__field(u64, submit_ts)
		__field(u64, dispatch_ts)
		__field(u32, credits)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(j);
		__entry->result = result;
		__entry->total_ns = total_ns;
		__entry->wait_ns = j->wait_ns;
		__entry->hwq_ns = j->hwq_ns;
		__entry->run_ns = j->run_ns;
		__entry->submit_ts = j->submit_ns;
		__entry->dispatch_ts = j->dispatch_ns;
		__entry->credits = credits;
		__entry->duration_ns = total_ns;
	),
	TP_printk(DS_JOB_FMT " result=%d total_ns=%llu wait_ns=%llu hwq_ns=%llu run_ns=%llu submit_ts=%llu dispatch_ts=%llu credits=%u duration_ns=%llu",
		  DS_JOB_ARGS, __entry->result, __entry->total_ns, __entry->wait_ns,
		  __entry->hwq_ns, __entry->run_ns, __entry->submit_ts, __entry->dispatch_ts,
		  __entry->credits, __entry->duration_ns)
);

/**
 * drm_sched_dep_wait - one fence really held a job
 *
 * The scheduler looks at the dependencies of the job at an entity's head one at a time; this
 * fires when one that it had to wait for is signaled. Dependencies that were signaled already,
 * or whose time ran while another held the job, have no event.
 *
 * @dev: the GPU's BDF, of the job that was held; so is everything up to result
 * @ring: name of its scheduler
 * @fence_ctx: context of its finished fence; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client, 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low
 * @result: 0, or -ECANCELED (-125): the job was killed while the fence held it
 * @wait_ns: how long
 * @dep_ctx: context of the fence; of a job's fence always the finished one, so that it is that
 *	job's id
 * @dep_seqno: its sequence number
 * @dep_known: it is a job whose submission was seen; the following four are its
 * @dep_priority: kernel, high, normal, low, or - if not known
 * @dep_pid: the thread that submitted it
 * @dep_tgid: its process
 * @dep_comm: its name
 * @dep_driver: the fence's driver; drm_sched for jobs
 * @dep_timeline: the fence's timeline; the ring for jobs
 * @dep_pipelined: a job of the same ring: waited only until that was dispatched
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, job, dep_job, result, struct.
 * Parameter: drm_sched_dep_wait_min_ns.
 * Overhead: as drm_sched_job_dispatch; nothing for jobs without dependencies.
 * Reach: as drm_sched_job_dispatch. Of a fence array no member is named; a node of a chain
 * stands for its fence.
 */
KSTALL_TRACE_EVENT(drm_sched_dep_wait,
	TP_PROTO(u64 wait_ns, u64 job, u64 dep_job, int result, const struct kstall_drm_dep *d),
	TP_ARGS(wait_ns, job, dep_job, result, d),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(s32, result)
		__field(u64, wait_ns)
		DS_RIVAL_FIELDS(dep)
		KSTALL_NAME_FIELD(dep_driver)
		KSTALL_NAME_FIELD(dep_timeline)
		__field(bool, dep_pipelined)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(&d->job);
		__entry->result = result;
		__entry->wait_ns = wait_ns;
		DS_RIVAL_ASSIGN(dep, d->dep);
		KSTALL_NAME_ASSIGN(dep_driver, d->driver);
		KSTALL_NAME_ASSIGN(dep_timeline, d->timeline);
		__entry->dep_pipelined = d->pipelined;
		__entry->duration_ns = wait_ns;
	),
	TP_printk(DS_JOB_FMT " result=%d wait_ns=%llu " DS_RIVAL_FMT("dep")
		  " dep_driver=%s dep_timeline=%s dep_pipelined=%d duration_ns=%llu",
		  DS_JOB_ARGS, __entry->result, __entry->wait_ns, DS_RIVAL_ARGS(dep),
		  __entry->dep_driver, __entry->dep_timeline, __entry->dep_pipelined,
		  __entry->duration_ns)
);

/**
 * drm_sched_prio_inversion - a job waited for one of lower priority
 *
 * Once a job. cause=credits: it was at its queue's head with its dependencies met, a job of
 * lower priority was dispatched to the ring after that, and then there was no room for this
 * one; fires when it is dispatched at last. cause=dependency: the fence that held it was a job
 * of lower priority; fires when that is signaled.
 *
 * @dev: the GPU's BDF, of the job that waited; so is everything up to cause
 * @ring: name of its scheduler
 * @fence_ctx: context of its finished fence; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client, 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low
 * @cause: credits, dependency
 * @wait_ns: how long it was ready, or held by the other job
 * @low_ctx: context of the other job's finished fence
 * @low_seqno: its sequence number
 * @low_known: 1
 * @low_priority: its priority
 * @low_pid: the thread that submitted it
 * @low_tgid: its process
 * @low_comm: its name
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, job, low_job, cause, struct.
 * Parameter: drm_sched_prio_inversion_min_ns, 100000 (100 µs) if not set.
 * Overhead: as drm_sched_job_dispatch.
 * Reach: as drm_sched_job_dispatch. The scheduler takes queues strictly by priority unless it
 * is the FAIR policy of 7.2, so cause=credits comes from queues that change priority after
 * their ring was chosen, from jobs that become ready while another is being prepared, and from
 * FAIR. A job that finds the ring full of what came before it was ready is not inverted.
 */
KSTALL_TRACE_EVENT(drm_sched_prio_inversion,
	TP_PROTO(u64 wait_ns, u64 job, u64 low_job, int cause,
		 const struct kstall_drm_inversion *v),
	TP_ARGS(wait_ns, job, low_job, cause, v),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(u8, cause)
		__field(u64, wait_ns)
		DS_RIVAL_FIELDS(low)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(&v->job);
		__entry->cause = cause;
		__entry->wait_ns = wait_ns;
		DS_RIVAL_ASSIGN(low, v->rival);
		__entry->duration_ns = wait_ns;
	),
	TP_printk(DS_JOB_FMT " cause=%s wait_ns=%llu " DS_RIVAL_FMT("low") " duration_ns=%llu",
		  DS_JOB_ARGS, ds_show_invert(__entry->cause), __entry->wait_ns,
		  DS_RIVAL_ARGS(low), __entry->duration_ns)
);

/**
 * drm_sched_job_timeout - a job took longer than its ring allows
 *
 * Fires when the driver's handler returns. The identity is the task that submitted the job.
 *
 * @dev: the GPU's BDF
 * @ring: name of the scheduler
 * @fence_ctx: context of the job's finished fence; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client, 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low, or - if its submission was not seen; then pid and tgid
 *	are 0
 * @age_ns: since its dispatch, 0 if that was not seen
 * @handler_ns: how long the driver took to deal with it, resets included
 * @duration_ns: handler_ns under the name common to all events
 *
 * Arguments: handler_ns, job, credits, 0, struct.
 * Parameter: drm_sched_job_timeout_min_ns.
 * Overhead: as drm_sched_job_dispatch, whose hooks it needs to know the job.
 * Reach: as drm_sched_job_dispatch. What the handler decided is not visible; whether it reset
 * the ring says drm_sched_reset. The job is the oldest on the ring, as the scheduler has it.
 */
KSTALL_TRACE_EVENT(drm_sched_job_timeout,
	TP_PROTO(u64 handler_ns, u64 job, u32 credits, int none, const struct kstall_drm_job *j),
	TP_ARGS(handler_ns, job, credits, none, j),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(u64, age_ns)
		__field(u64, handler_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(j);
		__entry->age_ns = j->age_ns;
		__entry->handler_ns = handler_ns;
		__entry->duration_ns = handler_ns;
	),
	TP_printk(DS_JOB_FMT " age_ns=%llu handler_ns=%llu duration_ns=%llu",
		  DS_JOB_ARGS, __entry->age_ns, __entry->handler_ns, __entry->duration_ns)
);

/**
 * drm_sched_reset - a ring was stopped and started again
 *
 * From the driver's drm_sched_stop() to its drm_sched_start(), once a ring. The identity is the
 * task that submitted the job the driver took for the cause; pid 0 if there is none.
 *
 * @dev: the GPU's BDF
 * @ring: name of the scheduler
 * @fence_ctx: context of the hung job's finished fence, 0: none named
 * @fence_seqno: its sequence number
 * @client_id: DRM client of the hung job, 0 if the kernel or driver does not say
 * @priority: of the hung job: kernel, high, normal, low, or - if it is not known
 * @reset_ns: how long
 * @jobs: jobs on the ring when it was stopped, as far as their dispatch was seen
 * @guilty: the driver blamed the job (drm_sched_increase_karma())
 * @duration_ns: reset_ns under the name common to all events
 *
 * Arguments: reset_ns, job, jobs, guilty, struct.
 * Parameter: drm_sched_reset_min_ns.
 * Overhead: as drm_sched_job_dispatch, whose hooks it needs to know the job.
 * Reach: drivers that reset through drm_sched_stop(): amdgpu, lima, panfrost, v3d, etnaviv and
 * others; not xe, which has its own way (its drm_sched_job_timeout comes).
 */
KSTALL_TRACE_EVENT(drm_sched_reset,
	TP_PROTO(u64 reset_ns, u64 job, u32 jobs, int guilty, const struct kstall_drm_job *j),
	TP_ARGS(reset_ns, job, jobs, guilty, j),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(u64, reset_ns)
		__field(u32, jobs)
		__field(bool, guilty)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(j);
		__entry->reset_ns = reset_ns;
		__entry->jobs = jobs;
		__entry->guilty = guilty;
		__entry->duration_ns = reset_ns;
	),
	TP_printk(DS_JOB_FMT " reset_ns=%llu jobs=%u guilty=%d duration_ns=%llu",
		  DS_JOB_ARGS, __entry->reset_ns, __entry->jobs, __entry->guilty,
		  __entry->duration_ns)
);

/**
 * drm_sched_entity_migrate - an entity's next job goes to another ring than its last
 *
 * The scheduler moves an entity with more than one ring to choose from when it is idle.
 *
 * @dev: the GPU's BDF
 * @ring: the ring it goes to
 * @fence_ctx: context of the first job's finished fence there; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client, 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low
 * @from_ring: the ring it comes from
 *
 * Arguments: 0, job, 0, 0, struct.
 * Overhead: per job one tracepoint probe and a look-up.
 * Reach: as drm_sched_job_dispatch; not xe and nouveau, whose entities have a ring of their own.
 * An entity is known from its first job after enabling.
 */
KSTALL_TRACE_EVENT(drm_sched_entity_migrate,
	TP_PROTO(u64 none, u64 job, u64 count, int result, const struct kstall_drm_move *m),
	TP_ARGS(none, job, count, result, m),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		KSTALL_NAME_FIELD(from_ring)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(&m->job);
		KSTALL_NAME_ASSIGN(from_ring, m->from_ring);
	),
	TP_printk(DS_JOB_FMT " from_ring=%s", DS_JOB_ARGS, __entry->from_ring)
);

/**
 * drm_sched_entity_kill - a task waited for an entity to become empty, or jobs were killed with it
 *
 * Only if it took sleeping or lost jobs: an idle entity's end is silent. The identity is the
 * task that flushes or ends the entity, usually the exiting process.
 *
 * @dev: empty
 * @ring: the ring it was on
 * @fence_ctx: context of its jobs' finished fences
 * @op: flush (wait until its queue is empty), fini (its end)
 * @duration_ns: how long
 * @jobs_lost: jobs that were queued and will not run; each has its drm_sched_job_complete
 *
 * Arguments: duration_ns, fence_ctx, jobs_lost, op, struct.
 * Parameter: drm_sched_entity_kill_min_ns.
 * Overhead: none but when entities end.
 * Reach: 6.1 and later, drivers on gpu_sched.
 */
KSTALL_TRACE_EVENT(drm_sched_entity_kill,
	TP_PROTO(u64 duration_ns, u64 fence_ctx, u32 jobs_lost, int op,
		 const struct kstall_drm_entity *ent),
	TP_ARGS(duration_ns, fence_ctx, jobs_lost, op, ent),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(ring)
		__field(u64, fence_ctx)
		__field(u8, op)
		__field(u64, duration_ns)
		__field(u32, jobs_lost)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&ent->id);
		KSTALL_NAME_ASSIGN(ring, ent->ring);
		__entry->fence_ctx = fence_ctx;
		__entry->op = op;
		__entry->duration_ns = duration_ns;
		__entry->jobs_lost = jobs_lost;
	),
	TP_printk(KSTALL_ID_FMT " ring=%s fence_ctx=%llu op=%s duration_ns=%llu jobs_lost=%u",
		  KSTALL_ID_ARGS, __entry->ring, __entry->fence_ctx,
		  ds_show_entity_op(__entry->op), __entry->duration_ns, __entry->jobs_lost)
);

/**
 * drm_sched_submit_block - a task slept while it submitted jobs
 *
 * Fires at the end of the ioctl. blocked_ns = fence_ns + validate_ns + lock_ns; of waits inside
 * each other the outermost counts, so a fence waited for while a buffer is placed is validation.
 *
 * @dev: the GPU's BDF
 * @ring: of the last job submitted
 * @fence_ctx: context of its finished fence; with fence_seqno the job's id
 * @fence_seqno: its sequence number
 * @client_id: DRM client, 0 if the kernel or driver does not say
 * @priority: kernel, high, normal, low
 * @jobs: submitted in this ioctl
 * @total_ns: the whole ioctl
 * @blocked_ns: of it asleep in what follows
 * @fence_ns: waiting for fences
 * @validate_ns: in ttm_bo_validate(): room for buffers
 * @lock_ns: for reservation (ww_mutex) locks
 * @duration_ns: blocked_ns under the name common to all events
 *
 * Arguments: blocked_ns, job, jobs, 0, struct.
 * Parameter: drm_sched_submit_block_min_ns.
 * Overhead: entry and return of every DRM ioctl, wait for a fence, buffer validation and
 * contended or not, reservation lock.
 * Reach: drivers on gpu_sched that submit in an ioctl; amdgpu, xe, nouveau do. Not counted:
 * page faults, other mutexes of the driver, memory reclaim.
 */
KSTALL_TRACE_EVENT(drm_sched_submit_block,
	TP_PROTO(u64 blocked_ns, u64 job, u32 jobs, int none, const struct kstall_drm_submit *s),
	TP_ARGS(blocked_ns, job, jobs, none, s),
	TP_STRUCT__entry(
		DS_JOB_FIELDS
		__field(u32, jobs)
		__field(u64, total_ns)
		__field(u64, blocked_ns)
		__field(u64, fence_ns)
		__field(u64, validate_ns)
		__field(u64, lock_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(&s->job);
		__entry->jobs = jobs;
		__entry->total_ns = s->total_ns;
		__entry->blocked_ns = blocked_ns;
		__entry->fence_ns = s->ns[DS_IN_FENCE];
		__entry->validate_ns = s->ns[DS_IN_VALIDATION];
		__entry->lock_ns = s->ns[DS_IN_LOCK];
		__entry->duration_ns = blocked_ns;
	),
	TP_printk(DS_JOB_FMT " jobs=%u total_ns=%llu blocked_ns=%llu fence_ns=%llu validate_ns=%llu lock_ns=%llu duration_ns=%llu",
		  DS_JOB_ARGS, __entry->jobs, __entry->total_ns, __entry->blocked_ns,
		  __entry->fence_ns, __entry->validate_ns, __entry->lock_ns,
		  __entry->duration_ns)
);

/**
 * dma_fence_wait - a task slept until a fence was signaled
 *
 * Any driver's fence. One event a wait: one for several fences ends up in waits for each, and
 * only the outermost has an event.
 *
 * @dev: empty
 * @kind: single, any (of several), resv (all of a buffer), syncobj (the DRM ioctls)
 * @wait_ns: how long
 * @result: what the function returned: jiffies left or, for syncobj, 0; 0 of a timeout otherwise; a
 *	negative errno
 * @fence_ctx: context of the fence, of several the first that was not signaled; 0: none
 * @fence_seqno: its sequence number
 * @driver: its driver; drm_sched for jobs
 * @timeline: its timeline; the ring for jobs
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, fence, 0, result, struct.
 * Parameter: dma_fence_wait_min_ns.
 * Overhead: entry and return of the waits for fences that are not signaled.
 * Reach: 6.1 and later, every driver that waits through dma_fence_wait_timeout() and its
 * like, i915 and virtio-gpu included. Not poll() on a sync_file or dma_buf, which waits elsewhere.
 */
KSTALL_TRACE_EVENT(dma_fence_wait,
	TP_PROTO(u64 wait_ns, u64 fence, u64 none, long result,
		 const struct kstall_drm_wait *w),
	TP_ARGS(wait_ns, fence, none, result, w),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u8, kind)
		__field(u64, wait_ns)
		__field(s64, result)
		__field(u64, fence_ctx)
		__field(u64, fence_seqno)
		KSTALL_NAME_FIELD(driver)
		KSTALL_NAME_FIELD(timeline)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&w->id);
		__entry->kind = w->wait->kind;
		__entry->wait_ns = wait_ns;
		__entry->result = result;
		__entry->fence_ctx = w->wait->ctx;
		__entry->fence_seqno = w->wait->seqno;
		KSTALL_NAME_ASSIGN(driver, w->wait->driver);
		KSTALL_NAME_ASSIGN(timeline, w->wait->timeline);
		__entry->duration_ns = wait_ns;
	),
	TP_printk(KSTALL_ID_FMT " kind=%s wait_ns=%llu result=%lld fence=%llu:%llu driver=%s timeline=%s duration_ns=%llu",
		  KSTALL_ID_ARGS, ds_show_wait(__entry->kind), __entry->wait_ns,
		  __entry->result, __entry->fence_ctx, __entry->fence_seqno,
		  __entry->driver, __entry->timeline, __entry->duration_ns)
);

/**
 * ttm_bo_evict - a buffer was pushed out of its memory
 *
 * The identity is the task that needed the room, which may be a kworker or kswapd; the owner is the
 * task that created the buffer.
 *
 * @dev: the GPU's BDF
 * @owner_pid: the thread that created the buffer, 0: not known (before enabling)
 * @owner_tgid: its process
 * @owner_comm: its name
 * @bytes: size of the buffer
 * @from: memory it was in: system, tt (mapped system memory), vram, or the driver's priv0 …
 * @to: memory it goes to
 * @duration_ns: of the move, as far as the task waited for it; drivers copy in a job
 * @result: 0 or a negative errno
 *
 * Arguments: duration_ns, 0, bytes, result, struct.
 * Parameter: ttm_bo_evict_min_ns.
 * Overhead: entry and return of every move of a buffer, entry of its creation and end.
 * Reach: 6.1 and later, drivers on TTM: amdgpu, xe, nouveau, radeon, qxl, vmwgfx; bochs on 6.1 and
 * 6.12. Not buffers whose content the driver throws away instead of moving it.
 */
KSTALL_TRACE_EVENT(ttm_bo_evict,
	TP_PROTO(u64 duration_ns, u64 none, u64 bytes, int result, const struct kstall_drm_bo *bo),
	TP_ARGS(duration_ns, none, bytes, result, bo),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(s32, owner_pid)
		__field(s32, owner_tgid)
		__array(char, owner_comm, TASK_COMM_LEN)
		__field(u64, bytes)
		__field(u8, from)
		__field(u8, to)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&bo->id);
		__entry->owner_pid = bo->owner.pid;
		__entry->owner_tgid = bo->owner.tgid;
		memcpy(__entry->owner_comm, bo->owner.comm, TASK_COMM_LEN);
		__entry->bytes = bytes;
		__entry->from = bo->from;
		__entry->to = bo->to;
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(KSTALL_ID_FMT " owner_pid=%d owner_tgid=%d owner_comm=%s bytes=%llu from=%s to=%s duration_ns=%llu result=%d",
		  KSTALL_ID_ARGS, __entry->owner_pid, __entry->owner_tgid,
		  __entry->owner_comm, __entry->bytes, ds_show_mem(__entry->from),
		  ds_show_mem(__entry->to), __entry->duration_ns, __entry->result)
);

/**
 * ttm_bo_swap - a buffer's pages were swapped out to or in from shmem
 *
 * The identity is the task that caused it, often kswapd or a task in reclaim; swapping in, the
 * task that needs the buffer.
 *
 * @dev: the GPU's BDF; empty when swapping in
 * @owner_pid: the thread that created the buffer, 0: not known (before enabling)
 * @owner_tgid: its process
 * @owner_comm: its name
 * @out: 1 out, 0 in
 * @bytes: swapped
 * @from: memory it was in before, swapping out
 * @duration_ns: how long it took
 * @result: 0 or a negative errno
 *
 * Arguments: duration_ns, 0, bytes, result, struct.
 * Parameter: ttm_bo_swap_min_ns.
 * Overhead: as ttm_bo_evict, and entry and return of each buffer's swapping.
 * Reach: 6.1 and later, drivers on TTM; not xe's own shrinker (6.15 and later).
 */
KSTALL_TRACE_EVENT(ttm_bo_swap,
	TP_PROTO(u64 duration_ns, u64 none, u64 bytes, int result, const struct kstall_drm_bo *bo),
	TP_ARGS(duration_ns, none, bytes, result, bo),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(s32, owner_pid)
		__field(s32, owner_tgid)
		__array(char, owner_comm, TASK_COMM_LEN)
		__field(bool, out)
		__field(u64, bytes)
		__field(u8, from)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&bo->id);
		__entry->owner_pid = bo->owner.pid;
		__entry->owner_tgid = bo->owner.tgid;
		memcpy(__entry->owner_comm, bo->owner.comm, TASK_COMM_LEN);
		__entry->out = bo->out;
		__entry->bytes = bytes;
		__entry->from = bo->from;
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(KSTALL_ID_FMT " owner_pid=%d owner_tgid=%d owner_comm=%s out=%d bytes=%llu from=%s duration_ns=%llu result=%d",
		  KSTALL_ID_ARGS, __entry->owner_pid, __entry->owner_tgid,
		  __entry->owner_comm, __entry->out, __entry->bytes,
		  ds_show_mem(__entry->from), __entry->duration_ns, __entry->result)
);

#endif /* _DRM_SCHED_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE drm_sched_trace_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
