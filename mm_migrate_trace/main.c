// SPDX-License-Identifier: GPL-2.0
/*
 * mm_migrate_trace - when memory moves under a GPU
 *
 * A page that moves, a range that is unmapped, a huge page that is not to be had: the memory
 * manager makes a program wait in places no profile shows, and drivers that map its memory wait
 * with it. Events report waits for mmu_notifiers and which driver is slow, migrations with their
 * reason, allocations that stop to compact memory or fail, pages that are pinned, TLB flushes
 * that interrupt other CPUs.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in migrate.c,
 * notifier.c, tlb.c, alloc.c, device.c and pin.c, what they know of each other in frame.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kstall/core.h>

#include "mm_migrate_trace.h"

#define CREATE_TRACE_POINTS
#include "mm_migrate_trace_events.h"

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

/* Tasks inside of a migration, wait or compaction at a time. */
struct kstall_own mm_tasks = KSTALL_OWN("tasks", 2048, sizeof(struct mm_task), 60 * MINUTE);

/* Callers of the page allocator that fail, by process and order. */
struct kstall_fold mm_failures = KSTALL_FOLD("failures", 512, struct mm_failed, mm_failed_emit);

struct kstall_count __percpu *mm_too_deep;
struct kstall_count __percpu *mm_quiet_waits;

enum { T_TASKS, T_FAILURES };

static struct kstall_inflight *tables[] = {
	[T_TASKS] = &mm_tasks.table,
	[T_FAILURES] = &mm_failures.table,
};

/* Inner hooks come first. The callbacks' hooks are last: their number varies. */
enum {
	H_WAIT, H_MOVED, H_MIGRATED, H_UNMAP, H_BATCH, H_SCAN, H_COMPACT, H_ALLOC_FAILED,
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	H_THP,
#endif
	H_VMA_SETUP, H_VMA_PAGES, H_VMA_FINALIZE, H_HMM, H_HMM_UNLOCKED,
#ifdef CONFIG_DEVICE_PRIVATE
	H_FAULT,
#endif
	H_PIN, H_PIN_FAST, H_PIN_REMOTE, H_PIN_UNLOCKED,
#ifdef CONFIG_X86
#ifdef HAVE_CSD_QUEUE_CPU
	H_QUEUED,
#endif
	H_FLUSH, H_FLUSH_ALL, H_FLUSH_KERNEL,
#endif
	H_REGISTER, H_INSERT,
	H_CALLBACK,
};

/*
 * Not .sleeps: more than two calls a CPU at a time are rare there, and pools for many cost a node
 * with many CPUs megabytes each.
 */
#define VMA(_name, _function, _enter, ...)				\
	KSTALL_PAIR(_name, NULL, _function, sizeof(struct mm_device_call), _enter, mm_vma_return, \
		    __VA_ARGS__)

#define PIN(_name, _function, _enter, ...)				\
	KSTALL_PAIR(_name, NULL, _function, sizeof(struct mm_pin_call), _enter, mm_pin_return, \
		    __VA_ARGS__)

#define CALLBACK(_n)							\
	[H_CALLBACK + (_n)] = KSTALL_PLACED("callback" #_n, NULL,		\
					    sizeof(struct mm_callback_call),	\
					    mm_callback_enter, mm_callback_return, .sleeps = true, \
					    .bounded = true)

