/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iommu_trace_events.h - the module's events
 *
 * Both the fields and the TP_PROTO() arguments (what rawtracepoint: and raw_tp programs see)
 * are ABI: they are only ever added to, at the end. Documentation/events.md is generated
 * from the comments here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM iommu_trace

#ifndef _IOMMU_TRACE_EVENTS_TYPES
#define _IOMMU_TRACE_EVENTS_TYPES

#include "iommu_trace.h"

KSTALL_DECLARE_TIMED_EVENT(iommu_iotlb_sync);
KSTALL_DECLARE_TIMED_EVENT(iommu_fq_flush);
KSTALL_DECLARE_TIMED_EVENT(dma_map_done);
KSTALL_DECLARE_TIMED_EVENT(dma_unmap_done);
KSTALL_DECLARE_TIMED_EVENT(dma_bounce);
KSTALL_DECLARE_TIMED_EVENT(iommu_inv_wait);
KSTALL_DECLARE_TIMED_EVENT(iommu_iova_alloc);
KSTALL_DECLARE_EVENT(iommu_fault);

/* IOMMU_DOMAIN_* */
#define it_show_type(val)						\
	__print_symbolic(val, { 0, "blocked" }, { 1, "unmanaged" }, { 3, "dma" },	\
			 { 4, "identity" }, { 0xb, "dma_fq" }, { 0x10, "sva" },	\
			 { 0x20, "platform" }, { 0x40, "nested" })

/* iommu_fq_flush: reason */
#define IT_FQ_TIMEOUT	0
#define IT_FQ_FULL	1

#define it_show_reason(val)	__print_symbolic(val, { 0, "timeout" }, { 1, "full" })

/* dma_map_done, dma_unmap_done: op */
#define IT_OP_SINGLE	0
#define IT_OP_SG	1
#define IT_OP_LINK	2
#define IT_OP_LINK_ALLOC	3
#define IT_OP_LINK_SYNC	4

#define it_show_op(val)							\
	__print_symbolic(val, { 0, "single" }, { 1, "sg" }, { 2, "link" },	\
			 { 3, "link_alloc" }, { 4, "link_sync" })

/* dma_map_done, dma_unmap_done: path */
#define IT_PATH_DIRECT	0
#define IT_PATH_IOMMU	1
#define IT_PATH_SWIOTLB	2
#define IT_PATH_OTHER	3

#define it_show_path(val)						\
	__print_symbolic(val, { 0, "direct" }, { 1, "iommu" }, { 2, "swiotlb" }, { 3, "other" })

/* enum dma_data_direction */
#define it_show_dir(val)						\
	__print_symbolic(val, { 0, "both" }, { 1, "to_device" }, { 2, "from_device" }, \
			 { 3, "none" })

/* iommu_inv_wait: what */
#define IT_INV_OTHER	0
#define IT_INV_IOTLB	1
#define IT_INV_DEVTLB	2
#define IT_INV_CONFIG	3
#define IT_INV_INTERRUPT	4
#define IT_INV_PAGE_RESPONSE	5

#define it_show_what(val)						\
	__print_symbolic(val, { 0, "other" }, { 1, "iotlb" }, { 2, "devtlb" },	\
			 { 3, "config" }, { 4, "interrupt" }, { 5, "page_response" })

/* iommu_iova_alloc: served */
#define IT_IOVA_CACHE	0
#define IT_IOVA_SLOW	1
#define IT_IOVA_FAILED	2

#define it_show_served(val)						\
	__print_symbolic(val, { 0, "cache" }, { 1, "slow" }, { 2, "failed" })

/* iommu_fault: source */
#define IT_FAULT_REPORT	0
#define IT_FAULT_INTEL	1

#define it_show_source(val)	__print_symbolic(val, { 0, "report" }, { 1, "intel" })

/* iommu_fault: reason, those of VT-d without scalable mode */
#define it_show_fault(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "no_root_entry" }, { 2, "no_context_entry" }, \
			 { 3, "invalid_context_entry" }, { 4, "beyond_address_width" },	\
			 { 5, "no_write_permission" }, { 6, "no_read_permission" },	\
			 { 7, "invalid_page_table" }, { 8, "invalid_root_table" },	\
			 { 9, "invalid_context_table" }, { 10, "reserved_in_root" },	\
			 { 11, "reserved_in_context" }, { 12, "reserved_in_pte" },	\
			 { 13, "blocked" }, { 0x20, "irq_reserved" },			\
			 { 0x21, "irq_index_too_large" }, { 0x22, "irq_entry_absent" },	\
			 { 0x23, "irq_table_error" }, { 0x24, "irq_reserved_in_entry" },	\
			 { 0x25, "irq_compatibility_blocked" }, { 0x26, "irq_source_wrong" })

