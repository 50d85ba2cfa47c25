// SPDX-License-Identifier: GPL-2.0
/*
 * iommu_trace - what DMA costs before and after the transfer itself
 *
 * Follows the mapping of memory for devices, what of it is translation, the flushes of the IOMMU's
 * TLB that unmapping waits for, copies through bounce buffers, and what an IOMMU refused.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in domain.c
 * (flushes, and their domains), map.c, wait.c and fault.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kstall/core.h>

#include "iommu_trace.h"

#define CREATE_TRACE_POINTS
#include "iommu_trace_events.h"

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

struct kstall_inflight it_homes = {
	.name = "domains", .capacity = 4096, .rec_size = sizeof(struct it_home),
};
struct kstall_inflight it_queues = {
	.name = "queues", .capacity = 16384, .rec_size = sizeof(struct it_queue),
	.max_age_ns = MINUTE,
};
struct kstall_own it_timers = KSTALL_OWN("timers", 64, 0, MINUTE);
struct kstall_own it_calls = KSTALL_OWN("calls", 512, sizeof(struct it_parts), MINUTE);
struct kstall_own it_iovas = KSTALL_OWN("iovas", 256, sizeof(struct it_iova), MINUTE);
struct kstall_fold it_faults = KSTALL_FOLD("faults", 1024, struct it_fault, it_fault_emit);

enum { T_HOMES, T_QUEUES, T_TIMERS, T_CALLS, T_IOVAS, T_FAULTS };

static struct kstall_inflight *tables[] = {
	[T_HOMES] = &it_homes,
	[T_QUEUES] = &it_queues,
	[T_TIMERS] = &it_timers.table,
	[T_CALLS] = &it_calls.table,
	[T_IOVAS] = &it_iovas.table,
	[T_FAULTS] = &it_faults.table,
};

/* Inner hooks come first, so that every call we follow is followed completely. */
enum {
	H_ATTACH,
	/* The drivers that there can be on this kernel, see H_WAITS. */
#if IS_ENABLED(CONFIG_DMAR_TABLE)
	H_WAIT_INTEL,
#endif
#if IS_ENABLED(CONFIG_AMD_IOMMU)
	H_WAIT_AMD,
#endif
#if IS_ENABLED(CONFIG_ARM_SMMU_V3)
	H_WAIT_SMMU,
#endif
#if IS_ENABLED(CONFIG_VIRTIO_IOMMU)
	H_WAIT_VIRTIO,
#endif
	H_WAIT_END, H_SYNC = H_WAIT_END, H_FLUSH_ALL, H_TIMER,
	H_PAGE_FAULT,
#if IS_ENABLED(CONFIG_DMAR_TABLE)
	H_FAULT_INTEL,
#endif
	H_IOVA_SLOW, H_IOVA, H_IOVA_DMA, H_IOVA_FREE,
	H_MAP_PART, H_MAP_SG_PART, H_SYNC_PART, H_UNMAP_PART, H_BOUNCE,
	H_MAP, H_MAP_SG, H_LINK_ALLOC, H_LINK, H_LINK_SYNC,
	H_UNMAP, H_UNMAP_SG, H_UNLINK, H_DESTROY,
};

#define H_WAITS	GENMASK_ULL(H_WAIT_END - 1, H_ATTACH + 1)
#if IS_ENABLED(CONFIG_DMAR_TABLE)
#define H_FAULTS	(BIT_ULL(H_PAGE_FAULT) | BIT_ULL(H_FAULT_INTEL))
#else
#define H_FAULTS	BIT_ULL(H_PAGE_FAULT)
#endif

#define IT_WAIT(_name, _module, _targets, _enter, _ret)			\
	KSTALL_PAIR(_name, _module, _targets, sizeof(struct it_wait_call), _enter, _ret, \
		    .atomic = true)
#define IT_PART(_name, _targets, _enter, _ret, ...)			\
	KSTALL_PAIR(_name, NULL, _targets, sizeof(struct it_part_call), _enter, _ret, __VA_ARGS__)
#define IT_CALL(_name, _targets, _enter, _ret, ...)			\
	KSTALL_PAIR(_name, NULL, _targets, sizeof(struct it_map_call), _enter, _ret, __VA_ARGS__)

