/* SPDX-License-Identifier: GPL-2.0 */
/* mm_migrate_trace.h - what the module's files share */
#ifndef _MM_MIGRATE_TRACE_H
#define _MM_MIGRATE_TRACE_H

#include <kstall/event.h>
#include <kstall/fold.h>
#include <kstall/identity.h>
#include <kstall/own.h>

#include <linux/smp.h>

#include "mm_migrate_compat.h"

/* ---- what a task is in the middle of (frame.c) ---- */

enum mm_frame_kind {
	MM_IN_BATCH,	/* migrate_pages() */
	MM_IN_UNMAP,	/* try_to_migrate() of one folio */
	MM_IN_SCAN,	/* task_numa_work() */
	MM_IN_COMPACT,	/* try_to_compact_pages() */
	MM_IN_THP,	/* do_huge_pmd_anonymous_page() */
	MM_IN_PIN,	/* pin_user_pages() and its like */
	MM_IN_DEVICE,	/* migrate_vma_setup() and what follows it */
	MM_IN_HMM,	/* hmm_range_fault() */
	MM_IN_FAULT,	/* do_swap_page() of a page in a device's memory */
};

/**
 * struct mm_frame - a function the task is in
 * @sp: stack pointer at its entry
 * @notifier_ns: waited for notifiers in it
 * @tlb_ns: waited for other CPUs to flush in it
 * @pfn: of the first page moved
 * @driver: a fault's, an address in it
 * @waits: for notifiers
 * @shootdowns: TLB flushes of other CPUs
 * @pages: of the folio, or moved in it
 * @failed: pages that could not be moved; the huge page was not to be had
 * @gfp: for which it was not
 * @thp_moved: huge pages moved as such
 * @thp_failed: huge pages that could not be
 * @thp_split: huge pages split
 * @src_node: node of the first page asked for
 * @dst_node: node the first page moved went to
 * @kind: &enum mm_frame_kind
 * @reason: MM_REASON_*
 * @mode: of the migration
 */
struct mm_frame {
	unsigned long sp;
	u64 notifier_ns;
	u64 tlb_ns;
	union {
		u64 pfn;
		unsigned long driver;
	};
	u32 waits;
	u32 shootdowns;
	u32 pages;
	u32 failed;
	u32 gfp;
	u32 thp_moved;
	u32 thp_failed;
	u32 thp_split;
	s16 src_node;
	s16 dst_node;
	u8 kind;
	u8 reason;
	u8 mode;
};

/**
 * struct mm_window - a wait for notifiers, while it lasts
 * @slowest_ns: the slowest callback so far
 * @nr: callbacks so far
 * @slot: which was the slowest
 * @open: there is a wait
 */
struct mm_window {
	u64 slowest_ns;
	u16 nr;
	u8 slot;
	bool open;
};

/* migrate_pages() calls itself by way of allocating and compacting. */
#define MM_MAX_FRAMES	5

/**
 * struct mm_task - a task inside of a call that is followed; key: its task_struct
 * @pid: its, as a later task may be in the same memory
 * @epoch: mm_epoch when its frames were pushed
 * @nr: frames
 * @window: the wait for notifiers it is in
 * @frame: outermost first
 */
struct mm_task {
	s32 pid;
	u16 epoch;
	u8 nr;
	struct mm_window window;
	struct mm_frame frame[MM_MAX_FRAMES];
};

/**
 * struct mm_context - why the current task does what it does
 * @pfn: first page of the folio it unmaps to move it
 * @pages: of the folio, 0: it moves none
 * @node: the folio's
 * @reason: MM_REASON_*
 */
struct mm_context {
	u64 pfn;
	u32 pages;
	s16 node;
	u8 reason;
};

extern struct kstall_own mm_tasks;
extern struct kstall_fold mm_failures;
extern struct kstall_count __percpu *mm_too_deep;
extern u16 mm_epoch;

