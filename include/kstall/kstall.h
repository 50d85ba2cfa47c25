/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kstall.h - what every kstall module is: a table of hooks, of tables and of events
 *
 * A module consists of its main file, which includes core.h and has the tables and the module's
 * one struct kstall_module, of further files with probes, and of the helpers' code (impl/), which
 * is compiled into each module: it is self-contained and depends on no other one.
 *
 * Context rules for everything called "probe" below: it may run in hardirq with interrupts
 * off, it runs with preemption disabled (see kstall_enter()), and it must not sleep, allocate,
 * take a sleeping lock or print. On PREEMPT_RT a spinlock_t sleeps, so probes use
 * raw_spinlock_t only, and only through inflight.h.
 */
#ifndef _KSTALL_KSTALL_H
#define _KSTALL_KSTALL_H

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include <kstall/compat.h>

struct kstall_hook;
struct kstall_inflight;
struct kstall_event_def;

/* A per-CPU counter. */
struct kstall_count {
	u64 value;
};

/**
 * struct kstall_module - one tracing module
 * @system: TRACE_SYSTEM of its events
 * @hooks: hook table, armed and disarmed by the worker
 * @nr_hooks: its length, at most 64
 * @tables: in-flight tables, allocated while an event that names them is enabled
 * @nr_tables: their number, at most 32
 * @events: which event needs which hooks and tables
 * @nr_events: their number
 * @show: optional, adds the module's own lines to the status file (may sleep)
 * @update: optional, called by the worker with the mask of hooks that are wanted whenever that or
 *	what kstall_rearm() was called for has changed, and what could be armed is. May sleep,
 *	@lock held. It calls kstall_hook_place() and says whether anything was news to that
 * @lock: serialises arming; never taken in a probe nor under tracepoints_mutex
 * @ready_lock: protects @ready against a wish noted while exit() runs
 * @ready: init() is done and exit() has not begun
 * @wq: the worker's own queue, so that nobody else's work can stand in its way
 * @arm_work: brings hooks and tables in line with what is enabled
 * @tick_work: ages tables and closes folded storms while anything is armed
 * @clamped: durations that came out negative and were clamped at 0
 * @debugfs: directory of the status file
 * @recorder: the ftrace instance rare events are recorded into, or NULL
 */
struct kstall_module {
	const char *system;
	struct kstall_hook *hooks;
	unsigned int nr_hooks;
	struct kstall_inflight **tables;
	unsigned int nr_tables;
	const struct kstall_event_def *events;
	unsigned int nr_events;
	void (*show)(struct seq_file *m);
	bool (*update)(u64 wanted);

	struct mutex lock;		/* arming; taken in no probe */
	spinlock_t ready_lock;		/* @ready; taken in no probe */
	bool ready;
	struct workqueue_struct *wq;
	struct work_struct arm_work;
	struct delayed_work tick_work;
	struct kstall_count __percpu *clamped;
	struct dentry *debugfs;
	struct trace_array *recorder;
};

/* The one instance, defined by KSTALL_MODULE() in the main file. */
extern struct kstall_module kstall;

/**
 * KSTALL_MODULE() - instantiate the module from its tables, once, in its main file
 * @_system: TRACE_SYSTEM, as a string
 * @_hooks: array of struct kstall_hook
 * @_tables: array of pointers to struct kstall_inflight
 * @_events: array of struct kstall_event_def
 * @_show: own lines for the status file, or NULL
 */
#define KSTALL_MODULE(_system, _hooks, _tables, _events, _show)	\
	static_assert(ARRAY_SIZE(_hooks) <= 64);			\
	static_assert(ARRAY_SIZE(_tables) <= 32);			\
	struct kstall_module kstall = {					\
		.system = (_system),					\
		.hooks = (_hooks), .nr_hooks = ARRAY_SIZE(_hooks),	\
		.tables = (_tables), .nr_tables = ARRAY_SIZE(_tables),	\
		.events = (_events), .nr_events = ARRAY_SIZE(_events),	\
		.show = (_show),					\
		.lock = __MUTEX_INITIALIZER(kstall.lock),		\
		.ready_lock = __SPIN_LOCK_UNLOCKED(kstall.ready_lock),	\
	}

