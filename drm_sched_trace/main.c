// SPDX-License-Identifier: GPL-2.0
/*
 * drm_sched_trace - where GPU jobs wait
 *
 * Follows every job of a driver on the kernel's GPU scheduler (drivers/gpu/drm/scheduler) from
 * its submission to its end: behind other jobs of its queue, for fences, for the ring, on the
 * hardware; and what happens around them: hangs and resets, entities that move or are killed,
 * submitters and others that wait, buffers that push each other out of the GPU's memory.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in job.c,
 * reset.c, submit.c and ttm.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kstall/core.h>

#include "drm_sched_trace.h"

#define CREATE_TRACE_POINTS
#include "drm_sched_trace_events.h"

KSTALL_PARAM_UINT(max_jobs, 32768, 64, 1 << 22,
		  "unfinished jobs that are followed at a time (64 to 4194304, default 32768)");

KSTALL_PARAM_UINT(max_buffers, 65536, 64, 1 << 22,
		  "TTM buffers whose owners are known at a time (64 to 4194304, default 65536)");

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

struct kstall_inflight ds_jobs = {
	.name = "jobs", .rec_size = sizeof(struct ds_job), .raw = true, .max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_waits = {
	.name = "waits", .capacity = 4096, .rec_size = sizeof(struct ds_wait),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_rings = {
	.name = "rings", .capacity = 4096, .rec_size = sizeof(struct ds_ring),
	.max_age_ns = 10 * MINUTE,
};

struct kstall_inflight ds_resets = {
	.name = "resets", .capacity = 256, .rec_size = sizeof(struct ds_reset),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_homes = {
	.name = "homes", .capacity = 8192, .rec_size = sizeof(struct ds_home),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_entities = {
	.name = "entities", .capacity = 1024, .rec_size = sizeof(struct ds_removed),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_submits = {
	.name = "submits", .capacity = 2048, .rec_size = sizeof(struct ds_submit),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_fence_waits = {
	.name = "fence_waits", .capacity = 4096, .rec_size = sizeof(struct ds_fence_wait),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight ds_bos = {
	.name = "buffers", .rec_size = sizeof(struct kstall_who), .max_age_ns = 60 * MINUTE,
	.gone = ds_owner_gone,
};

enum {
	T_JOBS, T_WAITS, T_RINGS, T_RESETS, T_HOMES, T_ENTITIES, T_SUBMITS, T_FENCE_WAITS, T_BOS,
};

static struct kstall_inflight *tables[] = {
	[T_JOBS] = &ds_jobs,
	[T_WAITS] = &ds_waits,
	[T_RINGS] = &ds_rings,
	[T_RESETS] = &ds_resets,
	[T_HOMES] = &ds_homes,
	[T_ENTITIES] = &ds_entities,
	[T_SUBMITS] = &ds_submits,
	[T_FENCE_WAITS] = &ds_fence_waits,
	[T_BOS] = &ds_bos,
};

/* Ends before beginnings: what is armed first misses nothing of what is armed later. */
enum {
	H_RING_FINI, H_FINISHED, H_WAKEUP, H_CLEAR_DEP, H_BLOCK, H_RUN, H_QUEUE,
	H_TIMEOUT, H_START, H_KARMA, H_STOP, H_FINI, H_FLUSH, H_REMOVE,
	H_IOCTL, H_VALIDATE, H_LOCK, H_LOCK_INTR,
	H_WAIT, H_WAIT_ANY, H_WAIT_RESV, H_WAIT_SYNCOBJ, H_WAIT_TIMELINE,
	H_BO_RELEASE, H_MOVE, H_SWAPOUT, H_SWAPIN, H_BO_INIT,
};

