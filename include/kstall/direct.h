/* SPDX-License-Identifier: GPL-2.0 */
/*
 * direct.h - entry and return of a function through a trampoline of our own
 *
 * What BPF's fentry and fexit use is open to modules: register_ftrace_direct() has a function's
 * ftrace site call a stub, which calls the entry probe, the function's body and the return probe.
 * No instance has to be found for the call and nothing is locked: its data is in the stub's stack
 * frame. Probes do not notice: arguments and result are at their places in a struct pt_regs.
 *
 * A stub's text must outlive every call in it. So the stub of a hook that is disarmed drains: what
 * is in it is not followed any more, and it is free, for another hook, when all have returned.
 * Only rmmod waits for that, as a device that hangs may never return; after a second the
 * module is pinned instead. No call is ever taken for dead. A pair says that its function does not
 * sleep (.atomic, hook.h), or not longer than a device takes (.bounded). On PREEMPT_RT the locks of
 * such a function sleep, and everywhere it may be preempted. A hook at a function's entry leaves
 * the stub before the body begins: there is nothing to drain, and it may do what it likes.
 *
 * A function has one direct trampoline. Where BPF's is there already, ours is refused and the
 * hook becomes a kprobe or a return probe; where ours is first, BPF's fentry and fexit are refused
 * (-EBUSY) until kstall steps aside: parameter direct=0.
 *
 * x86-64 with DYNAMIC_FTRACE_WITH_DIRECT_CALLS only; everything else gets kprobes.
 */
#ifndef _KSTALL_DIRECT_H
#define _KSTALL_DIRECT_H

#include <linux/ftrace.h>
#include <linux/static_call.h>

#include <kstall/compat.h>

#if defined(CONFIG_X86_64) && defined(CONFIG_HAVE_STATIC_CALL) && \
	(defined(HAVE_FTRACE_DIRECT_OPS) || defined(HAVE_FTRACE_DIRECT_MULTI))
#define KSTALL_HAS_DIRECT
#endif

/* Largest data_size of a hook that can be direct: the stubs' frames have room for so much. */
#define KSTALL_DIRECT_DATA	128

struct kstall_hook;

/* Per CPU: calls a stub followed into its function, and out of it. */
struct kstall_stub_calls {
	u64 entered;
	u64 left;
};

/**
 * struct kstall_stub - a trampoline and the hook it serves
 * @body: what the function goes on with behind its site, 0: the stub does not call that itself.
 *	The stub's text reads it: stays first
 * @function: the same, always
 * @hook: whose probes it calls, NULL: nobody's any more
 * @text: the stub
 * @key: of the static call by which the stub calls @body: no indirect branch is needed
 * @tramp: the same call's trampoline
 * @ops: ftrace's side of it
 * @calls: counts them as long as the module is there, NULL before the first use
 * @owner: the hook it serves or served until it has drained, NULL: it is free; under kstall.lock
 * @drain_ns: since when it drains, 0: it does not
 * @slow: that takes long, and the log says so
 * @pinned: ... and the module stays until it has
 */
struct kstall_stub {
	unsigned long body;
	unsigned long function;
	struct kstall_hook *hook;
	void *text;
	struct static_call_key *key;
	void *tramp;
	struct ftrace_ops ops;
	struct kstall_stub_calls __percpu *calls;
	const struct kstall_hook *owner;
	u64 drain_ns;
	bool slow;
	bool pinned;
};

#endif /* _KSTALL_DIRECT_H */