static struct kstall_hook hooks[] = {
	/* Reclaim waits for it, so drivers must come to an end: for the device, no longer. */
	[H_WAIT] = KSTALL_PAIR("wait", NULL, "__mmu_notifier_invalidate_range_start",
			       sizeof(struct mm_wait_call), mm_wait_enter, mm_wait_return,
			       .sleeps = true, .bounded = true),
	[H_MOVED] = KSTALL_ENTRY("moved", NULL, "folio_migrate_flags", mm_moved_enter),
	[H_MIGRATED] = KSTALL_TRACEPOINT("migrated", NULL, "mm_migrate_pages", mm_on_migrated),
	[H_UNMAP] = KSTALL_PAIR("unmap", NULL, "try_to_migrate", sizeof(struct mm_frame_call),
				mm_unmap_enter, mm_frame_return, .sleeps = true),
	[H_BATCH] = KSTALL_PAIR("batch", NULL, "migrate_pages", sizeof(struct mm_frame_call),
				mm_batch_enter, mm_batch_return, .sleeps = true),
	/* Once a second a task at most, and seldom asleep: two a CPU are enough. */
	[H_SCAN] = KSTALL_PAIR("scan", NULL, "task_numa_work", sizeof(struct mm_frame_call),
			       mm_scan_enter, mm_frame_return),
	[H_COMPACT] = KSTALL_PAIR("compact", NULL, "try_to_compact_pages",
				  sizeof(struct mm_compact_call), mm_compact_enter,
				  mm_compact_return, .sleeps = true),
	[H_ALLOC_FAILED] = KSTALL_ENTRY("alloc_failed", NULL, "warn_alloc", mm_alloc_failed_enter),
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	[H_THP] = KSTALL_PAIR("thp", NULL, "do_huge_pmd_anonymous_page",
			      sizeof(struct mm_thp_call), mm_thp_enter, mm_thp_return,
			      .sleeps = true),
#endif
	[H_VMA_SETUP] = VMA("vma_setup", "migrate_vma_setup", mm_vma_setup_enter, .few = true),
	[H_VMA_PAGES] = VMA("vma_pages", "migrate_vma_pages", mm_vma_pages_enter),
	[H_VMA_FINALIZE] = VMA("vma_finalize", "migrate_vma_finalize", mm_vma_finalize_enter),
	[H_HMM] = KSTALL_PAIR("hmm", NULL, "hmm_range_fault", sizeof(struct mm_device_call),
			      mm_hmm_enter, mm_hmm_return, .few = true),
	/* Since 7.3: it takes the lock itself and has its own way to the pages. */
	[H_HMM_UNLOCKED] = KSTALL_PAIR("hmm_unlocked", NULL, "hmm_range_fault_unlocked_timeout",
				       sizeof(struct mm_device_call), mm_hmm_enter, mm_hmm_return,
				       .few = true),
#ifdef CONFIG_DEVICE_PRIVATE
	/* Each swap fault comes here: a direct hook takes a record only for a device's. */
	[H_FAULT] = KSTALL_PAIR("fault", NULL, "do_swap_page", sizeof(struct mm_device_call),
				mm_fault_enter, mm_fault_return, .few = true, .bounded = true),
#endif
	[H_PIN] = PIN("pin", "pin_user_pages", mm_pin_enter, .sleeps = true),
	[H_PIN_FAST] = PIN("pin_fast", "pin_user_pages_fast", mm_pin_fast_enter),
	[H_PIN_REMOTE] = PIN("pin_remote", "pin_user_pages_remote", mm_pin_remote_enter),
	[H_PIN_UNLOCKED] = PIN("pin_unlocked", "pin_user_pages_unlocked", mm_pin_unlocked_enter),
#ifdef CONFIG_X86
#ifdef HAVE_CSD_QUEUE_CPU
	[H_QUEUED] = KSTALL_TRACEPOINT("queued", NULL, "csd_queue_cpu", mm_on_queued),
#endif
	[H_FLUSH] = KSTALL_PAIR("flush", NULL, "native_flush_tlb_multi",
				sizeof(struct mm_flush_call), mm_flush_enter, mm_flush_return,
				.atomic = true),
	[H_FLUSH_ALL] = KSTALL_PAIR("flush_all", NULL, "flush_tlb_all",
				    sizeof(struct mm_flush_call), mm_flush_all_enter,
				    mm_flush_return, .atomic = true),
	[H_FLUSH_KERNEL] = KSTALL_PAIR("flush_kernel", NULL, "flush_tlb_kernel_range",
				       sizeof(struct mm_flush_call), mm_flush_kernel_enter,
				       mm_flush_return, .atomic = true),
#endif
	[H_REGISTER] = KSTALL_ENTRY("register", NULL, "__mmu_notifier_register",
				    mm_register_enter),
	[H_INSERT] = KSTALL_ENTRY("insert", NULL, "__mmu_interval_notifier_insert",
				  mm_insert_enter),
	CALLBACK(0), CALLBACK(1), CALLBACK(2), CALLBACK(3), CALLBACK(4), CALLBACK(5),
	CALLBACK(6), CALLBACK(7), CALLBACK(8), CALLBACK(9), CALLBACK(10), CALLBACK(11),
	CALLBACK(12), CALLBACK(13), CALLBACK(14), CALLBACK(15),
};
static_assert(ARRAY_SIZE(hooks) == H_CALLBACK + MM_NR_CALLBACKS);

#define CALLBACK_HOOKS	GENMASK_ULL(H_CALLBACK + MM_NR_CALLBACKS - 1, H_CALLBACK)

#define VMA_HOOKS	GENMASK_ULL(H_VMA_FINALIZE, H_VMA_SETUP)
#ifdef CONFIG_DEVICE_PRIVATE
#define FAULT_HOOK	BIT_ULL(H_FAULT)
#else
#define FAULT_HOOK	0
#endif
#define DEVICE_HOOKS	(VMA_HOOKS | BIT_ULL(H_HMM) | FAULT_HOOK)
#define PIN_HOOKS	GENMASK_ULL(H_PIN_UNLOCKED, H_PIN)

/* RT kernels have no huge pages: there only the allocations in the kernel have events. */
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
#define THP_HOOKS	BIT_ULL(H_THP)
#else
#define THP_HOOKS	0
#endif

/* What pushes frames, or opens a window. */
#define FRAME_HOOKS	(BIT_ULL(H_WAIT) | BIT_ULL(H_UNMAP) | BIT_ULL(H_BATCH) | \
			 BIT_ULL(H_SCAN) | BIT_ULL(H_COMPACT) | THP_HOOKS | \
			 PIN_HOOKS | DEVICE_HOOKS | BIT_ULL(H_HMM_UNLOCKED))

