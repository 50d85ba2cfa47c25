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
 * @inverted: its priority inversion has had its event
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
 * @scheduled_ops: of a fence "scheduled", only compared
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

/* A job whose submission was not seen. */
#define DS_PRIO_UNKNOWN	255
#define DS_JOB_UNKNOWN							\
	((struct ds_job){ .cpu_node = NUMA_NO_NODE, .priority = DS_PRIO_UNKNOWN })

/**
 * struct ds_reset - a ring between drm_sched_stop() and drm_sched_start(); key: drm_gpu_scheduler
 * @start_ns: when it was stopped
 * @ctx: context of the job that is said to have hung, 0: none
 * @seqno: its sequence number
 * @job: what is known of it
 * @jobs: on the ring when it was stopped
 * @guilty: the driver blamed the job
 */
struct ds_reset {
	u64 start_ns;
	u64 ctx;
	u64 seqno;
	struct ds_job job;
	u32 jobs;
	bool guilty;
};

/* The ring an entity's last job went to; key: the entity's fence context. */
struct ds_home {
	const void *sched;
	char ring[DS_NAME_LEN];
};

/* An entity being flushed or finished; key: drm_sched_entity. Jobs queued when it was removed. */
struct ds_removed {
	u32 jobs;
};

/* What the submitter is in; the values index ds_submit's ns */
#define DS_IN_NOTHING		0
#define DS_IN_FENCE		1
#define DS_IN_VALIDATION	2
#define DS_IN_LOCK		3
#define DS_NR_IN		4

/**
 * struct ds_submit - a task in an ioctl of a DRM driver; key: task_struct
 * @ns: slept in DS_IN_*
 * @jobs: submitted so far
 * @ctx: the last of them
 * @seqno: its sequence number
 * @client_id: its DRM client
 * @priority: its
 * @inside: DS_IN_* it is in
 * @dev_node: NUMA node of the device
 * @dev: its name
 * @ring: the last job's
 */
struct ds_submit {
	u64 ns[DS_NR_IN];
	u32 jobs;
	u64 ctx;
	u64 seqno;
	u64 client_id;
	u8 priority;
	u8 inside;
	s32 dev_node;
	char dev[DS_NAME_LEN];
	char ring[DS_NAME_LEN];
};

/* dma_fence_wait: kind */
#define DS_WAIT_SINGLE		0
#define DS_WAIT_ANY		1
#define DS_WAIT_RESV		2
#define DS_WAIT_SYNCOBJ		3

/**
 * struct ds_fence_wait - a task waiting for fences; key: task_struct
 * @ctx: context of the first unsignaled fence
 * @seqno: its sequence number
 * @kind: DS_WAIT_*
 * @named: there was one
 * @driver: name of its driver
 * @timeline: name of its timeline
 */
struct ds_fence_wait {
	u64 ctx;
	u64 seqno;
	u8 kind;
	bool named;
	char driver[DS_NAME_LEN];
	char timeline[DS_NAME_LEN];
};

/* What the pair hooks carry from a function's entry to its return. */

/* drm_sched_job_timedout() */
struct ds_timeout_call {
	struct drm_gpu_scheduler *sched;
	u64 start_ns;
	u64 ctx;
	u64 seqno;
	struct ds_job job;
};

/* drm_sched_entity_flush(), drm_sched_entity_fini() */
struct ds_entity_call {
	struct drm_sched_entity *ent;
	u64 start_ns;
	unsigned long nvcsw;
	u8 op;
	char ring[DS_NAME_LEN];
};

/* drm_ioctl() */
struct ds_submit_call {
	u64 start_ns;
};

/* what a submitter may wait in */
struct ds_in_call {
	u64 start_ns;
	unsigned long nvcsw;
	bool counts;	/* for the submission the task is in */
	bool outermost;	/* wait for a fence */
};

/* ttm_bo_handle_move_mem() */
struct ds_move_call {
	struct ttm_buffer_object *bo;
	u64 start_ns;
	u8 from;
	u8 to;
};

/* swapping a buffer out or in */
struct ds_swap_call {
	struct ttm_buffer_object *bo;
	struct ttm_tt *tt;
	struct kstall_id id;
	struct kstall_who owner;
	u64 start_ns;
	u8 from;
};

struct kstall_drm_job;

extern struct kstall_inflight ds_resets;
extern struct kstall_inflight ds_homes;
extern struct kstall_inflight ds_entities;
extern struct kstall_inflight ds_submits;
extern struct kstall_inflight ds_fence_waits;
extern struct kstall_inflight ds_bos;
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
bool ds_job_peek(u64 key, struct ds_job *copy);
u32 ds_ring_jobs(const struct drm_gpu_scheduler *sched);

void ds_on_queue(void *hook, struct drm_sched_job *job, struct drm_sched_entity *ent);
void ds_on_run(void *hook, struct drm_sched_job *job, struct drm_sched_entity *ent);
void ds_on_block(void *hook, struct drm_sched_job *job, struct dma_fence *f);
bool ds_wakeup_enter(void *data, struct pt_regs *regs);
bool ds_clear_dep_enter(void *data, struct pt_regs *regs);
bool ds_finished_enter(void *data, struct pt_regs *regs);
bool ds_ring_fini_enter(void *data, struct pt_regs *regs);

/* reset.c */
void ds_migrate_check(const struct drm_sched_job *job, const struct ds_job *rec);

bool ds_timeout_enter(void *data, struct pt_regs *regs);
void ds_timeout_return(void *data, struct pt_regs *regs);
bool ds_stop_enter(void *data, struct pt_regs *regs);
bool ds_karma_enter(void *data, struct pt_regs *regs);
bool ds_start_enter(void *data, struct pt_regs *regs);
bool ds_flush_enter(void *data, struct pt_regs *regs);
bool ds_fini_enter(void *data, struct pt_regs *regs);
bool ds_remove_enter(void *data, struct pt_regs *regs);
void ds_entity_return(void *data, struct pt_regs *regs);

/* submit.c */
void ds_submit_note(const struct drm_sched_job *job, const struct ds_job *rec);

bool ds_ioctl_enter(void *data, struct pt_regs *regs);
void ds_ioctl_return(void *data, struct pt_regs *regs);
bool ds_validate_enter(void *data, struct pt_regs *regs);
bool ds_lock_enter(void *data, struct pt_regs *regs);
void ds_in_return(void *data, struct pt_regs *regs);
bool ds_wait_one_enter(void *data, struct pt_regs *regs);
bool ds_wait_any_enter(void *data, struct pt_regs *regs);
bool ds_wait_resv_enter(void *data, struct pt_regs *regs);
bool ds_wait_syncobj_enter(void *data, struct pt_regs *regs);
void ds_wait_return(void *data, struct pt_regs *regs);

/* ttm.c */
bool ds_owner_gone(const void *rec);
bool ds_bo_init_enter(void *data, struct pt_regs *regs);
bool ds_bo_release_enter(void *data, struct pt_regs *regs);
bool ds_move_enter(void *data, struct pt_regs *regs);
void ds_move_return(void *data, struct pt_regs *regs);
bool ds_swapout_enter(void *data, struct pt_regs *regs);
void ds_swapout_return(void *data, struct pt_regs *regs);
bool ds_swapin_enter(void *data, struct pt_regs *regs);
void ds_swapin_return(void *data, struct pt_regs *regs);

#endif /* _DRM_SCHED_TRACE_H */