static struct kstall_hook hooks[] = {
	[H_RING_FINI] = KSTALL_ENTRY("ring_fini", "gpu_sched", "drm_sched_fini",
				     ds_ring_fini_enter),
	[H_FINISHED] = KSTALL_ENTRY("finished", "gpu_sched", "drm_sched_fence_finished",
				    ds_finished_enter),
	[H_WAKEUP] = KSTALL_ENTRY("wakeup", "gpu_sched", "drm_sched_entity_wakeup",
				  ds_wakeup_enter),
	[H_CLEAR_DEP] = KSTALL_ENTRY("clear_dep", "gpu_sched", "drm_sched_entity_clear_dep",
				     ds_clear_dep_enter, .spare = true),
	[H_BLOCK] = KSTALL_TRACEPOINT("block", "gpu_sched",
				      "drm_sched_job_unschedulable|drm_sched_job_wait_dep",
				      ds_on_block),
	[H_RUN] = KSTALL_TRACEPOINT("run", "gpu_sched", "drm_sched_job_run|drm_run_job",
				    ds_on_run),
	[H_QUEUE] = KSTALL_TRACEPOINT("queue", "gpu_sched", "drm_sched_job_queue|drm_sched_job",
				      ds_on_queue),
	[H_TIMEOUT] = KSTALL_PAIR("timeout", "gpu_sched", "drm_sched_job_timedout",
				  sizeof(struct ds_timeout_call), ds_timeout_enter,
				  ds_timeout_return, .few = true),
	[H_START] = KSTALL_ENTRY("start", "gpu_sched", "drm_sched_start", ds_start_enter),
	[H_KARMA] = KSTALL_ENTRY("karma", "gpu_sched", "drm_sched_increase_karma", ds_karma_enter),
	[H_STOP] = KSTALL_ENTRY("stop", "gpu_sched", "drm_sched_stop", ds_stop_enter),
	[H_FINI] = KSTALL_PAIR("entity_fini", "gpu_sched", "drm_sched_entity_fini",
			       sizeof(struct ds_entity_call), ds_fini_enter, ds_entity_return,
			       .few = true),
	[H_FLUSH] = KSTALL_PAIR("entity_flush", "gpu_sched", "drm_sched_entity_flush",
				sizeof(struct ds_entity_call), ds_flush_enter, ds_entity_return,
				.few = true),
	[H_REMOVE] = KSTALL_ENTRY("entity_remove", "gpu_sched", "drm_sched_rq_remove_entity",
				  ds_remove_enter),
	[H_IOCTL] = KSTALL_PAIR("ioctl", "drm", "drm_ioctl", sizeof(struct ds_submit_call),
				ds_ioctl_enter, ds_ioctl_return, .sleeps = true),
	[H_VALIDATE] = KSTALL_PAIR("validate", "ttm", "ttm_bo_validate", sizeof(struct ds_in_call),
				   ds_validate_enter, ds_in_return, .sleeps = true),
	[H_LOCK] = KSTALL_PAIR("lock", NULL, "ww_mutex_lock", sizeof(struct ds_in_call),
			       ds_lock_enter, ds_in_return, .sleeps = true),
	[H_LOCK_INTR] = KSTALL_PAIR("lock_intr", NULL, "ww_mutex_lock_interruptible",
				    sizeof(struct ds_in_call), ds_lock_enter, ds_in_return,
				    .sleeps = true),
	[H_WAIT] = KSTALL_PAIR("fence_wait", NULL, "dma_fence_wait_timeout",
			       sizeof(struct ds_in_call), ds_wait_one_enter, ds_wait_return,
			       .sleeps = true),
	[H_WAIT_ANY] = KSTALL_PAIR("fence_wait_any", NULL, "dma_fence_wait_any_timeout",
				   sizeof(struct ds_in_call), ds_wait_any_enter, ds_wait_return,
				   .sleeps = true),
	[H_WAIT_RESV] = KSTALL_PAIR("resv_wait", NULL, "dma_resv_wait_timeout",
				    sizeof(struct ds_in_call), ds_wait_resv_enter, ds_wait_return,
				    .sleeps = true),
	[H_WAIT_SYNCOBJ] = KSTALL_PAIR("syncobj_wait", "drm", "drm_syncobj_wait_ioctl",
				       sizeof(struct ds_in_call), ds_wait_syncobj_enter,
				       ds_wait_return, .sleeps = true),
	[H_WAIT_TIMELINE] = KSTALL_PAIR("timeline_wait", "drm", "drm_syncobj_timeline_wait_ioctl",
					sizeof(struct ds_in_call), ds_wait_syncobj_enter,
					ds_wait_return, .sleeps = true),
	[H_BO_RELEASE] = KSTALL_ENTRY("bo_release", "ttm", "ttm_bo_release", ds_bo_release_enter),
	[H_MOVE] = KSTALL_PAIR("move", "ttm", "ttm_bo_handle_move_mem", sizeof(struct ds_move_call),
			       ds_move_enter, ds_move_return, .few = true),
	[H_SWAPOUT] = KSTALL_PAIR("swapout", "ttm", DS_SWAPOUT, sizeof(struct ds_swap_call),
				  ds_swapout_enter, ds_swapout_return, .few = true),
	[H_SWAPIN] = KSTALL_PAIR("swapin", "ttm", "ttm_tt_swapin", sizeof(struct ds_swap_call),
				 ds_swapin_enter, ds_swapin_return, .few = true),
	[H_BO_INIT] = KSTALL_ENTRY("bo_init", "ttm", "ttm_bo_init_reserved", ds_bo_init_enter),
};

