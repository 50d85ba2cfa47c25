/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mm_migrate_trace_events.h - the module's events
 *
 * Both the fields and the TP_PROTO() arguments (what rawtracepoint: and raw_tp programs see)
 * are ABI: they are only ever added to, at the end. Documentation/events.md is generated
 * from the comments here.
 *
 * The identity is the task that does it: a program that moves its pages, a fault, but also
 * kcompactd, khugepaged or kswapd. The owner of the memory is said apart: owner_*.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mm_migrate

#ifndef _MM_MIGRATE_TRACE_EVENTS_TYPES
#define _MM_MIGRATE_TRACE_EVENTS_TYPES

#include <linux/mm.h>
#include <trace/events/mmflags.h>

#include "mm_migrate_trace.h"

KSTALL_DECLARE_TIMED_EVENT(mm_migrate_mmu_notifier_wait);
KSTALL_DECLARE_TIMED_EVENT(mm_migrate_notifier);
KSTALL_DECLARE_TIMED_EVENT(mm_migrate_batch);
KSTALL_DECLARE_TIMED_EVENT(mm_compaction_stall);
KSTALL_DECLARE_TIMED_EVENT(mm_thp_fallback);
KSTALL_DECLARE_TIMED_EVENT(mm_migrate_device);
KSTALL_DECLARE_TIMED_EVENT(mm_pin);
#ifdef CONFIG_X86
KSTALL_DECLARE_TIMED_EVENT(mm_tlb_shootdown);
#endif

/* MM_REASON_* */
#define mm_show_reason(val)						\
	__print_symbolic(val, { 0, "compaction" }, { 1, "memory_failure" },	\
			 { 2, "memory_hotplug" }, { 3, "syscall" }, { 4, "mbind" },	\
			 { 5, "numa" }, { 6, "contig_range" }, { 7, "longterm_pin" },	\
			 { 8, "demotion" }, { 9, "damon" }, { 15, "other" },		\
			 { 16, "device" }, { 17, "split" }, { 18, "numa_scan" },	\
			 { 255, "none" })

/* enum mmu_notifier_event, the same from 6.1 to 7.3 */
#define MM_EVENT_NONE	255

#define mm_show_event(val)						\
	__print_symbolic(val, { 0, "unmap" }, { 1, "clear" }, { 2, "protection_vma" },	\
			 { 3, "protection_page" }, { 4, "soft_dirty" }, { 5, "release" },	\
			 { 6, "migrate" }, { 7, "exclusive" }, { 255, "-" })

/* MM_VIA_* */
#define mm_show_via(val)						\
	__print_symbolic(val, { 0, "list" }, { 1, "interval" }, { 2, "finish" })

/* enum migrate_mode */
#define mm_show_mode(val)						\
	__print_symbolic(val, { 0, "async" }, { 1, "sync_light" }, { 2, "sync" },	\
			 { 3, "sync_no_copy" })

/* The kernel's names of gfp flags; sparse has not enough memory for them. */
#ifdef __CHECKER__
#define mm_show_gfp(val)	""
#else
#define mm_show_gfp(val)	show_gfp_flags(val)
#endif

/* MM_COMPACT_* */
#define mm_show_compact(val)						\
	__print_symbolic(val, { 0, "skipped" }, { 1, "deferred" }, { 2, "partial_skipped" }, \
			 { 3, "contended" }, { 4, "complete" }, { 5, "success" }, { 6, "other" })

/* mm_compaction_stall: enum compact_priority */
#define mm_show_prio(val)						\
	__print_symbolic(val, { 0, "sync_full" }, { 1, "sync_light" }, { 2, "async" })

/* mm_thp_fallback: asked, cause */
#define MM_ASKED_FAULT		0
#define MM_ASKED_DRIVER		1
#define MM_ASKED_KERNEL		2

#define mm_show_asked(val)						\
	__print_symbolic(val, { 0, "fault" }, { 1, "driver" }, { 2, "kernel" })

#define MM_FALLBACK_ALLOC	0
#define MM_FALLBACK_CHARGE	1
#define MM_FALLBACK_UNSUITABLE	2

#define mm_show_fallback(val)						\
	__print_symbolic(val, { 0, "alloc" }, { 1, "charge" }, { 2, "unsuitable_vma" })

/* mm_migrate_device: phase */
#define MM_PHASE_SETUP		0
#define MM_PHASE_PAGES		1
#define MM_PHASE_FINALIZE	2
#define MM_PHASE_HMM		3
#define MM_PHASE_FAULT		4

#define mm_show_phase(val)						\
	__print_symbolic(val, { 0, "setup" }, { 1, "pages" }, { 2, "finalize" }, { 3, "hmm" }, \
			 { 4, "fault" })

/* mm_pin: via */
#define MM_PIN_PIN		0
#define MM_PIN_FAST		1
#define MM_PIN_REMOTE		2
#define MM_PIN_UNLOCKED		3

#define mm_show_pin(val)						\
	__print_symbolic(val, { 0, "pin" }, { 1, "fast" }, { 2, "remote" }, { 3, "unlocked" })

