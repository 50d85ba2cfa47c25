// SPDX-License-Identifier: GPL-2.0
/*
 * notifier.c - waits for mmu_notifiers, and the callbacks of drivers they are waits for
 *
 * No table names a driver's callback. It is learned where a driver registers it, and
 * once, when the first event is enabled, from all that are registered by then; the worker places
 * a hook on it. No probe looks at the lists of subscriptions: their lock sleeps on PREEMPT_RT.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/interval_tree.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "mm_migrate_trace.h"
#include "mm_migrate_trace_events.h"

struct mm_callback mm_callbacks[MM_NR_CALLBACKS];
struct kstall_hook *mm_callback_hooks;

/* ---- learning ---- */

/* What was learned and is not placed yet: function << 2 | MM_VIA_*; the top bits are all ones. */
static u64 mm_learned[32];
static atomic_t mm_unlearned = ATOMIC_INIT(0);
static atomic_t mm_cut_short = ATOMIC_INIT(0);
static bool mm_walked;

static bool mm_known(unsigned long fn)
{
	unsigned int i;

	for (i = 0; i < MM_NR_CALLBACKS; i++) {
		if (READ_ONCE(mm_callback_hooks[i].addr) == fn)
			return true;
	}
	return false;
}

/* Notes a callback for the worker. Any context. Return: true if it was not known. */
static bool mm_learn(const void *callback, u8 via)
{
	unsigned long fn = (unsigned long)callback;
	u64 note = (u64)fn << 2 | via;
	unsigned int i;

	if (!fn || mm_known(fn))
		return false;
	for (i = 0; i < ARRAY_SIZE(mm_learned); i++) {
		u64 old = cmpxchg64(&mm_learned[i], 0, note);

		if (!old || old == note)
			return true;
	}
	atomic_inc(&mm_unlearned);
	return false;
}

static bool mm_learn_list(const struct mmu_notifier_ops *ops)
{
	return mm_learn(ops->invalidate_range_start, MM_VIA_LIST);
}

static bool mm_learn_interval(const struct mmu_interval_notifier_ops *ops)
{
	bool news = mm_learn(ops->invalidate, MM_VIA_INTERVAL);

#ifdef HAVE_MMU_INTERVAL_INVALIDATE_START
	news |= mm_learn(ops->invalidate_start, MM_VIA_INTERVAL);
	news |= mm_learn(ops->invalidate_finish, MM_VIA_FINISH);
#endif
	return news;
}

KSTALL_FN(int, __mmu_notifier_register, struct mmu_notifier *, subscription,
	  struct mm_struct *, mm);
KSTALL_CHECK_FN(__mmu_notifier_register, __mmu_notifier_register);

/* Without a subscription it is the first interval notifier's, see mm_insert_enter(). */
bool mm_register_enter(void *data, struct pt_regs *regs)
{
	const struct mmu_notifier *mn = kstall_arg(regs, __mmu_notifier_register, subscription);

	if (mn && mm_learn_list(mn->ops))
		kstall_rearm();
	return false;
}

struct mmu_notifier_subscriptions;
KSTALL_FN(int, __mmu_interval_notifier_insert, struct mmu_interval_notifier *, interval_sub,
	  struct mm_struct *, mm, struct mmu_notifier_subscriptions *, subscriptions,
	  unsigned long, start, unsigned long, length,
	  const struct mmu_interval_notifier_ops *, ops);

bool mm_insert_enter(void *data, struct pt_regs *regs)
{
	if (mm_learn_interval(kstall_arg(regs, __mmu_interval_notifier_insert, ops)))
		kstall_rearm();
	return false;
}

/* Drivers have a few callbacks, and address spaces up to millions of intervals. */
#define MM_MAX_WALK	4096

/* @mm is alive and its subscriptions with it: they are freed with its last reference. */
static void mm_walk_one(struct mm_struct *mm)
{
	struct mm_subscriptions *subs;
	struct interval_tree_node *node;
	struct mmu_notifier *mn;
	int left = MM_MAX_WALK;

	/* Pairs with the release in __mmu_notifier_register(). */
	subs = (struct mm_subscriptions *)smp_load_acquire(&mm->notifier_subscriptions);
	if (!subs)
		return;
	spin_lock(&subs->lock);
	hlist_for_each_entry(mn, &subs->list, hlist) {
		if (!left--)
			break;
		mm_learn_list(mn->ops);
	}
	for (node = interval_tree_iter_first(&subs->itree, 0, ULONG_MAX); node && left > 0;
	     node = interval_tree_iter_next(node, 0, ULONG_MAX), left--)
		mm_learn_interval(container_of(node, struct mmu_interval_notifier,
					       interval_tree)->ops);
	spin_unlock(&subs->lock);
	if (left <= 0)
		atomic_inc(&mm_cut_short);
}

