/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hook.h - declare once what to attach to; attach only while somebody listens
 *
 * A hook is a row in the module's table. It is idle until an event that names it is enabled;
 * then the worker (event.h) arms it, and disarms it after the last such event is disabled.
 * While idle it leaves no trace in the kernel's text.
 *
 * Function hooks are kprobes and kretprobes, not fprobes: Debian's 6.1 has no CONFIG_FPROBE, on
 * 6.12 both cost the same and on 7.2, where fprobe sits on function-graph, a kretprobe pair is
 * cheaper.
 * Both kinds are placed on the function's ftrace site. Kprobes do not nest: one that is hit by an
 * interrupt of another one's handler is missed, and counted. On x86-64 a function's entry, and a
 * pair on a function that does not sleep, is a direct trampoline (direct.h), but for direct=0.
 */
#ifndef _KSTALL_HOOK_H
#define _KSTALL_HOOK_H

#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <kstall/kstall.h>
#include <kstall/direct.h>
#include <kstall/fn.h>

#define KSTALL_FEW	64

enum kstall_kind {
	KSTALL_KIND_TRACEPOINT,
	KSTALL_KIND_ENTRY,
	KSTALL_KIND_PAIR,
};

enum kstall_state {
	KSTALL_IDLE,		/* nobody listens */
	KSTALL_ARMED,
	KSTALL_WAITING,		/* wanted, the target's module is not loaded */
	KSTALL_FAILED,		/* wanted, and should work: see err */
	KSTALL_ABSENT,		/* wanted, but this kernel has none and needs none */
};

/**
 * typedef kstall_enter_t - probe at a function's entry
 * @data: uninitialised memory of the hook's data_size for this one call, none for KSTALL_ENTRY()
 * @regs: registers at entry; use kstall_arg() (fn.h)
 *
 * Return: true to be called at the function's return too (KSTALL_PAIR() only).
 */
typedef bool (*kstall_enter_t)(void *data, struct pt_regs *regs);

/**
 * typedef kstall_return_t - probe at a function's return
 * @data: what the entry probe left for this call
 * @regs: registers at return; use regs_return_value()
 */
typedef void (*kstall_return_t)(void *data, struct pt_regs *regs);

/*
 * Per CPU and hook, so that a hit writes no cache line another CPU writes. @active has one bit
 * a context level (task, softirq, hardirq, NMI): a hook that fires again on the level it is
 * already running on was reached from its own probe or from a BPF program inside its event.
 */
struct kstall_hook_stats {
	u64 hits;
	u64 recursed;
	u64 recursed_ns;
	u8 active;
};

/**
 * struct kstall_hook - one place in the kernel
 * @name: its name in the status file
 * @module: module the target lives in, NULL for vmlinux
 * @targets: alternative names, best first, separated by '|'; of a placed hook: what it waits for
 * @kind: tracepoint, function entry, function entry and return
 * @sleeps: the function may sleep: pool of max_sleepers calls, else 2 x CPUs
 * @few: the function may sleep, but in few tasks at a time: pool of %KSTALL_FEW calls
 * @atomic: the function never sleeps and has at most six arguments: it can be direct
 * @bounded: the function sleeps until a device answers, no longer, and has at most six arguments:
 *	it can be direct
 * @data_size: bytes carried from entry to return
 * @probe: tracepoint probe made by KSTALL_PROBE()
 * @enter: entry probe
 * @ret: return probe
 * @placed: see KSTALL_PLACED()
 * @spare: kernels that do not have the function do not need it: that is no failure
 * @state: see &enum kstall_state; this and all below under kstall.lock
 * @err: errno of the last attempt, 0 if it went well
 * @target: the name in use
 * @tp: tracepoint found under one of @targets, NULL if none is loaded
 * @tp_rank: its position in @targets
 * @leaving: the target's module is being unloaded
 * @coming: it is being loaded
 * @vendors: it is not this kernel's own, so its structures may not be those of the headers
 * @kp: for KSTALL_KIND_ENTRY, unless it is direct
 * @rp: for KSTALL_KIND_PAIR, unless it is direct
 * @stub: its trampoline while it is armed and direct, else NULL
 * @why: of an armed function hook that is not direct: one word why
 * @stats: per-CPU counters
 * @missed: hits lost by registrations that are gone
 * @missed_seen: hits lost when that was last looked at
 * @missed_ns: when they were first seen to be so many; 0: never any
 * @bytes: memory held while armed
 * @addr: where a placed hook stands, 0: nowhere
 * @home: the module it stands in
 */
struct kstall_hook {
	const char *name;
	const char *module;
	const char *targets;
	enum kstall_kind kind;
	bool sleeps;
	bool few;
	bool atomic;
	bool bounded;
	size_t data_size;
	void *probe;
	kstall_enter_t enter;
	kstall_return_t ret;
	bool placed;
	bool spare;

