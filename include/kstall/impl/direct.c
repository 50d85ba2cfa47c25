// SPDX-License-Identifier: GPL-2.0
/* direct.c - stubs, and how they are armed and left */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "impl.h"

static unsigned int direct = 1;

/* Waits, so that afterwards BPF finds the functions free, or ours. */
__KSTALL_PARAM_UINT(direct, 0, 1, 0600, kstall_kick_and_wait(),
		    "hook functions by direct trampolines where they can be, which BPF's fentry and fexit cannot share (0 to 1, default 1)");

#ifdef KSTALL_HAS_DIRECT

#include <asm/ibt.h>
#include <asm/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

/* Kernels before 6.2 do not count calls. */
#ifndef CALL_DEPTH_ACCOUNT
#define CALL_DEPTH_ACCOUNT ""
#endif

/* A stub's frame: a struct pt_regs, the call's hook, the call's data. */
#define KSTALL_FRAME	304
static_assert(KSTALL_FRAME == sizeof(struct pt_regs) + sizeof(void *) + KSTALL_DIRECT_DATA);
static_assert(offsetof(struct pt_regs, di) == 112 && offsetof(struct pt_regs, si) == 104 &&
	      offsetof(struct pt_regs, dx) == 96 && offsetof(struct pt_regs, cx) == 88 &&
	      offsetof(struct pt_regs, r8) == 72 && offsetof(struct pt_regs, r9) == 64 &&
	      offsetof(struct pt_regs, ax) == 80 && offsetof(struct pt_regs, sp) == 152);
static_assert(offsetof(struct kstall_stub, body) == 0);

asmlinkage bool kstall_direct_enter(struct kstall_stub *stub, struct pt_regs *regs);
asmlinkage void kstall_direct_return(struct kstall_stub *stub, struct pt_regs *regs);

/*
 * On entry 8(%rbp) is where the site wants to go on. That is the body, but for a live patch or
 * another that changes the way (FTRACE_OPS_FL_IPMODIFY): then there, by a return, as an indirect
 * call needs an endbr64.
 *
 * A call that is not followed goes on there and never comes back. One that is leaves by 4:, a
 * return of our own that takes the place of the site's: to drop the latter would leave the CPU's
 * return stack wrong for every caller above. Calls and returns are even for call depth tracking.
 */