struct mm_frame *mm_push(enum mm_frame_kind kind, unsigned long sp);
bool mm_pop(unsigned long sp, struct mm_frame *copy);
struct mm_task *mm_find(unsigned long sp);
struct mm_task *mm_find_or_insert(unsigned long sp);
void mm_let_go(struct mm_task *task);
void mm_look(const struct mm_task *task, struct mm_context *ctx);
void mm_charge_fault(unsigned long sp, u32 pages, unsigned long driver);
void mm_charge_moved(unsigned long sp, u32 pages, u32 failed);
u8 mm_charge_tlb(unsigned long sp, u64 ns);
s32 mm_syscall(void);
void mm_owner(const struct mm_struct *mm, struct kstall_who *who);

/* ---- callbacks (notifier.c) ---- */

#define MM_NR_CALLBACKS	16

/* How a callback was registered. */
#define MM_VIA_LIST	0	/* mmu_notifier_register() */
#define MM_VIA_INTERVAL	1	/* mmu_interval_notifier_insert() */
#define MM_VIA_FINISH	2	/* second pass of an interval notifier */

/**
 * struct mm_callback - a driver's callback; index: its hook, counted from H_CALLBACK
 * @symbol: its name, "" if the slot is free
 * @module: its module, "" for vmlinux
 * @via: MM_VIA_*
 */
struct mm_callback {
	char symbol[64];
	char module[MODULE_NAME_LEN];
	u8 via;
};

extern struct mm_callback mm_callbacks[MM_NR_CALLBACKS];
extern struct kstall_hook *mm_callback_hooks;	/* as many */
extern struct kstall_count __percpu *mm_quiet_waits;

bool mm_place(bool wanted);
void mm_show_callbacks(struct seq_file *m);

/* ---- the caller that asked for memory (alloc.c) ---- */

/**
 * struct mm_caller - the caller of the page allocator
 * @symbol: function of a module, else the first that is not part of the allocator
 * @module: its module, "" for vmlinux
 * @addr: in it
 */
struct mm_caller {
	char symbol[48];
	char module[32];
	unsigned long addr;
};

/* A folded mm_thp_fallback that is no fault; key: process, stack and order. */
struct mm_failed {
	struct kstall_folded folded;
	struct kstall_who who;
	struct mm_caller caller;
	u32 gfp;
	s16 cpu_node;
	u8 order;
	u8 asked;
};

/* ---- what the pair hooks carry from a function's entry to its return ---- */

/* __mmu_notifier_invalidate_range_start() */
struct mm_wait_call {
	const struct mmu_notifier_range *range;
	u64 start_ns;
	unsigned long sp;
	struct mm_window outer;
};

/* a driver's callback */
struct mm_callback_call {
	u64 start_ns;
	unsigned long sp;
	unsigned long start;
	unsigned long end;
	const struct mm_struct *mm;
	u8 event;
	bool blockable;
};

/* migrate_pages(), try_to_migrate(), task_numa_work() */
struct mm_frame_call {
	u64 start_ns;
	unsigned long sp;
	u8 reason;
	u8 mode;
};

/* native_flush_tlb_multi() and what flushes the kernel's own */
struct mm_flush_call {
	const struct mm_struct *mm;
	u64 start_ns;
	unsigned long sp;
	unsigned long start;
	u64 pages;
	u32 cpus;
	u8 kind;
	bool freed_tables;
};

/* try_to_compact_pages() */
struct mm_compact_call {
	u64 start_ns;
	unsigned long sp;
	u32 gfp;
	u8 order;
	u8 prio;
};

/* do_huge_pmd_anonymous_page() */
struct mm_thp_call {
	u64 start_ns;
	unsigned long sp;
	unsigned long address;
	bool fits;
};

/* pin_user_pages() and its like */
struct mm_pin_call {
	u64 start_ns;
	unsigned long sp;
	const struct mm_struct *mm;
	unsigned long start;
	unsigned long pages;
	u8 via;
	bool write;
};