/* While a task is locked it cannot let go of its mm. The first thread may have done so before. */
static void mm_walk(void)
{
	struct task_struct *process, *task;
	bool found;

	rcu_read_lock();
	for_each_process(process) {
		for_each_thread(process, task) {
			task_lock(task);
			found = task->mm && !(task->flags & PF_KTHREAD);
			if (found)
				mm_walk_one(task->mm);
			task_unlock(task);
			if (found)
				break;
		}
	}
	rcu_read_unlock();
}

/* ---- placing ---- */

static bool mm_same(const struct mm_callback *a, const struct mm_callback *b)
{
	return !strcmp(a->symbol, b->symbol) && !strcmp(a->module, b->module) && a->via == b->via;
}

/* The slot the callback had before its module was reloaded, else a free one, -1: none is. */
static int mm_slot_for(const struct mm_callback *cb)
{
	int i;

	for (i = 0; i < MM_NR_CALLBACKS; i++) {
		if (!mm_callback_hooks[i].addr && mm_same(&mm_callbacks[i], cb))
			return i;
	}
	for (i = 0; i < MM_NR_CALLBACKS; i++) {
		if (!mm_callbacks[i].symbol[0])
			return i;
	}
	return -1;
}

/* Names stay for good: events in flight refer to them. */
static bool mm_place_one(u64 note)
{
	unsigned long fn = (unsigned long)((s64)note >> 2);
	struct mm_callback cb = { .via = note & 3 };
	int slot;

	if (mm_known(fn) || !kstall_symbol_name(fn, cb.symbol, sizeof(cb.symbol),
						cb.module, sizeof(cb.module)))
		return false;
	slot = mm_slot_for(&cb);
	if (slot < 0) {
		atomic_inc(&mm_unlearned);
		return false;
	}
	mm_callbacks[slot] = cb;
	return kstall_hook_place(&mm_callback_hooks[slot], fn);
}

/**
 * mm_place() - kstall.update() for callbacks
 * @wanted: an event that is enabled needs callbacks; then the hooks that learn are armed
 *
 * Return: true if one was placed.
 */
bool mm_place(bool wanted)
{
	bool placed = false;
	unsigned int i;

	if (!wanted) {
		mm_walked = false;
		/* By the time they are placed something else may be there. */
		memset(mm_learned, 0, sizeof(mm_learned));
		return false;
	}
	if (!mm_walked)
		mm_walk();
	mm_walked = true;
	for (i = 0; i < ARRAY_SIZE(mm_learned); i++) {
		u64 note = READ_ONCE(mm_learned[i]);

		if (!note)
			continue;
		placed |= mm_place_one(note);
		WRITE_ONCE(mm_learned[i], 0);
	}
	return placed;
}

void mm_show_callbacks(struct seq_file *m)
{
	static const char * const via[] = { "list", "interval", "interval_finish" };
	unsigned int i, nr = 0;

	for (i = 0; i < MM_NR_CALLBACKS; i++)
		nr += !!mm_callback_hooks[i].addr;
	seq_printf(m, "callbacks known=%u unlearned=%d cut_short=%d quiet_waits=%llu\n", nr,
		   atomic_read(&mm_unlearned), atomic_read(&mm_cut_short),
		   kstall_percpu_sum(mm_quiet_waits, value));
	for (i = 0; i < MM_NR_CALLBACKS; i++) {
		const struct mm_callback *cb = &mm_callbacks[i];

		if (cb->symbol[0])
			seq_printf(m, "callback %s module=%s via=%s here=%d\n", cb->symbol,
				   cb->module[0] ? cb->module : "-", via[cb->via],
				   !!mm_callback_hooks[i].addr);
	}
}

/* ---- waits ---- */

KSTALL_FN(int, __mmu_notifier_invalidate_range_start, struct mmu_notifier_range *, range);
KSTALL_CHECK_FN(__mmu_notifier_invalidate_range_start, __mmu_notifier_invalidate_range_start);

/*
 * Called if the address space has or once had a notifier; calls the callbacks of those that cover
 * the range.
 */