#define KSTALL_STUB(_n)							\
	void kstall_direct_##_n(void);					\
	DEFINE_STATIC_CALL_NULL(kstall_body_##_n, kstall_direct_##_n);	\
	extern struct kstall_stub kstall_stub_##_n;			\
	struct kstall_stub kstall_stub_##_n = {				\
		.text = kstall_direct_##_n,				\
		.key = &STATIC_CALL_KEY(kstall_body_##_n),		\
		.tramp = &STATIC_CALL_TRAMP(kstall_body_##_n),		\
	};								\
	asm(".pushsection .text, \"ax\", @progbits\n"			\
	    ".balign 16\n"						\
	    ".type kstall_direct_" #_n ", @function\n"			\
	    ".globl kstall_direct_" #_n "\n"				\
	    "kstall_direct_" #_n ":\n"					\
	    ASM_ENDBR							\
	    "pushq %rbp\n"						\
	    "movq %rsp, %rbp\n"						\
	    CALL_DEPTH_ACCOUNT "\n"					\
	    "subq $" __stringify(KSTALL_FRAME) ", %rsp\n"		\
	    "movq %rdi, 112(%rsp)\n"					\
	    "movq %rsi, 104(%rsp)\n"					\
	    "movq %rdx, 96(%rsp)\n"					\
	    "movq %rcx, 88(%rsp)\n"					\
	    "movq %r8, 72(%rsp)\n"					\
	    "movq %r9, 64(%rsp)\n"					\
	    "leaq 16(%rbp), %rax\n"					\
	    "movq %rax, 152(%rsp)\n"					\
	    "leaq kstall_stub_" #_n "(%rip), %rdi\n"			\
	    "movq %rsp, %rsi\n"						\
	    "call kstall_direct_enter\n"				\
	    "testb %al, %al\n"						\
	    "movq 112(%rsp), %rdi\n"					\
	    "movq 104(%rsp), %rsi\n"					\
	    "movq 96(%rsp), %rdx\n"					\
	    "movq 88(%rsp), %rcx\n"					\
	    "movq 72(%rsp), %r8\n"					\
	    "movq 64(%rsp), %r9\n"					\
	    "je 3f\n"							\
	    "movq kstall_stub_" #_n "(%rip), %rax\n"			\
	    "cmpq %rax, 8(%rbp)\n"					\
	    "jne 2f\n"							\
	    "call " STATIC_CALL_TRAMP_STR(kstall_body_##_n) "\n"	\
	    "1:\n"							\
	    "movq %rax, 80(%rsp)\n"					\
	    "movq %rdx, 96(%rsp)\n"					\
	    "leaq kstall_stub_" #_n "(%rip), %rdi\n"			\
	    "movq %rsp, %rsi\n"						\
	    "call kstall_direct_return\n"				\
	    "movq 80(%rsp), %rax\n"					\
	    "movq 96(%rsp), %rdx\n"					\
	    "leaq 4f(%rip), %rcx\n"					\
	    "movq %rcx, 8(%rbp)\n"					\
	    CALL_DEPTH_ACCOUNT "\n"					\
	    "3:\n"							\
	    "leave\n"							\
	    ASM_RET							\
	    "4:\n"							\
	    ANNOTATE_NOENDBR "\n"					\
	    UNWIND_HINT_FUNC "\n"					\
	    ASM_RET							\
	    "2:\n"							\
	    "call kstall_direct_elsewhere\n"				\
	    "jmp 1b\n"							\
	    ".size kstall_direct_" #_n ", . - kstall_direct_" #_n "\n"	\
	    ".popsection\n")

asm(".pushsection .text, \"ax\", @progbits\n"
	".balign 16\n"
	".type kstall_direct_elsewhere, @function\n"
	"kstall_direct_elsewhere:\n"
	CALL_DEPTH_ACCOUNT "\n"
	"pushq 8(%rbp)\n"
	UNWIND_HINT_FUNC "\n"
	ASM_RET
	".size kstall_direct_elsewhere, . - kstall_direct_elsewhere\n"
	".popsection\n");

/* As many as a module has such hooks armed at once. */
#define KSTALL_STUBS(_do)						\
	_do(0); _do(1); _do(2); _do(3); _do(4); _do(5); _do(6); _do(7);	\
	_do(8); _do(9); _do(10); _do(11); _do(12); _do(13); _do(14); _do(15); \
	_do(16); _do(17); _do(18); _do(19); _do(20); _do(21); _do(22); _do(23)

KSTALL_STUBS(KSTALL_STUB);

static struct kstall_stub * const kstall_stubs[] = {
	&kstall_stub_0, &kstall_stub_1, &kstall_stub_2, &kstall_stub_3,
	&kstall_stub_4, &kstall_stub_5, &kstall_stub_6, &kstall_stub_7,
	&kstall_stub_8, &kstall_stub_9, &kstall_stub_10, &kstall_stub_11,
	&kstall_stub_12, &kstall_stub_13, &kstall_stub_14, &kstall_stub_15,
	&kstall_stub_16, &kstall_stub_17, &kstall_stub_18, &kstall_stub_19,
	&kstall_stub_20, &kstall_stub_21, &kstall_stub_22, &kstall_stub_23,
};

/* ---- the way through ---- */

/* Called by a stub. Return: whether to come back at the function's return. */
asmlinkage bool notrace kstall_direct_enter(struct kstall_stub *stub, struct pt_regs *regs)
{
	struct kstall_hook **owner = (struct kstall_hook **)(regs + 1);
	struct kstall_hook *hook = READ_ONCE(stub->hook);
	struct kstall_hook_stats *stats;
	bool follow;
	u8 bit;

	if (unlikely(!hook) || !kstall_enter_level(hook, &stats, &bit))
		return false;
	*owner = hook;
	/* A member that no probe reads: the call's level is what it was when it returns. */
	regs->orig_ax = bit;
	follow = hook->enter(owner + 1, regs) && hook->ret;
	if (follow)
		this_cpu_inc(stub->calls->entered);
	stats->active &= ~bit;
	preempt_enable_notrace();
	return follow;
}

/* What its own probe reaches is not followed: the guard is ours to take. */
static __always_inline void kstall_direct_tell(struct kstall_hook *hook, struct pt_regs *regs)
{
	struct kstall_hook_stats *stats = this_cpu_ptr(hook->stats);
	u8 bit = regs->orig_ax;

	stats->active |= bit;
	hook->ret((struct kstall_hook **)(regs + 1) + 1, regs);
	stats->active &= ~bit;
}

/* Called by a stub. After the last line nothing of it is read, but its text. */
asmlinkage void notrace kstall_direct_return(struct kstall_stub *stub, struct pt_regs *regs)
{
	struct kstall_hook *hook;

	preempt_disable_notrace();
	hook = READ_ONCE(stub->hook);
	if (likely(hook))
		kstall_direct_tell(hook, regs);
	this_cpu_inc(stub->calls->left);
	preempt_enable_notrace();
}

/* ---- arming ---- */

/*
 * A live patch of the function comes or is there: its way is on the stack, where the stub looks.
 * Without this ftrace would refuse the patch (prepare_direct_functions_for_ipmodify()).
 */
#ifdef HAVE_FTRACE_OPS_FUNC_IP
static int kstall_direct_share(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd cmd)
#else
static int kstall_direct_share(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
#endif
{
	return 0;
}

/* ftrace has broken down while sites of ours were armed. Under kstall.lock. */
static bool kstall_direct_stuck;

/* The first one from @hook on that is in @mask; the table's end if there is none. */
static struct kstall_hook *kstall_hook_in(struct kstall_hook *hook, u64 mask)
{
	while (hook < kstall.hooks + kstall.nr_hooks && !(mask & BIT_ULL(hook - kstall.hooks)))
		hook++;
	return hook;
}

#define kstall_for_each_hook(_hook, _mask)				\
	for ((_hook) = kstall_hook_in(kstall.hooks, _mask);		\
	     (_hook) < kstall.hooks + kstall.nr_hooks;			\
	     (_hook) = kstall_hook_in((_hook) + 1, _mask))

static struct kstall_stub *kstall_stub_get(struct kstall_hook *hook)
{
	struct kstall_stub *stub;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kstall_stubs); i++) {
		stub = kstall_stubs[i];
		if (stub->owner)
			continue;
		if (!stub->calls)
			stub->calls = alloc_percpu(struct kstall_stub_calls);
		if (!stub->calls)
			return NULL;
		stub->owner = hook;
		stub->hook = hook;
		return stub;
	}
	return NULL;
}

static void kstall_stub_put(struct kstall_stub *stub)
{
	stub->hook = NULL;
	stub->owner = NULL;
	stub->drain_ns = 0;
	stub->slow = false;
}

/* The ftrace site of the hook's function; 0: it has none at its beginning. */
static unsigned long kstall_direct_site(const struct kstall_hook *hook)
{
	struct kprobe kp = {
		.symbol_name = hook->placed ? NULL : hook->target,
		.addr = (kprobe_opcode_t *)hook->addr, .flags = KPROBE_FLAG_DISABLED,
	};

	if (register_kprobe(&kp))
		return 0;
	unregister_kprobe(&kp);
	return kprobe_ftrace(&kp) ? (unsigned long)kp.addr : 0;
}

/*
 * Where calls are counted (retbleed=stuff) the kernel says "Invalid padding area" of a static call
 * into the middle of a function, once (arch/x86/kernel/callthunks.c): there each call goes the way
 * that live patches take, for which no body matches.
 */
static void kstall_stub_aim(struct kstall_stub *stub, unsigned long body)
{
	stub->function = body;
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH)) {
		stub->body = 0;
		return;
	}
#endif
	stub->body = body;
	__static_call_update(stub->key, stub->tramp, (void *)body);
}