/* mm_tlb_shootdown: kind */
#define MM_FLUSH_MM	0
#define MM_FLUSH_BATCH	1
#define MM_FLUSH_KERNEL	2

#define mm_show_flush(val)						\
	__print_symbolic(val, { 0, "mm" }, { 1, "batch" }, { 2, "kernel" })

/**
 * struct kstall_mm_wait - rest of mm_migrate_mmu_notifier_wait
 * @id: identity of the task that waited
 * @range: what is invalidated
 * @ctx: why
 * @window: the callbacks of this wait
 * @callback: the slowest of them
 * @result: 0, -EAGAIN if one would have had to sleep
 */
struct kstall_mm_wait {
	struct kstall_id id;
	const struct mmu_notifier_range *range;
	struct mm_context ctx;
	struct mm_window window;
	const struct mm_callback *callback;
	int result;
};

/**
 * struct kstall_mm_notifier - rest of mm_migrate_notifier
 * @id: identity of the task that called it
 * @call: what it was called with
 * @callback: which it is
 * @reason: MM_REASON_*
 */
struct kstall_mm_notifier {
	struct kstall_id id;
	const struct mm_callback_call *call;
	const struct mm_callback *callback;
	u8 reason;
};

/**
 * struct kstall_mm_batch - rest of mm_migrate_batch
 * @id: identity of the task that moves them
 * @frame: what was counted meanwhile
 * @result: of migrate_pages()
 */
struct kstall_mm_batch {
	struct kstall_id id;
	struct mm_frame frame;
	int result;
};

/**
 * struct kstall_mm_compact - rest of mm_compaction_stall
 * @id: identity of the task that waited for memory
 * @call: what it wants
 * @frame: what was counted meanwhile
 * @caller: the caller
 */
struct kstall_mm_compact {
	struct kstall_id id;
	const struct mm_compact_call *call;
	struct mm_frame frame;
	struct mm_caller caller;
};

/**
 * struct kstall_mm_fallback - rest of mm_thp_fallback
 * @id: identity of the task that wanted it
 * @caller: its caller, if it was no fault
 * @count: how many it stands for
 * @first_ns: when the first of them happened
 * @last_ns: when the last happened
 * @gfp: flags of the allocation that failed last
 * @asked: MM_ASKED_*
 */
struct kstall_mm_fallback {
	struct kstall_id id;
	struct mm_caller caller;
	u64 count;
	u64 first_ns;
	u64 last_ns;
	u32 gfp;
	u8 asked;
};

/**
 * struct kstall_mm_device - rest of mm_migrate_device
 * @id: identity of the task that does it
 * @mm: whose pages they are
 * @frame: what was counted meanwhile
 * @caller: the driver's function
 * @start: first address
 * @pages: asked for
 * @result: 0 or an error
 * @phase: MM_PHASE_*
 * @from_device: they come from the device
 */
struct kstall_mm_device {
	struct kstall_id id;
	const struct mm_struct *mm;
	struct mm_frame frame;
	struct mm_caller caller;
	u64 start;
	u64 pages;
	int result;
	u8 phase;
	bool from_device;
};

/**
 * struct kstall_mm_pin - rest of mm_pin
 * @id: identity of the task that pins
 * @call: what it wants
 * @frame: what was counted meanwhile
 * @caller: the caller
 */
struct kstall_mm_pin {
	struct kstall_id id;
	const struct mm_pin_call *call;
	struct mm_frame frame;
	struct mm_caller caller;
};

/**
 * struct kstall_mm_flush - rest of mm_tlb_shootdown
 * @id: identity of the task that waited for the others
 * @call: what is flushed
 * @reason: MM_REASON_*
 * @syscall: number of the system call it is in, -1: none
 */
struct kstall_mm_flush {
	struct kstall_id id;
	const struct mm_flush_call *call;
	u8 reason;
	s32 syscall;
};

/* A function, whose names are longer than others. */
#define MM_SYMBOL_LEN		48
#define MM_SYMBOL_FIELD(name)	__array(char, name, MM_SYMBOL_LEN)
#define MM_SYMBOL_ASSIGN(name, src)	strscpy_pad(__entry->name, src, MM_SYMBOL_LEN)

/* The owner of the memory, after the identity. */
#define MM_OWNER_FIELDS							\
	__field(s32, owner_pid)						\
	__array(char, owner_comm, TASK_COMM_LEN)

#define MM_OWNER_ASSIGN(_mm)						\
	do {								\
		struct kstall_who __owner;				\
									\
		mm_owner(_mm, &__owner);				\
		__entry->owner_pid = __owner.pid;			\
		memcpy(__entry->owner_comm, __owner.comm, TASK_COMM_LEN); \
	} while (0)

#define MM_OWNER_FMT	KSTALL_ID_FMT " owner_pid=%d owner_comm=%s"
#define MM_OWNER_ARGS	KSTALL_ID_ARGS, __entry->owner_pid, __entry->owner_comm

#endif /* _MM_MIGRATE_TRACE_EVENTS_TYPES */

