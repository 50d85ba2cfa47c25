// SPDX-License-Identifier: GPL-2.0
/* device.c - drivers that move pages to and from their device, or have them made present */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hmm.h>
#include <linux/migrate.h>

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

static bool mm_device_begin(struct mm_device_call *call, enum mm_frame_kind kind, u8 phase,
			    void *args, struct pt_regs *regs)
{
	struct mm_frame *frame = mm_push(kind, regs->sp);

	if (!frame)
		return false;
	if (kind == MM_IN_DEVICE)
		frame->reason = MM_REASON_DEVICE;
	call->args = args;
	call->phase = phase;
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

KSTALL_FN(int, migrate_vma_setup, struct migrate_vma *, args);
KSTALL_FN(void, migrate_vma_pages, struct migrate_vma *, migrate);
KSTALL_FN(void, migrate_vma_finalize, struct migrate_vma *, migrate);
#ifdef CONFIG_MIGRATION
KSTALL_CHECK_FN(migrate_vma_setup, migrate_vma_setup);
KSTALL_CHECK_FN(migrate_vma_pages, migrate_vma_pages);
KSTALL_CHECK_FN(migrate_vma_finalize, migrate_vma_finalize);
#endif

/* It isolates and unmaps. */
bool mm_vma_setup_enter(void *data, struct pt_regs *regs)
{
	return mm_device_begin(data, MM_IN_DEVICE, MM_PHASE_SETUP,
			       kstall_arg(regs, migrate_vma_setup, args), regs);
}

/* The new pages take their place. */
bool mm_vma_pages_enter(void *data, struct pt_regs *regs)
{
	return mm_device_begin(data, MM_IN_DEVICE, MM_PHASE_PAGES,
			       kstall_arg(regs, migrate_vma_pages, migrate), regs);
}

/* It maps them, or the old ones again. */
bool mm_vma_finalize_enter(void *data, struct pt_regs *regs)
{
	return mm_device_begin(data, MM_IN_DEVICE, MM_PHASE_FINALIZE,
			       kstall_arg(regs, migrate_vma_finalize, migrate), regs);
}

KSTALL_FN(int, hmm_range_fault, struct hmm_range *, range);
KSTALL_CHECK_FN(hmm_range_fault, hmm_range_fault);

bool mm_hmm_enter(void *data, struct pt_regs *regs)
{
	return mm_device_begin(data, MM_IN_HMM, MM_PHASE_HMM,
			       kstall_arg(regs, hmm_range_fault, range), regs);
}

/* A huge page is its first entry, and zeroes; where it moves in pieces, the mark is gone. */
static unsigned int mm_vma_pages_of(unsigned long src)
{
	if (!(src & MIGRATE_PFN_MIGRATE))
		return 0;
#if defined(MIGRATE_PFN_COMPOUND) && defined(CONFIG_TRANSPARENT_HUGEPAGE)
	if (src & MIGRATE_PFN_COMPOUND)
		return HPAGE_PMD_NR;
#endif
	return 1;
}

/* Pages that can move, or have moved: the driver goes through the same array itself. */
static u64 mm_vma_migrating(const struct migrate_vma *args)
{
	unsigned long i;
	u64 nr = 0;

	for (i = 0; i < args->npages; i++)
		nr += mm_vma_pages_of(args->src[i]);
	return nr;
}

/* A driver may have let go of the VMA before the last phase, which does without it. */
static const struct mm_struct *mm_vma_mm(const struct mm_device_call *call)
{
	const struct migrate_vma *args = call->args;

	if (call->phase == MM_PHASE_FINALIZE)
		return current->mm;
	return args->vma ? args->vma->vm_mm : NULL;
}

static void mm_device_end(const struct mm_device_call *call, struct kstall_mm_device *d,
			  u64 duration_ns, u64 done)
{
	if (!kstall_long_enough(&kstall_event_mm_migrate_device, duration_ns))
		return;
	d->id = KSTALL_ID_CURRENT;
	d->phase = call->phase;
	if (!d->caller.addr)
		mm_find_caller(&d->caller);
	trace_mm_migrate_device(duration_ns, d->start, done, d->result, d);
}

/* The arguments are on the caller's stack. */
void mm_vma_return(void *data, struct pt_regs *regs)
{
	const struct mm_device_call *call = data;
	const struct migrate_vma *args = call->args;
	struct kstall_mm_device d = { .start = args->start, .mm = mm_vma_mm(call) };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns), done;

	if (!mm_pop(call->sp, &d.frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	d.pages = (args->end - args->start) >> PAGE_SHIFT;
	d.from_device = !(args->flags & MIGRATE_VMA_SELECT_SYSTEM);
	if (call->phase == MM_PHASE_SETUP)
		d.result = regs_return_value(regs);
	/* It has counted what it looked at only if it could begin. */
	done = d.result ? 0 : mm_vma_migrating(args);
	if (args->fault_page && call->phase == MM_PHASE_PAGES) {
		mm_find_caller(&d.caller);
		mm_charge_fault(call->sp, done, d.caller.addr);
	}
	mm_device_end(call, &d, duration_ns, done);
}

void mm_hmm_return(void *data, struct pt_regs *regs)
{
	const struct mm_device_call *call = data;
	const struct hmm_range *range = call->args;
	struct kstall_mm_device d = {
		.start = range->start, .mm = range->notifier ? range->notifier->mm : NULL,
		.result = regs_return_value(regs),
	};
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);

	if (!mm_pop(call->sp, &d.frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	d.pages = (range->end - range->start) >> PAGE_SHIFT;
	mm_device_end(call, &d, duration_ns, d.result ? 0 : d.pages);
}

KSTALL_FN(vm_fault_t, do_swap_page, struct vm_fault *, vmf);

/* A program touched what is in the device's memory; its driver fetches it (migrate_to_ram()). */
bool mm_fault_enter(void *data, struct pt_regs *regs)
{
	struct mm_device_call *call = data;
	struct vm_fault *vmf = kstall_arg(regs, do_swap_page, vmf);

	if (!mm_is_device_private(vmf->orig_pte))
		return false;
	call->mm = vmf->vma->vm_mm;
	call->address = vmf->address & PAGE_MASK;
	return mm_device_begin(call, MM_IN_FAULT, MM_PHASE_FAULT, vmf, regs);
}

/* VM_FAULT_RETRY: it has not begun, and comes once more with another lock. */
void mm_fault_return(void *data, struct pt_regs *regs)
{
	const struct mm_device_call *call = data;
	struct kstall_mm_device d = {
		.start = call->address, .mm = call->mm, .pages = 1, .from_device = true,
	};
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	unsigned long ret = regs_return_value(regs);

	if (!mm_pop(call->sp, &d.frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	if (ret & (__force unsigned long)VM_FAULT_RETRY)
		return;
	if (ret & (__force unsigned long)VM_FAULT_ERROR)
		d.result = -EFAULT;
	if (d.frame.driver)
		mm_name_caller(&d.caller, d.frame.driver);
	mm_device_end(call, &d, duration_ns, d.frame.pages);
}