/**
 * struct kstall_iommu_sync - rest of iommu_iotlb_sync
 * @id: identity
 * @home: the domain
 * @call: what is flushed
 * @all: all of the domain
 */
struct kstall_iommu_sync {
	struct kstall_id id;
	const struct it_home *home;
	const struct it_sync_call *call;
	bool all;
};

/**
 * struct kstall_iommu_fq - rest of iommu_fq_flush
 * @id: identity
 * @home: the domain
 * @call: the flush
 * @bytes: unmapped by the entries
 * @waited_ns: since the first of them
 */
struct kstall_iommu_fq {
	struct kstall_id id;
	const struct it_home *home;
	const struct it_sync_call *call;
	u64 bytes;
	u64 waited_ns;
};

/**
 * struct kstall_dma_map - rest of dma_map_done and dma_unmap_done
 * @id: identity
 * @call: what was asked for
 * @parts: what it did inside
 * @path: IT_PATH_*
 */
struct kstall_dma_map {
	struct kstall_id id;
	const struct it_map_call *call;
	const struct it_parts *parts;
	u8 path;
};

/**
 * struct kstall_dma_bounce - rest of dma_bounce
 * @id: identity
 * @call: the copy
 * @pool_slots: slots of 2 KiB the device's pool has
 * @pool_used: of them in use
 */
struct kstall_dma_bounce {
	struct kstall_id id;
	const struct it_bounce_call *call;
	u64 pool_slots;
	u64 pool_used;
};

/**
 * struct kstall_iommu_wait - rest of iommu_inv_wait
 * @id: identity
 * @call: the call that waits
 * @driver: of the IOMMU
 */
struct kstall_iommu_wait {
	struct kstall_id id;
	const struct it_wait_call *call;
	const char *driver;
};

/**
 * struct kstall_iommu_iova - rest of iommu_iova_alloc
 * @id: identity
 * @call: what was asked for
 * @iova: what it did inside
 */
struct kstall_iommu_iova {
	struct kstall_id id;
	const struct it_iova_call *call;
	const struct it_iova *iova;
};

/**
 * struct kstall_iommu_fault - rest of iommu_fault
 * @id: identity
 * @fault: the fault, or the last of those summed up
 */
struct kstall_iommu_fault {
	struct kstall_id id;
	const struct it_fault *fault;
};

/* The IOMMU and the domain, after the identity, which is part of what is printed. */
#define IT_HOME_FIELDS							\
	KSTALL_NAME_FIELD(driver)					\
	KSTALL_NAME_FIELD(iommu)					\
	__field(u32, devices)						\
	__field(u32, type)

#define IT_HOME_ASSIGN(_home, _call)					\
	do {								\
		KSTALL_NAME_ASSIGN(driver, (_home)->driver);		\
		KSTALL_NAME_ASSIGN(iommu, (_home)->iommu);		\
		__entry->devices = (_home)->devices;			\
		__entry->type = (_call)->type;				\
	} while (0)

#define IT_HOME_FMT	KSTALL_ID_FMT " driver=%s iommu=%s devices=%u type=%s"
#define IT_HOME_ARGS							\
	KSTALL_ID_ARGS, __entry->driver, __entry->iommu, __entry->devices,	\
	it_show_type(__entry->type)

/* A mapping call, after the identity. */
#define IT_MAP_FIELDS							\
	__field(u8, op)							\
	__field(u8, dir)						\
	__field(u8, path)						\
	__field(bool, p2p)						\
	__field(u64, dma_addr)						\
	__field(u64, bytes)						\
	__field(u32, nents)						\
	__field(s32, result)						\
	__field(u64, duration_ns)					\
	__field(u64, iova_ns)						\
	__field(u64, map_ns)						\
	__field(u64, sync_ns)						\
	__field(u64, bounced_bytes)

