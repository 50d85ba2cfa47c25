// SPDX-License-Identifier: GPL-2.0
/* tlb.c - TLB flushes that interrupt other CPUs */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

#ifdef HAVE_CSD_QUEUE_CPU
#include <trace/events/csd.h>

/* Functions this CPU had others call since its last flush began. */
static DEFINE_PER_CPU(u32, mm_queued);

/* csd:csd_queue_cpu; what an interrupt queues amid a flush is not the flush's */
KSTALL_PROBE(mm_on_queued,
	     TP_PROTO(const unsigned int cpu, unsigned long callsite, smp_call_func_t func,
		      call_single_data_t *csd),
	     TP_ARGS(cpu, callsite, func, csd))
{
	if (in_task())
		__this_cpu_inc(mm_queued);
}
KSTALL_CHECK_PROBE(csd_queue_cpu, mm_on_queued);

/*
 * Whom native_flush_tlb_multi() interrupts it says itself, by the time it returns, and preemption
 * is disabled until then. Its mask names too many: since 6.14 CPUs stay in it that have something
 * else loaded by now (209954cbc7d0 "x86/mm/tlb: Update mm_cpumask lazily").
 */
static u32 mm_flush_cpus(const struct cpumask *mask, const struct mm_flush_info *info)
{
	__this_cpu_write(mm_queued, 0);
	return cpumask_weight(mask);
}

static u32 mm_flush_interrupted(const struct mm_flush_call *call)
{
	return call->kind == MM_FLUSH_KERNEL ? call->cpus : __this_cpu_read(mm_queued);
}
#else
/*
 * The CPUs that native_flush_tlb_multi() is about to interrupt, which reads the same on its way:
 * those that idle with the address space still loaded flush when they wake up, unless page tables
 * go.
 */
static u32 mm_flush_cpus(const struct cpumask *mask, const struct mm_flush_info *info)
{
	u32 cpus = 0;
	int cpu;

	for_each_cpu(cpu, mask) {
		if (cpu == smp_processor_id())
			continue;
		if (info->freed_tables || !READ_ONCE(per_cpu(cpu_tlbstate_shared.is_lazy, cpu)))
			cpus++;
	}
	return cpus;
}

static u32 mm_flush_interrupted(const struct mm_flush_call *call)
{
	return call->cpus;
}
#endif

/* Return: false if no CPU is interrupted. */
static bool mm_flush_begin(struct mm_flush_call *call, u8 kind, u32 cpus, struct pt_regs *regs)
{
	if (!cpus)
		return false;
	call->kind = kind;
	call->cpus = cpus;
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

/* @info is a struct flush_tlb_info, of which struct mm_flush_info is the part that is used. */
KSTALL_FN(void, native_flush_tlb_multi, const struct cpumask *, cpumask,
	  const struct mm_flush_info *, info);

/*
 * Of user space's addresses, preemption disabled. Without an mm it is a batch: reclaim or migration
 * flush for all that they have unmapped.
 */
bool mm_flush_enter(void *data, struct pt_regs *regs)
{
	struct mm_flush_call *call = data;
	const struct cpumask *mask = kstall_arg(regs, native_flush_tlb_multi, cpumask);
	const struct mm_flush_info *info = kstall_arg(regs, native_flush_tlb_multi, info);
	bool full = info->end == MM_FLUSH_ALL;

	call->mm = info->mm;
	call->start = full ? 0 : info->start;
	call->pages = full ? 0 : (info->end - info->start) >> PAGE_SHIFT;
	call->freed_tables = info->freed_tables;
	return mm_flush_begin(call, info->mm ? MM_FLUSH_MM : MM_FLUSH_BATCH,
			      mm_flush_cpus(mask, info), regs);
}

static bool mm_flush_kernel(struct mm_flush_call *call, unsigned long start, unsigned long end,
			    struct pt_regs *regs)
{
	bool full = end == MM_FLUSH_ALL;

	if (mm_flush_by_broadcast())
		return false;
	call->mm = NULL;
	call->start = 0;	/* not user space's to know */
	call->pages = full ? 0 : (end - start) >> PAGE_SHIFT;
	call->freed_tables = false;
	return mm_flush_begin(call, MM_FLUSH_KERNEL, num_online_cpus() - 1, regs);
}

/* void flush_tlb_all(void) */
bool mm_flush_all_enter(void *data, struct pt_regs *regs)
{
	return mm_flush_kernel(data, 0, MM_FLUSH_ALL, regs);
}

/* <asm/tlbflush.h> hides it from modules. */
KSTALL_FN(void, flush_tlb_kernel_range, unsigned long, start, unsigned long, end);

bool mm_flush_kernel_enter(void *data, struct pt_regs *regs)
{
	return mm_flush_kernel(data, kstall_arg(regs, flush_tlb_kernel_range, start),
			       kstall_arg(regs, flush_tlb_kernel_range, end), regs);
}

void mm_flush_return(void *data, struct pt_regs *regs)
{
	const struct mm_flush_call *call = data;
	struct kstall_mm_flush f = { .call = call };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	u32 cpus = mm_flush_interrupted(call);

	if (!cpus)
		return;
	f.reason = mm_charge_tlb(call->sp, duration_ns);
	if (!kstall_long_enough(&kstall_event_mm_tlb_shootdown, duration_ns))
		return;
	f.id = KSTALL_ID_CURRENT;
	f.syscall = mm_syscall();
	trace_mm_tlb_shootdown(duration_ns, call->start, cpus, f.reason, &f);
}
