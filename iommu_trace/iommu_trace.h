/* SPDX-License-Identifier: GPL-2.0 */
/* iommu_trace.h - what the module's files share */
#ifndef _IOMMU_TRACE_H
#define _IOMMU_TRACE_H

#include <kstall/event.h>
#include <kstall/identity.h>
#include <kstall/own.h>

#include "iommu_compat.h"

#define IT_NAME_LEN	32	/* "smmu3.0x0000000009050000", as long as the events have it */

/**
 * struct it_home - a domain's devices and IOMMU; key: iommu_domain, only compared
 * @dev: the first device in it
 * @driver: of the IOMMU
 * @iommu: the IOMMU's name
 * @node: NUMA node of the device
 * @devices: how many there are
 * @scan: the look in which they were counted
 */
struct it_home {
	char dev[IT_NAME_LEN];
	char driver[IT_NAME_LEN];
	char iommu[IT_NAME_LEN];
	s32 node;
	u32 devices;
	u64 scan;
};

/**
 * struct it_unit - an IOMMU
 * @at: its struct iommu_device, which is part of its driver's own; only compared
 * @name: as dmar0
 * @driver: as intel_iommu
 * @node: NUMA node of the first device behind it
 * @segment: PCI segment of that
 */
struct it_unit {
	unsigned long at;
	char name[IT_NAME_LEN];
	char driver[IT_NAME_LEN];
	s32 node;
	u32 segment;
};

/* Nothing waits longer for a flush. */
#define IT_QUEUE_MAX_NS	(10 * (u64)NSEC_PER_SEC)

/* Unmaps of a CPU that wait for a flush; key: it_queue_key() of the iommu_domain */
struct it_queue {
	u64 first_ns;
	u64 bytes;
	u32 entries;
};

/*
 * As in the kernel's own queue each CPU has a share, which no other CPU writes until the flush. Of
 * a pointer the highest bits are the same.
 */
static inline u64 it_queue_key(u64 domain, unsigned int cpu)
{
	return domain << 16 | cpu;
}

/**
 * struct it_parts - what a DMA mapping call did inside
 * @iova_ns: in the IOVA allocator
 * @map_ns: in the IOMMU's page table
 * @sync_ns: flushing its TLB
 * @bounced: bytes that went through bounce buffers
 * @state: of a mapping in two steps, that is linked or destroyed; only compared
 */
struct it_parts {
	u64 iova_ns;
	u64 map_ns;
	u64 sync_ns;
	u64 bounced;
	const void *state;
};

/**
 * struct it_iova - what an allocation of addresses did inside
 * @tries: how often it was tried, with one limit and the next
 * @slow: of them in the tree of all addresses
 * @slow_ns: how long that took
 */
struct it_iova {
	u32 tries;
	u32 slow;
	u64 slow_ns;
};

/**
 * struct it_fault - iommu_fault; what is known of a fault, or the last of those folded into one
 * @folded: how many and when
 * @dev: device that made the request
 * @iommu: the one that refused it, empty: not known
 * @node: NUMA node of the device
 * @pasid: of the request, -1: none
 * @addr: that it was for
 * @raw: the report's own bits
 * @source: IT_FAULT_*
 * @reason: code of it
 * @write: it was one
 * @overflow: the IOMMU had no room for further ones
 */
struct it_fault {
	struct kstall_folded folded;
	char dev[IT_NAME_LEN];
	char iommu[IT_NAME_LEN];
	s32 node;
	s32 pasid;
	u64 addr;
	u32 raw;
	u8 source;
	u8 reason;
	bool write;
	bool overflow;
};

/* What the pair hooks carry from a function's entry to its return. */

/* domain->ops->iotlb_sync(), flush_iotlb_all() */
struct it_sync_call {
	struct iommu_domain *domain;
	u64 start_ns;
	u64 start;
	u64 end;
	u64 pgsize;
	u32 type;
};

/* what mapping and unmapping do inside */
struct it_part_call {
	u64 start_ns;
	u64 bytes;
};

/* iommu_dma_alloc_iova() */
struct it_iova_call {
	struct device *dev;
	u64 start_ns;
	u64 bytes;
	u64 limit;
};

/* the functions that wait for an IOMMU's queue */
struct it_wait_call {
	unsigned long unit;
	u64 start_ns;
	u32 commands;
	u8 what;
};

/* dma_map_*(), dma_unmap_*() */
struct it_map_call {
	struct device *dev;
	union {
		struct scatterlist *sg;
		const struct dma_iova_state *state;
	};
	u64 start_ns;
	u64 addr;
	u64 bytes;
	u64 memory;	/* what is mapped begins there, see it_memory_page(); 0: not known */
	u32 nents;
	u8 op;
	u8 dir;
};