#define IT_MAP_ASSIGN(_m)						\
	do {								\
		__entry->op = (_m)->call->op;				\
		__entry->dir = (_m)->call->dir;				\
		__entry->path = (_m)->path;				\
		__entry->p2p = it_is_p2p((_m)->call);			\
		__entry->dma_addr = dma_addr;				\
		__entry->bytes = bytes;					\
		__entry->nents = (_m)->call->nents;			\
		__entry->result = result;				\
		__entry->duration_ns = duration_ns;			\
		__entry->iova_ns = (_m)->parts->iova_ns;		\
		__entry->map_ns = (_m)->parts->map_ns;			\
		__entry->sync_ns = (_m)->parts->sync_ns;		\
		__entry->bounced_bytes = (_m)->parts->bounced;		\
	} while (0)

#define IT_MAP_FMT	"op=%s dir=%s path=%s p2p=%d dma_addr=%#llx bytes=%llu nents=%u result=%d duration_ns=%llu iova_ns=%llu map_ns=%llu sync_ns=%llu bounced_bytes=%llu"
#define IT_MAP_ARGS							\
	it_show_op(__entry->op), it_show_dir(__entry->dir), it_show_path(__entry->path), \
	__entry->p2p, __entry->dma_addr, __entry->bytes, __entry->nents, __entry->result, \
	__entry->duration_ns, __entry->iova_ns, __entry->map_ns, __entry->sync_ns, \
	__entry->bounced_bytes

#endif /* _IOMMU_TRACE_EVENTS_TYPES */

#if !defined(_IOMMU_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _IOMMU_TRACE_EVENTS_H

#include <linux/tracepoint.h>

/**
 * iommu_iotlb_sync - a CPU had the IOMMU forget translations, and waited until it had
 *
 * One event a flush: of a range, or of all of a domain. In an interrupt, where most drivers
 * unmap, pid, tgid and cgroup_id are 0 and comm is empty.
 *
 * @dev: the device whose translations they are, empty if its domain is not known yet; the first
 *	if there are several
 * @driver: the IOMMU's driver, as intel_iommu, amd_iommu, viommu, arm_smmu
 * @iommu: name of the IOMMU that serves the device, as dmar0
 * @devices: devices that share the domain
 * @type: of the domain: dma (each unmap is flushed), dma_fq (unmaps wait in a queue), unmanaged
 *	(VFIO); identity, blocked, sva, platform, nested
 * @all: all translations of the domain
 * @start: first address of the range
 * @end: last address of the range
 * @pages: pages of 4 KiB, or what the kernel's are, in the range; 0: it has none
 * @pgsize: bytes in the unit the range was unmapped in, as the driver has it
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: how long the CPU waited
 *
 * Arguments: duration_ns, start, pages, all, struct.
 * Parameter: iommu_iotlb_sync_min_ns.
 * Overhead: entry and return of each flush, and a look-up.
 * Reach: 6.1 and later, every IOMMU driver: the functions are found through the domains'
 * operations. Silent with iommu=pt, where nothing is translated. The event has the flushes that
 * unmapping waits for, those of devices' own TLBs (ATS) included. Not seen: iotlb_sync_map(), by
 * which Intel's driver flushes each mapping where the IOMMU caches what is not present (caching
 * mode, in most virtual machines); dma_map_done has that time in map_ns, since 6.16 in sync_ns.
 * Nor flushes for a process's memory that a device shares (SVA): an mmu_notifier makes them.
 * iommu_inv_wait has all waits for an IOMMU's queue. The device is known from a look
 * at all PCI devices with a driver when the event is enabled, when a device gets a driver, and
 * after each attach. On 6.12 virtio-iommu does not give the range: start is above end, pages is 0.
 * pgsize is the size of the first unmapped range with Intel's and AMD's drivers before 7.0, since
 * then it is bits of page table levels.
 */
KSTALL_TRACE_EVENT(iommu_iotlb_sync,
	TP_PROTO(u64 duration_ns, u64 start, u64 pages, int all,
		 const struct kstall_iommu_sync *s),
	TP_ARGS(duration_ns, start, pages, all, s),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		IT_HOME_FIELDS
		__field(bool, all)
		__field(u64, start)
		__field(u64, end)
		__field(u64, pages)
		__field(u64, pgsize)
		__field(u64, duration_us)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&s->id);
		IT_HOME_ASSIGN(s->home, s->call);
		__entry->all = all;
		__entry->start = start;
		__entry->end = s->call->end;
		__entry->pages = pages;
		__entry->pgsize = s->call->pgsize;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
	),
	TP_printk(IT_HOME_FMT " all=%d start=%#llx end=%#llx pages=%llu pgsize=%llu duration_us=%llu duration_ns=%llu",
		  IT_HOME_ARGS, __entry->all, __entry->start, __entry->end,
		  __entry->pages, __entry->pgsize, __entry->duration_us, __entry->duration_ns)
);

