// SPDX-License-Identifier: GPL-2.0
/* The events that are counted, and by what. The layers are those of kstall why, and three more. */
#include <string.h>

#include "metrics/metric.h"

#define IO_URING "io_uring_trace", "io_uring_trace"
#define DRM "drm_sched", "drm_sched_trace"
#define IB "ib_cq", "ib_cq_trace"
#define IOMMU "iommu_trace", "iommu_trace"
#define AER "aer", "aer_trace"
#define MM "mm_migrate", "mm_migrate_trace"

/* SYSTEM, MODULE come as one macro. */
#define EVENT(...) EVENT_(__VA_ARGS__)
#define EVENT_(sys, mod, event, in, help, ...) \
	{ .system = sys, .module = mod, .name = event, .layer = in, .what = help, ##__VA_ARGS__ }

const struct ks_metric_event ks_metric_events[] = {
	EVENT(IO_URING, "io_uring_req_done", "io_uring",
	      "io_uring requests, from submission to completion",
	      .ns = "total_ns", .cause = "opcode"),
	EVENT(IO_URING, "io_uring_block_rq", "disk", "block requests, in the device",
	      .ns = "device_ns", .cause = "op", .dev = true),
	EVENT(IO_URING, "io_uring_sq_overflow", "io_uring_sq", "delays at the submission ring",
	      .ns = "wait_ns", .cause = "cause"),
	EVENT(IO_URING, "io_uring_cq_overflow", "io_uring_sq", "completions that overflowed a ring",
	      .cause = "phase", .hold = true),
	EVENT(IO_URING, "writeback_wait_done", "writeback", "waits for writeback",
	      .ns = "wait_ns", .cause = "kind", .dev = true),
	EVENT(IO_URING, "writeback_throttle", "dirty_throttle",
	      "writers held in balance_dirty_pages()",
	      .ns = "pause_ns", .dev = true),

	EVENT(DRM, "dma_fence_wait", "fence", "waits for fences", .ns = "wait_ns",
	      .cause = "driver"),
	EVENT(DRM, "drm_sched_submit_block", "gpu_submit", "sleep in the submission of GPU jobs",
	      .ns = "blocked_ns", .cause = "ring", .dev = true),
	EVENT(DRM, "drm_sched_job_dispatch", "gpu_queue", "GPU jobs, from submission to dispatch",
	      .ns = "wait_ns", .cause = "ring", .dev = true),
	EVENT(DRM, "drm_sched_job_timeout", "gpu_hang", "GPU jobs that hung", .cause = "ring",
	      .dev = true, .hold = true),
	EVENT(DRM, "drm_sched_reset", "gpu_hang", "resets of GPU rings", .ns = "reset_ns",
	      .cause = "ring", .dev = true),
	EVENT(DRM, "ttm_bo_evict", "ttm", "buffers pushed out of GPU memory", .ns = "duration_ns",
	      .cause = "from", .dev = true),
	EVENT(DRM, "ttm_bo_swap", "ttm", "buffers swapped out or in", .ns = "duration_ns",
	      .dev = true),

	EVENT(IB, "ib_wr_latency", "rdma", "work requests of the kernel, from post to completion",
	      .ns = "latency_ns", .cause = "opcode", .dev = true),
	EVENT(IB, "ib_wc_error", "rdma", "work requests that failed", .cause = "status",
	      .count = "count", .dev = true),
	EVENT(IB, "ib_qp_error", "rdma", "queue pairs that went into ERR", .cause = "first_status",
	      .dev = true, .hold = true),
	EVENT(IB, "ib_cq_overflow", "rdma", "completion queues that overflowed",
	      .count = "count", .dev = true),
	EVENT(IB, "ib_port_event", "rdma", "events of ports", .cause = "event", .dev = true),
	EVENT(IB, "ib_mr_reg", "mr_reg", "memory registrations", .ns = "duration_ns",
	      .cause = "kind", .dev = true),
	EVENT(IB, "ib_odp_fault", "odp", "page faults of RDMA devices", .ns = "duration_ns",
	      .cause = "op", .dev = true),

	EVENT(IOMMU, "iommu_iotlb_sync", "iommu", "waits until the IOMMU forgot mappings",
	      .ns = "duration_ns", .cause = "type", .dev = true),
	EVENT(IOMMU, "iommu_fq_flush", "iommu", "flushes of the queue of unmaps",
	      .ns = "duration_ns", .cause = "reason", .dev = true),
	EVENT(IOMMU, "iommu_inv_wait", "iommu", "waits for the IOMMU's own queue",
	      .ns = "duration_ns", .cause = "what", .dev = true, .nested = true),
	EVENT(IOMMU, "iommu_fault", "iommu", "accesses that the IOMMU refused", .cause = "reason",
	      .count = "count", .dev = true, .hold = true),
	EVENT(IOMMU, "dma_map_done", "dma_map", "DMA mappings made", .ns = "duration_ns",
	      .cause = "path", .dev = true),
	EVENT(IOMMU, "dma_unmap_done", "dma_map", "DMA mappings taken back", .ns = "duration_ns",
	      .cause = "path", .dev = true),
	EVENT(IOMMU, "dma_bounce", "dma_map", "copies through bounce buffers", .ns = "duration_ns",
	      .cause = "dir", .dev = true, .nested = true),

	EVENT(AER, "aer_correctable", "pcie", "PCIe errors that the link mended", .cause = "error",
	      .count = "count", .dev = true),
	EVENT(AER, "aer_uncorrectable", "pcie", "PCIe errors that lost data", .cause = "severity",
	      .dev = true, .hold = true),
	EVENT(AER, "aer_recovery", "pcie", "steps of recoveries from PCIe errors",
	      .ns = "duration_ns", .cause = "step", .dev = true, .nested = true),
	EVENT(AER, "pcie_link_change", "pcie", "PCIe links that changed speed or width",
	      .cause = "means", .dev = true),

	EVENT(MM, "mm_migrate_mmu_notifier_wait", "notifier",
	      "waits for drivers that had memory mapped",
	      .ns = "wait_ns", .cause = "callback_module"),
	EVENT(MM, "mm_migrate_batch", "migration", "migrations of pages", .ns = "duration_ns",
	      .cause = "reason"),
	EVENT(MM, "mm_migrate_device", "migration", "migrations to and from devices",
	      .ns = "duration_ns", .cause = "caller_module"),
	EVENT(MM, "mm_compaction_stall", "compaction", "tasks that compacted memory themselves",
	      .ns = "duration_ns", .cause = "order", .hold = true),
	EVENT(MM, "mm_thp_fallback", "huge_page", "huge pages that were not to be had",
	      .ns = "duration_ns", .cause = "cause"),
	EVENT(MM, "mm_pin", "pin", "memory pinned for a long time", .ns = "duration_ns",
	      .cause = "caller_module"),
	EVENT(MM, "mm_tlb_shootdown", "tlb", "TLB flushes on other CPUs", .ns = "duration_ns",
	      .cause = "reason"),

	EVENT("nvidia", "nvidia", "xid", "xid", "errors of NVIDIA's GPUs (Xid), by code", .cause = "code", .dev = true,
	      .by_line = true),
	EVENT("nvidia", "nvidia", "sxid", "xid", "errors of NVLink switches (SXid), by code", .cause = "code", .dev = true,
	      .by_line = true),
};

const size_t ks_nr_metric_events = ARRAY_SIZE(ks_metric_events);
_Static_assert(ARRAY_SIZE(ks_metric_events) <= KS_MAX_METRIC_EVENTS, "room for each event");

static size_t add_once(const char **list, size_t nr, size_t max, const char *s)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(list[i], s))
			return nr;
	}
	if (nr == max)
		ks_die("more than %zu of the kind of %s", max, s);
	list[nr] = s;
	return nr + 1;
}

size_t ks_metric_modules(const char *module[KS_MAX_MODULES])
{
	size_t nr = 0;

	for (size_t i = 0; i < ks_nr_metric_events; i++)
		nr = add_once(module, nr, KS_MAX_MODULES, ks_metric_events[i].module);
	return nr;
}

size_t ks_metric_layers(const char *layer[KS_MAX_METRIC_LAYERS])
{
	size_t nr = 0;

	for (size_t i = 0; i < ks_nr_metric_events; i++)
		nr = add_once(layer, nr, KS_MAX_METRIC_LAYERS, ks_metric_events[i].layer);
	return nr;
}