bool mm_wait_enter(void *data, struct pt_regs *regs)
{
	struct mm_wait_call *call = data;
	struct mm_task *task = mm_find_or_insert(regs->sp);

	if (!task)
		return false;
	call->outer = task->window;
	task->window = (struct mm_window){ .open = true };
	call->range = kstall_arg(regs, __mmu_notifier_invalidate_range_start, range);
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

/* Closes the window, charges all that the task is in, and says why it waited. */
static bool mm_wait_end(const struct mm_wait_call *call, u64 wait_ns, struct mm_window *window,
			struct mm_context *ctx)
{
	struct mm_task *task = mm_find(call->sp);
	int i;

	if (!task)
		return false;
	*window = task->window;
	task->window = call->outer;
	mm_look(task, ctx);
	for (i = 0; i < task->nr; i++) {
		task->frame[i].notifier_ns += wait_ns;
		task->frame[i].waits++;
	}
	mm_let_go(task);
	return window->open;
}

/* Other events have waits timed too, but no callbacks counted. */
static bool mm_callbacks_wanted(void)
{
	return trace_mm_migrate_mmu_notifier_wait_enabled() || trace_mm_migrate_notifier_enabled();
}

/* The range is on the caller's stack. */
void mm_wait_return(void *data, struct pt_regs *regs)
{
	const struct mm_wait_call *call = data;
	struct kstall_mm_wait w = { .range = call->range, .result = regs_return_value(regs) };
	u64 wait_ns = kstall_delta(kstall_now(), call->start_ns);

	if (!mm_wait_end(call, wait_ns, &w.window, &w.ctx)) {
		kstall_inflight_unmatched(&mm_tasks.table);
		return;
	}
	if (!w.window.nr) {
		if (mm_callbacks_wanted())
			this_cpu_inc(mm_quiet_waits->value);
		return;
	}
	if (!kstall_long_enough(&kstall_event_mm_migrate_mmu_notifier_wait, wait_ns))
		return;
	w.id = KSTALL_ID_CURRENT;
	w.callback = &mm_callbacks[w.window.slot];
	trace_mm_migrate_mmu_notifier_wait(wait_ns, w.ctx.pfn, w.ctx.pages, w.ctx.reason, &w);
}

/* ---- callbacks ---- */

static const struct mm_callback *mm_callback_of(const void *data)
{
	return &mm_callbacks[kstall_hook_of(data) - mm_callback_hooks];
}

/* invalidate() of an interval has its range in the same place, invalidate_finish() has none. */
KSTALL_FN(int, invalidate_range_start, struct mmu_notifier *, subscription,
	  const struct mmu_notifier_range *, range);
KSTALL_CHECK_FN(invalidate_range_start,
		*KSTALL_OP(const struct mmu_notifier_ops, invalidate_range_start));

bool mm_callback_enter(void *data, struct pt_regs *regs)
{
	struct mm_callback_call *call = data;
	const struct mmu_notifier_range *range;

	*call = (struct mm_callback_call){ .event = MM_EVENT_NONE, .blockable = true };
	if (mm_callback_of(data)->via != MM_VIA_FINISH) {
		range = kstall_arg(regs, invalidate_range_start, range);
		call->mm = range->mm;
		call->start = range->start;
		call->end = range->end;
		call->event = range->event;
		call->blockable = mmu_notifier_range_blockable(range);
	}
	call->sp = regs->sp;
	call->start_ns = kstall_now();
	return true;
}

/* Adds it to the wait the task is in; none when an address space ends. Return: why. */
static u8 mm_callback_count(const struct mm_callback *cb, unsigned long sp, u64 ns)
{
	struct mm_task *task = mm_find(sp);
	struct mm_context ctx;

	if (!task)
		return MM_REASON_NONE;
	mm_look(task, &ctx);
	if (task->window.open) {
		task->window.nr += cb->via != MM_VIA_FINISH;
		if (ns >= task->window.slowest_ns) {
			task->window.slowest_ns = ns;
			task->window.slot = cb - mm_callbacks;
		}
	}
	return ctx.reason;
}

void mm_callback_return(void *data, struct pt_regs *regs)
{
	const struct mm_callback_call *call = data;
	const struct mm_callback *cb = mm_callback_of(data);
	struct kstall_mm_notifier n = { .call = call, .callback = cb };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	int result = 0;

	if (cb->via == MM_VIA_LIST)
		result = regs_return_value(regs);
	else if (cb->via == MM_VIA_INTERVAL)
		result = regs_return_value(regs) & 1 ? 0 : -EAGAIN;
	n.reason = mm_callback_count(cb, call->sp, duration_ns);
	if (!kstall_long_enough(&kstall_event_mm_migrate_notifier, duration_ns))
		return;
	n.id = KSTALL_ID_CURRENT;
	trace_mm_migrate_notifier(duration_ns, call->start,
				  (call->end - call->start) >> PAGE_SHIFT, result, &n);
}
