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

/* DS_PRIO_*; 255: of a job that is not known */
#define DS_PRIO_UNKNOWN	255
#define ds_show_priority(val)						\
	__print_symbolic(val, { 0, "kernel" }, { 1, "high" }, { 2, "normal" }, \
			 { 3, "low" }, { 255, "-" })

/**
 * struct kstall_drm_job - a job; rest of drm_sched_job_dispatch and drm_sched_job_complete
 * @id: identity, the submitter's
 * @ring: name of its scheduler
 * @fence_ctx: context of its finished fence
 * @fence_seqno: sequence number of its finished fence
 * @client_id: DRM client
 * @priority: DS_PRIO_*
 * @gang_leader: depends on another job being scheduled
 * @submit_ns: when it was submitted
 * @dispatch_ns: when it was dispatched, 0 if never
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
	u32 deps;
	u32 depth;
	u32 credits;
	u32 job_count;
	u32 in_flight;
	u32 limit;
};

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

/* The job's name, after the identity, in every event about one. */
#define DS_JOB_FIELDS(_j)						\
	KSTALL_ID_FIELDS(&(_j)->id)					\
	__string(ring, (_j)->ring ?: "")				\
	__field(u64, fence_ctx)						\
	__field(u64, fence_seqno)					\
	__field(u64, client_id)						\
	__field(u8, priority)

#define DS_JOB_ASSIGN(_j)						\
	do {								\
		KSTALL_ID_ASSIGN(&(_j)->id);				\
		kstall_assign_str(ring, (_j)->ring ?: "");		\
		__entry->fence_ctx = (_j)->fence_ctx;			\
		__entry->fence_seqno = (_j)->fence_seqno;		\
		__entry->client_id = (_j)->client_id;			\
		__entry->priority = (_j)->priority;			\
	} while (0)