/* To charge each part of a wait to its cause takes them all. */
#define JOB_HOOKS	(BIT_ULL(H_FINISHED) | BIT_ULL(H_WAKEUP) | BIT_ULL(H_BLOCK) | \
			 BIT_ULL(H_RUN) | BIT_ULL(H_QUEUE))
#define JOB_OPTIONAL	(BIT_ULL(H_RING_FINI) | BIT_ULL(H_CLEAR_DEP))
#define JOB_TABLES	(BIT(T_JOBS) | BIT(T_WAITS) | BIT(T_RINGS))

#define FENCE_HOOKS	(BIT_ULL(H_WAIT) | BIT_ULL(H_WAIT_ANY) | BIT_ULL(H_WAIT_RESV))
#define BO_HOOKS	(BIT_ULL(H_BO_RELEASE) | BIT_ULL(H_BO_INIT))

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(drm_sched_job_dispatch, JOB_HOOKS, .optional = JOB_OPTIONAL,
		     .tables = JOB_TABLES),
	KSTALL_EVENT(drm_sched_job_complete, JOB_HOOKS, .optional = JOB_OPTIONAL,
		     .tables = JOB_TABLES),
	KSTALL_EVENT(drm_sched_dep_wait, JOB_HOOKS, .optional = JOB_OPTIONAL,
		     .tables = JOB_TABLES),
	KSTALL_EVENT(drm_sched_prio_inversion, JOB_HOOKS, .optional = JOB_OPTIONAL,
		     .tables = JOB_TABLES, .rare = true),
	KSTALL_EVENT(drm_sched_job_timeout, JOB_HOOKS | BIT_ULL(H_TIMEOUT),
		     .optional = JOB_OPTIONAL, .tables = JOB_TABLES, .rare = true),
	KSTALL_EVENT(drm_sched_reset, JOB_HOOKS | BIT_ULL(H_STOP) | BIT_ULL(H_START),
		     .optional = JOB_OPTIONAL | BIT_ULL(H_KARMA),
		     .tables = JOB_TABLES | BIT(T_RESETS), .rare = true),
	KSTALL_EVENT(drm_sched_entity_migrate, BIT_ULL(H_QUEUE), .optional = BIT_ULL(H_FINI),
		     .tables = BIT(T_HOMES)),
	KSTALL_EVENT(drm_sched_entity_kill,
		     BIT_ULL(H_FINI) | BIT_ULL(H_FLUSH) | BIT_ULL(H_REMOVE),
		     .tables = BIT(T_ENTITIES), .rare = true),
	KSTALL_EVENT(drm_sched_submit_block, BIT_ULL(H_IOCTL) | BIT_ULL(H_QUEUE) | FENCE_HOOKS,
		     .optional = BIT_ULL(H_VALIDATE) | BIT_ULL(H_LOCK) | BIT_ULL(H_LOCK_INTR),
		     .tables = BIT(T_SUBMITS)),
	KSTALL_EVENT(dma_fence_wait, FENCE_HOOKS,
		     .optional = BIT_ULL(H_WAIT_SYNCOBJ) | BIT_ULL(H_WAIT_TIMELINE),
		     .tables = BIT(T_FENCE_WAITS)),
	KSTALL_EVENT(ttm_bo_evict, BIT_ULL(H_MOVE) | BO_HOOKS, .tables = BIT(T_BOS)),
	KSTALL_EVENT(ttm_bo_swap, BIT_ULL(H_SWAPOUT) | BIT_ULL(H_SWAPIN) | BO_HOOKS,
		     .tables = BIT(T_BOS)),
};

/* Status file: is there a scheduler on this node whose jobs can be seen? */
static void ds_show(struct seq_file *m)
{
	bool ours = kstall_module_loaded("gpu_sched") && !kstall_module_is_vendors("gpu_sched");

	seq_printf(m, "reach %s%s%s%s\n",
		   ours ? "drivers on gpu_sched" : "no driver uses gpu_sched",
		   kstall_module_is_vendors("gpu_sched") ? " (absent: vendor gpu_sched)" : "",
		   kstall_module_loaded("nvidia") ? " (not nvidia, which is loaded)" : "",
		   kstall_module_loaded("amd_sched") ?
		   " (absent: vendor amd_sched, of amdgpu-dkms)" : "");
}

KSTALL_MODULE("drm_sched", hooks, tables, events, ds_show);

static int __init drm_sched_trace_init(void)
{
	ds_jobs.capacity = max_jobs;
	ds_bos.capacity = max_buffers;
	return kstall_init();
}

static void __exit drm_sched_trace_exit(void)
{
	kstall_exit();
}

module_init(drm_sched_trace_init);
module_exit(drm_sched_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_AUTHOR("kstall maintainers");
MODULE_DESCRIPTION("kstall: where GPU jobs wait");
