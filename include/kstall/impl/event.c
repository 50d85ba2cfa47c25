// SPDX-License-Identifier: GPL-2.0
/* event.c - from wishes to hooks */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "impl.h"

/* While a table is allocated; while hooks are armed or drain and none is. */
#define KSTALL_TICK		msecs_to_jiffies(100)
#define KSTALL_SLOW_TICK	msecs_to_jiffies(1000)

/* ---- the wish, noted ---- */

/* Queues the worker unless init() is not done or exit() has begun. Any context. */
static void kstall_kick(void)
{
	unsigned long flags;

	spin_lock_irqsave(&kstall.ready_lock, flags);
	if (kstall.ready)
		queue_work(kstall.wq, &kstall.arm_work);
	spin_unlock_irqrestore(&kstall.ready_lock, flags);
}

/* May sleep; not under tracepoints_mutex. Without init() or after exit() nothing is pending. */
void kstall_kick_and_wait(void)
{
	kstall_kick();
	if (READ_ONCE(kstall.ready))
		flush_work(&kstall.arm_work);
}

static const struct kstall_event_def *kstall_def_of(const struct kstall_event *event)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		if (kstall.events[i].event == event)
			return &kstall.events[i];
	}
	return NULL;
}

/* Does every event work without it? */
bool kstall_hook_is_optional(const struct kstall_hook *hook)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		if (kstall.events[i].hooks & BIT_ULL(hook - kstall.hooks))
			return false;
	}
	return true;
}

/* errno of the first hook in @mask that failed, 0 if none did. */
int kstall_hooks_error(u64 mask)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_hooks; i++) {
		if (mask & BIT_ULL(i) && kstall.hooks[i].err)
			return kstall.hooks[i].err;
	}
	return 0;
}

/*
 * Called by the first user's tracepoint_probe_register(), under tracepoints_mutex; the only
 * way a raw-tracepoint user learns of an error. Only errors that last count here: a symbol
 * that is not there, a vendor's module, a kernel without kprobes. Running out of memory may be
 * over by now, so the worker tries again.
 */
int kstall_event_reg(struct kstall_event *event)
{
	const struct kstall_event_def *def = kstall_def_of(event);
	int err = def ? kstall_hooks_error(def->hooks) : 0;

	if (err == -ENOENT || err == -EINVAL || err == -EOPNOTSUPP || err == -ENODEV)
		return err;
	WRITE_ONCE(event->wanted, true);
	kstall_kick();
	return 0;
}

/* Called by the last user's tracepoint_probe_unregister(), under tracepoints_mutex. */
void kstall_event_unreg(struct kstall_event *event)
{
	WRITE_ONCE(event->wanted, false);
	kstall_kick();
}

/* ---- the wish, fulfilled ---- */

/* Allocates the tables of @wanted. Return: the mask of those that could not be. */
static u32 kstall_tables_alloc(u32 wanted)
{
	u32 failed = 0;
	unsigned int i;

	for (i = 0; i < kstall.nr_tables; i++) {
		struct kstall_inflight *t = kstall.tables[i];

		if (!(wanted & BIT(i)))
			t->failed = false;
		if (!(wanted & BIT(i)) || t->buckets)
			continue;
		if (!kstall_inflight_alloc(t)) {
			mod_delayed_work(kstall.wq, &kstall.tick_work, KSTALL_TICK);
			continue;
		}
		/* Once, though enabling an event makes the worker try twice. */
		if (!t->failed)
			pr_warn("table %s: no memory for %u records\n", t->name, t->capacity);
		t->failed = true;
		failed |= BIT(i);
	}
	return failed;
}

static void kstall_tables_free(u32 mask)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_tables; i++) {
		if (mask & BIT(i))
			kstall_inflight_free(kstall.tables[i]);
	}
}

