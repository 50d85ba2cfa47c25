// SPDX-License-Identifier: GPL-2.0
/*
 * pin.c - pages that are pinned for long, as memory for RDMA, VFIO or io_uring is
 *
 * What is pinned for one I/O is as frequent as that: it is looked at, not followed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

static bool mm_pin_begin(struct mm_pin_call *call, struct pt_regs *regs, unsigned int flags)
{
	if (!(flags & FOLL_LONGTERM) || !mm_push(MM_IN_PIN, regs->sp))
		return false;
	call->write = flags & FOLL_WRITE;
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

/* long pin_user_pages(unsigned long start, unsigned long nr_pages, unsigned int gup_flags, ...) */
bool mm_pin_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = current->mm;
	call->start = regs_get_kernel_argument(regs, 0);
	call->pages = regs_get_kernel_argument(regs, 1);
	call->via = MM_PIN_PIN;
	return mm_pin_begin(call, regs, regs_get_kernel_argument(regs, 2));
}

/* int pin_user_pages_fast(unsigned long start, int nr_pages, unsigned int gup_flags, ...) */
bool mm_pin_fast_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = current->mm;
	call->start = regs_get_kernel_argument(regs, 0);
	call->pages = (int)regs_get_kernel_argument(regs, 1);
	call->via = MM_PIN_FAST;
	return mm_pin_begin(call, regs, regs_get_kernel_argument(regs, 2));
}

/*
 * long pin_user_pages_remote(struct mm_struct *mm, unsigned long start, unsigned long nr_pages,
 *			      unsigned int gup_flags, ...)
 */
bool mm_pin_remote_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = (void *)regs_get_kernel_argument(regs, 0);
	call->start = regs_get_kernel_argument(regs, 1);
	call->pages = regs_get_kernel_argument(regs, 2);
	call->via = MM_PIN_REMOTE;
	return mm_pin_begin(call, regs, regs_get_kernel_argument(regs, 3));
}

/*
 * long pin_user_pages_unlocked(unsigned long start, unsigned long nr_pages, struct page **pages,
 *				unsigned int gup_flags)
 */
bool mm_pin_unlocked_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = current->mm;
	call->start = regs_get_kernel_argument(regs, 0);
	call->pages = regs_get_kernel_argument(regs, 1);
	call->via = MM_PIN_UNLOCKED;
	return mm_pin_begin(call, regs, regs_get_kernel_argument(regs, 3));
}

void mm_pin_return(void *data, struct pt_regs *regs)
{
	const struct mm_pin_call *call = data;
	struct kstall_mm_pin p = { .call = call };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	long ret = regs_return_value(regs);

	if (call->via == MM_PIN_FAST)
		ret = (int)ret;
	if (!mm_pop(call->sp, &p.frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	if (!kstall_long_enough(&kstall_event_mm_pin, duration_ns))
		return;
	p.id = KSTALL_ID_CURRENT;
	mm_find_caller(&p.caller);
	trace_mm_pin(duration_ns, call->start, max(ret, 0L), min(ret, 0L), &p);
}