#if !defined(_MM_MIGRATE_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MM_MIGRATE_TRACE_EVENTS_H

#include <linux/tracepoint.h>

/**
 * mm_migrate_mmu_notifier_wait - memory is taken from an address space, and drivers are waited for
 *
 * Before the kernel changes what a range of addresses maps, it calls the mmu_notifiers of drivers
 * that use these addresses (GPUs, RDMA with on-demand paging, KVM), and they make their hardware
 * stop. Whoever wants the change sleeps until all have answered. Not seen: waits without any
 * callback, when no driver covers the range.
 *
 * @owner_pid: process whose memory it is, 0 if the kernel does not know
 * @owner_comm: its name
 * @start: first address of the range
 * @end: address behind it
 * @event: as drivers get it: unmap, clear (pages move), protection_vma,
 *	protection_page, soft_dirty, release (the address space ends), migrate (to or from a
 *	device), exclusive
 * @blockable: callbacks may sleep
 * @reason: why: the migration's reason (compaction, memory_failure, memory_hotplug, syscall,
 *	mbind, numa, contig_range, longterm_pin, demotion, damon); device: a driver moves pages to
 *	or from its memory; split: a large folio is split; numa_scan: NUMA balancing looks which tasks use
 *	the pages; none: it is no migration (munmap, copy on write, mprotect …)
 * @pfn: first page of the folio that is moved, if it is a migration or a split
 * @pages: its pages, else 0
 * @src_node: its NUMA node, -1 if there is none
 * @notifiers: callbacks that were called
 * @callback: function of the slowest of them
 * @callback_module: its module, empty if built in
 * @callback_ns: how long that one took
 * @wait_us: wait_ns in µs, rounded down
 * @wait_ns: until all had answered
 * @result: 0, or -11 (EAGAIN) if one would have had to sleep and must not
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, pfn, pages, reason, struct.
 * Parameter: mm_migrate_mmu_notifier_wait_min_ns.
 * Overhead: a function pair an invalidation of an address space that has or had a notifier, and
 * one a callback; a function pair a migrated folio, a batch and a NUMA scan. Nothing for others.
 * Reach: 6.1 and later. The callbacks are learned when they are registered and, of those registered
 * before, when the event is enabled; calls until its hook is placed, some milliseconds later, are
 * not seen, and a wait of only such counts as quiet_waits in the status file with those that no
 * driver covered. The secondary TLB hook of IOMMU-SVA drivers is atomic and not in it. contig_range
 * is what CMA, virtio-mem and gigantic huge pages do; of Debian's kernels 7.2 has CMA (CONFIG_CMA),
 * 6.1 and 6.12 have not. demotion takes a slower tier of memory (CXL, persistent memory) and damon
 * (6.11 and later) a DAMON scheme that migrates: both are named as the kernel does and have not
 * been run.
 */
KSTALL_TRACE_EVENT(mm_migrate_mmu_notifier_wait,
	TP_PROTO(u64 wait_ns, u64 pfn, u64 pages, int reason, const struct kstall_mm_wait *w),
	TP_ARGS(wait_ns, pfn, pages, reason, w),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		MM_OWNER_FIELDS
		__field(u64, start)
		__field(u64, end)
		__field(u8, event)
		__field(bool, blockable)
		__field(u8, reason)
		__field(u64, pfn)
		__field(u32, pages)
		__field(s32, src_node)
		__field(u32, notifiers)
		MM_SYMBOL_FIELD(callback)
		KSTALL_NAME_FIELD(callback_module)
		__field(u64, callback_ns)
		__field(u64, wait_us)
		__field(u64, wait_ns)
		__field(s32, result)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&w->id);
		MM_OWNER_ASSIGN(w->range->mm);
		__entry->start = w->range->start;
		__entry->end = w->range->end;
		__entry->event = w->range->event;
		__entry->blockable = mmu_notifier_range_blockable(w->range);
		__entry->reason = reason;
		__entry->pfn = pfn;
		__entry->pages = pages;
		__entry->src_node = w->ctx.node;
		__entry->notifiers = w->window.nr;
		MM_SYMBOL_ASSIGN(callback, w->callback->symbol);
		KSTALL_NAME_ASSIGN(callback_module, w->callback->module);
		__entry->callback_ns = w->window.slowest_ns;
		__entry->wait_us = div_u64(wait_ns, NSEC_PER_USEC);
		__entry->wait_ns = wait_ns;
		__entry->result = w->result;
		__entry->duration_ns = wait_ns;
	),
	TP_printk(MM_OWNER_FMT " start=0x%llx end=0x%llx event=%s blockable=%d reason=%s pfn=0x%llx pages=%u src_node=%d notifiers=%u callback=%s callback_module=%s callback_ns=%llu wait_us=%llu wait_ns=%llu result=%d duration_ns=%llu",
		  MM_OWNER_ARGS, __entry->start, __entry->end,
		  mm_show_event(__entry->event), __entry->blockable,
		  mm_show_reason(__entry->reason), __entry->pfn, __entry->pages,
		  __entry->src_node, __entry->notifiers, __entry->callback,
		  __entry->callback_module, __entry->callback_ns, __entry->wait_us,
		  __entry->wait_ns, __entry->result, __entry->duration_ns)
);