#define DS_JOB_FMT	KSTALL_ID_FMT " ring=%s fence=%llu:%llu client_id=%llu priority=%s"
#define DS_JOB_ARGS							\
	KSTALL_ID_ARGS, __get_str(ring), __entry->fence_ctx, __entry->fence_seqno, \
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
 * @client_id: DRM client (as in the process's fdinfo), 0 if the kernel or driver does not tell
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
 *
 * Arguments: wait_ns, job, credits, priority, hol_ns, dep_ns, ring_ns, struct.
 * Parameter: drm_sched_job_dispatch_min_ns.
 * Overhead: per job two tracepoint probes, one function entry and one table record; per
 * dependency a look-up, and per wait for one a tracepoint probe and a function entry.
 * Reach: 6.1 and later, drivers on gpu_sched: amdgpu, xe, nouveau (6.12 and later), amdxdna and
 * other accelerators, lima, panfrost, v3d, etnaviv and others on other machines. Not NVIDIA's own driver, i915,
 * user-mode queues, nor what amdgpu submits directly. Jobs submitted after enabling; others
 * count as unmatched in the status file. Before 6.8 credits is 1 and the limit counts jobs;
 * client_id is 0 before 6.17 but in stable releases of 6.12. xe and nouveau have a ring for each
 * user queue: in_flight is that queue's, and the hardware's own queueing is in run_ns.
 */
KSTALL_TRACE_EVENT(drm_sched_job_dispatch,
	TP_PROTO(u64 wait_ns, u64 job, u32 credits, int priority, u64 hol_ns, u64 dep_ns,
		 u64 ring_ns, const struct kstall_drm_job *j),
	TP_ARGS(wait_ns, job, credits, priority, hol_ns, dep_ns, ring_ns, j),
	TP_STRUCT__entry(
		DS_JOB_FIELDS(j)
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
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(j);
		__entry->submit_ts = j->submit_ns;
		__entry->dispatch_ts = j->dispatch_ns;
		__entry->wait_us = div_u64(wait_ns, NSEC_PER_USEC);
		__entry->wait_ns = wait_ns;
		__entry->hol_ns = hol_ns;
		__entry->dep_ns = dep_ns;
		__entry->ring_ns = ring_ns;
		__entry->deps = j->deps;
		__entry->depth = j->depth;
		__entry->job_count = j->job_count;
		__entry->credits = credits;
		__entry->in_flight = j->in_flight;
		__entry->limit = j->limit;
		__entry->gang_leader = j->gang_leader;
	),
	TP_printk(DS_JOB_FMT " submit_ts=%llu dispatch_ts=%llu wait_us=%llu wait_ns=%llu hol_ns=%llu dep_ns=%llu ring_ns=%llu deps=%u depth=%u job_count=%u credits=%u in_flight=%u limit=%u gang_leader=%d",
		  DS_JOB_ARGS, __entry->submit_ts, __entry->dispatch_ts, __entry->wait_us,
		  __entry->wait_ns, __entry->hol_ns, __entry->dep_ns, __entry->ring_ns,
		  __entry->deps, __entry->depth, __entry->job_count, __entry->credits,
		  __entry->in_flight, __entry->limit, __entry->gang_leader)
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
 * @client_id: DRM client, 0 if the kernel or driver does not tell
 * @priority: kernel, high, normal, low
 * @result: 0, or the errno the fence reports: -ESRCH (-3) killed with its entity, -ECANCELED
 *	(-125) skipped because its entity is guilty, -ETIME or -ETIMEDOUT after a hang, or the driver's own
 * @total_ns: from submission to here
 * @wait_ns: of it until dispatch
 * @hwq_ns: of it on the hardware behind the ring's earlier job
 * @run_ns: the rest: the hardware worked on it
 * @submit_ts: CLOCK_MONOTONIC in ns of the submission
 * @dispatch_ts: CLOCK_MONOTONIC in ns of the dispatch, 0: it never was
 * @credits: what it took of the ring's limit
 *
 * Arguments: total_ns, job, credits, result, wait_ns, hwq_ns, run_ns, struct.
 * Parameter: drm_sched_job_complete_min_ns.
 * Overhead: as drm_sched_job_dispatch; armed together they cost what one does, and an event.
 * Reach: as drm_sched_job_dispatch. hwq_ns and run_ns take the ring's jobs to end in order. Fires in
 * the GPU's interrupt for most drivers.
 */
KSTALL_TRACE_EVENT(drm_sched_job_complete,
	TP_PROTO(u64 total_ns, u64 job, u32 credits, int result, u64 wait_ns, u64 hwq_ns,
		 u64 run_ns, const struct kstall_drm_job *j),
	TP_ARGS(total_ns, job, credits, result, wait_ns, hwq_ns, run_ns, j),
	TP_STRUCT__entry(
		DS_JOB_FIELDS(j)
		__field(s32, result)
		__field(u64, total_ns)
		__field(u64, wait_ns)
		__field(u64, hwq_ns)
		__field(u64, run_ns)
		__field(u64, submit_ts)
		__field(u64, dispatch_ts)
		__field(u32, credits)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(j);
		__entry->result = result;
		__entry->total_ns = total_ns;
		__entry->wait_ns = wait_ns;
		__entry->hwq_ns = hwq_ns;
		__entry->run_ns = run_ns;
		__entry->submit_ts = j->submit_ns;
		__entry->dispatch_ts = j->dispatch_ns;
		__entry->credits = credits;
	),
	TP_printk(DS_JOB_FMT " result=%d total_ns=%llu wait_ns=%llu hwq_ns=%llu run_ns=%llu submit_ts=%llu dispatch_ts=%llu credits=%u",
		  DS_JOB_ARGS, __entry->result, __entry->total_ns, __entry->wait_ns,
		  __entry->hwq_ns, __entry->run_ns, __entry->submit_ts, __entry->dispatch_ts,
		  __entry->credits)
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
 * @client_id: DRM client, 0 if the kernel or driver does not tell
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
		DS_JOB_FIELDS(&d->job)
		__field(s32, result)
		__field(u64, wait_ns)
		DS_RIVAL_FIELDS(dep)
		__string(dep_driver, d->driver)
		__string(dep_timeline, d->timeline)
		__field(bool, dep_pipelined)
	),
	TP_fast_assign(
		DS_JOB_ASSIGN(&d->job);
		__entry->result = result;
		__entry->wait_ns = wait_ns;
		DS_RIVAL_ASSIGN(dep, d->dep);
		kstall_assign_str(dep_driver, d->driver);
		kstall_assign_str(dep_timeline, d->timeline);
		__entry->dep_pipelined = d->pipelined;
	),
	TP_printk(DS_JOB_FMT " result=%d wait_ns=%llu " DS_RIVAL_FMT("dep") " dep_driver=%s dep_timeline=%s dep_pipelined=%d",
		  DS_JOB_ARGS, __entry->result, __entry->wait_ns, DS_RIVAL_ARGS(dep),
		  __get_str(dep_driver), __get_str(dep_timeline), __entry->dep_pipelined)
);

#endif /* _DRM_SCHED_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE drm_sched_trace_events
#define trace_event_reg kstall_class_reg	/* see kstall_class_reg() */
#include <trace/define_trace.h>
#undef trace_event_reg