/* Tables first, since armed hooks use them; an event whose table failed arms nothing. */
static void kstall_sync(void)
{
	u64 hooks = 0;
	u32 tables = 0, failed;
	bool draining;
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		if (kstall.events[i].event && READ_ONCE(kstall.events[i].event->wanted))
			tables |= kstall.events[i].tables;
	}
	failed = kstall_tables_alloc(tables);
	for (i = 0; i < kstall.nr_events; i++) {
		const struct kstall_event_def *def = &kstall.events[i];

		if (def->event && READ_ONCE(def->event->wanted) && !(def->tables & failed))
			hooks |= def->hooks | def->optional;
	}
	kstall_hooks_sync(hooks);
	if (kstall.update && kstall.update(hooks))
		kstall_hooks_sync(hooks);
	for (i = 0; i < kstall.nr_events; i++) {
		const struct kstall_event_def *def = &kstall.events[i];

		if (def->event)
			def->event->err = def->tables & failed ? -ENOMEM
							       : kstall_hooks_error(def->hooks);
	}
	kstall_tables_free(~tables);
	draining = kstall_directs_drain();
	/* Unless it is pending. */
	if (hooks || draining)
		queue_delayed_work(kstall.wq, &kstall.tick_work, KSTALL_SLOW_TICK);
}

static void kstall_arm_work(struct work_struct *work)
{
	mutex_lock(&kstall.lock);
	/* A probe may have asked for it while exit() disarms. */
	if (READ_ONCE(kstall.ready))
		kstall_sync();
	mutex_unlock(&kstall.lock);
}

/*
 * Ten times a second while a table is allocated: ends quiet storms, evicts lost records. Once a
 * second while only hooks are armed or drain: notes when some were missed, and frees stubs.
 */
static void kstall_tick_work(struct work_struct *work)
{
	bool tables = false, armed, draining;
	unsigned int i;

	mutex_lock(&kstall.lock);
	for (i = 0; i < kstall.nr_events; i++) {
		const struct kstall_event_def *def = &kstall.events[i];

		if (def->fold)
			kstall_fold_sweep(def->fold, kstall_now());
		if (def->tick && def->event && READ_ONCE(def->event->wanted))
			def->tick();
	}
	for (i = 0; i < kstall.nr_tables; i++) {
		kstall_inflight_age(kstall.tables[i]);
		tables |= !!kstall.tables[i]->buckets;
	}
	armed = kstall_hooks_watch();
	draining = kstall_directs_drain();
	if (armed || draining || tables)
		queue_delayed_work(kstall.wq, &kstall.tick_work,
				   tables ? KSTALL_TICK : KSTALL_SLOW_TICK);
	mutex_unlock(&kstall.lock);
}

/* ---- ftrace's and perf's way in ---- */

static const struct kstall_event_def *kstall_def_of_call(const struct trace_event_call *call)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		if (kstall.events[i].call == call)
			return &kstall.events[i];
	}
	return NULL;
}

static void kstall_end_storms(const struct kstall_event_def *def)
{
	if (!def->fold)
		return;
	mutex_lock(&kstall.lock);
	kstall_fold_sweep(def->fold, U64_MAX);
	mutex_unlock(&kstall.lock);
}

/*
 * The kernel lets everybody count events of their own tasks (perf_trace_event_perm()) where
 * perf_event_paranoid is 2 or less. But these place hooks and take memory, so they are for those
 * who may trace. A parent whose child inherits an event was asked when it opened it.
 */
static bool kstall_perf_may(enum trace_reg type, void *data)
{
#ifdef CONFIG_PERF_EVENTS
	const struct perf_event *event = data;

	if (type == TRACE_REG_PERF_OPEN && event->parent)
		return true;
	if (type == TRACE_REG_PERF_OPEN || type == TRACE_REG_PERF_REGISTER)
		return perfmon_capable();
#endif
	return true;
}

/**
 * kstall_class_reg() - stands in for trace_event_reg() as the event class's reg callback
 * @call: event
 * @type: what the user wants
 * @data: as for trace_event_reg()
 *
 * The events header puts it there with KSTALL_CLASS_REG. Runs under event_mutex, which the
 * worker therefore never takes, and outside tracepoints_mutex, so it may wait for the worker.
 *
 * Return: 0, -EPERM, or the errno with which a hook failed; then the event is not enabled.
 */
int kstall_class_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	const struct kstall_event_def *def = kstall_def_of_call(call);
	bool on = type == TRACE_REG_REGISTER, off = type == TRACE_REG_UNREGISTER;
	int ret;