/**
 * mm_migrate_notifier - a driver's mmu_notifier callback has returned
 *
 * One event a call, so it says which driver is slow.
 *
 * @owner_pid: process whose memory it is, 0 if the kernel does not know
 * @owner_comm: its name
 * @callback: the function
 * @module: its module, empty if built in
 * @via: list: mmu_notifier_register(), called for every range of the address space; interval:
 *	mmu_interval_notifier_insert(), called for ranges that overlap its own; finish: second
 *	pass of the latter (7.1 and later), whose range is not known
 * @start: first address of the range
 * @end: address behind it
 * @event: as drivers get it: unmap, clear, protection_vma, protection_page,
 *	soft_dirty, release, migrate, exclusive, as in mm_migrate_mmu_notifier_wait; - in a second
 *	pass
 * @blockable: it may sleep
 * @reason: as in mm_migrate_mmu_notifier_wait
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: how long it took
 * @result: 0, or -11 (EAGAIN) if it would have had to sleep and must not
 *
 * Arguments: duration_ns, start, pages, result, struct.
 * Parameter: mm_migrate_notifier_min_ns.
 * Overhead: a function pair a callback; those of mm_migrate_mmu_notifier_wait, for the reason.
 * Reach: 6.1 and later; callbacks as in mm_migrate_mmu_notifier_wait, up to 16 different ones: the
 * status file names them, and counts in unlearned those that were too many. Calls at the end of
 * an address space come to interval notifiers, not to those on the list, which are released.
 */
KSTALL_TRACE_EVENT(mm_migrate_notifier,
	TP_PROTO(u64 duration_ns, u64 start, u64 pages, int result,
		 const struct kstall_mm_notifier *n),
	TP_ARGS(duration_ns, start, pages, result, n),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		MM_OWNER_FIELDS
		MM_SYMBOL_FIELD(callback)
		KSTALL_NAME_FIELD(module)
		__field(u8, via)
		__field(u64, start)
		__field(u64, end)
		__field(u8, event)
		__field(bool, blockable)
		__field(u8, reason)
		__field(u64, duration_us)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&n->id);
		MM_OWNER_ASSIGN(n->call->mm);
		MM_SYMBOL_ASSIGN(callback, n->callback->symbol);
		KSTALL_NAME_ASSIGN(module, n->callback->module);
		__entry->via = n->callback->via;
		__entry->start = start;
		__entry->end = n->call->end;
		__entry->event = n->call->event;
		__entry->blockable = n->call->blockable;
		__entry->reason = n->reason;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(MM_OWNER_FMT " callback=%s module=%s via=%s start=0x%llx end=0x%llx event=%s blockable=%d reason=%s duration_us=%llu duration_ns=%llu result=%d",
		  MM_OWNER_ARGS, __entry->callback, __entry->module,
		  mm_show_via(__entry->via), __entry->start, __entry->end,
		  mm_show_event(__entry->event), __entry->blockable,
		  mm_show_reason(__entry->reason), __entry->duration_us,
		  __entry->duration_ns, __entry->result)
);

/**
 * mm_migrate_batch - a call of migrate_pages() has returned
 *
 * The kernel's mm_migrate_pages with what it lacks: how long, what of it, from where to where.
 * The pages need not be the current task's own: move_pages() names another process, compaction
 * takes what it finds.
 *
 * @reason: as in mm_migrate_mmu_notifier_wait; other: one that was new after 7.2
 * @mode: async: does not wait for pages; sync_light: for most; sync: for all; sync_no_copy
 * @pfn: first page asked for
 * @pages: pages that were tried, of 4 KiB: moved and failed
 * @moved: pages moved
 * @failed: pages that could not be moved
 * @thp_moved: huge pages moved whole
 * @thp_failed: huge pages that could not be moved whole
 * @thp_split: huge pages split because no huge page was free for them
 * @src_node: NUMA node of the first page asked for
 * @dst_node: NUMA node the first page moved went to, -1 if none did
 * @waits: invalidations of address spaces that have or had mmu_notifiers, also where in the end
 *	no driver covers the range
 * @notifier_ns: of duration_ns in these
 * @shootdowns: TLB flushes that interrupted other CPUs
 * @tlb_ns: of duration_ns in these
 * @duration_ns: how long it took
 * @result: what migrate_pages() returned: pages or folios not moved, or an error
 *
 * Arguments: duration_ns, pfn, moved, reason, struct.
 * Parameter: mm_migrate_batch_min_ns.
 * Overhead: a function pair and a tracepoint probe a batch, a function entry a folio, a function
 * pair an invalidation with notifiers; shootdowns cost what they cost mm_tlb_shootdown.
 * Reach: 6.1 and later. Device memory is moved by migrate_vma_*(), not by this. On one that is
 * flushed by broadcast (INVLPGB, 6.15 and later) tlb_ns is 0.
 */
