// SPDX-License-Identifier: GPL-2.0
/*
 * kstall_test - a module like any other on kstall's helpers, whose subject is kstall_target
 *
 * Its files in /sys/kernel/debug/kstall_test, beside status:
 *
 *   unit     reading it runs the tests that need no hooks (kstall_test_unit.h) and prints KTAP
 *   folio    write N: folio_wait_writeback() on a folio of its own, N times
 *   timer    write N: sets up a timer of its own, N times (vmlinux's tracepoint timer_init)
 *   place    write N: the hook of kt_placed stands on the N-th of the functions below, 0: nowhere
 *   reenter  write 1: a listener on kt_folio and kt_timer does inside each of them what they
 *            report, as a BPF program might; write 0: no more. The status file counts.
 *
 * With linger=1 the probe of kt_tick does not return, which the status file says.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kstall/core.h>

#include <linux/delay.h>
#include <linux/pagemap.h>
#include <trace/events/timer.h>

#include "kstall_target_events.h"
#include "kstall_test_unit.h"

#define CREATE_TRACE_POINTS
#include "kstall_test_events.h"

static bool hold;
module_param(hold, bool, 0644);
MODULE_PARM_DESC(hold, "init waits before it begins, and exit after it is done, for 0 (default 0)");
static bool fail_init;
module_param(fail_init, bool, 0444);
MODULE_PARM_DESC(fail_init, "init undoes all and fails (default 0)");

static bool busy;
module_param(busy, bool, 0644);
MODULE_PARM_DESC(busy, "the worker, which has kstall.lock then, waits for 0 (default 0)");
static bool linger;
module_param(linger, bool, 0644);
MODULE_PARM_DESC(linger, "the probe of kt_tick waits for 0 (default 0)");
static bool bounded;
module_param(bounded, bool, 0444);
MODULE_PARM_DESC(bounded, "the hook of kt_block is .bounded, so that it can be direct (default 0)");

struct kt_who {
	struct kstall_who who;
	u64 start_ns;
};

struct kt_storm {
	struct kstall_folded folded;
	u64 key;
	struct kstall_who who;
};

static void kt_storm_emit(const struct kstall_folded *folded);

static struct kstall_inflight spans = {
	.name = "spans", .capacity = 64, .rec_size = sizeof(struct kt_who),
};
static struct kstall_inflight huge = {
	.name = "huge", .capacity = 64, .rec_size = sizeof(u64),
};
static struct kstall_fold storms = KSTALL_FOLD("storms", 64, struct kt_storm, kt_storm_emit);
/* Any number: one that no machine has the memory for makes arming fail. */
module_param_named(huge_capacity, huge.capacity, uint, 0644);
MODULE_PARM_DESC(huge_capacity, "records of the table of kt_huge (default 64)");

enum { T_SPANS, T_HUGE, T_STORMS };

static struct kstall_inflight *tables[] = {
	[T_SPANS] = &spans,
	[T_HUGE] = &huge,
	[T_STORMS] = &storms.table,
};

/* ---- probes ---- */

struct kt_call {
	u64 start_ns;
	u64 id;
};

/* target_quick(int arg) */
static bool kt_quick_enter(void *data, struct pt_regs *regs)
{
	struct kstall_id who = KSTALL_ID_CURRENT;
	int arg = regs_get_kernel_argument(regs, 0);
	struct kstall_slot slot;
	u64 rec;

	trace_kt_entry(0, arg, 1, 0, &who);
	if (kstall_inflight_insert(&huge, (unsigned long)current, kstall_now(), &slot)) {
		kstall_inflight_unlock(&slot);
		if (kstall_inflight_take(&huge, (unsigned long)current, &rec))
			trace_kt_huge(0, arg, 1, 0, &who);
	}
	return true;
}

/* All of them take one int and return one. */
static bool kt_call_enter(void *data, struct pt_regs *regs)
{
	struct kt_call *call = data;

	call->id = (int)regs_get_kernel_argument(regs, 0);
	call->start_ns = kstall_now();
	return true;
}