/* ftrace has broken down: the site may call the stub for ever, which does nothing then. */
static void kstall_stub_stick(struct kstall_stub *stub)
{
	WRITE_ONCE(stub->hook, NULL);
	kstall_direct_stuck = true;
	__module_get(THIS_MODULE);
}

/* Has the site call the stub. Return: 0 or errno; -ENODEV: the stub stays its owner's for good. */
static int kstall_stub_attach(struct kstall_stub *stub, unsigned long site)
{
	int ret;

	/* Registered anew each time, as for kprobes: nothing of its last life is left. */
	memset(&stub->ops, 0, sizeof(stub->ops));
	stub->ops.ops_func = kstall_direct_share;
	kstall_stub_aim(stub, site + MCOUNT_INSN_SIZE);
	ret = ftrace_set_filter_ip(&stub->ops, site, 0, 1);
	if (ret)
		return ret == -ENODEV ? -EOPNOTSUPP : ret;
	ret = kstall_register_direct(&stub->ops, (unsigned long)stub->text);
	if (!ret)
		return 0;
	/* It was well a moment ago: the site may have been patched. */
	if (ret == -ENODEV) {
		kstall_stub_stick(stub);
		return ret;
	}
	/* But for that one refusal it was in ftrace's list before it was taken out again. */
	if (ret != -EBUSY)
		synchronize_rcu_tasks();
	ftrace_free_filter(&stub->ops);
	return ret;
}