int kstall_init(void);
void kstall_exit(void);

/**
 * kstall_rearm() - have the worker look again at what is wanted, and call kstall.update()
 *
 * From the probe of an armed hook, or from process context between kstall_init() and
 * kstall_exit(); takes no lock that sleeps. kstall_rearm_wait() sleeps until that is done; not
 * under kstall.lock.
 */
static inline void kstall_rearm(void)
{
	queue_work(kstall.wq, &kstall.arm_work);
}

static inline void kstall_rearm_wait(void)
{
	kstall_rearm();
	flush_work(&kstall.arm_work);
}

/* CLOCK_MONOTONIC, readable anywhere including NMI; equals bpftrace's nsecs(monotonic). */
static inline u64 kstall_now(void)
{
	return ktime_get_mono_fast_ns();
}

/*
 * How deep in interrupts: task 0, softirq 1, hardirq 2, NMI 3. interrupt_context_level(), whose
 * sum takes a dozen instructions; in a task one test is enough. PREEMPT_RT's softirqs are not in
 * preempt_count(), but in the task.
 */
static __always_inline u8 kstall_level(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    likely(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return 0;
	return interrupt_context_level();
}

/**
 * kstall_delta() - a duration in ns, never negative
 * @now: the later time
 * @start: the earlier time
 *
 * ktime_get_mono_fast_ns() may step back by a little when the clock source is updated
 * (kernel/time/timekeeping.c, "may result in a slightly negative delta"), so the difference
 * is clamped at 0 and the clamp is counted. Any context with preemption disabled.
 */
static inline u64 kstall_delta(u64 now, u64 start)
{
	if (likely(now >= start))
		return now - start;
	this_cpu_inc(kstall.clamped->value);
	return 0;
}

/* Sum of one u64 over all CPUs, @member being a field of a per-CPU struct. */
#define kstall_percpu_sum(pcpu, member)					\
({									\
	u64 __sum = 0;							\
	int __cpu;							\
									\
	for_each_possible_cpu(__cpu)					\
		__sum += READ_ONCE(per_cpu_ptr(pcpu, __cpu)->member);	\
	__sum;								\
})

/* The largest of them. */
#define kstall_percpu_max(pcpu, member)					\
({									\
	u64 __max = 0;							\
	int __cpu;							\
									\
	for_each_possible_cpu(__cpu)					\
		__max = max(__max, READ_ONCE(per_cpu_ptr(pcpu, __cpu)->member)); \
	__max;								\
})

/*
 * KSTALL_PARAM_UINT() - a load-time unsigned parameter with a range; a value outside is
 * refused with one line that names the range. KSTALL_PARAM_UINT_RW() can be written at run
 * time too, and read with READ_ONCE(); a header may declare it extern. Both are root's to see.
 * __KSTALL_PARAM_UINT() is both, for a variable that is there; @_changed comes after each write.
 */
#define __KSTALL_PARAM_UINT(_name, _min, _max, _mode, _changed, _desc)		\
	static int _name##_set(const char *val, const struct kernel_param *kp)	\
	{									\
		int ret = param_set_uint_minmax(val, kp, _min, _max);		\
										\
		if (ret)							\
			pr_err(#_name "=%.32s refused: want %u to %u\n",	\
			       val ?: "", (unsigned int)(_min), (unsigned int)(_max)); \
		else								\
			_changed;						\
		return ret;							\
	}									\
	static const struct kernel_param_ops _name##_ops = {			\
		.set = _name##_set, .get = param_get_uint,			\
	};									\
	module_param_cb(_name, &_name##_ops, &_name, _mode);			\
	__MODULE_PARM_TYPE(_name, "uint");					\
	MODULE_PARM_DESC(_name, _desc)

#define KSTALL_PARAM_UINT(_name, _default, _min, _max, _desc)			\
	static unsigned int _name = (_default);					\
	__KSTALL_PARAM_UINT(_name, _min, _max, 0400, (void)0, _desc)

#define KSTALL_PARAM_UINT_RW(_name, _default, _min, _max, _desc)		\
	unsigned int _name = (_default);					\
	__KSTALL_PARAM_UINT(_name, _min, _max, 0600, (void)0, _desc)

#endif /* _KSTALL_KSTALL_H */
