// SPDX-License-Identifier: GPL-2.0
/* hook.c - attaching and detaching */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "impl.h"

KSTALL_PARAM_UINT(max_sleepers, 512, 16, 65536,
		  "tasks that may sleep in one hooked function at a time (16 to 65536, default 512); more are counted as missed");

static bool kstall_is_tracepoint(const struct kstall_hook *hook)
{
	return hook->kind == KSTALL_KIND_TRACEPOINT;
}

/* Copies the @n-th of the '|'-separated names in @list into @buf. Return: false if none. */
static bool kstall_nth_name(const char *list, int n, char *buf, size_t size)
{
	size_t len;

	while (n--) {
		list = strchr(list, '|');
		if (!list)
			return false;
		list++;
	}
	len = strcspn(list, "|");
	if (len >= size)
		return false;
	memcpy(buf, list, len);
	buf[len] = '\0';
	return true;
}

/* Position of @name in the '|'-separated @list, -1 if it is not there. */
static int kstall_name_rank(const char *list, const char *name)
{
	char buf[sizeof_field(struct kstall_hook, target)];
	int i;

	for (i = 0; kstall_nth_name(list, i, buf, sizeof(buf)); i++) {
		if (!strcmp(buf, name))
			return i;
	}
	return -1;
}

/*
 * A kprobe that is never armed: changes no text, but answers whether and where the symbol
 * exists. Return: 0 or the errno of register_kprobe().
 */
static int kstall_dry_probe(const char *symbol, unsigned long *addr)
{
	struct kprobe kp = { .symbol_name = symbol, .flags = KPROBE_FLAG_DISABLED };
	int ret;

	ret = register_kprobe(&kp);
	if (ret)
		return ret;
	if (addr)
		*addr = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

/**
 * kstall_symbol() - address of a function that is not exported
 * @name: symbol
 *
 * May sleep; not for probes. With IBT a kprobe sits behind the endbr64 instruction
 * (arch_adjust_kprobe_addr() in arch/x86/kernel/kprobes/core.c), so step back to what a
 * function pointer holds: the symbol's own start.
 *
 * Return: the address, 0 if the kernel has no such function.
 */
unsigned long kstall_symbol(const char *name)
{
	unsigned long addr, size, offset;
	char sym[KSYM_SYMBOL_LEN];

	if (kstall_dry_probe(name, &addr))
		return 0;
	if (sprint_symbol(sym, addr) <= 0 ||
	    sscanf(strchr(sym, '+') ?: "", "+0x%lx/0x%lx", &offset, &size) != 2)
		return 0;
	return addr - offset;
}

/**
 * kstall_symbol_name() - name of the function that begins at an address
 * @addr: what a function pointer holds
 * @name: gets its symbol
 * @size: of @name
 * @module: gets the name of its module, "" for vmlinux
 * @msize: of @module
 *
 * May sleep; not for probes.
 *
 * Return: false if no function begins there.
 */
bool kstall_symbol_name(unsigned long addr, char *name, size_t size, char *module, size_t msize)
{
	char sym[KSYM_SYMBOL_LEN];
	char *plus, *in;

	if (sprint_symbol(sym, addr) <= 0)
		return false;
	plus = strstr(sym, "+0x0/");
	if (!plus)
		return false;
	in = strchr(plus, '[');
	*plus = '\0';
	strscpy(name, sym, size);
	module[0] = '\0';
	if (in)
		strscpy(module, in + 1, min_t(size_t, msize, strcspn(in + 1, "]") + 1));
	return true;
}

/*
 * A module's state and taints, if it is there. find_module() is not exported, but its directory in
 * /sys/module can be found: as long as that is held, the struct module stays. What is built in has
 * such a directory, too, but no struct module.
 */
static bool kstall_module_look(const char *name, enum module_state *state, unsigned long *taints)
{
	struct kobject *kobj = kset_find_obj(THIS_MODULE->mkobj.kobj.kset, name);
	const struct module *module;

	if (!kobj)
		return false;
	module = container_of(kobj, struct module_kobject, kobj)->mod;
	if (module) {
		*state = READ_ONCE(module->state);
		*taints = READ_ONCE(module->taints);
	}
	kobject_put(kobj);
	return module;
}

/*
 * Is a module there, and not about to go? While exit() of a module runs no kprobe can be placed
 * in it, and our notifier has not been called yet.
 */
bool kstall_module_loaded(const char *module)
{
	enum module_state state;
	unsigned long taints;

	return kstall_module_look(module, &state, &taints) && state != MODULE_STATE_GOING;
}

/* Is it loaded but not this kernel's own? Then its structures may not be those of the headers. */
bool kstall_module_is_vendors(const char *module)
{
	enum module_state state;
	unsigned long taints;

	return kstall_module_look(module, &state, &taints) && state != MODULE_STATE_GOING &&
	       taints & BIT(TAINT_OOT_MODULE);
}

/* ---- probes common to all function hooks ---- */

static int kstall_entry_handler(struct kprobe *kp, struct pt_regs *regs)
{
	struct kstall_hook *hook = container_of(kp, struct kstall_hook, kp);

	this_cpu_inc(hook->stats->hits);
	hook->enter(NULL, regs);
	return 0;
}

/* A call's data begins with its hook: get_kretprobe() is NULL at return while disarming. */
static int kstall_pair_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kstall_hook *hook = container_of(get_kretprobe(ri), struct kstall_hook, rp);
	struct kstall_hook **owner = (struct kstall_hook **)ri->data;

	*owner = hook;
	this_cpu_inc(hook->stats->hits);
	return hook->enter(owner + 1, regs) ? 0 : 1;
}

