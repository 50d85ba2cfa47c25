/* SPDX-License-Identifier: GPL-2.0 */
/*
 * event.h - tie an event to the hooks it needs
 *
 * Enabling an event calls its reg function under tracepoints_mutex (tracepoint_add_func(),
 * kernel/tracepoint.c). Nothing that attaches a hook may run there: tracepoints and, since
 * 6.14, fprobes take that mutex themselves, and kprobes take ftrace_lock, which
 * register_ftrace_graph() holds while it waits for tracepoints_mutex. So reg and unreg only
 * note the wish and queue the worker. ftrace and perf users still find their hooks armed
 * when enabling returns: their path, the event class's reg callback, runs outside
 * tracepoints_mutex, and kstall_class_reg(), which stands there, waits for the worker.
 */
#ifndef _KSTALL_EVENT_H
#define _KSTALL_EVENT_H

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include <kstall/fold.h>
#include <kstall/hook.h>

/**
 * struct kstall_event - run-time state of one event
 * @name: as in tracefs
 * @wanted: somebody has enabled it; written under tracepoints_mutex, read by the worker
 * @class_users: users that came through the event class (ftrace instances, perf), under event_mutex
 * @err: why it cannot work now, 0 if it can; written by the worker
 * @min_ns: parameter <event>_min_ns; shorter durations are counted in @suppressed
 * @suppressed: per-CPU count of events not emitted for @min_ns
 */
struct kstall_event {
	const char *name;
	bool wanted;
	unsigned int class_users;
	int err;
	unsigned long long min_ns;
	struct kstall_count __percpu *suppressed;
};

/**
 * struct kstall_event_def - a row of the module's event table
 * @name: the event's name
 * @event: its state, NULL if it is impossible on this kernel
 * @call: ftrace's side of it
 * @hooks: BIT_ULL() of each hook it cannot do without
 * @optional: hooks that add to it; it works without them
 * @tables: BIT() of each table its hooks use
 * @fold: if its storms are folded
 * @rare: recorded when recorder=1
 * @tick: optional, called ten times a second while the event is enabled and has a table; process
 *	context, may sleep, kstall.lock held
 * @absent: the reason if @event is NULL
 */
struct kstall_event_def {
	const char *name;
	struct kstall_event *event;
	struct trace_event_call *call;
	u64 hooks;
	u64 optional;
	u32 tables;
	struct kstall_fold *fold;
	bool rare;
	void (*tick)(void);
	const char *absent;
};

/* A row: KSTALL_EVENT(name, hooks, further designated initialisers). Main file only. */
#define KSTALL_EVENT(_name, _hooks, ...)				\
	{ .name = #_name, .event = &kstall_event_##_name,		\
	  .call = &event_##_name,						\
	  .hooks = (_hooks), __VA_ARGS__ }

/* A row for an event that this kernel cannot give; its TRACE_EVENT is not compiled. */
#define KSTALL_EVENT_ABSENT(_name, _reason)				\
	{ .name = #_name, .absent = (_reason) }

int kstall_event_reg(struct kstall_event *event);
void kstall_event_unreg(struct kstall_event *event);
int kstall_class_reg(struct trace_event_call *call, enum trace_reg type, void *data);

/*
 * KSTALL_DECLARE_EVENT() - stands before the event's KSTALL_TRACE_EVENT(); in the main file
 * core.h has it create the event's state, too. KSTALL_DECLARE_TIMED_EVENT() is for events with
 * a duration: it adds the parameter <event>_min_ns, which is 0 at first;
 * KSTALL_DECLARE_TIMED_EVENT_MIN() is for those that would drown in short ones.
 */
#define __KSTALL_DECLARE_EVENT(_name)					\
	extern struct kstall_event kstall_event_##_name;		\
	int kstall_reg_##_name(void);					\
	void kstall_unreg_##_name(void)
#define KSTALL_DECLARE_EVENT(_name)			__KSTALL_DECLARE_EVENT(_name)
#define KSTALL_DECLARE_TIMED_EVENT(_name)		__KSTALL_DECLARE_EVENT(_name)
#define KSTALL_DECLARE_TIMED_EVENT_MIN(_name, _ns)	__KSTALL_DECLARE_EVENT(_name)

/* TRACE_EVENT() whose hooks are armed while it is enabled. */
#define KSTALL_TRACE_EVENT(name, proto, args, tstruct, assign, print)	\
	TRACE_EVENT_FN(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), \
		       PARAMS(assign), PARAMS(print),			\
		       kstall_reg_##name, kstall_unreg_##name)

/**
 * kstall_long_enough() - does a duration pass the event's min_ns?
 * @event: the event
 * @ns: its duration
 *
 * To be asked before emission. Context: preemption disabled.
 */
static __always_inline bool kstall_long_enough(struct kstall_event *event, u64 ns)
{
	if (likely(ns >= READ_ONCE(event->min_ns)))
		return true;
	this_cpu_inc(event->suppressed->value);
	return false;
}

#endif /* _KSTALL_EVENT_H */