#define KT_RETURN(_event)						\
	static void _event##_return(void *data, struct pt_regs *regs)	\
	{								\
		const struct kt_call *call = data;			\
		u64 ns = kstall_delta(kstall_now(), call->start_ns);	\
		struct kstall_id who = KSTALL_ID_CURRENT;		\
									\
		if (kstall_long_enough(&kstall_event_##_event, ns))	\
			trace_##_event(ns, call->id, 1,			\
				       (int)regs_return_value(regs), &who); \
	}

KT_RETURN(kt_pair)
KT_RETURN(kt_sleep)
KT_RETURN(kt_block)
KT_RETURN(kt_recurse)
KT_RETURN(kt_placed)

/* target_begin(u64 key), in a task */
static bool kt_begin_enter(void *data, struct pt_regs *regs)
{
	u64 now = kstall_now();
	struct kstall_slot slot;
	struct kt_who *rec;

	if (kstall_inflight_insert(&spans, regs_get_kernel_argument(regs, 0), now, &slot)) {
		rec = slot.rec;
		rec->start_ns = now;
		kstall_who_read(&rec->who, current);
		kstall_inflight_unlock(&slot);
	}
	return true;
}

/* target_end(u64 key), in hardirq: the event's identity is the task's that began */
static bool kt_end_enter(void *data, struct pt_regs *regs)
{
	u64 ns, key = regs_get_kernel_argument(regs, 0);
	struct kstall_id who = KSTALL_ID_CURRENT;
	struct kt_who rec;

	if (!kstall_inflight_take(&spans, key, &rec)) {
		kstall_inflight_unmatched(&spans);
		return true;
	}
	who.who = &rec.who;
	ns = kstall_delta(kstall_now(), rec.start_ns);
	if (kstall_long_enough(&kstall_event_kt_span, ns))
		trace_kt_span(ns, key, 1, 0, &who);
	return true;
}

/* target_object(u64 key) */
static bool kt_object_enter(void *data, struct pt_regs *regs)
{
	struct kstall_id who = KSTALL_ID_CURRENT;
	u64 key = regs_get_kernel_argument(regs, 0);
	struct kstall_slot slot;
	struct kt_storm *storm;

	if (!kstall_fold_hit(&storms, key, kstall_now(), &slot)) {
		trace_kt_storm(0, key, 1, 0, &who);
		return true;
	}
	storm = slot.rec;
	storm->key = key;
	kstall_who_read(&storm->who, current);
	kstall_inflight_unlock(&slot);
	return true;
}

static void kt_storm_emit(const struct kstall_folded *folded)
{
	const struct kt_storm *storm = container_of(folded, struct kt_storm, folded);
	struct kstall_id who = {
		.dev_node = NUMA_NO_NODE, .cpu_node = NUMA_NO_NODE, .who = &storm->who,
	};

	trace_kt_storm(folded->last_ns - folded->first_ns, storm->key, folded->count, 0, &who);
}

/* target_object_free(u64 key) */
static bool kt_object_free_enter(void *data, struct pt_regs *regs)
{
	kstall_fold_end(&storms, regs_get_kernel_argument(regs, 0));
	return true;
}

static bool lingering;

KSTALL_PROBE(kt_on_tick, TP_PROTO(u64 id, unsigned int nr), TP_ARGS(id, nr))
{
	struct kstall_id who = KSTALL_ID_CURRENT;

	while (READ_ONCE(linger))		/* no cpu_relax(): to an emulator each is an exit */
		WRITE_ONCE(lingering, true);
	trace_kt_tick(0, id, nr, 0, &who);
}
KSTALL_CHECK_PROBE(target_tick, kt_on_tick);

static struct folio *own_folio;
static struct timer_list own_timer;

/* folio_wait_writeback(struct folio *folio) */
static bool kt_folio_enter(void *data, struct pt_regs *regs)
{
	return (void *)regs_get_kernel_argument(regs, 0) == own_folio;
}

static void kt_folio_return(void *data, struct pt_regs *regs)
{
	struct kstall_id who = KSTALL_ID_CURRENT;

	trace_kt_folio(0, 0, 1, 0, &who);
}

KSTALL_PROBE(kt_on_timer, TP_PROTO(struct timer_list *timer), TP_ARGS(timer))
{
	struct kstall_id who = KSTALL_ID_CURRENT;

	if (timer == &own_timer)
		trace_kt_timer(0, 0, 1, 0, &who);
}
KSTALL_CHECK_PROBE(timer_init, kt_on_timer);

static bool kt_missing_enter(void *data, struct pt_regs *regs)
{
	struct kstall_id who = KSTALL_ID_CURRENT;

	trace_kt_missing(0, 0, 1, 0, &who);
	return true;
}

/* ---- wiring ---- */

#define TARGET	"kstall_target"

enum {
	H_MISSING, H_QUICK, H_QUICK_PAIR, H_SLEEP, H_BLOCK, H_RECURSE, H_END, H_BEGIN,
	H_TICK, H_OBJECT_FREE, H_OBJECT, H_FOLIO, H_TIMER, H_PLACED,
};

static struct kstall_hook hooks[] = {
	[H_MISSING] = KSTALL_ENTRY("missing", NULL, "kstall_no_such_function", kt_missing_enter),
	[H_QUICK] = KSTALL_ENTRY("quick", TARGET, "target_slow|target_quick", kt_quick_enter),
	[H_QUICK_PAIR] = KSTALL_PAIR("quick_pair", TARGET, "target_quick",
				     sizeof(struct kt_call), kt_call_enter, kt_pair_return,
				     .atomic = true),
	[H_SLEEP] = KSTALL_PAIR("sleep", TARGET, "target_sleep", sizeof(struct kt_call),
				kt_call_enter, kt_sleep_return, .sleeps = true),
	[H_BLOCK] = KSTALL_PAIR("block", TARGET, "target_block", sizeof(struct kt_call),
				kt_call_enter, kt_block_return, .sleeps = true),
	[H_RECURSE] = KSTALL_PAIR("recurse", TARGET, "target_recurse", sizeof(struct kt_call),
				  kt_call_enter, kt_recurse_return, .atomic = true),
	[H_END] = KSTALL_ENTRY("end", TARGET, "target_end", kt_end_enter),
	[H_BEGIN] = KSTALL_ENTRY("begin", TARGET, "target_begin", kt_begin_enter),
	[H_TICK] = KSTALL_TRACEPOINT("tick", TARGET, "target_tock|target_tick", kt_on_tick),
	[H_OBJECT_FREE] = KSTALL_ENTRY("object_free", TARGET, "target_object_free",
				       kt_object_free_enter),
	[H_OBJECT] = KSTALL_ENTRY("object", TARGET, "target_object", kt_object_enter),
	[H_FOLIO] = KSTALL_PAIR("folio", NULL, "kstall_no_such_wait|folio_wait_writeback",
				0, kt_folio_enter, kt_folio_return),
	[H_TIMER] = KSTALL_TRACEPOINT("timer", NULL, "kstall_no_such_event|timer_init",
				      kt_on_timer),
	[H_PLACED] = KSTALL_PLACED("placed", "a_place", sizeof(struct kt_call), kt_call_enter,
				   kt_placed_return),
};

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(kt_entry, BIT_ULL(H_QUICK), .optional = BIT_ULL(H_MISSING)),
	KSTALL_EVENT(kt_pair, BIT_ULL(H_QUICK_PAIR)),
	KSTALL_EVENT(kt_sleep, BIT_ULL(H_SLEEP)),
	KSTALL_EVENT(kt_block, BIT_ULL(H_BLOCK)),
	KSTALL_EVENT(kt_recurse, BIT_ULL(H_RECURSE)),
	KSTALL_EVENT(kt_span, BIT_ULL(H_BEGIN) | BIT_ULL(H_END), .tables = BIT(T_SPANS)),
	KSTALL_EVENT(kt_tick, BIT_ULL(H_TICK), .rare = true),
	KSTALL_EVENT(kt_storm, BIT_ULL(H_OBJECT) | BIT_ULL(H_OBJECT_FREE),
		     .tables = BIT(T_STORMS), .fold = &storms, .rare = true),
	KSTALL_EVENT(kt_folio, BIT_ULL(H_FOLIO)),
	KSTALL_EVENT(kt_timer, BIT_ULL(H_TIMER)),
	KSTALL_EVENT(kt_missing, BIT_ULL(H_MISSING)),
	KSTALL_EVENT(kt_huge, BIT_ULL(H_QUICK), .tables = BIT(T_HUGE)),
	KSTALL_EVENT(kt_placed, BIT_ULL(H_PLACED)),
	KSTALL_EVENT_ABSENT(kt_absent, "no kernel has it"),
};