static int kstall_pair_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kstall_hook **owner = (struct kstall_hook **)ri->data;

	(*owner)->ret(owner + 1, regs);
	return 0;
}

/* ---- attach ---- */

/* On 256 CPUs a pool's rings take 2 KiB a call (lib/objpool.c): no more than there is use for. */
static int kstall_pool_size(const struct kstall_hook *hook)
{
	if (hook->few)
		return KSTALL_FEW;
	return hook->sleeps ? max_sleepers : max_t(unsigned int, 10, 2 * num_possible_cpus());
}

/*
 * Registering zeroed memory each time: a kprobe or kretprobe that is registered again with
 * the address and flags of its last life is refused or misplaced (pitfall of 6.12).
 */
static int kstall_attach_function(struct kstall_hook *hook)
{
	const char *name = hook->placed ? NULL : hook->target;

	memset(&hook->rp, 0, sizeof(hook->rp));
	hook->bytes = 0;
	hook->why = kstall_direct_try(hook);
	if (!hook->why)
		return 0;
	if (hook->kind == KSTALL_KIND_ENTRY) {
		hook->kp.symbol_name = name;
		hook->kp.addr = (kprobe_opcode_t *)hook->addr;
		hook->kp.pre_handler = kstall_entry_handler;
		return register_kprobe(&hook->kp);
	}
	hook->rp.kp.symbol_name = name;
	hook->rp.kp.addr = (kprobe_opcode_t *)hook->addr;
	hook->rp.entry_handler = kstall_pair_entry;
	hook->rp.handler = kstall_pair_return;
	hook->rp.data_size = sizeof(struct kstall_hook *) + hook->data_size;
	hook->rp.maxactive = kstall_pool_size(hook);
	hook->bytes = kstall_kretprobe_bytes(&hook->rp);
	return register_kretprobe(&hook->rp);
}

/* Full name of the @n-th alternative of a function hook, "module:symbol" for modules. */
static bool kstall_function_name(struct kstall_hook *hook, int n)
{
	size_t len = 0;

	if (hook->module)
		len = scnprintf(hook->target, sizeof(hook->target), "%s:", hook->module);
	return kstall_nth_name(hook->targets, n, hook->target + len, sizeof(hook->target) - len);
}

/* Tries @attach on every alternative until one works or fails for another reason than its name. */
static int kstall_first_function(struct kstall_hook *hook, int (*attach)(struct kstall_hook *hook))
{
	int ret = -ENOENT;
	int i;

	for (i = 0; kstall_function_name(hook, i); i++) {
		ret = attach(hook);
		if (ret != -ENOENT && ret != -EINVAL)
			return ret;
	}
	hook->target[0] = '\0';
	return ret;
}

static int kstall_try_function(struct kstall_hook *hook)
{
	return kstall_dry_probe(hook->target, NULL);
}

