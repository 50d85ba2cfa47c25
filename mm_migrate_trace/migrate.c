// SPDX-License-Identifier: GPL-2.0
/* migrate.c - batches of pages that move, and the functions that say why */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/rmap.h>

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

/* new_folio_t and free_folio_t have other names before 6.5. */
KSTALL_FN(int, migrate_pages, struct list_head *, from, void *, get_new_folio,
	  void *, put_new_folio, unsigned long, private, enum migrate_mode, mode, int, reason);

bool mm_batch_enter(void *data, struct pt_regs *regs)
{
	struct mm_frame_call *call = data;
	const struct list_head *from = kstall_arg(regs, migrate_pages, from);
	struct mm_frame *frame;

	call->sp = regs->sp;
	call->mode = kstall_arg(regs, migrate_pages, mode);
	call->reason = mm_reason(kstall_arg(regs, migrate_pages, reason));
	frame = mm_push(MM_IN_BATCH, regs->sp);
	if (!frame)
		return false;
	frame->reason = call->reason;
	frame->mode = call->mode;
	/* They are isolated: only the caller, which is in here, can take them off. */
	if (!list_empty(from)) {
		const struct page *page = list_first_entry(from, struct page, lru);

		frame->pfn = page_to_pfn(page);
		frame->src_node = page_to_nid(page);
	}
	call->start_ns = kstall_now();
	return true;
}

/* The innermost batch of the current task. */
static struct mm_frame *mm_batch(unsigned long sp)
{
	struct mm_task *task = mm_find(sp);

	if (!task)
		return NULL;
	if (task->nr && task->frame[task->nr - 1].kind == MM_IN_BATCH)
		return &task->frame[task->nr - 1];
	return NULL;
}

/* migrate_pages() is about to return, on every path. */
KSTALL_PROBE(mm_on_migrated, MM_MIGRATED_PROTO, MM_MIGRATED_ARGS)
{
	struct mm_frame *frame = mm_batch((unsigned long)__builtin_frame_address(0));

	if (!frame)
		return;
	frame->pages = succeeded;
	frame->failed = failed;
	frame->thp_moved = thp_succeeded;
	frame->thp_failed = thp_failed;
	frame->thp_split = thp_split;
}
KSTALL_CHECK_PROBE(mm_migrate_pages, mm_on_migrated);

KSTALL_FN(void, folio_migrate_flags, struct folio *, newfolio, struct folio *, folio);
#ifdef CONFIG_MIGRATION
KSTALL_CHECK_FN(folio_migrate_flags, folio_migrate_flags);
#endif

/* This one moves. */
bool mm_moved_enter(void *data, struct pt_regs *regs)
{
	const struct folio *to = kstall_arg(regs, folio_migrate_flags, newfolio);
	struct mm_frame *frame = mm_batch(regs->sp);

	if (!frame)
		return false;
	if (frame->dst_node == NUMA_NO_NODE)
		frame->dst_node = folio_nid(to);
	return false;
}

void mm_batch_return(void *data, struct pt_regs *regs)
{
	const struct mm_frame_call *call = data;
	struct kstall_mm_batch b = { .result = regs_return_value(regs) };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);

	if (!mm_pop(call->sp, &b.frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	mm_charge_moved(call->sp, b.frame.pages, b.frame.failed);
	if (!kstall_long_enough(&kstall_event_mm_migrate_batch, duration_ns))
		return;
	b.id = KSTALL_ID_CURRENT;
	trace_mm_migrate_batch(duration_ns, b.frame.pfn, b.frame.pages, call->reason, &b);
}

KSTALL_FN(void, try_to_migrate, struct folio *, folio, enum ttu_flags, flags);
KSTALL_CHECK_FN(try_to_migrate, try_to_migrate);

/*
 * It removes the folio, which is locked, from every address space it is mapped in. Outside of a
 * batch it is for a large folio that is split or for migrate_vma_setup(). A split has always locked
 * the rmap, the other never; that of a folio smaller than a PMD has no other mark (unmap_folio() in
 * mm/huge_memory.c).
 */
bool mm_unmap_enter(void *data, struct pt_regs *regs)
{
	struct mm_frame_call *call = data;
	struct folio *folio = kstall_arg(regs, try_to_migrate, folio);
	bool split = kstall_arg(regs, try_to_migrate, flags) &
		     (TTU_SPLIT_HUGE_PMD | TTU_RMAP_LOCKED);
	struct mm_frame *frame = mm_push(MM_IN_UNMAP, regs->sp);

	if (!frame)
		return false;
	frame->pfn = folio_pfn(folio);
	frame->pages = folio_nr_pages(folio);
	frame->src_node = folio_nid(folio);
	frame->reason = split ? MM_REASON_SPLIT : MM_REASON_DEVICE;
	call->sp = regs->sp;
	return true;
}

/* void task_numa_work(struct callback_head *work): makes pages fault, to see their users */
bool mm_scan_enter(void *data, struct pt_regs *regs)
{
	struct mm_frame_call *call = data;
	struct mm_frame *frame = mm_push(MM_IN_SCAN, regs->sp);

	if (!frame)
		return false;
	frame->reason = MM_REASON_NUMA_SCAN;
	call->sp = regs->sp;
	return true;
}

void mm_frame_return(void *data, struct pt_regs *regs)
{
	const struct mm_frame_call *call = data;
	struct mm_frame frame;

	mm_pop(call->sp, &frame);
}