	enum kstall_state state;
	int err;
	char target[128];
	struct tracepoint *tp;
	int tp_rank;
	bool leaving;
	bool coming;
	bool vendors;
	union {
		struct kprobe kp;
		struct kretprobe rp;
	};
	struct kstall_stub *stub;
	const char *why;
	struct kstall_hook_stats __percpu *stats;
	u64 missed;
	u64 missed_seen;
	u64 missed_ns;
	size_t bytes;
	unsigned long addr;
	char home[MODULE_NAME_LEN];
};

/* An upstream tracepoint, by name; @_probe is made by KSTALL_PROBE(). */
#define KSTALL_TRACEPOINT(_name, _module, _targets, _probe)		\
	{ .name = (_name), .module = (_module), .targets = (_targets),	\
	  .kind = KSTALL_KIND_TRACEPOINT, .probe = (void *)(_probe) }

/* A function's entry; options follow. */
#define KSTALL_ENTRY(_name, _module, _targets, _enter, ...)		\
	{ .name = (_name), .module = (_module), .targets = (_targets),	\
	  .kind = KSTALL_KIND_ENTRY, .enter = (_enter), __VA_ARGS__ }

/* A function's entry and return with @_size bytes of per-call data; options follow. */
#define KSTALL_PAIR(_name, _module, _targets, _size, _enter, _ret, ...)	\
	{ .name = (_name), .module = (_module), .targets = (_targets),	\
	  .kind = KSTALL_KIND_PAIR, .data_size = (_size),		\
	  .enter = (_enter), .ret = (_ret), __VA_ARGS__ }

/*
 * A KSTALL_PAIR() of a function that is known by its address only, such as one of a driver's
 * operations: it stands nowhere until kstall.update() calls kstall_hook_place(), and when the
 * function's module goes. Then it waits for @_what; if that is NULL, it is not there at all.
 */
#define KSTALL_PLACED(_name, _what, _size, _enter, _ret, ...)		\
	KSTALL_PAIR(_name, NULL, _what, _size, _enter, _ret, .placed = true, __VA_ARGS__)

/* kstall_enter(), and what it finds for its caller: the CPU's counters and the level's bit. */
static __always_inline bool kstall_enter_level(struct kstall_hook *hook,
					       struct kstall_hook_stats **stats, u8 *bit)
{
	preempt_disable_notrace();
	*stats = this_cpu_ptr(hook->stats);
	*bit = 1 << kstall_level();
	if (unlikely((*stats)->active & *bit)) {
		(*stats)->recursed++;
		(*stats)->recursed_ns = kstall_now();
		preempt_enable_notrace();
		return false;
	}
	(*stats)->active |= *bit;
	this_cpu_inc(hook->stats->hits);
	return true;
}

/**
 * kstall_enter() - a tracepoint probe begins
 * @hook: the hook, which is the tracepoint's data
 *
 * Counts the hit and disables preemption: since 7.0 tracepoint probes run preemptible
 * (include/linux/tracepoint.h, guard(srcu_fast_notrace)), while per-CPU data and the
 * recursion guard need the CPU to stay.
 *
 * Return: false if the hook is already running in this context; then it must do nothing.
 */
static __always_inline bool kstall_enter(struct kstall_hook *hook)
{
	struct kstall_hook_stats *stats;
	u8 bit;

	return kstall_enter_level(hook, &stats, &bit);
}

/* The probe kstall_enter() let in is done. */
static __always_inline void kstall_leave(struct kstall_hook *hook)
{
	this_cpu_ptr(hook->stats)->active &= ~(1 << kstall_level());
	preempt_enable_notrace();
}

/**
 * KSTALL_PROBE() - define a tracepoint probe with its guard
 * @fn: name of the probe, for KSTALL_TRACEPOINT()
 * @proto: TP_PROTO() of the tracepoint on the kernel built for
 * @args: TP_ARGS()
 *
 * Check the prototype against the kernel's own with KSTALL_CHECK_PROBE(): a wrong one is not
 * noticed at run time, tracepoints are attached by name through a void pointer.
 */
#define KSTALL_PROBE(fn, proto, args)					\
	static __always_inline void __##fn(proto);			\
	void fn(void *hook, proto);					\
	void fn(void *hook, proto)					\
	{								\
		if (kstall_enter(hook)) {				\
			__##fn(args);					\
			kstall_leave(hook);				\
		}							\
	}								\
	static __always_inline void __##fn(proto)

/* Compile-time check of a probe against <trace/events/...> of the kernel built for. */
#define KSTALL_CHECK_PROBE(tp, fn)					\
	static inline void __maybe_unused __check_##fn(void)		\
	{								\
		__PASTE(check_trace_callback_type_, tp)(fn);		\
	}

/* The hook that a pair's probe runs for, from its @data: for a probe that serves several. */
static inline struct kstall_hook *kstall_hook_of(const void *data)
{
	return ((struct kstall_hook * const *)data)[-1];
}

unsigned long kstall_symbol(const char *name);
bool kstall_symbol_name(unsigned long addr, char *name, size_t size, char *module, size_t msize);
bool kstall_hook_place(struct kstall_hook *hook, unsigned long addr);
bool kstall_module_loaded(const char *module);
bool kstall_module_is_vendors(const char *module);

#endif /* _KSTALL_HOOK_H */