static int kstall_attach_tracepoint(struct kstall_hook *hook)
{
	if (!hook->tp)
		return -ENOENT;
	strscpy(hook->target, hook->tp->name, sizeof(hook->target));
	return tracepoint_probe_register(hook->tp, hook->probe, hook);
}

/* Is there a reason to expect the target at all? */
static bool kstall_target_absent(struct kstall_hook *hook)
{
	return hook->module && !hook->coming && !hook->vendors &&
	       (hook->leaving || !kstall_module_loaded(hook->module));
}

/* One line is for all hooks of a module. */
static void kstall_say_vendors(const struct kstall_hook *hook)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_hooks; i++) {
		const struct kstall_hook *other = &kstall.hooks[i];

		if (other->vendors && other->err && !strcmp(other->module, hook->module))
			return;
	}
	pr_warn("absent: vendor %s, which is not the one this module was built for\n",
		hook->module);
}

static void kstall_say_failed(const struct kstall_hook *hook, int err)
{
	const char *targets = hook->placed ? hook->target : hook->targets;

	if (hook->vendors) {
		kstall_say_vendors(hook);
		return;
	}
	/* Without kprobes one line is for all of them: kstall_hooks_dry_run(). */
	if (!IS_ENABLED(CONFIG_KPROBES))
		return;
	if (kstall_hook_is_optional(hook))
		pr_info("hook %s: not attached to %s, events lose a detail: error %d\n",
			hook->name, targets, err);
	else
		pr_warn("hook %s: cannot attach to %s: error %d\n",
			hook->name, targets, err);
}

static void kstall_hook_fail(struct kstall_hook *hook, int err)
{
	if (hook->err != err)
		kstall_say_failed(hook, err);
	hook->err = err;
	hook->state = KSTALL_FAILED;
}

/* Worker context, kstall.lock held, hook not armed. */
static void kstall_hook_arm(struct kstall_hook *hook)
{
	int ret;

	if (hook->leaving || (hook->placed && !hook->addr)) {
		hook->state = hook->targets ? KSTALL_WAITING : KSTALL_IDLE;
		return;
	}
	if (hook->vendors)
		ret = -ENODEV;
	else if (kstall_is_tracepoint(hook))
		ret = kstall_attach_tracepoint(hook);
	else if (hook->placed)
		ret = kstall_attach_function(hook);
	else
		ret = kstall_first_function(hook, kstall_attach_function);

	if (!ret) {
		hook->err = 0;
		hook->state = KSTALL_ARMED;
	} else if (kstall_target_absent(hook)) {
		hook->err = 0;
		hook->state = KSTALL_WAITING;
	} else if (hook->spare && ret == -ENOENT) {
		hook->err = 0;
		hook->state = KSTALL_ABSENT;
	} else {
		kstall_hook_fail(hook, ret);
	}
	if (hook->state != KSTALL_ARMED)
		hook->bytes = 0;
}

/* What the running registration has missed so far. */
static u64 kstall_hook_missed(const struct kstall_hook *hook)
{
	u64 missed = hook->missed;

	if (hook->state != KSTALL_ARMED)
		return missed;
	if (hook->kind == KSTALL_KIND_ENTRY)
		missed += hook->kp.nmissed;
	if (hook->kind == KSTALL_KIND_PAIR)
		missed += hook->rp.nmissed + hook->rp.kp.nmissed;
	return missed;
}

/*
 * The kernel counts what it misses, but not when: looked at once a second and before a hook goes.
 * kstall.lock held.
 */
static void kstall_hook_note_missed(struct kstall_hook *hook)
{
	u64 missed = kstall_hook_missed(hook);

	if (missed == hook->missed_seen)
		return;
	hook->missed_seen = missed;
	hook->missed_ns = kstall_now();
}

/* Return: is any armed? kstall.lock held. */
bool kstall_hooks_watch(void)
{
	bool armed = false;
	unsigned int i;

	for (i = 0; i < kstall.nr_hooks; i++) {
		kstall_hook_note_missed(&kstall.hooks[i]);
		armed |= kstall.hooks[i].state == KSTALL_ARMED;
	}
	return armed;
}

