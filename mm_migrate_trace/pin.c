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

#ifdef HAVE_PIN_USER_PAGES_VMAS
KSTALL_FN(long, pin_user_pages, unsigned long, start, unsigned long, nr_pages,
	  unsigned int, gup_flags, struct page **, pages, struct vm_area_struct **, vmas);
#else
KSTALL_FN(long, pin_user_pages, unsigned long, start, unsigned long, nr_pages,
	  unsigned int, gup_flags, struct page **, pages);
#endif
KSTALL_CHECK_FN(pin_user_pages, pin_user_pages);
KSTALL_FN(int, pin_user_pages_fast, unsigned long, start, int, nr_pages, unsigned int, gup_flags,
	  struct page **, pages);
KSTALL_CHECK_FN(pin_user_pages_fast, pin_user_pages_fast);
#ifdef HAVE_PIN_USER_PAGES_VMAS /* seven arguments */
KSTALL_FN(long, pin_user_pages_remote, struct mm_struct *, mm, unsigned long, start,
	  unsigned long, nr_pages, unsigned int, gup_flags);
#else
KSTALL_FN(long, pin_user_pages_remote, struct mm_struct *, mm, unsigned long, start,
	  unsigned long, nr_pages, unsigned int, gup_flags, struct page **, pages, int *, locked);
KSTALL_CHECK_FN(pin_user_pages_remote, pin_user_pages_remote);
#endif
KSTALL_FN(long, pin_user_pages_unlocked, unsigned long, start, unsigned long, nr_pages,
	  struct page **, pages, unsigned int, gup_flags);
KSTALL_CHECK_FN(pin_user_pages_unlocked, pin_user_pages_unlocked);

bool mm_pin_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = current->mm;
	call->start = kstall_arg(regs, pin_user_pages, start);
	call->pages = kstall_arg(regs, pin_user_pages, nr_pages);
	call->via = MM_PIN_PIN;
	return mm_pin_begin(call, regs, kstall_arg(regs, pin_user_pages, gup_flags));
}

bool mm_pin_fast_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = current->mm;
	call->start = kstall_arg(regs, pin_user_pages_fast, start);
	call->pages = kstall_arg(regs, pin_user_pages_fast, nr_pages);
	call->via = MM_PIN_FAST;
	return mm_pin_begin(call, regs, kstall_arg(regs, pin_user_pages_fast, gup_flags));
}

bool mm_pin_remote_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = kstall_arg(regs, pin_user_pages_remote, mm);
	call->start = kstall_arg(regs, pin_user_pages_remote, start);
	call->pages = kstall_arg(regs, pin_user_pages_remote, nr_pages);
	call->via = MM_PIN_REMOTE;
	return mm_pin_begin(call, regs, kstall_arg(regs, pin_user_pages_remote, gup_flags));
}

bool mm_pin_unlocked_enter(void *data, struct pt_regs *regs)
{
	struct mm_pin_call *call = data;

	call->mm = current->mm;
	call->start = kstall_arg(regs, pin_user_pages_unlocked, start);
	call->pages = kstall_arg(regs, pin_user_pages_unlocked, nr_pages);
	call->via = MM_PIN_UNLOCKED;
	return mm_pin_begin(call, regs, kstall_arg(regs, pin_user_pages_unlocked, gup_flags));
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
