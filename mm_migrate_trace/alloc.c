// SPDX-License-Identifier: GPL-2.0
/* alloc.c - what an allocation waits for or does not get, and its caller */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/stacktrace.h>

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

/* ---- the caller ---- */

#define MM_STACK	32

/* What is above the page allocator on every stack and says nothing; arm64's probes are traps. */
static const char * const mm_allocator[] = {
	"__alloc_", "alloc_pages", "alloc_frozen_", "__folio_alloc", "folio_alloc", "vma_alloc_",
	"__get_free_pages", "get_free_pages", "get_zeroed_page", "try_to_compact_pages",
	"arch_rethook_trampoline", "__kretprobe_trampoline", "kretprobe_", "ftrace_",
	"arch_ftrace_", "kprobe_", "opt_pre_handler", "optimized_callback", "stack_trace_",
	"arch_stack_walk", "rethook_", "__rethook_", "arch_rethook_", "get_page_from_freelist",
	"___kmalloc_large_node", "__kmalloc", "kmalloc_", "allocate_slab", "___slab_alloc",
	"__slab_alloc", "kmem_cache_alloc", "new_slab", "refill_objects", "warn_alloc", "0x",
	"kstall_direct_", "el1", "do_el1_", "do_debug_exception", "brk_handler", "call_break_hook",
};

static bool mm_is_allocator(const char *symbol)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mm_allocator); i++) {
		if (!strncmp(symbol, mm_allocator[i], strlen(mm_allocator[i])))
			return true;
	}
	return false;
}

/*
 * May it be a module's? On arm64 modules are near the kernel, wherever KASLR has put that, and not
 * between MODULES_VADDR and MODULES_END (module_init_limits()): there the name says it.
 */
static bool mm_is_module_text(unsigned long addr)
{
#ifdef CONFIG_X86
	return addr >= MODULES_VADDR && addr < MODULES_END;
#else
	return true;
#endif
}

/* Splits "symbol [module]". */
void mm_name_caller(struct mm_caller *caller, unsigned long addr)
{
	char name[80], *bracket;

	/* A return address may be one behind its function. */
	kstall_symbol_at(name, sizeof(name), (void *)(addr - 1));
	bracket = strstr(name, " [");
	caller->addr = addr;
	caller->module[0] = '\0';
	if (bracket) {
		*bracket = '\0';
		strscpy(caller->module, bracket + 2, sizeof(caller->module));
		caller->module[strcspn(caller->module, "]")] = '\0';
	}
	strscpy(caller->symbol, name, sizeof(caller->symbol));
}

/* A driver, if one is on the stack; else the first that is not part of the allocator. */
static void mm_name_stack(struct mm_caller *caller, const unsigned long *stack, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!mm_is_module_text(stack[i]) || within_module(stack[i], THIS_MODULE))
			continue;
		mm_name_caller(caller, stack[i]);
		/* Where modules are, ftrace's trampolines are, and those of our other modules. */
		if (caller->module[0] && !mm_is_allocator(caller->symbol))
			return;
	}
	for (i = 0; i < nr; i++) {
		if (within_module(stack[i], THIS_MODULE))
			continue;
		mm_name_caller(caller, stack[i]);
		/* Trampolines have no name. */
		if (caller->symbol[0] != '?' && !mm_is_allocator(caller->symbol))
			return;
	}
	*caller = (struct mm_caller){};
}

/*
 * Names are searched for, in all of a module's; where memory is fragmented, the same few callers
 * fail thousands of times a second. So each CPU knows the last of its tasks' for a second: not
 * longer, as another module may come to be in the same place.
 */
struct mm_known {
	u64 stack;
	u64 named_ns;
	struct mm_caller caller;
};

struct mm_known_callers {
	struct mm_known known[8];
};

static struct mm_known_callers __percpu *mm_known;

int mm_callers_init(void)
{
	mm_known = alloc_percpu(struct mm_known_callers);
	return mm_known ? 0 : -ENOMEM;
}

void mm_callers_exit(void)
{
	free_percpu(mm_known);
}

static u64 mm_stack_hash(const unsigned long *stack, unsigned int nr)
{
	u64 hash = nr;

	while (nr--)
		hash = (hash ^ stack[nr]) * GOLDEN_RATIO_64;
	return hash;
}