/* Return: NULL, or why the hook has to be a kprobe or a return probe. */
const char *kstall_direct_try(struct kstall_hook *hook)
{
	unsigned long site;
	int ret;

	if (hook->ret && !hook->atomic && !hook->bounded)
		return "sleeps";
	if (!READ_ONCE(direct))
		return "off";
	if (hook->data_size > KSTALL_DIRECT_DATA)
		return "size";
	site = kstall_direct_site(hook);
	if (!site)
		return "no-site";
	hook->stub = kstall_stub_get(hook);
	if (!hook->stub)
		return "stubs";
	ret = kstall_stub_attach(hook->stub, site);
	if (!ret)
		return NULL;
	if (ret == -ENODEV)
		pr_err("hook %s: ftrace has broken down at %s: the module has to stay\n",
		       hook->name, hook->target);
	else
		kstall_stub_put(hook->stub);
	hook->stub = NULL;
	return ret == -EBUSY ? "busy" : "error";
}

/* ---- disarming ---- */

/*
 * unregister_ftrace_direct() takes the trampoline's entry out of a hash, and its function out of
 * the ops, under the eyes of a task that calls the site by arch_ftrace_ops_list_func(), as it does
 * where there are others beside us. So it waits in between, for each hook anew, as long as the ops
 * have FTRACE_OPS_FL_DYNAMIC (ftrace_shutdown()). All hooks of a round have that behind them at
 * once: to that function ops with FTRACE_OPS_FL_STUB are not there. It runs with preemption
 * disabled where RCU is watching, as all that is hooked (ARCH_WANTS_NO_INSTR).
 *
 * FTRACE_OPS_FL_RCU keeps ftrace calling it, and not our ops' function, should ours be the last
 * ops (ftrace_ops_get_list_func()), once they are not dynamic any more.
 */
static void kstall_directs_hide(u64 mask)
{
	struct kstall_hook *hook;

	kstall_for_each_hook(hook, mask) {
		hook->stub->ops.flags |= FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_RCU;
		WRITE_ONCE(hook->stub->hook, NULL);
	}
	synchronize_rcu();
}

/* Hidden before; synchronize_rcu_tasks() has to follow. Return: false if ftrace does not let go. */
static bool kstall_direct_detach(struct kstall_hook *hook)
{
	struct kstall_stub *stub = hook->stub;
	int ret;

	stub->ops.flags &= ~FTRACE_OPS_FL_DYNAMIC;
	ret = kstall_unregister_direct(&stub->ops, (unsigned long)stub->text);
	if (!ret)
		return true;
	/* It has broken down (ftrace_kill()): the site calls the stub for ever. */
	pr_err("hook %s: ftrace does not let go of %s, error %d: the module has to stay\n",
	       hook->name, hook->target, ret);
	kstall_stub_stick(stub);
	hook->stub = NULL;
	return false;
}

/* Nothing enters any more, so that what has left is summed up first. */
static u64 kstall_stub_inside(const struct kstall_stub *stub)
{
	u64 left = kstall_percpu_sum(stub->calls, left);

	return kstall_percpu_sum(stub->calls, entered) - left;
}

