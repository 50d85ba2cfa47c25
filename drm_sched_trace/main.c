// SPDX-License-Identifier: GPL-2.0
/*
 * drm_sched_trace - where GPU jobs wait
 *
 * Follows every job of a driver on the kernel's GPU scheduler (drivers/gpu/drm/scheduler) from
 * its submission to its end: behind other jobs of its queue, for fences, for the ring, on the
 * hardware.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in job.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KSTALL_MAIN
#include <kstall/core.h>

#include "drm_sched_trace.h"

#define CREATE_TRACE_POINTS
#include "drm_sched_trace_events.h"

KSTALL_PARAM_UINT(max_jobs, 32768, 64, 1 << 22,
		  "unfinished jobs that are followed at a time (64 to 4194304, default 32768)");

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

struct kstall_inflight ds_jobs = {
	.name = "jobs", .rec_size = sizeof(struct ds_job), .max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_waits = {
	.name = "waits", .capacity = 4096, .rec_size = sizeof(struct ds_wait),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_rings = {
	.name = "rings", .capacity = 4096, .rec_size = sizeof(struct ds_ring),
	.max_age_ns = 10 * MINUTE,
};

enum { T_JOBS, T_WAITS, T_RINGS };

static struct kstall_inflight *tables[] = {
	[T_JOBS] = &ds_jobs,
	[T_WAITS] = &ds_waits,
	[T_RINGS] = &ds_rings,
};

/* Ends before beginnings: what is armed first misses nothing of what is armed later. */
enum {
	H_RING_FINI, H_FINISHED, H_WAKEUP, H_BLOCK, H_RUN, H_QUEUE,
};

static struct kstall_hook hooks[] = {
	[H_RING_FINI] = KSTALL_ENTRY("ring_fini", "gpu_sched", "drm_sched_fini",
				     ds_ring_fini_enter),
	[H_FINISHED] = KSTALL_ENTRY("finished", "gpu_sched", "drm_sched_fence_finished",
				    ds_finished_enter),
	[H_WAKEUP] = KSTALL_ENTRY("wakeup", "gpu_sched", "drm_sched_entity_wakeup",
				  ds_wakeup_enter),
	[H_BLOCK] = KSTALL_TRACEPOINT("block", "gpu_sched",
				      "drm_sched_job_unschedulable|drm_sched_job_wait_dep",
				      ds_on_block),
	[H_RUN] = KSTALL_TRACEPOINT("run", "gpu_sched", "drm_sched_job_run|drm_run_job",
				    ds_on_run),
	[H_QUEUE] = KSTALL_TRACEPOINT("queue", "gpu_sched", "drm_sched_job_queue|drm_sched_job",
				      ds_on_queue),
};

/* Which part of its wait is whose needs them all. */
#define JOB_HOOKS	(BIT_ULL(H_FINISHED) | BIT_ULL(H_WAKEUP) | BIT_ULL(H_BLOCK) | \
			 BIT_ULL(H_RUN) | BIT_ULL(H_QUEUE))
#define JOB_TABLES	(BIT(T_JOBS) | BIT(T_WAITS) | BIT(T_RINGS))

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(drm_sched_job_dispatch, JOB_HOOKS, .optional = BIT_ULL(H_RING_FINI),
		     .tables = JOB_TABLES),
	KSTALL_EVENT(drm_sched_job_complete, JOB_HOOKS, .optional = BIT_ULL(H_RING_FINI),
		     .tables = JOB_TABLES),
	KSTALL_EVENT(drm_sched_dep_wait, JOB_HOOKS, .optional = BIT_ULL(H_RING_FINI),
		     .tables = JOB_TABLES),
};

KSTALL_MODULE("drm_sched", hooks, tables, events, NULL);

static int __init drm_sched_trace_init(void)
{
	ds_jobs.capacity = max_jobs;
	return kstall_init();
}

static void __exit drm_sched_trace_exit(void)
{
	kstall_exit();
}

module_init(drm_sched_trace_init);
module_exit(drm_sched_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_DESCRIPTION("kstall: where GPU jobs wait");