KSTALL_TRACE_EVENT(mm_migrate_batch,
	TP_PROTO(u64 duration_ns, u64 pfn, u64 moved, int reason, const struct kstall_mm_batch *b),
	TP_ARGS(duration_ns, pfn, moved, reason, b),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u8, reason)
		__field(u8, mode)
		__field(u64, pfn)
		__field(u32, pages)
		__field(u32, moved)
		__field(u32, failed)
		__field(u32, thp_moved)
		__field(u32, thp_failed)
		__field(u32, thp_split)
		__field(s32, src_node)
		__field(s32, dst_node)
		__field(u32, waits)
		__field(u64, notifier_ns)
		__field(u32, shootdowns)
		__field(u64, tlb_ns)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&b->id);
		__entry->reason = reason;
		__entry->mode = b->frame.mode;
		__entry->pfn = pfn;
		__entry->pages = b->frame.pages + b->frame.failed;
		__entry->moved = moved;
		__entry->failed = b->frame.failed;
		__entry->thp_moved = b->frame.thp_moved;
		__entry->thp_failed = b->frame.thp_failed;
		__entry->thp_split = b->frame.thp_split;
		__entry->src_node = b->frame.src_node;
		__entry->dst_node = b->frame.dst_node;
		__entry->waits = b->frame.waits;
		__entry->notifier_ns = b->frame.notifier_ns;
		__entry->shootdowns = b->frame.shootdowns;
		__entry->tlb_ns = b->frame.tlb_ns;
		__entry->duration_ns = duration_ns;
		__entry->result = b->result;
	),
	TP_printk(KSTALL_ID_FMT " reason=%s mode=%s pfn=0x%llx pages=%u moved=%u failed=%u thp_moved=%u thp_failed=%u thp_split=%u src_node=%d dst_node=%d waits=%u notifier_ns=%llu shootdowns=%u tlb_ns=%llu duration_ns=%llu result=%d",
		  KSTALL_ID_ARGS, mm_show_reason(__entry->reason), mm_show_mode(__entry->mode),
		  __entry->pfn, __entry->pages, __entry->moved, __entry->failed,
		  __entry->thp_moved, __entry->thp_failed, __entry->thp_split,
		  __entry->src_node, __entry->dst_node, __entry->waits, __entry->notifier_ns,
		  __entry->shootdowns, __entry->tlb_ns, __entry->duration_ns, __entry->result)
);

/**
 * mm_compaction_stall - an allocation has stopped to compact memory first
 *
 * The allocating task itself moves other pages away to get a contiguous piece: direct compaction.
 *
 * @order: pages it wants in one piece, as a power of two
 * @gfp_flags: how it may get them, GFP_* and __GFP_* of the running kernel
 * @prio: how hard compaction tries: sync_full, sync_light, async
 * @caller: the function of a module that asked, if one is on the stack, else the first one that is
 *	not part of the page or slab allocator
 * @caller_module: its module, empty if built in
 * @moved: pages that were moved for it
 * @notifier_ns: of duration_ns in waits for mmu_notifiers
 * @tlb_ns: of duration_ns in TLB flushes that interrupted other CPUs
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: how long it took
 * @result: what came of it: skipped (too little free memory to move pages to), deferred (has failed
 *	too often of late), partial_skipped, contended, complete (all memory searched in vain),
 *	success (should now succeed), other
 *
 * Arguments: duration_ns, order, moved, result, struct.
 * Parameter: mm_compaction_stall_min_ns.
 * Overhead: a function pair and a walk of the stack a stall, for its parts a function pair and a
 * tracepoint probe a batch of pages, a function pair an invalidation with notifiers; shootdowns
 * cost what they cost mm_tlb_shootdown.
 * Reach: 6.1 and later. Not kcompactd and vm.compact_memory, for which no allocation waits:
 * their moves are in mm_migrate_batch.
 */
KSTALL_TRACE_EVENT(mm_compaction_stall,
	TP_PROTO(u64 duration_ns, u64 order, u64 moved, int result,
		 const struct kstall_mm_compact *c),
	TP_ARGS(duration_ns, order, moved, result, c),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u8, order)
		__field(u64, gfp_flags)
		__field(u8, prio)
		MM_SYMBOL_FIELD(caller)
		KSTALL_NAME_FIELD(caller_module)
		__field(u32, moved)
		__field(u64, notifier_ns)
		__field(u64, tlb_ns)
		__field(u64, duration_us)
		__field(u64, duration_ns)
		__field(u8, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&c->id);
		__entry->order = order;
		__entry->gfp_flags = c->call->gfp;
		__entry->prio = c->call->prio;
		MM_SYMBOL_ASSIGN(caller, c->caller.symbol);
		KSTALL_NAME_ASSIGN(caller_module, c->caller.module);
		__entry->moved = moved;
		__entry->notifier_ns = c->frame.notifier_ns;
		__entry->tlb_ns = c->frame.tlb_ns;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(KSTALL_ID_FMT " order=%u gfp_flags=%s prio=%s caller=%s caller_module=%s moved=%u notifier_ns=%llu tlb_ns=%llu duration_us=%llu duration_ns=%llu result=%s",
		  KSTALL_ID_ARGS, __entry->order, mm_show_gfp(__entry->gfp_flags),
		  mm_show_prio(__entry->prio), __entry->caller, __entry->caller_module,
		  __entry->moved, __entry->notifier_ns, __entry->tlb_ns, __entry->duration_us,
		  __entry->duration_ns, mm_show_compact(__entry->result))
);