/* Frees a stub that has drained. Return: it has not. */
static bool kstall_stub_drains(struct kstall_stub *stub)
{
	u64 calls = kstall_stub_inside(stub);

	if (!calls) {
		kstall_stub_put(stub);
		if (xchg(&stub->pinned, false))
			module_put(THIS_MODULE);
		return false;
	}
	if (!stub->slow && kstall_now() - stub->drain_ns > NSEC_PER_SEC) {
		stub->slow = true;
		/* Not if exit() waits already. */
		stub->pinned = try_module_get(THIS_MODULE);
		pr_warn("hook %s: %llu calls of %ps have not returned: the module has to stay until they have\n",
			stub->owner->name, calls, (void *)stub->function);
	}
	return true;
}

/* Return: calls have still to return from what is not hooked any more. kstall.lock held. */
bool kstall_directs_drain(void)
{
	bool some = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kstall_stubs); i++) {
		if (kstall_stubs[i]->drain_ns)
			some |= kstall_stub_drains(kstall_stubs[i]);
	}
	return some;
}

/*
 * Disarms the direct hooks of @mask; when it returns no site calls their stubs, and none of their
 * probes runs any more. The stubs drain.
 *
 * The grace period ends when each task that was in a stub, preempted or in an interrupt, has left
 * it or has begun to wait in the body, on PREEMPT_RT for a lock (a task that is on no run queue is
 * not waited for); by then it is counted as entered, and finds at its return that nobody listens.
 */
void kstall_directs_disarm(u64 mask)
{
	struct kstall_hook *hook;

	if (!mask)
		return;
	kstall_directs_hide(mask);
	kstall_for_each_hook(hook, mask) {
		if (!kstall_direct_detach(hook))
			mask &= ~BIT_ULL(hook - kstall.hooks);
	}
	synchronize_rcu_tasks();
	kstall_for_each_hook(hook, mask) {
		ftrace_free_filter(&hook->stub->ops);
		hook->stub->drain_ns = kstall_now();
		hook->stub = NULL;
	}
	kstall_directs_drain();
}

static void kstall_stub_show(struct seq_file *m, const struct kstall_stub *stub)
{
	char function[64];

	/* Without its module. */
	snprintf(function, sizeof(function), "%ps", (void *)stub->function);
	function[strcspn(function, " ")] = '\0';
	seq_printf(m, "draining %s function=%s calls=%llu since_mono_ns=%llu\n",
		   stub->owner->name, function, kstall_stub_inside(stub), stub->drain_ns);
}

/* Status file. */
void kstall_directs_show(struct seq_file *m)
{
	unsigned int i;

	kstall_directs_drain();
	for (i = 0; i < ARRAY_SIZE(kstall_stubs); i++) {
		if (kstall_stubs[i]->drain_ns)
			kstall_stub_show(m, kstall_stubs[i]);
	}
}

/*
 * At the end of the module's exit: a stub that ftrace has not let go of must not be freed, nor one
 * that a call is in. A call whose return has been counted may be at its last instructions.
 */
void kstall_directs_exit(void)
{
	bool used = false;
	unsigned int i;

	while (kstall_direct_stuck)
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
	while (kstall_directs_drain())
		schedule_timeout_idle(1);
	for (i = 0; i < ARRAY_SIZE(kstall_stubs); i++)
		used |= !!kstall_stubs[i]->calls;
	if (!used)
		return;
	synchronize_rcu_tasks();
	for (i = 0; i < ARRAY_SIZE(kstall_stubs); i++)
		free_percpu(kstall_stubs[i]->calls);
}

#else /* !KSTALL_HAS_DIRECT */

const char *kstall_direct_try(struct kstall_hook *hook)
{
	return hook->ret && !hook->atomic && !hook->bounded ? "sleeps" : "kernel";
}

void kstall_directs_disarm(u64 mask) {}
bool kstall_directs_drain(void) { return false; }
void kstall_directs_show(struct seq_file *m) {}
void kstall_directs_exit(void) {}

#endif /* KSTALL_HAS_DIRECT */

/* Does the parameter want an armed hook to be of the other kind? */
bool kstall_direct_changed(const struct kstall_hook *hook)
{
	if (hook->state != KSTALL_ARMED || hook->kind == KSTALL_KIND_TRACEPOINT)
		return false;
	return READ_ONCE(direct) ? hook->why && !strcmp(hook->why, "off") : !!hook->stub;
}
