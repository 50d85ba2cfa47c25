// SPDX-License-Identifier: GPL-2.0
/*
 * frame.c - what each task is in the middle of
 *
 * A wait for notifiers or a TLB flush does not know what it is for: that is known to a function
 * further out on the stack of the same task. Those functions push a frame at entry and pop it at
 * return. They may lose one, if a return is missed, or if a hook is disarmed while a task is in
 * its function: so a frame counts only while its function can still be there. The stack grows
 * down: whoever is called from it has a lower stack pointer; a frame at or below that of the
 * caller has returned. What disarming leaves behind is known by its epoch.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/syscall.h>

#include "mm_migrate_trace.h"

/* Changed by the worker when it disarms a hook that pushes frames or opens a window. */
u16 mm_epoch;

/* Drops the frames that are over. */
static void mm_trim(struct mm_task *task, unsigned long sp)
{
	u16 epoch = READ_ONCE(mm_epoch);

	if (task->pid != current->pid || task->epoch != epoch) {
		task->pid = current->pid;
		task->epoch = epoch;
		task->nr = 0;
		task->window = (struct mm_window){};
	}
	while (task->nr && task->frame[task->nr - 1].sp <= sp)
		task->nr--;
}

/**
 * mm_find() - the record of the current task
 * @sp: stack pointer of the caller
 *
 * Context: any, preemption disabled; in interrupts there is none.
 * Return: NULL if the task is in nothing.
 */
struct mm_task *mm_find(unsigned long sp)
{
	struct mm_task *task = in_task() ? kstall_own_find(&mm_tasks) : NULL;

	if (task)
		mm_trim(task, sp);
	return task;
}

/* The same, a new one if it is in nothing. NULL in interrupts and if the table is full. */
struct mm_task *mm_find_or_insert(unsigned long sp)
{
	struct mm_task *task = mm_find(sp);

	if (task || !in_task())
		return task;
	task = kstall_own_claim(&mm_tasks, kstall_now());
	if (!task)
		return NULL;
	task->pid = -1;
	mm_trim(task, sp);
	return task;
}

/**
 * mm_push() - the current task enters a function
 * @kind: which
 * @sp: stack pointer at its entry
 *
 * Return: its new frame, zeroed; NULL if there is no place for it, which is counted.
 */
struct mm_frame *mm_push(enum mm_frame_kind kind, unsigned long sp)
{
	struct mm_task *task = mm_find_or_insert(sp);
	struct mm_frame *frame;

	if (!task)
		return NULL;
	if (task->nr == MM_MAX_FRAMES) {
		this_cpu_inc(mm_too_deep->value);
		return NULL;
	}
	frame = &task->frame[task->nr++];
	memset(frame, 0, sizeof(*frame));
	frame->sp = sp;
	frame->kind = kind;
	frame->src_node = NUMA_NO_NODE;
	frame->dst_node = NUMA_NO_NODE;
	frame->reason = MM_REASON_NONE;
	return frame;
}

/* The current task's record is not needed any more if it is in nothing. */
void mm_let_go(struct mm_task *task)
{
	if (!task->nr && !task->window.open)
		kstall_own_release(task);
}

/**
 * mm_pop() - the current task leaves a function
 * @sp: stack pointer at its entry
 * @copy: gets its frame
 *
 * Return: false if it is not known.
 */
bool mm_pop(unsigned long sp, struct mm_frame *copy)
{
	/* what is further in is over, this one is not */
	struct mm_task *task = mm_find(sp - 1);
	bool found;

	if (!task)
		return false;
	found = task->nr && task->frame[task->nr - 1].sp == sp;
	if (found)
		*copy = task->frame[--task->nr];
	mm_let_go(task);
	return found;
}

/* The reason of an unmapping itself is only asked for outside of a migration: mm_unmap_enter(). */
static u8 mm_why(const struct mm_task *task)
{
	int i;

	for (i = task->nr - 1; i >= 0; i--) {
		u8 kind = task->frame[i].kind;

		if (kind == MM_IN_BATCH || kind == MM_IN_SCAN || kind == MM_IN_DEVICE)
			return task->frame[i].reason;
	}
	if (task->nr && task->frame[task->nr - 1].kind == MM_IN_UNMAP)
		return task->frame[task->nr - 1].reason;
	return MM_REASON_NONE;
}

/**
 * mm_look() - why the task does what it does
 * @task: its record, NULL: it is in nothing
 * @ctx: filled
 */
void mm_look(const struct mm_task *task, struct mm_context *ctx)
{
	const struct mm_frame *frame;

	*ctx = (struct mm_context){ .reason = MM_REASON_NONE, .node = NUMA_NO_NODE };
	if (!task || !task->nr)
		return;
	ctx->reason = mm_why(task);
	frame = &task->frame[task->nr - 1];
	if (frame->kind == MM_IN_UNMAP) {
		ctx->pfn = frame->pfn;
		ctx->pages = frame->pages;
		ctx->node = frame->src_node;
	}
}

/* If it is for a fault, @driver has moved @pages to the memory. */
void mm_charge_fault(unsigned long sp, u32 pages, unsigned long driver)
{
	struct mm_task *task = mm_find(sp);
	struct mm_frame *frame;

	if (!task)
		return;
	frame = task->nr ? &task->frame[task->nr - 1] : NULL;
	if (frame && frame->kind == MM_IN_FAULT) {
		frame->pages += pages;
		frame->driver = driver;
	}
}

/* @pages were moved, and @failed not, on behalf of all that the task is in. */
void mm_charge_moved(unsigned long sp, u32 pages, u32 failed)
{
	struct mm_task *task = mm_find(sp);
	int i;

	if (!task)
		return;
	for (i = 0; i < task->nr; i++) {
		struct mm_frame *frame = &task->frame[i];

		if (frame->kind == MM_IN_COMPACT || frame->kind == MM_IN_PIN) {
			frame->pages += pages;
			frame->failed += failed;
		}
	}
}

/* A flush of other CPUs is over. Return: why it was done, MM_REASON_*. */
u8 mm_charge_tlb(unsigned long sp, u64 ns)
{
	struct mm_task *task = mm_find(sp);
	struct mm_context ctx;
	int i;

	if (!task)
		return MM_REASON_NONE;
	mm_look(task, &ctx);
	for (i = 0; i < task->nr; i++) {
		task->frame[i].tlb_ns += ns;
		task->frame[i].shootdowns++;
	}
	return ctx.reason;
}

/* Number of the system call the current task is in, -1: none (a fault, a kernel thread). */
s32 mm_syscall(void)
{
	if (!in_task() || current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return -1;
	return syscall_get_nr(current, task_pt_regs(current));
}

/**
 * mm_owner() - the owner of an address space, which need not be the current task's
 * @mm: it, may be NULL
 * @who: gets the owner, zeroes if there is none or the kernel does not know
 *
 * Context: any; @mm is alive.
 */
void mm_owner(const struct mm_struct *mm, struct kstall_who *who)
{
	memset(who, 0, sizeof(*who));
#ifdef CONFIG_MEMCG
	if (mm) {
		struct task_struct *owner;

		rcu_read_lock();
		owner = rcu_dereference(mm->owner);
		if (owner)
			kstall_who_read(who, owner);
		rcu_read_unlock();
	}
#endif
}