static struct kstall_hook hooks[] = {
	[H_ATTACH] = KSTALL_TRACEPOINT("attach", NULL, "attach_device_to_domain", it_on_attach),
	/* What the compiler makes of a function that is not exported has a suffix. */
#if IS_ENABLED(CONFIG_DMAR_TABLE)
	[H_WAIT_INTEL] = IT_WAIT("wait_intel", NULL, "qi_submit_sync", it_wait_intel_enter,
				 it_wait_return),
#endif
#if IS_ENABLED(CONFIG_AMD_IOMMU)
	[H_WAIT_AMD] = IT_WAIT("wait_amd", NULL,
			       "iommu_completion_wait|iommu_completion_wait.isra.0|iommu_completion_wait.constprop.0",
			       it_wait_amd_enter, it_wait_blind_return),
#endif
#if IS_ENABLED(CONFIG_ARM_SMMU_V3)
	[H_WAIT_SMMU] = IT_WAIT("wait_smmu",
				IS_MODULE(CONFIG_ARM_SMMU_V3) ? "arm_smmu_v3" : NULL,
				"__arm_smmu_cmdq_issue_cmdlist|arm_smmu_cmdq_issue_cmdlist",
				it_wait_smmu_enter, it_wait_return),
#endif
#if IS_ENABLED(CONFIG_VIRTIO_IOMMU)
	[H_WAIT_VIRTIO] = IT_WAIT("wait_virtio",
				  IS_MODULE(CONFIG_VIRTIO_IOMMU) ? "virtio_iommu" : NULL,
				  "__viommu_sync_req|__viommu_sync_req.isra.0",
				  it_wait_virtio_enter, it_wait_blind_return),
#endif
	[H_SYNC] = KSTALL_PLACED("sync", "iotlb_sync", sizeof(struct it_sync_call),
				 it_sync_enter, it_sync_return, .atomic = true),
	[H_FLUSH_ALL] = KSTALL_PLACED("flush_all", "flush_iotlb_all",
				      sizeof(struct it_sync_call), it_flush_enter,
				      it_flush_return, .atomic = true),
	[H_TIMER] = IT_PART("timer", "fq_flush_timeout", it_timer_enter, it_timer_return,
			    .atomic = true),
	[H_PAGE_FAULT] = KSTALL_TRACEPOINT("page_fault", NULL, "io_page_fault", it_on_page_fault),
#if IS_ENABLED(CONFIG_DMAR_TABLE)
	[H_FAULT_INTEL] = KSTALL_ENTRY("fault_intel", NULL, "dmar_fault", it_fault_intel),
#endif
	[H_IOVA_SLOW] = IT_PART("iova_slow", "alloc_iova", it_part_enter, it_iova_slow_return,
				.atomic = true),
	[H_IOVA] = IT_PART("iova", "alloc_iova_fast", it_part_enter, it_iova_try_return,
			   .atomic = true),
	[H_IOVA_DMA] = KSTALL_PAIR("iova_dma", NULL, "iommu_dma_alloc_iova",
				   sizeof(struct it_iova_call), it_iova_dma_enter,
				   it_iova_dma_return, .atomic = true),
	[H_IOVA_FREE] = IT_PART("iova_free", "free_iova_fast", it_part_enter, it_iova_return,
				.atomic = true),
	/*
	 * 6.1 has variants for callers that must not sleep, which DMA uses; 6.16 split off the
	 * sync. For others (VFIO, iommufd) they may allocate with GFP_KERNEL: not atomic.
	 */
	[H_MAP_PART] = IT_PART("map", "iommu_map_atomic|iommu_map_nosync|iommu_map",
			       it_part_enter, it_map_return),
	[H_MAP_SG_PART] = IT_PART("map_sg", "iommu_map_sg_atomic|iommu_map_sg", it_part_enter,
				  it_map_sg_part_return),
	[H_SYNC_PART] = IT_PART("sync_map", "iommu_sync_map", it_part_enter, it_sync_part_return,
				.atomic = true),
	[H_UNMAP_PART] = IT_PART("unmap", "iommu_unmap_fast", it_unmap_part_enter, it_map_return,
				 .atomic = true),
	[H_BOUNCE] = KSTALL_PAIR("bounce", NULL, "swiotlb_bounce", sizeof(struct it_bounce_call),
				 it_bounce_enter, it_bounce_return, .atomic = true),
	[H_MAP] = IT_CALL("dma_map", IT_MAP_SINGLE, it_map_single_enter, it_map_single_return,
			  .atomic = true),
	[H_MAP_SG] = IT_CALL("dma_map_sg", "__dma_map_sg_attrs", it_map_sg_enter,
			     it_map_sg_return, .atomic = true),
	[H_LINK_ALLOC] = IT_CALL("dma_link_alloc", "dma_iova_try_alloc", it_link_alloc_enter,
				 it_link_alloc_return, .atomic = true),
	[H_LINK_SYNC] = IT_CALL("dma_link_sync", "dma_iova_sync", it_link_sync_enter,
				it_link_return, .atomic = true),
	/* Seven arguments, one of them on the stack. */
	[H_LINK] = IT_CALL("dma_link", "dma_iova_link", it_link_enter, it_link_return),
	[H_UNMAP] = IT_CALL("dma_unmap", IT_UNMAP_SINGLE, it_unmap_single_enter, it_unmap_return,
			    .atomic = true),
	[H_UNMAP_SG] = IT_CALL("dma_unmap_sg", "dma_unmap_sg_attrs", it_unmap_sg_enter,
			       it_unmap_return, .atomic = true),
	[H_UNLINK] = IT_CALL("dma_unlink", "dma_iova_unlink", it_unlink_enter, it_unmap_return,
			     .atomic = true),
	[H_DESTROY] = IT_CALL("dma_destroy", "dma_iova_destroy", it_destroy_enter,
			      it_unmap_return, .atomic = true),
};

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(iommu_iotlb_sync, BIT_ULL(H_SYNC) | BIT_ULL(H_FLUSH_ALL),
		     .optional = BIT_ULL(H_ATTACH), .tables = BIT(T_HOMES), .tick = it_rescan),
	KSTALL_EVENT(iommu_fq_flush,
		     BIT_ULL(H_FLUSH_ALL) | BIT_ULL(H_UNMAP_PART) | BIT_ULL(H_TIMER),
		     .optional = BIT_ULL(H_ATTACH),
		     .tables = BIT(T_HOMES) | BIT(T_QUEUES) | BIT(T_TIMERS), .tick = it_rescan),
	KSTALL_EVENT(dma_map_done, BIT_ULL(H_MAP) | BIT_ULL(H_MAP_SG),
		     .optional = BIT_ULL(H_LINK_ALLOC) | BIT_ULL(H_LINK) |
				 BIT_ULL(H_LINK_SYNC) | BIT_ULL(H_IOVA) | BIT_ULL(H_MAP_PART) |
				 BIT_ULL(H_MAP_SG_PART) | BIT_ULL(H_SYNC_PART) |
				 BIT_ULL(H_BOUNCE),
		     .tables = BIT(T_CALLS)),
	KSTALL_EVENT(dma_unmap_done, BIT_ULL(H_UNMAP) | BIT_ULL(H_UNMAP_SG),
		     .optional = BIT_ULL(H_UNLINK) | BIT_ULL(H_DESTROY) | BIT_ULL(H_IOVA_FREE) |
				 BIT_ULL(H_UNMAP_PART) | BIT_ULL(H_SYNC) | BIT_ULL(H_FLUSH_ALL) |
				 BIT_ULL(H_BOUNCE) | BIT_ULL(H_ATTACH),
		     .tables = BIT(T_CALLS), .tick = it_rescan),
	KSTALL_EVENT(dma_bounce, BIT_ULL(H_BOUNCE)),
	KSTALL_EVENT(iommu_inv_wait, 0, .optional = H_WAITS | BIT_ULL(H_ATTACH),
		     .tables = BIT(T_HOMES), .tick = it_rescan),
	KSTALL_EVENT(iommu_iova_alloc,
		     BIT_ULL(H_IOVA_DMA) | BIT_ULL(H_IOVA) | BIT_ULL(H_IOVA_SLOW),
		     .tables = BIT(T_IOVAS)),
	KSTALL_EVENT(iommu_fault, H_FAULTS, .optional = BIT_ULL(H_ATTACH), .rare = true,
		     .tables = BIT(T_FAULTS) | BIT(T_HOMES), .fold = &it_faults,
		     .tick = it_rescan),
};