/* The reason for a wait or a flush needs these. */
#define WHY_HOOKS	(BIT_ULL(H_BATCH) | BIT_ULL(H_UNMAP))
#define WAIT_HOOKS	(BIT_ULL(H_WAIT) | WHY_HOOKS | BIT_ULL(H_REGISTER) | BIT_ULL(H_INSERT))
#define BATCH_HOOKS	(BIT_ULL(H_BATCH) | BIT_ULL(H_MIGRATED))

/* On x86 interrupts flush the others' TLBs; elsewhere the hardware, or functions not known. */
#ifdef CONFIG_X86
#ifdef HAVE_CSD_QUEUE_CPU
#define FLUSH_HOOKS	(BIT_ULL(H_FLUSH) | BIT_ULL(H_QUEUED))
#else
#define FLUSH_HOOKS	BIT_ULL(H_FLUSH)
#endif
#define SHOOTDOWN								\
	KSTALL_EVENT(mm_tlb_shootdown,						\
		     FLUSH_HOOKS | BIT_ULL(H_FLUSH_ALL) | BIT_ULL(H_FLUSH_KERNEL), \
		     .optional = BIT_ULL(H_BATCH) | BIT_ULL(H_UNMAP) | BIT_ULL(H_SCAN),	\
		     .tables = BIT(T_TASKS))
#else
#define FLUSH_HOOKS	0
#define SHOOTDOWN								\
	KSTALL_EVENT_ABSENT(mm_tlb_shootdown, "x86 only: others' TLBs are flushed by broadcast")
#endif

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(mm_migrate_mmu_notifier_wait, WAIT_HOOKS,
		     .optional = CALLBACK_HOOKS | BIT_ULL(H_SCAN) | VMA_HOOKS,
		     .tables = BIT(T_TASKS)),
	KSTALL_EVENT(mm_migrate_notifier, WAIT_HOOKS,
		     .optional = CALLBACK_HOOKS | BIT_ULL(H_SCAN) | VMA_HOOKS,
		     .tables = BIT(T_TASKS)),
	KSTALL_EVENT(mm_migrate_batch, BATCH_HOOKS | BIT_ULL(H_WAIT),
		     .optional = BIT_ULL(H_MOVED) | FLUSH_HOOKS, .tables = BIT(T_TASKS)),
	KSTALL_EVENT(mm_compaction_stall, BIT_ULL(H_COMPACT),
		     .optional = BATCH_HOOKS | BIT_ULL(H_WAIT) | FLUSH_HOOKS,
		     .tables = BIT(T_TASKS)),
	KSTALL_EVENT(mm_thp_fallback, THP_HOOKS | BIT_ULL(H_ALLOC_FAILED),
		     .tables = BIT(T_TASKS) | BIT(T_FAILURES), .fold = &mm_failures),
	KSTALL_EVENT(mm_migrate_device, DEVICE_HOOKS,
		     .optional = BIT_ULL(H_HMM_UNLOCKED) | BIT_ULL(H_WAIT) | FLUSH_HOOKS,
		     .tables = BIT(T_TASKS)),
	KSTALL_EVENT(mm_pin, PIN_HOOKS,
		     .optional = BATCH_HOOKS | BIT_ULL(H_WAIT) | FLUSH_HOOKS,
		     .tables = BIT(T_TASKS)),
	SHOOTDOWN,
};

/* kstall.update(); also where frames of disarmed hooks are separated from those of armed ones. */
static bool mm_update(u64 wanted)
{
	static u64 before;	/* protected by kstall.lock */

	if (before & ~wanted & FRAME_HOOKS)
		WRITE_ONCE(mm_epoch, mm_epoch + 1);
	before = wanted;
	return mm_place(wanted & CALLBACK_HOOKS);
}

static void mm_show(struct seq_file *m)
{
	seq_printf(m, "frames too_deep=%llu\n", kstall_percpu_sum(mm_too_deep, value));
	mm_show_callbacks(m);
	if (IS_ENABLED(CONFIG_X86) && mm_flush_by_broadcast())
		seq_puts(m, "reach TLBs are flushed by broadcast (INVLPGB): mm_tlb_shootdown will be silent for most\n");
}

KSTALL_MODULE("mm_migrate", hooks, tables, events, mm_show);

static int __init mm_migrate_trace_init(void)
{
	int ret = -ENOMEM;

	mm_callback_hooks = &hooks[H_CALLBACK];
	mm_too_deep = alloc_percpu(struct kstall_count);
	mm_quiet_waits = alloc_percpu(struct kstall_count);
	if (!mm_too_deep || !mm_quiet_waits)
		goto err;
	ret = mm_callers_init();
	if (ret)
		goto err;
	kstall.update = mm_update;
	ret = kstall_init();
	if (ret)
		goto err_callers;
	return 0;

err_callers:
	mm_callers_exit();
err:
	free_percpu(mm_quiet_waits);
	free_percpu(mm_too_deep);
	return ret;
}

static void __exit mm_migrate_trace_exit(void)
{
	kstall_exit();
	mm_callers_exit();
	free_percpu(mm_quiet_waits);
	free_percpu(mm_too_deep);
}

module_init(mm_migrate_trace_init);
module_exit(mm_migrate_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_AUTHOR("kstall maintainers");
MODULE_DESCRIPTION("kstall: when memory moves under a GPU");
