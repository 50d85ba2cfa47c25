/* SPDX-License-Identifier: GPL-2.0 */
/* drm_sched_trace.h - what the module's files share */
#ifndef _DRM_SCHED_TRACE_H
#define _DRM_SCHED_TRACE_H

#include <kstall/event.h>
#include <kstall/identity.h>

#include "drm_sched_compat.h"

#define DS_NAME_LEN	24

/**
 * struct ds_job - a job between its submission and its finished fence; key: ds_key() of that
 * @submit_ns: pushed by the driver into its entity's queue
 * @head_ns: the job before it was dispatched, so it came to the queue's head; 0: it was there
 * @woken_ns: its last dependency was signaled; 0: none has held it
 * @dep_ns: how long dependencies have held it
 * @dispatch_ns: given to the hardware; 0: not yet
 * @client_id: DRM client, 0 unknown
 * @who: the task that submitted it
 * @credits: what it takes of the ring's limit
 * @deps: fences it depended on when it was submitted
 * @depth: length of the longest chain of unfinished jobs that ends with it
 * @cpu_node: NUMA node it was submitted on
 * @priority: DS_PRIO_*
 * @gang_leader: depends on another job being scheduled, as the leader of a gang does
 * @inverted: its priority inversion has been told
 */
struct ds_job {
	u64 submit_ns;
	u64 head_ns;
	u64 woken_ns;
	u64 dep_ns;
	u64 dispatch_ns;
	u64 client_id;
	struct kstall_who who;
	u32 credits;
	u32 deps;
	u32 depth;
	s16 cpu_node;
	u8 priority;
	bool gang_leader;
	bool inverted;
};

/**
 * struct ds_rival - another job, as an event names it
 * @ctx: context of its finished fence
 * @seqno: sequence number of its finished fence
 * @who: the task that submitted it
 * @priority: DS_PRIO_*
 * @known: it is in the table; else only @ctx and @seqno hold
 */
struct ds_rival {
	u64 ctx;
	u64 seqno;
	struct kstall_who who;
	u8 priority;
	bool known;
};

/**
 * struct ds_wait - a job at its entity's head held by a fence; key: the entity's fence context
 * @since_ns: since when
 * @seqno: the job's
 * @scheduled_ops: what tells a fence "scheduled" from others, only compared
 * @dep: the fence; if it is a job's then that job
 * @driver: name of the fence's driver
 * @timeline: name of its timeline, a ring's for a job
 */
struct ds_wait {
	u64 since_ns;
	u64 seqno;
	const void *scheduled_ops;
	struct ds_rival dep;
	char driver[DS_NAME_LEN];
	char timeline[DS_NAME_LEN];
};

/**
 * struct ds_last - the last job of one priority given to a ring
 * @ns: when
 * @in_flight: credits in use right after
 * @job: which
 */
struct ds_last {
	u64 ns;
	u32 in_flight;
	struct ds_rival job;
};

/**
 * struct ds_ring - a scheduler; key: its drm_gpu_scheduler
 * @done_ns: its last job finished
 * @jobs: given to the hardware and not finished
 * @last: by priority
 */
struct ds_ring {
	u64 done_ns;
	u32 jobs;
	struct ds_last last[DS_NR_PRIO];
};

extern struct kstall_inflight ds_jobs;
extern struct kstall_inflight ds_waits;
extern struct kstall_inflight ds_rings;

/*
 * A job in one number. Contexts are counted up from boot on and never reused; two that differ by
 * a multiple of 2^32 would have to be alive together, at the same seqno, to be mistaken.
 */
static inline u64 ds_key(u64 ctx, u64 seqno)
{
	return ctx << 32 | (u32)seqno;
}

static inline struct kstall_id ds_id(const struct drm_gpu_scheduler *sched,
				     const struct kstall_who *who, s32 cpu_node)
{
	struct device *dev = sched->dev;

	return (struct kstall_id){ .dev = dev ? dev_name(dev) : NULL,
				   .dev_node = dev ? dev_to_node(dev) : NUMA_NO_NODE,
				   .cpu_node = cpu_node, .who = who };
}

/* job.c */
void ds_on_queue(void *hook, struct drm_sched_job *job, struct drm_sched_entity *ent);
void ds_on_run(void *hook, struct drm_sched_job *job, struct drm_sched_entity *ent);
void ds_on_block(void *hook, struct drm_sched_job *job, struct dma_fence *f);
bool ds_wakeup_enter(void *data, struct pt_regs *regs);
bool ds_finished_enter(void *data, struct pt_regs *regs);
bool ds_ring_fini_enter(void *data, struct pt_regs *regs);

#endif /* _DRM_SCHED_TRACE_H */