/**
 * mm_thp_fallback - memory in one large piece was not to be had
 *
 * A fault that wanted a huge page and got small ones, or an allocation by a driver or the kernel
 * that failed: it then tries smaller ones, as ttm_pool or dma_alloc do, or does without. Whoever
 * tries one size after the other fails with an event each. In an interrupt, as NAPI of a network
 * driver, no task has wanted it: pid is 0, comm is empty, and asked is kernel in each case.
 *
 * Faults have an event each. Allocations of one process, caller and order are folded: the first
 * has an event at once, with count=1; the rest have one 100 ms after the last, in a storm without
 * end every second, with the last one's pid, comm and gfp_flags. The sum of count is exact.
 *
 * @asked: fault: a program touched its memory; driver: a function of a module is on the stack;
 *	kernel: none is
 * @cause: alloc: no free piece; charge: the memory cgroup refused it; unsuitable_vma: the huge
 *	page would not fit into the mapping, so it was not even tried
 * @order: of what was wanted: 2^order pages of 4 KiB
 * @gfp_flags: of the allocation that failed, 0 if none did
 * @address: which the fault is at, else 0
 * @caller: function that asked the page allocator, empty if it is a fault or an interrupt: a
 *	module's, else the first that is not part of the allocator
 * @caller_module: its module, empty if built in
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: of the attempt, with compaction and reclaim; 0 if it is no fault
 * @count: failures this event stands for, 1 if it is a fault
 * @first_mono_ns: first of them, CLOCK_MONOTONIC
 * @last_mono_ns: last
 *
 * Arguments: duration_ns, address, order, cause, struct.
 * Parameter: mm_thp_fallback_min_ns; if it is not 0, only faults remain.
 * Overhead: a function pair a fault that wants a huge page; a function entry, a walk of the stack
 * and a look-up an allocation that fails, whose caller is named once a second and CPU. Nothing one
 * that succeeds.
 * Reach: 6.1 and later. Allocations of one page that fail are not seen, nor those that do not try
 * hard enough to notice (alloc_pages_nolock()). Which smaller piece came instead is not known to
 * the allocator. With MPOL_PREFERRED_MANY a charge may be called alloc. RT kernels have no huge
 * pages, so no such faults.
 */
KSTALL_TRACE_EVENT(mm_thp_fallback,
	TP_PROTO(u64 duration_ns, u64 address, u64 order, int cause,
		 const struct kstall_mm_fallback *f),
	TP_ARGS(duration_ns, address, order, cause, f),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u8, asked)
		__field(u8, cause)
		__field(u8, order)
		__field(u64, gfp_flags)
		__field(u64, address)
		MM_SYMBOL_FIELD(caller)
		KSTALL_NAME_FIELD(caller_module)
		__field(u64, duration_us)
		__field(u64, duration_ns)
		__field(u64, count)
		__field(u64, first_mono_ns)
		__field(u64, last_mono_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&f->id);
		__entry->asked = f->asked;
		__entry->cause = cause;
		__entry->order = order;
		__entry->gfp_flags = f->gfp;
		__entry->address = address;
		MM_SYMBOL_ASSIGN(caller, f->caller.symbol);
		KSTALL_NAME_ASSIGN(caller_module, f->caller.module);
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
		__entry->count = f->count;
		__entry->first_mono_ns = f->first_ns;
		__entry->last_mono_ns = f->last_ns;
	),
	TP_printk(KSTALL_ID_FMT " asked=%s cause=%s order=%u gfp_flags=%s address=0x%llx caller=%s caller_module=%s duration_us=%llu duration_ns=%llu count=%llu first_mono_ns=%llu last_mono_ns=%llu",
		  KSTALL_ID_ARGS, mm_show_asked(__entry->asked),
		  mm_show_fallback(__entry->cause), __entry->order,
		  mm_show_gfp(__entry->gfp_flags), __entry->address, __entry->caller,
		  __entry->caller_module, __entry->duration_us, __entry->duration_ns,
		  __entry->count, __entry->first_mono_ns, __entry->last_mono_ns)
);

