// SPDX-License-Identifier: GPL-2.0
/*
 * status.c - /sys/kernel/debug/<module>/status (0400): what works, what does not, and why
 *
 * One line an event, hook, stub that drains (direct.h) and table, "kind name key=value ...", then
 * the module's own lines and its reach. Stable: tools parse it. What is counted is counted from
 * loading to unloading, whoever comes and goes, and never falls: the difference of two readings is
 * what happened in between. Of a loss the last time is there (last_loss_mono_ns, 0: none; compare
 * now_mono_ns); that of missed hits is when they were noticed, less than a second after.
 */
#include "impl.h"

/*
 * ftrace instances and perf are counted; raw-tracepoint users cannot be, since 7.2 frees the
 * tracepoint's own list under a private SRCU: they show as one if they are alone.
 */
static unsigned int kstall_event_users(const struct kstall_event *event)
{
	return READ_ONCE(event->class_users) ?: READ_ONCE(event->wanted);
}

/* The module, or what stands for one, that a wanted event waits for; NULL: it waits for none. */
static const char *kstall_event_waits_for(const struct kstall_event_def *def)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_hooks; i++) {
		if (def->hooks & BIT_ULL(i) && kstall.hooks[i].state == KSTALL_WAITING)
			return kstall.hooks[i].module ?: kstall.hooks[i].targets;
	}
	return NULL;
}

static void kstall_show_event(struct seq_file *m, const struct kstall_event_def *def)
{
	struct kstall_event *event = def->event;
	const char *module;
	int err;

	if (!event) {
		seq_printf(m, "event %s state=absent reason=\"%s\"\n", def->name, def->absent);
		return;
	}
	seq_printf(m, "event %s users=%u state=", def->name, kstall_event_users(event));
	module = kstall_event_waits_for(def);
	err = event->err ?: kstall_hooks_error(def->hooks);
	if (err)
		seq_printf(m, "failed errno=%d", -err);
	else if (!READ_ONCE(event->wanted))
		seq_puts(m, "idle");
	else if (module)
		seq_printf(m, "waiting-for:%s", module);
	else
		seq_puts(m, "armed");
	seq_printf(m, " min_ns=%llu suppressed=%llu\n", READ_ONCE(event->min_ns),
		   kstall_percpu_sum(event->suppressed, value));
}

static void kstall_show_hook(struct seq_file *m, struct kstall_hook *hook)
{
	static const char * const kinds[] = {
		[KSTALL_KIND_TRACEPOINT] = "tracepoint",
		[KSTALL_KIND_ENTRY] = "entry",
		[KSTALL_KIND_PAIR] = "pair",
	};
	u64 lost_ns = kstall_percpu_max(hook->stats, recursed_ns);

	seq_printf(m, "hook %s kind=%s target=%s state=", hook->name,
		   hook->stub ? "direct" : kinds[hook->kind],
		   hook->target[0] ? hook->target : hook->targets);
	if (hook->state == KSTALL_ARMED)
		seq_puts(m, "armed");
	else if (hook->state == KSTALL_WAITING)
		seq_printf(m, "waiting-for:%s", hook->module ?: hook->targets);
	else if (hook->state == KSTALL_ABSENT)
		seq_puts(m, "absent");
	else if (hook->err)
		seq_printf(m, "failed errno=%d%s", -hook->err,
			   hook->vendors ? " reason=vendor" : "");
	else
		seq_puts(m, "idle");
	seq_printf(m, " hits=%llu missed=%llu recursed=%llu last_loss_mono_ns=%llu bytes=%zu",
		   kstall_percpu_sum(hook->stats, hits), hook->missed_seen,
		   kstall_percpu_sum(hook->stats, recursed),
		   max(hook->missed_ns, lost_ns), hook->bytes);
	if (hook->state == KSTALL_ARMED && hook->why)
		seq_printf(m, " not_direct=%s", hook->why);
	seq_putc(m, '\n');
}

static void kstall_show_table(struct seq_file *m, struct kstall_inflight *t)
{
	struct kstall_inflight_counts c = kstall_inflight_counts(t);

	seq_printf(m, "table %s state=%s capacity=%u in_use=%llu high_water=%u dropped=%llu evicted=%llu",
		   t->name, t->buckets ? "allocated" : "idle", t->capacity,
		   t->buckets ? kstall_inflight_in_use(t) : 0, c.high_water, c.dropped, t->evicted);
	seq_printf(m, " evicted_oldest_ns=%llu unmatched=%llu last_loss_mono_ns=%llu bytes=%zu\n",
		   t->evicted_oldest_ns, c.unmatched, c.last_loss_ns, t->bytes);
}

/* The lock's holder waits for grace periods, no longer, and the reader need not wait that long. */
static int kstall_status_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	if (mutex_lock_interruptible(&kstall.lock))
		return -EINTR;
	kstall_hooks_watch();
	seq_printf(m, "module %s version=%s recorder=%s clamped=%llu now_mono_ns=%llu\n",
		   KBUILD_MODNAME, THIS_MODULE->version ?: "?", kstall.recorder ? "kstall" : "off",
		   kstall_percpu_sum(kstall.clamped, value), kstall_now());
	for (i = 0; i < kstall.nr_events; i++)
		kstall_show_event(m, &kstall.events[i]);
	for (i = 0; i < kstall.nr_hooks; i++) {
		if (kstall.hooks[i].targets || kstall.hooks[i].addr)
			kstall_show_hook(m, &kstall.hooks[i]);
	}
	kstall_directs_show(m);
	for (i = 0; i < kstall.nr_tables; i++)
		kstall_show_table(m, kstall.tables[i]);
	if (kstall.show)
		kstall.show(m);
	mutex_unlock(&kstall.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kstall_status);

/* debugfs errors are not errors: without it the module works all the same. */
void kstall_status_init(void)
{
	kstall.debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("status", 0400, kstall.debugfs, NULL, &kstall_status_fops);
}

void kstall_status_exit(void)
{
	debugfs_remove_recursive(kstall.debugfs);
}