/**
 * iommu_fq_flush - the queue of unmaps that waited for a flush was flushed
 *
 * Lazy mode: until then the device could still reach what was unmapped. In an interrupt pid,
 * tgid and cgroup_id are 0 and comm is empty.
 *
 * @dev: the device whose translations they are; the first if there are several
 * @driver: the IOMMU's driver
 * @iommu: name of the IOMMU that serves the device
 * @devices: devices that share the domain
 * @type: of the domain: dma_fq
 * @reason: timeout (10 ms after the first entry, or what the kernel has), full (a CPU's queue,
 *	and a task that unmaps had to wait)
 * @entries: unmaps that waited
 * @bytes: what they unmapped
 * @waited_ns: since the first of them
 * @duration_ns: of the flush
 *
 * Arguments: duration_ns, 0, entries, reason, struct.
 * Parameter: iommu_fq_flush_min_ns.
 * Overhead: entry and return of each unmapping of a range and of each flush, and a look at each
 * CPU's share of the queue.
 * Reach: 6.1 and later, devices in domains of type DMA-FQ. With strict mode (iommu.strict=1, and
 * what virtualization forces) and with iommu=pt there is no queue. On 7.2 mappings in two steps
 * that unmap without the queue are not counted.
 */
KSTALL_TRACE_EVENT(iommu_fq_flush,
	TP_PROTO(u64 duration_ns, u64 none, u32 entries, int reason,
		 const struct kstall_iommu_fq *f),
	TP_ARGS(duration_ns, none, entries, reason, f),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		IT_HOME_FIELDS
		__field(u8, reason)
		__field(u32, entries)
		__field(u64, bytes)
		__field(u64, waited_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&f->id);
		IT_HOME_ASSIGN(f->home, f->call);
		__entry->reason = reason;
		__entry->entries = entries;
		__entry->bytes = f->bytes;
		__entry->waited_ns = f->waited_ns;
		__entry->duration_ns = duration_ns;
	),
	TP_printk(IT_HOME_FMT " reason=%s entries=%u bytes=%llu waited_ns=%llu duration_ns=%llu",
		  IT_HOME_ARGS, it_show_reason(__entry->reason),
		  __entry->entries, __entry->bytes, __entry->waited_ns, __entry->duration_ns)
);

/**
 * dma_map_done - memory was made reachable for a device
 *
 * On every node, translated or not. The parts iova_ns, map_ns and sync_ns are of duration_ns; the
 * rest is the loop over the list, cache maintenance and bounce buffers. In an interrupt pid,
 * tgid and cgroup_id are 0 and comm is empty.
 *
 * @dev: the device
 * @op: single (a page, a buffer), sg (a list), or of a mapping made in steps: link_alloc (finding
 *	addresses), link (a part of it), link_sync (telling the IOMMU)
 * @dir: to_device, from_device, both, none
 * @path: iommu (translated), direct (as it is), swiotlb (through bounce buffers, whether
 *	translated or not), other (somebody else maps, Xen for instance)
 * @p2p: memory of another PCI device, as far as the first page says
 * @dma_addr: the address the device has to use, of a list its first; 0: it failed
 * @bytes: mapped, 0 for link_alloc and link_sync; of a list that did not merge at most the first
 *	16384 segments; if it failed what was asked for, of a list 0
 * @nents: pieces to be mapped
 * @result: segments they became, or a negative errno
 * @duration_ns: how long it took
 * @iova_ns: of it finding addresses
 * @map_ns: of it writing the IOMMU's page table
 * @sync_ns: of it telling the IOMMU of new entries, with link_sync only; with sg, and on 6.1 and
 *	6.12 with single, map_ns contains that
 * @bounced_bytes: copied through bounce buffers
 *
 * Arguments: duration_ns, dma_addr, bytes, result, struct.
 * Parameter: dma_map_done_min_ns.
 * Overhead: entry and return of each mapping, a table record, and of each allocation of
 * addresses and change of the page table inside.
 * Reach: 6.1 and later. Not coherent memory (dma_alloc_coherent()), not what a driver maps
 * itself (VFIO, NVIDIA's SVA), nor, on 6.1 and 6.12, dma_map_resource(), with which amdgpu maps
 * its peers' memory. Mappings in steps are of 6.16 and later, where NVMe, RDMA and HMM use them.
 * path=other is iommu before 6.12.
 */