/*
 * migrate_vma_setup(), migrate_vma_pages(), migrate_vma_finalize(), hmm_range_fault(),
 * do_swap_page() of a page in a device's memory; mm, address: of the latter
 */
struct mm_device_call {
	const void *args;
	const struct mm_struct *mm;
	unsigned long address;
	u64 start_ns;
	unsigned long sp;
	u8 phase;
};

/* migrate.c */
#ifdef HAVE_MM_MIGRATE_LARGE_SPLIT
void mm_on_migrated(void *hook, unsigned long succeeded, unsigned long failed,
		    unsigned long thp_succeeded, unsigned long thp_failed, unsigned long thp_split,
		    unsigned long large_split, enum migrate_mode mode, MM_MIGRATED_REASON reason);
#else
void mm_on_migrated(void *hook, unsigned long succeeded, unsigned long failed,
		    unsigned long thp_succeeded, unsigned long thp_failed, unsigned long thp_split,
		    enum migrate_mode mode, MM_MIGRATED_REASON reason);
#endif
bool mm_batch_enter(void *data, struct pt_regs *regs);
void mm_batch_return(void *data, struct pt_regs *regs);
bool mm_unmap_enter(void *data, struct pt_regs *regs);
bool mm_scan_enter(void *data, struct pt_regs *regs);
void mm_frame_return(void *data, struct pt_regs *regs);
bool mm_moved_enter(void *data, struct pt_regs *regs);

/* notifier.c */
bool mm_wait_enter(void *data, struct pt_regs *regs);
void mm_wait_return(void *data, struct pt_regs *regs);
bool mm_callback_enter(void *data, struct pt_regs *regs);
void mm_callback_return(void *data, struct pt_regs *regs);
bool mm_register_enter(void *data, struct pt_regs *regs);
bool mm_insert_enter(void *data, struct pt_regs *regs);

/* tlb.c */
#ifdef HAVE_CSD_QUEUE_CPU
void mm_on_queued(void *hook, const unsigned int cpu, unsigned long callsite, smp_call_func_t func,
		  call_single_data_t *csd);
#endif
bool mm_flush_enter(void *data, struct pt_regs *regs);
bool mm_flush_all_enter(void *data, struct pt_regs *regs);
bool mm_flush_kernel_enter(void *data, struct pt_regs *regs);
void mm_flush_return(void *data, struct pt_regs *regs);

/* alloc.c */
bool mm_compact_enter(void *data, struct pt_regs *regs);
void mm_compact_return(void *data, struct pt_regs *regs);
bool mm_thp_enter(void *data, struct pt_regs *regs);
void mm_thp_return(void *data, struct pt_regs *regs);
bool mm_alloc_failed_enter(void *data, struct pt_regs *regs);
void mm_name_caller(struct mm_caller *caller, unsigned long addr);
u64 mm_find_caller(struct mm_caller *caller);
void mm_failed_emit(const struct kstall_folded *folded);
int mm_callers_init(void);
void mm_callers_exit(void);

/* device.c */
bool mm_vma_setup_enter(void *data, struct pt_regs *regs);
bool mm_vma_pages_enter(void *data, struct pt_regs *regs);
bool mm_vma_finalize_enter(void *data, struct pt_regs *regs);
void mm_vma_return(void *data, struct pt_regs *regs);
bool mm_hmm_enter(void *data, struct pt_regs *regs);
void mm_hmm_return(void *data, struct pt_regs *regs);
bool mm_fault_enter(void *data, struct pt_regs *regs);
void mm_fault_return(void *data, struct pt_regs *regs);

/* pin.c */
bool mm_pin_enter(void *data, struct pt_regs *regs);
bool mm_pin_fast_enter(void *data, struct pt_regs *regs);
bool mm_pin_remote_enter(void *data, struct pt_regs *regs);
bool mm_pin_unlocked_enter(void *data, struct pt_regs *regs);
void mm_pin_return(void *data, struct pt_regs *regs);

#endif /* _MM_MIGRATE_TRACE_H */