/*
 * Disarms every hook of @mask. One grace period for all kprobes, one for all kretprobes, one
 * for all tracepoints, a round of them for all direct hooks; when it returns no probe of these
 * hooks runs any more.
 */
static void kstall_hooks_disarm(u64 mask)
{
	static struct kprobe *kps[64];		/* protected by kstall.lock */
	static struct kretprobe *rps[64];
	unsigned int i, nr_kp = 0, nr_rp = 0, nr_tp = 0;
	u64 directs = 0;

	for (i = 0; i < kstall.nr_hooks; i++) {
		struct kstall_hook *hook = &kstall.hooks[i];

		if (!(mask & BIT_ULL(i)) || hook->state != KSTALL_ARMED)
			continue;
		if (hook->stub)
			directs |= BIT_ULL(i);
		else if (hook->kind == KSTALL_KIND_ENTRY)
			kps[nr_kp++] = &hook->kp;
		else if (hook->kind == KSTALL_KIND_PAIR)
			rps[nr_rp++] = &hook->rp;
		else if (!tracepoint_probe_unregister(hook->tp, hook->probe, hook))
			nr_tp++;
	}
	unregister_kprobes(kps, nr_kp);
	unregister_kretprobes(rps, nr_rp);
	kstall_directs_disarm(directs);
	if (nr_tp)
		tracepoint_synchronize_unregister();

	for (i = 0; i < kstall.nr_hooks; i++) {
		struct kstall_hook *hook = &kstall.hooks[i];

		if (!(mask & BIT_ULL(i)))
			continue;
		kstall_hook_note_missed(hook);
		hook->missed = hook->missed_seen;
		hook->state = KSTALL_IDLE;
		hook->bytes = 0;
	}
}

/* Brings all hooks in line with @wanted. Worker context, kstall.lock held. */
void kstall_hooks_sync(u64 wanted)
{
	unsigned int i;
	u64 go = 0;

	for (i = 0; i < kstall.nr_hooks; i++) {
		if (!(wanted & BIT_ULL(i)) || kstall.hooks[i].leaving ||
		    kstall_direct_changed(&kstall.hooks[i]))
			go |= BIT_ULL(i);
	}
	kstall_hooks_disarm(go);
	for (i = 0; i < kstall.nr_hooks; i++) {
		if (wanted & BIT_ULL(i) && kstall.hooks[i].state != KSTALL_ARMED)
			kstall_hook_arm(&kstall.hooks[i]);
	}
}

/* Which modules the hooks stand in; held for moments, as every module that comes or goes looks. */
static DEFINE_MUTEX(kstall_homes_lock);

static void kstall_hook_displace(struct kstall_hook *hook)
{
	hook->addr = 0;
	hook->target[0] = '\0';
	mutex_lock(&kstall_homes_lock);
	hook->module = NULL;
	mutex_unlock(&kstall_homes_lock);
	hook->leaving = false;
	hook->err = 0;
}

/*
 * Return: false if the module is about to go. Our notifier may have been called for it, or sees
 * this home: it is called after the state is set that is looked at here.
 */
static bool kstall_hook_settle(struct kstall_hook *hook, const char *module)
{
	bool there;

	mutex_lock(&kstall_homes_lock);
	there = !module[0] || kstall_module_loaded(module);
	if (there) {
		strscpy(hook->home, module, sizeof(hook->home));
		hook->module = module[0] ? hook->home : NULL;
	}
	mutex_unlock(&kstall_homes_lock);
	return there;
}

/**
 * kstall_hook_place() - say where the function of a KSTALL_PLACED() hook is
 * @hook: the hook
 * @addr: what a pointer to the function holds, 0: there is none now
 *
 * Only from kstall.update(): kstall.lock is held. May sleep. In a module that goes there is none.
 *
 * Return: true if that is news; kstall.update() shall say so.
 */
bool kstall_hook_place(struct kstall_hook *hook, unsigned long addr)
{
	char symbol[sizeof(hook->target) - sizeof(hook->home)];
	char module[sizeof(hook->home)];

	if (addr == hook->addr)
		return false;
	kstall_hooks_disarm(BIT_ULL(hook - kstall.hooks));
	kstall_hook_displace(hook);
	if (!addr || !kstall_symbol_name(addr, symbol, sizeof(symbol), module, sizeof(module)))
		return true;
	if (!kstall_hook_settle(hook, module))
		return true;
	hook->addr = addr;
	snprintf(hook->target, sizeof(hook->target), "%s%s%s", module, module[0] ? ":" : "",
		 symbol);
	return true;
}