KSTALL_TRACE_EVENT(dma_map_done,
	TP_PROTO(u64 duration_ns, u64 dma_addr, u64 bytes, int result,
		 const struct kstall_dma_map *m),
	TP_ARGS(duration_ns, dma_addr, bytes, result, m),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		IT_MAP_FIELDS
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&m->id);
		IT_MAP_ASSIGN(m);
	),
	TP_printk(KSTALL_ID_FMT " " IT_MAP_FMT, KSTALL_ID_ARGS, IT_MAP_ARGS)
);

/**
 * dma_unmap_done - memory was made unreachable for a device
 *
 * As dma_map_done, the other way. In an interrupt pid, tgid and cgroup_id are 0 and comm is
 * empty.
 *
 * @dev: the device
 * @op: single, sg, link (link_alloc and link_sync do not occur)
 * @dir: to_device, from_device, both, none
 * @path: iommu, direct, swiotlb, other; swiotlb only if something was copied back (from_device,
 *	both), else iommu or direct
 * @p2p: always 0
 * @dma_addr: the address the device had
 * @bytes: unmapped; of a list at most its first 16384 segments
 * @nents: segments
 * @result: the same
 * @duration_ns: how long it took
 * @iova_ns: of it giving the addresses back
 * @map_ns: of it clearing the IOMMU's page table
 * @sync_ns: of it waiting for the IOMMU to forget them
 * @bounced_bytes: copied back from bounce buffers
 *
 * Arguments: duration_ns, dma_addr, bytes, result, struct.
 * Parameter: dma_unmap_done_min_ns.
 * Overhead: as dma_map_done.
 * Reach: as dma_map_done. In lazy mode the flush is another's: sync_ns is 0 but for the task
 * that finds the queue full.
 */
KSTALL_TRACE_EVENT(dma_unmap_done,
	TP_PROTO(u64 duration_ns, u64 dma_addr, u64 bytes, int result,
		 const struct kstall_dma_map *m),
	TP_ARGS(duration_ns, dma_addr, bytes, result, m),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		IT_MAP_FIELDS
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&m->id);
		IT_MAP_ASSIGN(m);
	),
	TP_printk(KSTALL_ID_FMT " " IT_MAP_FMT, KSTALL_ID_ARGS, IT_MAP_ARGS)
);

/**
 * dma_bounce - data was copied because a device cannot reach it where it is
 *
 * One event a copy, in either direction. In an interrupt pid, tgid and cgroup_id are 0 and comm
 * is empty.
 *
 * @dev: the device
 * @dir: to_device, from_device (both and none do not occur)
 * @bytes: copied
 * @duration_ns: how long it took
 * @pool_slots: size of the device's pool of bounce buffers, in slots of 2 KiB
 * @pool_used: of them in use, 0 if the kernel does not count (before 6.4, without debugfs,
 *	since 7.3 without swiotlb=,track_hiwater)
 *
 * Arguments: duration_ns, 0, bytes, dir, struct.
 * Parameter: dma_bounce_min_ns.
 * Overhead: entry and return of each copy.
 * Reach: 6.1 and later; kernels whose compiler did not inline the copy, or the event is refused.
 */
KSTALL_TRACE_EVENT(dma_bounce,
	TP_PROTO(u64 duration_ns, u64 none, u64 bytes, int dir,
		 const struct kstall_dma_bounce *b),
	TP_ARGS(duration_ns, none, bytes, dir, b),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u8, dir)
		__field(u64, bytes)
		__field(u64, duration_ns)
		__field(u64, pool_slots)
		__field(u64, pool_used)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&b->id);
		__entry->dir = dir;
		__entry->bytes = bytes;
		__entry->duration_ns = duration_ns;
		__entry->pool_slots = b->pool_slots;
		__entry->pool_used = b->pool_used;
	),
	TP_printk(KSTALL_ID_FMT " dir=%s bytes=%llu duration_ns=%llu pool_slots=%llu pool_used=%llu",
		  KSTALL_ID_ARGS, it_show_dir(__entry->dir), __entry->bytes,
		  __entry->duration_ns, __entry->pool_slots, __entry->pool_used)
);

