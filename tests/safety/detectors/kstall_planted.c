// SPDX-License-Identifier: GPL-2.0
/*
 * kstall_planted - one bug of each kind that the kernels that look for bugs must report, the way
 * a probe or a worker would have it: a "clean" run says something only if the detectors are awake.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timer.h>

static char *bug = "";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "which of them");

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);
static DEFINE_SPINLOCK(spin);
static int __rcu *shared;
static unsigned int eight = 8;
static unsigned int counted;
/*
 * Behind the array is memory of our own: KASAN, which reports once and puts lockdep to sleep, has
 * nothing to say.
 */
static struct {
	unsigned int few[8];
	unsigned int more[8];
} eights;

struct planted {
	struct timer_list timer;
	u64 value[8];
};

/* As if a probe had allocated with GFP_KERNEL. */
static void planted_sleep(void)
{
	void *p;

	spin_lock(&spin);
	p = kmalloc(64, GFP_KERNEL);
	spin_unlock(&spin);
	kfree(p);
}

/* As if a table had been forgotten when its event was disabled. */
static void planted_leak(void)
{
	unsigned int i;

	/* Some: an old stack may still point to one of them. */
	for (i = 0; i < 4; i++) {
		struct planted *p = kzalloc(sizeof(*p), GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

/* Never a deadlock here: the two orders follow each other. */
static void planted_inversion(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);
	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

/* As if a record had been used after it was taken out of its table. */
static void planted_use_after_free(void)
{
	struct planted *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p->value[1], 1);
}

static void planted_bounds(void)
{
	OPTIMIZER_HIDE_VAR(eight);
	eights.few[eight]++;
}

static void planted_rcu(void)
{
	if (rcu_dereference(shared))
		pr_info("never\n");
}

static void planted_timer(struct timer_list *timer)
{
}

/* As if rmmod freed what has a timer running. */
static void planted_object(void)
{
	struct planted *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return;
	timer_setup(&p->timer, planted_timer, 0);
	mod_timer(&p->timer, jiffies + 3600 * HZ);
	kfree(p);
}

static int planted_count(void *unused)
{
	while (!kthread_should_stop()) {
		counted++;
		barrier();
		cond_resched();
	}
	return 0;
}

/* As if two CPUs counted in one place without an atomic. */
static void planted_race(void)
{
	struct task_struct *task = kthread_run(planted_count, NULL, "planted_race");
	unsigned int i;

	if (IS_ERR(task))
		return;
	for (i = 0; i < 1000000; i++) {
		counted++;
		barrier();
		cond_resched();
	}
	kthread_stop(task);
}

static const struct {
	const char *name;
	void (*plant)(void);
} bugs[] = {
	{ "sleep", planted_sleep },
	{ "leak", planted_leak },
	{ "inversion", planted_inversion },
	{ "use-after-free", planted_use_after_free },
	{ "bounds", planted_bounds },
	{ "rcu", planted_rcu },
	{ "object", planted_object },
	{ "race", planted_race },
};

static int __init planted_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(bug, bugs[i].name)) {
			bugs[i].plant();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(planted_init);

static void __exit planted_exit(void)
{
}
module_exit(planted_exit);

MODULE_DESCRIPTION("Bugs on purpose");
MODULE_LICENSE("GPL");