/**
 * mm_migrate_device - a driver has moved pages to or from its device, or had them made present
 *
 * A driver that shares a process's memory moves pages in three phases; in between it copies them.
 * One whose device has its own page tables has the pages it needs made present.
 *
 * @owner_pid: process whose memory it is, 0 if the kernel does not know
 * @owner_comm: its name
 * @phase: setup: migrate_vma_setup(), the pages are isolated and unmapped; pages:
 *	migrate_vma_pages(), the new ones take their place; finalize: migrate_vma_finalize(), they
 *	are mapped; hmm: hmm_range_fault(), or hmm_range_fault_unlocked_timeout(), which also
 *	takes the lock of the address space; fault: a program touched a page in the device's memory,
 *	and migrate_to_ram() of its driver fetched it, in phases of its own that come before
 * @caller: the driver's function
 * @caller_module: its module
 * @start: first address
 * @pages: in the range, of 4 KiB; fault: 1
 * @done: pages that can move (setup) or have (pages, finalize); that are present (hmm); that were
 *	fetched (fault), of which there may be more
 * @from_device: they come from the device's memory; 0 for hmm
 * @notifier_ns: of duration_ns waiting for mmu_notifiers
 * @tlb_ns: of duration_ns in TLB flushes that interrupted other CPUs
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: how long it took
 * @result: 0 or a negative errno; hmm: -16 (EBUSY) if the range changed meanwhile, and the driver
 *	tries again; fault: -14 (EFAULT) if it could not be fetched
 *
 * Arguments: duration_ns, start, done, result, struct.
 * Parameter: mm_migrate_device_min_ns.
 * Overhead: a function pair and a walk of the stack a phase, a function pair an invalidation with
 * notifiers; with CONFIG_DEVICE_PRIVATE a function entry a swap fault; shootdowns cost what they
 * cost mm_tlb_shootdown.
 * Reach: 6.1 and later. Only what goes through these functions: not migrate_device_range(). Faults
 * where the kernel has CONFIG_DEVICE_PRIVATE: Debian's 7.2 has, its 6.1 and 6.12 have not, there no
 * page can be in a device's memory; not faults on huge pages there (6.19 and later), which show as
 * their driver's phases only, with from_device.
 */
KSTALL_TRACE_EVENT(mm_migrate_device,
	TP_PROTO(u64 duration_ns, u64 start, u64 done, int result,
		 const struct kstall_mm_device *d),
	TP_ARGS(duration_ns, start, done, result, d),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		MM_OWNER_FIELDS
		__field(u8, phase)
		MM_SYMBOL_FIELD(caller)
		KSTALL_NAME_FIELD(caller_module)
		__field(u64, start)
		__field(u64, pages)
		__field(u64, done)
		__field(bool, from_device)
		__field(u64, notifier_ns)
		__field(u64, tlb_ns)
		__field(u64, duration_us)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&d->id);
		MM_OWNER_ASSIGN(d->mm);
		__entry->phase = d->phase;
		MM_SYMBOL_ASSIGN(caller, d->caller.symbol);
		KSTALL_NAME_ASSIGN(caller_module, d->caller.module);
		__entry->start = start;
		__entry->pages = d->pages;
		__entry->done = done;
		__entry->from_device = d->from_device;
		__entry->notifier_ns = d->frame.notifier_ns;
		__entry->tlb_ns = d->frame.tlb_ns;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(MM_OWNER_FMT " phase=%s caller=%s caller_module=%s start=0x%llx pages=%llu done=%llu from_device=%d notifier_ns=%llu tlb_ns=%llu duration_us=%llu duration_ns=%llu result=%d",
		  MM_OWNER_ARGS, mm_show_phase(__entry->phase), __entry->caller,
		  __entry->caller_module, __entry->start, __entry->pages, __entry->done,
		  __entry->from_device, __entry->notifier_ns, __entry->tlb_ns,
		  __entry->duration_us, __entry->duration_ns, __entry->result)
);

/**
 * mm_pin - pages of a process have been pinned for long
 *
 * Registering memory for RDMA, VFIO or io_uring pins it. Pages that may not stay where they are, in
 * CMA or in memory that can be removed, are moved first.
 *
 * @owner_pid: process whose pages they are, 0 if the kernel does not know
 * @owner_comm: its name
 * @caller: function that asked: a module's, else the first outside of the memory manager
 * @caller_module: its module, empty if built in
 * @via: pin: pin_user_pages(); fast: pin_user_pages_fast(); remote: pin_user_pages_remote();
 *	unlocked: pin_user_pages_unlocked()
 * @start: first address
 * @pages: asked for, of 4 KiB
 * @pinned: pages pinned; callers ask for the rest in another call
 * @write: to be written to
 * @moved: pages that were moved before
 * @move_failed: pages that could not be
 * @notifier_ns: of duration_ns waiting for mmu_notifiers
 * @tlb_ns: of duration_ns in TLB flushes that interrupted other CPUs
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: how long it took, with the faults of pages that were not there
 * @result: 0, or a negative errno if none was pinned
 *
 * Arguments: duration_ns, start, pinned, result, struct.
 * Parameter: mm_pin_min_ns.
 * Overhead: a function entry a pin of any kind, direct I/O included; for one for long a function
 * pair and a walk of the stack, and for its parts a function pair and a tracepoint probe a batch of
 * pages, a function pair an invalidation with notifiers; shootdowns cost what they cost
 * mm_tlb_shootdown.
 * Reach: 6.1 and later. Not pins that last only as long as an I/O, nor memfd_pin_folios() (6.11 and
 * later).
 */