/**
 * iommu_inv_wait - a CPU had an IOMMU forget something, and waited until it had
 *
 * What iommu_iotlb_sync spends its time with, and what else goes through the same queue:
 * interrupt remapping, context and PASID entries, TLBs in devices. One event a wait, in interrupts
 * too; then pid, tgid and cgroup_id are 0 and comm is empty.
 *
 * @dev: the IOMMU that is waited for, as dmar0, empty if no device is known to be behind it
 * @driver: its driver, as intel_iommu, amd_iommu, viommu, arm_smmu
 * @what: what the first command is about: iotlb, devtlb, config (context, stream and PASID
 *	entries), interrupt (remapping), page_response, other (also: not known)
 * @commands: how many there are, without the one that says when they are done; 0: not known
 * @result: 0 or a negative errno; 0 where the driver does not say
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: from handing them over, with the wait for room in the queue, to the end; mostly
 *	with interrupts off
 *
 * Arguments: duration_ns, 0, commands, result, struct.
 * Parameter: iommu_inv_wait_min_ns.
 * Overhead: entry and return of each wait, and a look through the IOMMUs there are.
 * Reach: 6.1 and later. Intel's with iommu=pt as well: what is left then is interrupts and TLBs
 * in devices. AMD's and virtio-iommu's what is other and commands is 0, AMD's driver is also
 * asked to wait when there is nothing to wait for, and its waits for changed interrupts since 6.3
 * are elsewhere. Drivers are hooked by their functions' names: the status file says which are
 * not there. SMMUv3's on 6.1 is written from its source (see wait.c); on 6.12 and 7.2 it is tested
 * in an emulator.
 */
KSTALL_TRACE_EVENT(iommu_inv_wait,
	TP_PROTO(u64 duration_ns, u64 none, u32 commands, int result,
		 const struct kstall_iommu_wait *w),
	TP_ARGS(duration_ns, none, commands, result, w),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(driver)
		__field(u8, what)
		__field(u32, commands)
		__field(s32, result)
		__field(u64, duration_us)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&w->id);
		KSTALL_NAME_ASSIGN(driver, w->driver);
		__entry->what = w->call->what;
		__entry->commands = commands;
		__entry->result = result;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
	),
	TP_printk(KSTALL_ID_FMT " driver=%s what=%s commands=%u result=%d duration_us=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->driver, it_show_what(__entry->what),
		  __entry->commands, __entry->result, __entry->duration_us, __entry->duration_ns)
);

/**
 * iommu_iova_alloc - addresses were found for a DMA mapping
 *
 * One event an allocation. A CPU keeps addresses that were given back for the next request for as
 * many; a task that finds none there searches the tree of all of them, under a lock that all users of the
 * domain share. In an interrupt pid, tgid and cgroup_id are 0 and comm is empty.
 *
 * @dev: the device they are for
 * @bytes: how many, rounded up to pages
 * @limit: the highest address the device can use
 * @iova: the first; 0: there were none
 * @served: cache, slow (the tree), failed
 * @tries: how often it was tried: first below 4 GiB, then below the limit
 * @slow_tries: searches of the tree; a second one in a try comes after all CPUs' caches were
 *	emptied
 * @slow_ns: how long they took, the wait for the lock included
 * @duration_ns: how long it took
 *
 * Arguments: duration_ns, iova, bytes, served, struct.
 * Parameter: iommu_iova_alloc_min_ns.
 * Overhead: entry and return of each allocation, of the tries inside and of each search, and a
 * table record.
 * Reach: 6.1 and later; translated devices. Sizes above 128 KiB always go to the tree. Not
 * there: the wait for the lock as a time of its own. The kernel reports it
 * (lock:contention_begin), but of all locks alike, and to look at each of them would slow down
 * every contended one on the machine.
 */