/* Status file: which devices' flushes can be seen at all? */
static void it_show(struct seq_file *m)
{
	unsigned int devices, translated;

	it_translated(&devices, &translated);
	seq_printf(m, "reach translated devices: %u of %u%s\n", translated, devices,
		   translated ? "" : " (identity): iommu_iotlb_sync and iommu_fq_flush are silent");
}

KSTALL_MODULE("iommu_trace", hooks, tables, events, it_show);

/* A driver that this kernel has no domain of any more keeps its hooks. */
static bool it_update(u64 wanted)
{
	struct iommu_domain_ops ops;
	bool news = false;

	if (!(wanted & (BIT_ULL(H_SYNC) | BIT_ULL(H_FLUSH_ALL) | H_WAITS | H_FAULTS)))
		return false;
	it_scan(&ops);
	if (!(wanted & (BIT_ULL(H_SYNC) | BIT_ULL(H_FLUSH_ALL))))
		return false;
	if (ops.iotlb_sync)
		news |= kstall_hook_place(&hooks[H_SYNC], (unsigned long)ops.iotlb_sync);
	if (ops.flush_iotlb_all)
		news |= kstall_hook_place(&hooks[H_FLUSH_ALL],
					  (unsigned long)ops.flush_iotlb_all);
	return news;
}

static int __init iommu_trace_init(void)
{
	int ret;

	kstall.update = it_update;
	ret = kstall_init();
	if (ret)
		return ret;
	ret = it_domains_init();
	if (ret)
		kstall_exit();
	return ret;
}

static void __exit iommu_trace_exit(void)
{
	it_domains_exit();
	kstall_exit();
}

module_init(iommu_trace_init);
module_exit(iommu_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_AUTHOR("kstall maintainers");
MODULE_DESCRIPTION("kstall: what DMA costs before and after the transfer");