/**
 * mm_find_caller() - the caller of the page allocator, or of what pins pages
 * @caller: filled
 *
 * Walks the stack, some microseconds, and looks up names: only for what is rare or has taken long.
 * Any context, preemption disabled.
 *
 * Return: a hash of the stack.
 */
u64 mm_find_caller(struct mm_caller *caller)
{
	unsigned long stack[MM_STACK];
	unsigned int nr = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
	u64 hash = mm_stack_hash(stack, nr), now = kstall_now();
	struct mm_known *known;

	if (!in_task()) {
		mm_name_stack(caller, stack, nr);
		return hash;
	}
	known = &this_cpu_ptr(mm_known)->known[hash >> 61];
	if (known->stack != hash || now - known->named_ns >= NSEC_PER_SEC) {
		mm_name_stack(&known->caller, stack, nr);
		known->stack = hash;
		known->named_ns = now;
	}
	*caller = known->caller;
	return hash;
}

/* ---- direct compaction ---- */

struct alloc_context;
/* Kernels differ in the last argument, which is not used. */
KSTALL_FN(enum compact_result, try_to_compact_pages, gfp_t, gfp_mask, unsigned int, order,
	  unsigned int, alloc_flags, const struct alloc_context *, ac, enum compact_priority, prio);

bool mm_compact_enter(void *data, struct pt_regs *regs)
{
	struct mm_compact_call *call = data;

	if (!mm_push(MM_IN_COMPACT, regs->sp))
		return false;
	call->gfp = (__force u32)kstall_arg(regs, try_to_compact_pages, gfp_mask);
	call->order = kstall_arg(regs, try_to_compact_pages, order);
	call->prio = kstall_arg(regs, try_to_compact_pages, prio);
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

void mm_compact_return(void *data, struct pt_regs *regs)
{
	const struct mm_compact_call *call = data;
	struct kstall_mm_compact c = { .call = call };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);

	if (!mm_pop(call->sp, &c.frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	if (!kstall_long_enough(&kstall_event_mm_compaction_stall, duration_ns))
		return;
	c.id = KSTALL_ID_CURRENT;
	mm_find_caller(&c.caller);
	trace_mm_compaction_stall(duration_ns, call->order, c.frame.pages,
				  mm_compact_result(regs_return_value(regs)), &c);
}

/* ---- allocations that fail ---- */

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
KSTALL_FN(vm_fault_t, do_huge_pmd_anonymous_page, struct vm_fault *, vmf);
KSTALL_CHECK_FN(do_huge_pmd_anonymous_page, do_huge_pmd_anonymous_page);

/*
 * A fault where a huge page is wanted; VM_FAULT_FALLBACK: it gets small ones. What does not fit
 * into the VMA does so at once.
 */
bool mm_thp_enter(void *data, struct pt_regs *regs)
{
	struct mm_thp_call *call = data;
	const struct vm_fault *vmf = kstall_arg(regs, do_huge_pmd_anonymous_page, vmf);
	unsigned long start = vmf->address & HPAGE_PMD_MASK;

	if (!mm_push(MM_IN_THP, regs->sp))
		return false;
	call->address = vmf->address;
	call->fits = start >= vmf->vma->vm_start && start + HPAGE_PMD_SIZE <= vmf->vma->vm_end;
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

/* The memory is there, the cgroup may not have it: the only other reason there is. */
static u8 mm_thp_cause(const struct mm_thp_call *call, const struct mm_frame *frame)
{
	if (!call->fits)
		return MM_FALLBACK_UNSUITABLE;
	return frame->failed ? MM_FALLBACK_ALLOC : MM_FALLBACK_CHARGE;
}

void mm_thp_return(void *data, struct pt_regs *regs)
{
	const struct mm_thp_call *call = data;
	u64 now = kstall_now(), duration_ns = kstall_delta(now, call->start_ns);
	struct kstall_mm_fallback f = {
		.count = 1, .first_ns = now, .last_ns = now, .asked = MM_ASKED_FAULT,
	};
	struct mm_frame frame;

	if (!mm_pop(call->sp, &frame)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	if (!(regs_return_value(regs) & (__force unsigned long)VM_FAULT_FALLBACK))
		return;
	if (!kstall_long_enough(&kstall_event_mm_thp_fallback, duration_ns))
		return;
	f.id = KSTALL_ID_CURRENT;
	f.gfp = frame.gfp;
	trace_mm_thp_fallback(duration_ns, call->address, HPAGE_PMD_ORDER,
			      mm_thp_cause(call, &frame), &f);
}

/*
 * A fault tries its own node first; if it may wait, that is not its last attempt: see
 * alloc_pages_mpol(), before 6.7 vma_alloc_folio(). Return: false if no such fault is under way.
 */
static bool mm_thp_failed(unsigned long sp, unsigned int order, gfp_t gfp)
{
	struct mm_task *task = mm_find(sp);
	struct mm_frame *frame;
	bool ours;

	if (!task)
		return false;
	frame = task->nr ? &task->frame[task->nr - 1] : NULL;
	ours = frame && frame->kind == MM_IN_THP && order == HPAGE_PMD_ORDER;
	if (ours) {
		frame->failed = !(gfp & __GFP_THISNODE && gfp & __GFP_DIRECT_RECLAIM);
		frame->gfp = (__force u32)gfp;
	}
	return ours;
}
#else
static bool mm_thp_failed(unsigned long sp, unsigned int order, gfp_t gfp)
{
	return false;
}
#endif

static bool mm_is_page_failure(const char *fmt)
{
	static const char text[] = "page allocation failure: order:%u";

	return !strncmp(fmt, text, sizeof(text) - 1);
}

/* Its further arguments are @fmt's; the page allocator's only one is the order. */
KSTALL_FN(void, warn_alloc, gfp_t, gfp_mask, nodemask_t *, nodemask, const char *, fmt,
	  unsigned int, order);

/* In the context of the allocation, or the worker. */
void mm_failed_emit(const struct kstall_folded *folded)
{
	const struct mm_failed *failed = container_of(folded, struct mm_failed, folded);
	const struct kstall_mm_fallback f = {
		.id = { .dev_node = NUMA_NO_NODE, .cpu_node = failed->cpu_node,
			.who = &failed->who },
		.caller = failed->caller,
		.count = folded->count,
		.first_ns = folded->first_ns,
		.last_ns = folded->last_ns,
		.gfp = failed->gfp,
		.asked = failed->asked,
	};

	trace_mm_thp_fallback(0, 0, failed->order, MM_FALLBACK_ALLOC, &f);
}

/* Return: the key under which it is folded. */
static u64 mm_failed_fill(struct mm_failed *failed)
{
	u64 stack = 0;

	failed->cpu_node = numa_node_id();
	/* From an interrupt's stack the walk goes on into that of the task it has interrupted. */
	if (in_task()) {
		kstall_who_read(&failed->who, current);
		stack = mm_find_caller(&failed->caller);
	}
	failed->asked = failed->caller.module[0] ? MM_ASKED_DRIVER : MM_ASKED_KERNEL;
	return stack ^ ((u64)failed->who.tgid << 32 | failed->order) * GOLDEN_RATIO_64;
}

/*
 * An allocation has failed. The page allocator always calls it, and it looks whether anything shall
 * be printed; vmalloc() calls it too, with other words. Where memory is fragmented, the same few
 * callers fail some 100,000 times a second.
 */
bool mm_alloc_failed_enter(void *data, struct pt_regs *regs)
{
	struct mm_failed failed = {
		.gfp = (__force u32)kstall_arg(regs, warn_alloc, gfp_mask),
		.order = kstall_arg(regs, warn_alloc, order),
	};
	u64 key, now = kstall_now();
	struct kstall_slot slot;

	if (!mm_is_page_failure(kstall_arg(regs, warn_alloc, fmt)) || !failed.order)
		return false;
	if (mm_thp_failed(regs->sp, failed.order, (__force gfp_t)failed.gfp))
		return false;
	if (!kstall_long_enough(&kstall_event_mm_thp_fallback, 0))
		return false;
	key = mm_failed_fill(&failed);
	if (kstall_fold_hit(&mm_failures, key, now, &slot)) {
		failed.folded = ((struct mm_failed *)slot.rec)->folded;
		*(struct mm_failed *)slot.rec = failed;
		kstall_inflight_unlock(&slot);
		return false;
	}
	failed.folded = (struct kstall_folded){ .count = 1, .first_ns = now, .last_ns = now };
	mm_failed_emit(&failed.folded);
	return false;
}