KSTALL_TRACE_EVENT(iommu_iova_alloc,
	TP_PROTO(u64 duration_ns, u64 iova, u64 bytes, int served,
		 const struct kstall_iommu_iova *a),
	TP_ARGS(duration_ns, iova, bytes, served, a),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u64, bytes)
		__field(u64, limit)
		__field(u64, iova)
		__field(u8, served)
		__field(u32, tries)
		__field(u32, slow_tries)
		__field(u64, slow_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&a->id);
		__entry->bytes = bytes;
		__entry->limit = a->call->limit;
		__entry->iova = iova;
		__entry->served = served;
		__entry->tries = a->iova->tries;
		__entry->slow_tries = a->iova->slow;
		__entry->slow_ns = a->iova->slow_ns;
		__entry->duration_ns = duration_ns;
	),
	TP_printk(KSTALL_ID_FMT " bytes=%llu limit=%#llx iova=%#llx served=%s tries=%u slow_tries=%u slow_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->bytes, __entry->limit, __entry->iova,
		  it_show_served(__entry->served), __entry->tries, __entry->slow_tries,
		  __entry->slow_ns, __entry->duration_ns)
);

/**
 * iommu_fault - an IOMMU refused a device's access to memory
 *
 * The first of a device at once; what follows within 100 ms is summed up in an event with
 * count > 1, which has the last. No task has caused it: pid, tgid and cgroup_id are 0, comm
 * is empty.
 *
 * @dev: BDF of the device that wanted it, empty if the driver does not say
 * @iommu: the one that refused it, as dmar0; empty with source=report
 * @source: report (the IOMMU's driver reported it, as tracepoint iommu:io_page_fault), intel (from
 *	the IOMMU's registers: Intel's driver only prints them, and not all)
 * @reason: intel: why, from the VT-d specification (codes of scalable mode as numbers); report: -
 * @write: the device wanted to write
 * @pasid: address space the access was in, -1: none, or not known
 * @addr: the address; intel: of the page, and with the reasons that begin with irq_ the
 *	interrupt's index in the upper 16 bits
 * @raw: report: flags; intel: the upper 32 bits of the fault record
 * @overflow: intel: the IOMMU had no room for another fault
 * @count: faults this event stands for
 * @first_mono_ns: when the first happened
 * @last_mono_ns: when the last happened
 *
 * Arguments: 0, addr, count, reason, struct.
 * Overhead: none but when faults come; Intel's then are read twice, 4 registers each.
 * Reach: 6.1 and later. report: AMD, SMMU v2 and others whose driver calls report_iommu_fault();
 * SMMUv3's and virtio-iommu's does not. intel: all, but those that come while the kernel deals
 * with the ones before. Not there: page requests of devices that can wait for a page (PRI, SVA),
 * and how long they wait; nothing at hand has such devices, and Debian's 6.1 and 6.12 refuse to
 * bind an address space on x86.
 */
KSTALL_TRACE_EVENT(iommu_fault,
	TP_PROTO(u64 none, u64 addr, u64 count, int reason, const struct kstall_iommu_fault *f),
	TP_ARGS(none, addr, count, reason, f),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(iommu)
		__field(u8, source)
		__field(u8, reason)
		__field(bool, write)
		__field(bool, overflow)
		__field(s32, pasid)
		__field(u32, raw)
		__field(u64, addr)
		__field(u64, count)
		__field(u64, first_mono_ns)
		__field(u64, last_mono_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&f->id);
		KSTALL_NAME_ASSIGN(iommu, f->fault->iommu);
		__entry->source = f->fault->source;
		__entry->reason = reason;
		__entry->write = f->fault->write;
		__entry->overflow = f->fault->overflow;
		__entry->pasid = f->fault->pasid;
		__entry->raw = f->fault->raw;
		__entry->addr = addr;
		__entry->count = count;
		__entry->first_mono_ns = f->fault->folded.first_ns;
		__entry->last_mono_ns = f->fault->folded.last_ns;
	),
	TP_printk(KSTALL_ID_FMT " iommu=%s source=%s reason=%s write=%d pasid=%d addr=%#llx raw=%#x overflow=%d count=%llu first_mono_ns=%llu last_mono_ns=%llu",
		  KSTALL_ID_ARGS, __entry->iommu, it_show_source(__entry->source),
		  it_show_fault(__entry->reason), __entry->write, __entry->pasid,
		  __entry->addr, __entry->raw, __entry->overflow, __entry->count,
		  __entry->first_mono_ns, __entry->last_mono_ns)
);

#endif /* _IOMMU_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE iommu_trace_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
