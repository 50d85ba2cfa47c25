// SPDX-License-Identifier: GPL-2.0
/* The events that are read: what each is called, which fields, and what it means. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

#define ID "pid", "tgid", "comm", "dev"

/* @who: what its culprit is called, and, of many, what they have in common (a mask of values) */
#define OWN(sys, event, dur, how, which, phase_, who, many_, shared_, ...) \
	{ .system = sys, .name = event, .fn = ks_on_own, .fields = { ID, dur, ##__VA_ARGS__ }, \
	  .carve = how, .layer = which, .phase = phase_, .form = { who, many_, shared_ } }
/* A begin and an end of the thread itself, by the kernel's own events. */
#define BEGIN(sys, event, which, module, ...) \
	{ .system = sys, .name = event, .fn = ks_on_span_begin, .fields = { __VA_ARGS__ }, .span = which, \
	  .module_has = module }
#define END(sys, event, which, module, layer_, phase_) \
	{ .system = sys, .name = event, .fn = ks_on_span_end, .span = which, .layer = layer_, .phase = phase_, \
	  .module_has = module }
#define DEV 1			/* value 0 */
#define MORE 2			/* value 1 */

const struct ks_type ks_types[] = {
	{ "sched", "sched_switch", ks_on_switch,
	  { "prev_pid", "prev_comm", "prev_state", "next_pid", "next_comm" } },
	{ "sched", "sched_waking", ks_on_waking, { "pid" } },
	{ "sched", "sched_wakeup", ks_on_wakeup, { "pid" } },
	{ "sched", "sched_wakeup_new", ks_on_wakeup_new, { "pid" } },
	{ "sched", "sched_process_exec", ks_on_exec, { "filename", "pid", "old_pid" } },
	{ "sched", "sched_process_exit", ks_on_exit, { "pid" } },
	{ "task", "task_newtask", ks_on_newtask, { "pid", "comm", "clone_flags" } },
	{ "raw_syscalls", "sys_enter", ks_on_sys_enter,
	  { "id", "args[0]", "args[1]", "args[3]", "args[4]" } },
	{ "raw_syscalls", "sys_exit", ks_on_sys_exit, { "id" } },
	{ "ftrace", "print", ks_on_print, { "buf" } },
	{ "kstall", "step", ks_on_mark, { "text" } },
	{ "kstall", "step_null", ks_on_mark, { "text" } },
	{ "kstall", "call", ks_on_call, { "__probe_ip" } },
	{ "kstall", "gpu_begin", ks_on_gpu_begin, { "function", "sp", "bytes", "kind" }, .family = true },
	{ "kstall", "gpu_end", ks_on_gpu_end, { "function", "sp" }, .family = true },
	{ "kstall", "gpu_only", ks_on_gpu_only, { "function" }, .family = true },
	{ "kstall", "throttle", ks_on_throttle, { "rq" } },
	{ "kstall", "throttle_rq", ks_on_throttle_rq, { "rq", "throttled" }, KS_EVERYBODYS },
	{ "kstall", "throttle_self", ks_on_throttle_self, { NULL } },
	{ "kstall", "unthrottle", ks_on_unthrottle, { "rq" }, KS_EVERYBODYS },

	{ "lock", "contention_begin", ks_on_contention_begin, { "lock_addr", "flags" } },
	{ "lock", "contention_end", ks_on_contention_end, { "lock_addr" } },
	BEGIN("vmscan", "mm_vmscan_direct_reclaim_begin", KS_SPAN_RECLAIM, NULL),
	END("vmscan", "mm_vmscan_direct_reclaim_end", KS_SPAN_RECLAIM, NULL, KS_RECLAIM, NULL),
	BEGIN("vmscan", "mm_vmscan_memcg_reclaim_begin", KS_SPAN_CGROUP_RECLAIM, NULL),
	END("vmscan", "mm_vmscan_memcg_reclaim_end", KS_SPAN_CGROUP_RECLAIM, NULL, KS_RECLAIM, "cgroup"),
	BEGIN("compaction", "mm_compaction_begin", KS_SPAN_COMPACTION, "mm_compaction_stall"),
	END("compaction", "mm_compaction_end", KS_SPAN_COMPACTION, "mm_compaction_stall", KS_COMPACTION, NULL),
	BEGIN("migrate", "mm_migrate_pages_start", KS_SPAN_MIGRATION, "mm_migrate_batch", "reason"),
	END("migrate", "mm_migrate_pages", KS_SPAN_MIGRATION, "mm_migrate_batch", KS_MIGRATION, NULL),

	{ .system = "block", .name = "block_rq_issue", .fn = ks_on_rq_issue, .whose = KS_EVERYBODYS,
	  .fields = { "dev", "sector", "nr_sector", "comm" }, .module_has = "io_uring_block_rq" },
	{ .system = "block", .name = "block_rq_complete", .fn = ks_on_rq_complete, .whose = KS_EVERYBODYS,
	  .fields = { "dev", "sector", "nr_sector" }, .module_has = "io_uring_block_rq", .layer = KS_DISK },
	{ .system = "writeback", .name = "folio_wait_writeback", .fn = ks_on_folio_wait,
	  .fields = { "name", "ino" }, .module_has = "writeback_wait_done", .layer = KS_WRITEBACK },
	{ .system = "writeback", .name = "balance_dirty_pages", .fn = ks_on_balance,
	  .fields = { "bdi", "pause" }, .module_has = "writeback_throttle", .layer = KS_DIRTY_THROTTLE },

	{ "nvidia", "nvidia_dev_xid", ks_on_xid, { "dev", "error_code", "msg" }, KS_EVERYBODYS },
	{ "nvswitch", "nvswitch_dev_sxid", ks_on_sxid, { "dev", "error_code", "msg" }, KS_EVERYBODYS },

	{ "drm_sched", "drm_sched_job_dispatch", ks_on_job_dispatch,
	  { ID, "wait_ns", "fence_ctx", "fence_seqno", "ring", "submit_ts", "dispatch_ts", "hol_ns",
	    "dep_ns", "in_flight" }, KS_EVERYBODYS },
	{ "drm_sched", "drm_sched_job_complete", ks_on_job_complete,
	  { ID, "total_ns", "fence_ctx", "fence_seqno", "ring", "submit_ts", "wait_ns",
	    "hwq_ns" }, KS_EVERYBODYS },
	{ "drm_sched", "drm_sched_dep_wait", ks_on_dep_wait,
	  { ID, "wait_ns", "fence_ctx", "fence_seqno", "ring", "dep_ctx", "dep_seqno", "dep_pid",
	    "dep_comm", "dep_timeline", "dep_driver" }, KS_EVERYBODYS },
	{ "drm_sched", "dma_fence_wait", ks_on_fence_wait,
	  { ID, "wait_ns", "fence_ctx", "fence_seqno", "driver", "timeline" } },
	{ "drm_sched", "drm_sched_submit_block", ks_on_submit_block,
	  { ID, "blocked_ns", "total_ns", "fence_ns", "validate_ns", "lock_ns", "ring" } },
	OWN("drm_sched", "ttm_bo_evict", "duration_ns", KS_INTERVAL, KS_TTM, "evict",
	    "buffer of {1}/{2} on {0}", "{n} buffers on {0}", DEV, "owner_comm", "owner_pid"),
	OWN("drm_sched", "ttm_bo_swap", "duration_ns", KS_INTERVAL, KS_TTM, "swap",
	    "buffer of {1}/{2}", "{n} buffers", 0, "owner_comm", "owner_pid"),

	{ "io_uring_trace", "io_uring_req_done", ks_on_req_done,
	  { ID, "total_ns", "ring", "user_data", "queue_ns", "wq_ns", "exec_ns", "submit_mono_ns",
	    "opcode", "fd" }, KS_EVERYBODYS },
	{ "io_uring_trace", "io_uring_block_rq", ks_on_block_rq,
	  { ID, "device_ns", "ring", "user_data", "tag_ns", "sched_ns", "queue_mono_ns",
	    "attribution" }, KS_EVERYBODYS },
	OWN("io_uring_trace", "io_uring_sq_overflow", "wait_ns", KS_INTERVAL, KS_IO_URING_SQ, NULL,
	    "ring {1}", "{n} rings", 0, "ring"),
	OWN("io_uring_trace", "writeback_throttle", "pause_ns", KS_INTERVAL,
	    KS_DIRTY_THROTTLE, NULL,
	    "disk {0}", NULL, 0),
	OWN("io_uring_trace", "writeback_wait_done", "wait_ns", KS_ASLEEP_SUM, KS_WRITEBACK, "wait",
	    "inode {2} of {1} on {0}", "{n} inodes of {1} on {0}", DEV | MORE, "sb", "ino"),

	OWN("mm_migrate", "mm_migrate_mmu_notifier_wait", "wait_ns", KS_INTERVAL, KS_NOTIFIER, NULL,
	    "{1} [{2}]", NULL, 0, "callback", "callback_module"),
	OWN("mm_migrate", "mm_migrate_notifier", "duration_ns", KS_INTERVAL, KS_NOTIFIER, NULL,
	    "{1} [{2}]", NULL, 0, "callback", "module"),
	OWN("mm_migrate", "mm_migrate_batch", "duration_ns", KS_INTERVAL, KS_MIGRATION, NULL,
	    "node {1} to {2}", NULL, 0, "src_node", "dst_node"),
	OWN("mm_migrate", "mm_migrate_device", "duration_ns", KS_INTERVAL, KS_MIGRATION, "device",
	    "{1} [{2}]", NULL, 0, "caller", "caller_module"),
	OWN("mm_migrate", "mm_compaction_stall", "duration_ns", KS_INTERVAL, KS_COMPACTION, NULL,
	    "order {2} for {1}", NULL, 0, "caller", "order"),
	OWN("mm_migrate", "mm_thp_fallback", "duration_ns", KS_INTERVAL, KS_HUGE_PAGE, NULL,
	    "order {1}", NULL, 0, "order"),
	OWN("mm_migrate", "mm_pin", "duration_ns", KS_INTERVAL, KS_PIN, NULL,
	    "{1} [{2}]", NULL, 0, "caller", "caller_module"),
	OWN("mm_migrate", "mm_tlb_shootdown", "duration_ns", KS_INTERVAL, KS_TLB, NULL,
	    "{1} CPUs", NULL, 0, "cpus"),

	OWN("iommu_trace", "dma_map_done", "duration_ns", KS_INTERVAL, KS_DMA_MAP, "map", "{0}", NULL, 0),
	OWN("iommu_trace", "dma_unmap_done", "duration_ns", KS_INTERVAL, KS_DMA_MAP, "unmap",
	    "{0}", NULL, 0),
	OWN("iommu_trace", "dma_bounce", "duration_ns", KS_INTERVAL, KS_DMA_MAP, "bounce", "{0}", NULL, 0),
	OWN("iommu_trace", "iommu_iova_alloc", "duration_ns", KS_INTERVAL, KS_DMA_MAP, "iova",
	    "{0}", NULL, 0),
	OWN("iommu_trace", "iommu_iotlb_sync", "duration_ns", KS_INTERVAL, KS_IOMMU, "iotlb_sync",
	    "{0} ({1})", NULL, 0, "iommu"),
	OWN("iommu_trace", "iommu_fq_flush", "duration_ns", KS_INTERVAL, KS_IOMMU, "fq_flush",
	    "{0} ({1})", NULL, 0, "iommu"),
	OWN("iommu_trace", "iommu_inv_wait", "duration_ns", KS_INTERVAL, KS_IOMMU,
	    "invalidate", "{0}", NULL, 0),

	OWN("ib_cq", "ib_mr_reg", "duration_ns", KS_INTERVAL, KS_MR_REG, NULL,
	    "{1} bytes on {0}", "{n} regions on {0}", DEV, "bytes"),
	OWN("ib_cq", "ib_odp_fault", "duration_ns", KS_INTERVAL, KS_ODP, NULL, "{0}", NULL, 0),
	{ "ib_cq", "ib_wr_latency", ks_on_wr_latency,
	  { ID, "latency_ns", "qp_num", "opcode", "user", "post_pid" }, KS_EVERYBODYS },
	{ "ib_cq", "ib_comp_channel", ks_on_comp_channel, { ID, "wait_ns", "cq_id" } },
};

const size_t ks_nr_types = ARRAY_SIZE(ks_types);

const struct ks_type *ks_type_find(const char *system, const char *name)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		if (!strcmp(ks_types[i].system, system) && !strcmp(ks_types[i].name, name))
			return &ks_types[i];
	}
	return NULL;
}

const struct ks_type *ks_type_of_module(const struct ks_type *type)
{
	for (size_t i = 0; type->module_has && i < ks_nr_types; i++) {
		if (!strcmp(ks_types[i].name, type->module_has))
			return &ks_types[i];
	}
	return NULL;
}