#ifdef CONFIG_PERF_EVENTS
	on |= type == TRACE_REG_PERF_REGISTER;
	off |= type == TRACE_REG_PERF_UNREGISTER;
#endif
	if (!kstall_perf_may(type, data))
		return -EPERM;
	if (!def || !(on || off))
		return trace_event_reg(call, type, data);

	if (off) {
		kstall_end_storms(def);
		def->event->class_users--;
		return trace_event_reg(call, type, data);
	}

	ret = trace_event_reg(call, type, data);
	if (ret)
		return ret;
	kstall_kick_and_wait();
	ret = READ_ONCE(kstall.ready) ? READ_ONCE(def->event->err) : 0;
	if (ret) {
		/* TRACE_REG_UNREGISTER and _PERF_UNREGISTER follow their counterparts. */
		trace_event_reg(call, type + 1, data);
		return ret;
	}
	def->event->class_users++;
	return 0;
}

/* ---- init and exit ---- */

static void kstall_events_free(void)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		if (kstall.events[i].event)
			free_percpu(kstall.events[i].event->suppressed);
	}
}

static int kstall_events_init(void)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		struct kstall_event *event = kstall.events[i].event;

		if (!event)
			continue;
		/* The one thing about an event that no compiler checks. */
		if (kstall.events[i].call->class->reg != kstall_class_reg) {
			pr_err("event %s does not go through kstall_class_reg()\n", event->name);
			kstall_events_free();
			return -EINVAL;
		}
		event->suppressed = alloc_percpu(struct kstall_count);
		if (!event->suppressed) {
			kstall_events_free();
			return -ENOMEM;
		}
	}
	return 0;
}

static void kstall_set_ready(bool ready)
{
	unsigned long flags;

	spin_lock_irqsave(&kstall.ready_lock, flags);
	kstall.ready = ready;
	spin_unlock_irqrestore(&kstall.ready_lock, flags);
}

/**
 * kstall_init() - the module's init
 *
 * Events exist from MODULE_STATE_COMING on and may have been enabled before this runs (boot
 * parameter trace_event=, set_event): the worker is queued once for them.
 *
 * Return: 0 or errno; then nothing is left behind.
 */
int kstall_init(void)
{
	int ret;

	kstall.clamped = alloc_percpu(struct kstall_count);
	if (!kstall.clamped)
		return -ENOMEM;
	ret = kstall_events_init();
	if (ret)
		goto err_clamped;
	kstall.wq = alloc_ordered_workqueue("kstall_%s", 0, kstall.system);
	if (!kstall.wq) {
		ret = -ENOMEM;
		goto err_events;
	}
	INIT_WORK(&kstall.arm_work, kstall_arm_work);
	INIT_DELAYED_WORK(&kstall.tick_work, kstall_tick_work);
	ret = kstall_hooks_init();
	if (ret)
		goto err_wq;
	kstall_status_init();
	kstall_set_ready(true);
	kstall_kick_and_wait();
	kstall_recorder_init();
	return 0;

err_wq:
	destroy_workqueue(kstall.wq);
err_events:
	kstall_events_free();
err_clamped:
	free_percpu(kstall.clamped);
	return ret;
}

/**
 * kstall_exit() - the module's exit
 *
 * Runs before MODULE_STATE_GOING removes the events (delete_module(), kernel/module/main.c):
 * plain ftrace users may still be enabled, and their unreg comes after this. So everything
 * is disarmed whatever is wanted, and from here on reg and unreg change nothing.
 */
void kstall_exit(void)
{
	kstall_recorder_exit();
	kstall_set_ready(false);
	cancel_work_sync(&kstall.arm_work);
	mutex_lock(&kstall.lock);
	kstall_hooks_sync(0);
	kstall_tables_free(~0U);
	mutex_unlock(&kstall.lock);
	cancel_delayed_work_sync(&kstall.tick_work);
	destroy_workqueue(kstall.wq);
	kstall_status_exit();
	kstall_directs_exit();
	kstall_hooks_exit();
	kstall_events_free();
	free_percpu(kstall.clamped);
}
