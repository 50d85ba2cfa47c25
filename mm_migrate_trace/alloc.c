// SPDX-License-Identifier: GPL-2.0
/* alloc.c - what an allocation waits for or does not get, and who asked for it */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/stacktrace.h>

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

/* ---- who asked ---- */

#define MM_STACK	32

/* What is above the page allocator on every stack and says nothing. */
static const char * const mm_allocator[] = {
	"__alloc_", "alloc_pages", "alloc_frozen_", "__folio_alloc", "folio_alloc", "vma_alloc_",
	"__get_free_pages", "get_free_pages", "get_zeroed_page", "try_to_compact_pages",
	"arch_rethook_trampoline", "__kretprobe_trampoline", "kretprobe_trampoline", "ftrace_",
	"arch_ftrace_", "kprobe_", "opt_pre_handler", "optimized_callback", "get_page_from_freelist",
	"stack_trace_", "arch_stack_walk", "rethook_", "__rethook_", "arch_rethook_", "__probestub_",
	"__traceiter_", "___kmalloc_large_node", "__kmalloc", "kmalloc_", "allocate_slab",
	"___slab_alloc", "__slab_alloc", "kmem_cache_alloc", "new_slab", "refill_objects",
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

static bool mm_is_module_text(unsigned long addr)
{
#ifdef MODULES_VADDR
	return addr >= MODULES_VADDR && addr < MODULES_END;
#else
	return false;
#endif
}

/* Splits "symbol [module]", as "%ps" prints it. */
static void mm_name_caller(struct mm_caller *caller, unsigned long addr)
{
	char name[80], *bracket;

	/* A return address may be one behind its function. */
	snprintf(name, sizeof(name), "%ps", (void *)(addr - 1));
	bracket = strstr(name, " [");
	caller->module[0] = '\0';
	if (bracket) {
		*bracket = '\0';
		strscpy(caller->module, bracket + 2, sizeof(caller->module));
		caller->module[strcspn(caller->module, "]")] = '\0';
	}
	strscpy(caller->symbol, name, sizeof(caller->symbol));
}

/**
 * mm_find_caller() - who asked the page allocator
 * @caller: filled
 *
 * A driver, if one is on the stack; else the first that is not part of the allocator. Walks the stack
 * and looks up names, some microseconds: only for what is rare or has taken long. Any context.
 */
static void mm_find_caller(struct mm_caller *caller)
{
	unsigned long stack[MM_STACK];
	unsigned int nr = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (mm_is_module_text(stack[i]) && !within_module(stack[i], THIS_MODULE)) {
			mm_name_caller(caller, stack[i]);
			return;
		}
	}
	for (i = 0; i < nr; i++) {
		if (within_module(stack[i], THIS_MODULE))
			continue;
		mm_name_caller(caller, stack[i]);
		if (!mm_is_allocator(caller->symbol))
			return;
	}
	*caller = (struct mm_caller){};
}

/* ---- direct compaction ---- */

/*
 * enum compact_result try_to_compact_pages(gfp_t gfp_mask, unsigned int order,
 *	unsigned int alloc_flags, const struct alloc_context *ac, enum compact_priority prio, ...)
 */
bool mm_compact_enter(void *data, struct pt_regs *regs)
{
	struct mm_compact_call *call = data;
	struct kstall_slot slot;

	if (!mm_push(MM_IN_COMPACT, regs->sp, &slot))
		return false;
	kstall_inflight_unlock(&slot);
	call->gfp = regs_get_kernel_argument(regs, 0);
	call->order = regs_get_kernel_argument(regs, 1);
	call->prio = regs_get_kernel_argument(regs, 4);
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
		kstall_inflight_unmatched(&mm_tasks);
		return;
	}
	if (!kstall_long_enough(&kstall_event_mm_compaction_stall, duration_ns))
		return;
	c.id = KSTALL_ID_CURRENT;
	mm_find_caller(&c.caller);
	trace_mm_compaction_stall(duration_ns, call->order, c.frame.pages,
				  mm_compact_result(regs_return_value(regs)), &c);
}