/* Asked where an event is recorded: to find the page costs as much as half of the probe. */
static inline bool it_is_p2p(const struct it_map_call *call)
{
	struct page *page = call->memory ? it_memory_page(call->memory) : NULL;

	return page && is_pci_p2pdma_page(page);
}

/* swiotlb_bounce() */
struct it_bounce_call {
	struct device *dev;
	u64 start_ns;
	u64 bytes;
	u8 dir;
};

/* Largest number of segments whose lengths are added up for an event. */
#define IT_MAX_SEGMENTS	16384

extern struct kstall_inflight it_homes;
extern struct kstall_inflight it_queues;
extern struct kstall_own it_timers;
extern struct kstall_own it_calls;
extern struct kstall_own it_iovas;
extern struct kstall_fold it_faults;

static inline struct kstall_id it_id(const char *dev, s32 node)
{
	return (struct kstall_id){ .dev = dev, .dev_node = node, .cpu_node = numa_node_id(),
				   .task = current, .who = in_task() ? NULL : &kstall_nobody };
}

/* Adds to the mapping call that is under way in this context, if there is one. */
void it_part_add(u64 iova_ns, u64 map_ns, u64 sync_ns, u64 bounced);

/* domain.c */
int it_domains_init(void);
void it_domains_exit(void);
void it_scan(struct iommu_domain_ops *first);
void it_rescan(void);
bool it_unit_find(unsigned long at, struct it_unit *unit);
void it_on_attach(void *hook, struct device *dev);
bool it_sync_enter(void *data, struct pt_regs *regs);
void it_sync_return(void *data, struct pt_regs *regs);
bool it_flush_enter(void *data, struct pt_regs *regs);
void it_flush_return(void *data, struct pt_regs *regs);
bool it_timer_enter(void *data, struct pt_regs *regs);
void it_timer_return(void *data, struct pt_regs *regs);
void it_translated(unsigned int *devices, unsigned int *translated);

/* map.c */
bool it_map_single_enter(void *data, struct pt_regs *regs);
void it_map_single_return(void *data, struct pt_regs *regs);
bool it_map_sg_enter(void *data, struct pt_regs *regs);
void it_map_sg_return(void *data, struct pt_regs *regs);
bool it_link_alloc_enter(void *data, struct pt_regs *regs);
void it_link_alloc_return(void *data, struct pt_regs *regs);
bool it_link_sync_enter(void *data, struct pt_regs *regs);
bool it_link_enter(void *data, struct pt_regs *regs);
void it_link_return(void *data, struct pt_regs *regs);
bool it_unmap_single_enter(void *data, struct pt_regs *regs);
bool it_unmap_sg_enter(void *data, struct pt_regs *regs);
bool it_unlink_enter(void *data, struct pt_regs *regs);
bool it_destroy_enter(void *data, struct pt_regs *regs);
void it_unmap_return(void *data, struct pt_regs *regs);
bool it_part_enter(void *data, struct pt_regs *regs);
bool it_unmap_part_enter(void *data, struct pt_regs *regs);
void it_iova_return(void *data, struct pt_regs *regs);
void it_iova_try_return(void *data, struct pt_regs *regs);
void it_iova_slow_return(void *data, struct pt_regs *regs);
bool it_iova_dma_enter(void *data, struct pt_regs *regs);
void it_iova_dma_return(void *data, struct pt_regs *regs);
void it_map_return(void *data, struct pt_regs *regs);
void it_map_sg_part_return(void *data, struct pt_regs *regs);
void it_sync_part_return(void *data, struct pt_regs *regs);
bool it_bounce_enter(void *data, struct pt_regs *regs);
void it_bounce_return(void *data, struct pt_regs *regs);

/* wait.c */
bool it_wait_intel_enter(void *data, struct pt_regs *regs);
bool it_wait_amd_enter(void *data, struct pt_regs *regs);
bool it_wait_smmu_enter(void *data, struct pt_regs *regs);
bool it_wait_virtio_enter(void *data, struct pt_regs *regs);
void it_wait_return(void *data, struct pt_regs *regs);
void it_wait_blind_return(void *data, struct pt_regs *regs);

/* fault.c */
bool it_fault_intel(void *data, struct pt_regs *regs);
void it_on_page_fault(void *hook, struct device *dev, unsigned long iova, int flags);
void it_fault_emit(const struct kstall_folded *folded);

#endif /* _IOMMU_TRACE_H */