/* ---- targets that come and go ---- */

/* for_each_kernel_tracepoint() callback: remembers the best-ranked name of each hook. */
static void kstall_note_tracepoint(struct tracepoint *tp, void *module)
{
	unsigned int i;
	int rank;

	for (i = 0; i < kstall.nr_hooks; i++) {
		struct kstall_hook *hook = &kstall.hooks[i];

		if (!kstall_is_tracepoint(hook) || !hook->module != !module ||
		    (module && strcmp(hook->module, module)))
			continue;
		rank = kstall_name_rank(hook->targets, tp->name);
		if (rank < 0 || (hook->tp && hook->tp_rank <= rank))
			continue;
		hook->tp = tp;
		hook->tp_rank = rank;
	}
}

static bool kstall_is_home(const struct kstall_hook *hook, const char *module, bool tracepoints)
{
	return hook->module && !strcmp(hook->module, module) &&
	       kstall_is_tracepoint(hook) == tracepoints;
}

/* Of both kinds at once: the first of the two notifiers has the worker place all wanted ones. */
static void kstall_hooks_refuse_vendors(const struct module *module)
{
	bool vendors = module->taints & BIT(TAINT_OOT_MODULE);
	u64 refused = 0;
	unsigned int i;

	for (i = 0; i < kstall.nr_hooks; i++) {
		struct kstall_hook *hook = &kstall.hooks[i];

		if (hook->placed || !hook->module || strcmp(hook->module, module->name))
			continue;
		hook->vendors = vendors;
		if (vendors)
			refused |= BIT_ULL(i);
	}
	/* The worker may have found the module before this notifier was called. */
	kstall_hooks_disarm(refused);
	for (i = 0; i < kstall.nr_hooks; i++) {
		if (refused & BIT_ULL(i))
			kstall_hook_fail(&kstall.hooks[i], -ENODEV);
	}
}

/* Does a hook stand in it, or wait for it? Most modules that come and go concern no hook. */
static bool kstall_is_target(const char *module, bool tracepoints)
{
	bool found = false;
	unsigned int i;

	mutex_lock(&kstall_homes_lock);
	for (i = 0; i < kstall.nr_hooks && !found; i++)
		found = kstall_is_home(&kstall.hooks[i], module, tracepoints);
	mutex_unlock(&kstall_homes_lock);
	return found;
}

/* It is in /sys/module only after our notifier, but whatever fails is not for want of it. */
static void kstall_target_coming(u64 hooks, bool coming)
{
	unsigned int i;

	mutex_lock(&kstall.lock);
	for (i = 0; i < kstall.nr_hooks; i++) {
		if (hooks & BIT_ULL(i))
			kstall.hooks[i].coming = coming;
	}
	mutex_unlock(&kstall.lock);
}

/*
 * A target module comes or goes. Hooks are in place before its init runs: the worker takes
 * neither this notifier's lock nor module_mutex, so waiting for it cannot deadlock. They are
 * gone before its text is: not left to the worker, which our own exit() may have stopped.
 */
static void kstall_target_changed(const struct module *module, bool leaving, bool tracepoints)
{
	u64 ours = 0;
	unsigned int i;

	mutex_lock(&kstall.lock);
	for (i = 0; i < kstall.nr_hooks; i++) {
		struct kstall_hook *hook = &kstall.hooks[i];

		if (!kstall_is_home(hook, module->name, tracepoints))
			continue;
		hook->leaving = leaving;
		hook->err = 0;
		ours |= BIT_ULL(i);
	}
	if (!leaving)
		kstall_hooks_refuse_vendors(module);
	if (leaving)
		kstall_hooks_disarm(ours);
	for (i = 0; i < kstall.nr_hooks; i++) {
		if (ours & BIT_ULL(i) && kstall.hooks[i].placed)
			kstall_hook_displace(&kstall.hooks[i]);
	}
	mutex_unlock(&kstall.lock);
	if (!ours)
		return;
	kstall_target_coming(ours, !leaving);
	kstall_kick_and_wait();
	kstall_target_coming(ours, false);
}