static unsigned int reentered;	/* only one task re-enters */

static void kt_show(struct seq_file *m)
{
	seq_printf(m, "test reentered=%u\n", reentered);
	if (READ_ONCE(lingering))
		seq_puts(m, "test lingering\n");
}

KSTALL_MODULE("kstall_test", hooks, tables, events, kt_show);

/* ---- knobs ---- */

static const char * const places[] = {
	NULL, TARGET ":target_quick", TARGET ":target_recurse", "folio_wait_writeback",
	"kstall_no_such_function",
};
static unsigned int place;
static bool place_again;

static bool kt_update(u64 wanted)
{
	while (READ_ONCE(busy))
		msleep(20);
	if (!xchg(&place_again, false))
		return false;
	return kstall_hook_place(&hooks[H_PLACED], place ? kstall_symbol(places[place]) : 0);
}

static int place_set(void *data, u64 nr)
{
	if (nr >= ARRAY_SIZE(places))
		return -EINVAL;
	place = nr;
	place_again = true;
	kstall_rearm_wait();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(place_fops, NULL, place_set, "%llu\n");

static void own_timer_fn(struct timer_list *timer) {}

static void call_folio(void)
{
	folio_wait_writeback(own_folio);
}

static void call_timer(void)
{
	timer_setup(&own_timer, own_timer_fn, 0);
}

static int folio_set(void *data, u64 n)
{
	while (n--)
		call_folio();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(folio_fops, NULL, folio_set, "%llu\n");

static int timer_set(void *data, u64 n)
{
	while (n--)
		call_timer();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(timer_fops, NULL, timer_set, "%llu\n");

static void reenter_folio(void *data, u64 duration_ns, u64 id, u64 count, s64 result,
			  const struct kstall_id *who)
{
	reentered++;
	call_folio();
}

static void reenter_timer(void *data, u64 duration_ns, u64 id, u64 count, s64 result,
			  const struct kstall_id *who)
{
	reentered++;
	call_timer();
}

static bool reentering;

static void reenter_stop(void)
{
	if (!reentering)
		return;
	unregister_trace_kt_folio(reenter_folio, NULL);
	unregister_trace_kt_timer(reenter_timer, NULL);
	tracepoint_synchronize_unregister();
	reentering = false;
}

static int reenter_set(void *data, u64 on)
{
	int ret;

	reenter_stop();
	if (!on)
		return 0;
	ret = register_trace_kt_folio(reenter_folio, NULL);
	if (ret)
		return ret;
	ret = register_trace_kt_timer(reenter_timer, NULL);
	if (ret)
		unregister_trace_kt_folio(reenter_folio, NULL);
	else
		reentering = true;
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(reenter_fops, NULL, reenter_set, "%llu\n");

static int unit_open(struct inode *inode, struct file *file)
{
	/* Large enough at once: a buffer that overflows would run the tests again. */
	return single_open_size(file, kt_unit_show, NULL, 64 << 10);
}

static const struct file_operations unit_fops = {
	.owner = THIS_MODULE,
	.open = unit_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init kstall_test_init(void)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	int ret;

	if (!page)
		return -ENOMEM;
	own_folio = page_folio(page);
	while (READ_ONCE(hold))
		msleep(20);
	kstall.update = kt_update;
	hooks[H_BLOCK].bounded = bounded;
	ret = kstall_init();
	if (ret)
		goto err_page;
	if (fail_init) {
		ret = -EIO;
		goto err_exit;
	}
	debugfs_create_file("unit", 0400, kstall.debugfs, NULL, &unit_fops);
	debugfs_create_file("folio", 0200, kstall.debugfs, NULL, &folio_fops);
	debugfs_create_file("timer", 0200, kstall.debugfs, NULL, &timer_fops);
	debugfs_create_file("place", 0200, kstall.debugfs, NULL, &place_fops);
	debugfs_create_file("reenter", 0200, kstall.debugfs, NULL, &reenter_fops);
	return 0;

err_exit:
	kstall_exit();
err_page:
	__free_page(page);
	return ret;
}

static void __exit kstall_test_exit(void)
{
	reenter_stop();
	kstall_exit();
	folio_put(own_folio);
	while (READ_ONCE(hold))
		msleep(20);
}

module_init(kstall_test_init);
module_exit(kstall_test_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_DESCRIPTION("kstall tests: a module on the helpers");