KSTALL_TRACE_EVENT(mm_pin,
	TP_PROTO(u64 duration_ns, u64 start, u64 pinned, int result, const struct kstall_mm_pin *p),
	TP_ARGS(duration_ns, start, pinned, result, p),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		MM_OWNER_FIELDS
		MM_SYMBOL_FIELD(caller)
		KSTALL_NAME_FIELD(caller_module)
		__field(u8, via)
		__field(u64, start)
		__field(u64, pages)
		__field(u64, pinned)
		__field(bool, write)
		__field(u32, moved)
		__field(u32, move_failed)
		__field(u64, notifier_ns)
		__field(u64, tlb_ns)
		__field(u64, duration_us)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&p->id);
		MM_OWNER_ASSIGN(p->call->mm);
		MM_SYMBOL_ASSIGN(caller, p->caller.symbol);
		KSTALL_NAME_ASSIGN(caller_module, p->caller.module);
		__entry->via = p->call->via;
		__entry->start = start;
		__entry->pages = p->call->pages;
		__entry->pinned = pinned;
		__entry->write = p->call->write;
		__entry->moved = p->frame.pages;
		__entry->move_failed = p->frame.failed;
		__entry->notifier_ns = p->frame.notifier_ns;
		__entry->tlb_ns = p->frame.tlb_ns;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(MM_OWNER_FMT " caller=%s caller_module=%s via=%s start=0x%llx pages=%llu pinned=%llu write=%d moved=%u move_failed=%u notifier_ns=%llu tlb_ns=%llu duration_us=%llu duration_ns=%llu result=%d",
		  MM_OWNER_ARGS, __entry->caller, __entry->caller_module,
		  mm_show_pin(__entry->via), __entry->start, __entry->pages, __entry->pinned,
		  __entry->write, __entry->moved, __entry->move_failed, __entry->notifier_ns,
		  __entry->tlb_ns, __entry->duration_us, __entry->duration_ns, __entry->result)
);

#ifdef CONFIG_X86
/**
 * mm_tlb_shootdown - a TLB flush has interrupted other CPUs and waited for them
 *
 * @owner_pid: process whose addresses are flushed, 0 if it is not one's (or not known)
 * @owner_comm: its name
 * @kind: mm: addresses of a process; batch: of all processes whose pages were just unmapped
 *	(reclaim, migration); kernel: the kernel's own (vfree, module unloading)
 * @cpus: other CPUs that were interrupted
 * @start: first address, 0 if it is a full flush or the kernel's own
 * @pages: pages asked for, of 4 KiB; 0: a full flush
 * @freed_tables: page tables go, so that idle CPUs are interrupted too
 * @reason: as in mm_migrate_mmu_notifier_wait; none: neither a migration nor a NUMA scan
 * @syscall: number of the system call the task is in, -1: none (a fault, a kernel thread)
 * @duration_us: duration_ns in µs, rounded down
 * @duration_ns: until the last CPU had answered
 *
 * Arguments: duration_ns, start, cpus, reason, struct.
 * Parameter: mm_tlb_shootdown_min_ns.
 * Overhead: a function pair a shootdown, nothing a local flush; for the CPUs a tracepoint probe a
 * function that another CPU is to call, remote wakeups included; for the reason a function pair a
 * batch of pages and a NUMA scan.
 * Reach: 6.1 and later. x86 only; on others the status file says absent. Not flushes by broadcast
 * (INVLPGB, 6.15 and later), nor by a hypercall (Hyper-V, Xen): they interrupt no CPU here. Before
 * 6.5, which has csd_queue_cpu, the last CPUs that go idle may be counted though they were not
 * interrupted.
 */
KSTALL_TRACE_EVENT(mm_tlb_shootdown,
	TP_PROTO(u64 duration_ns, u64 start, u32 cpus, int reason,
		 const struct kstall_mm_flush *f),
	TP_ARGS(duration_ns, start, cpus, reason, f),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		MM_OWNER_FIELDS
		__field(u8, kind)
		__field(u32, cpus)
		__field(u64, start)
		__field(u64, pages)
		__field(bool, freed_tables)
		__field(u8, reason)
		__field(s32, syscall)
		__field(u64, duration_us)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&f->id);
		MM_OWNER_ASSIGN(f->call->mm);
		__entry->kind = f->call->kind;
		__entry->cpus = cpus;
		__entry->start = start;
		__entry->pages = f->call->pages;
		__entry->freed_tables = f->call->freed_tables;
		__entry->reason = reason;
		__entry->syscall = f->syscall;
		__entry->duration_us = div_u64(duration_ns, NSEC_PER_USEC);
		__entry->duration_ns = duration_ns;
	),
	TP_printk(MM_OWNER_FMT " kind=%s cpus=%u start=0x%llx pages=%llu freed_tables=%d reason=%s syscall=%d duration_us=%llu duration_ns=%llu",
		  MM_OWNER_ARGS, mm_show_flush(__entry->kind), __entry->cpus,
		  __entry->start, __entry->pages, __entry->freed_tables,
		  mm_show_reason(__entry->reason), __entry->syscall, __entry->duration_us,
		  __entry->duration_ns)
);
#endif

#endif /* _MM_MIGRATE_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mm_migrate_trace_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