static int kstall_module_event(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = data;

	if ((action == MODULE_STATE_COMING || action == MODULE_STATE_GOING) &&
	    kstall_is_target(mod->name, false))
		kstall_target_changed(mod, action == MODULE_STATE_GOING, false);
	return NOTIFY_OK;
}

/* Any order with kprobes' own notifier works: it only marks probes in departing text as gone. */
static struct notifier_block kstall_module_nb = { .notifier_call = kstall_module_event };

static int kstall_tracepoint_event(struct notifier_block *nb, unsigned long action, void *data)
{
	struct tp_module *tp_mod = data;
	struct module *mod = tp_mod->mod;
	unsigned int i;

	if (!kstall_is_target(mod->name, true))
		return NOTIFY_OK;
	if (action == MODULE_STATE_COMING) {
		mutex_lock(&kstall.lock);
		for (i = 0; i < mod->num_tracepoints; i++)
			kstall_note_tracepoint(tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]),
					       mod->name);
		mutex_unlock(&kstall.lock);
	}
	kstall_target_changed(mod, action == MODULE_STATE_GOING, true);
	if (action == MODULE_STATE_GOING) {
		mutex_lock(&kstall.lock);
		for (i = 0; i < kstall.nr_hooks; i++) {
			struct kstall_hook *hook = &kstall.hooks[i];

			if (kstall_is_tracepoint(hook) && hook->leaving)
				hook->tp = NULL;
		}
		mutex_unlock(&kstall.lock);
	}
	return NOTIFY_OK;
}

static struct notifier_block kstall_tracepoint_nb = { .notifier_call = kstall_tracepoint_event };

/* ---- init and exit ---- */

/*
 * The dry run: find out at load, without touching text, which hooks cannot work, so that
 * enabling an event through a raw tracepoint can fail with the reason too.
 */
static void kstall_hooks_dry_run(void)
{
	unsigned int i;

	if (!IS_ENABLED(CONFIG_KPROBES))
		pr_warn("this kernel has no kprobes (CONFIG_KPROBES): events work that need only tracepoints\n");
	mutex_lock(&kstall.lock);
	for (i = 0; i < kstall.nr_hooks; i++) {
		struct kstall_hook *hook = &kstall.hooks[i];
		int ret;

		if (hook->placed)
			continue;
		hook->vendors |= hook->module && kstall_module_is_vendors(hook->module);
		if (hook->vendors)
			ret = -ENODEV;
		else if (kstall_is_tracepoint(hook))
			ret = hook->tp ? 0 : -ENOENT;
		else
			ret = kstall_first_function(hook, kstall_try_function);
		if (ret && !(hook->spare && ret == -ENOENT) && !kstall_target_absent(hook))
			kstall_hook_fail(hook, ret);
		hook->state = KSTALL_IDLE;
	}
	mutex_unlock(&kstall.lock);
}

static void kstall_hooks_free(void)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_hooks; i++)
		free_percpu(kstall.hooks[i].stats);
}

/* Module context. Return: 0, -ENOMEM, or what the notifiers said. */
int kstall_hooks_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < kstall.nr_hooks; i++) {
		kstall.hooks[i].stats = alloc_percpu(struct kstall_hook_stats);
		if (!kstall.hooks[i].stats) {
			ret = -ENOMEM;
			goto err_free;
		}
	}
	for_each_kernel_tracepoint(kstall_note_tracepoint, NULL);
	ret = register_module_notifier(&kstall_module_nb);
	if (ret)
		goto err_free;
	/* Replays the modules that are already loaded. */
	ret = register_tracepoint_module_notifier(&kstall_tracepoint_nb);
	if (ret)
		goto err_module;
	kstall_hooks_dry_run();
	return 0;

err_module:
	unregister_module_notifier(&kstall_module_nb);
err_free:
	kstall_hooks_free();
	return ret;
}

/* All hooks are disarmed and stay so: kstall.ready is false. */
void kstall_hooks_exit(void)
{
	unregister_tracepoint_module_notifier(&kstall_tracepoint_nb);
	unregister_module_notifier(&kstall_module_nb);
	kstall_hooks_free();
}
