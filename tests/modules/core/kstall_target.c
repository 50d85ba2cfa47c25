// SPDX-License-Identifier: GPL-2.0
/*
 * kstall_target - something to hook: functions of known behaviour, and a knob that calls them
 *
 * echo "WHAT COUNT ARG [THREADS]" > /sys/kernel/debug/kstall_target/call
 *
 *   quick     target_quick(ARG), COUNT times, in the writer or in THREADS kthreads (COUNT each)
 *   sleep     target_sleep(ARG): sleeps ARG ms
 *   recurse   target_recurse(ARG): ARG + 1 calls, one inside the other
 *   tick      the tracepoint target_tick
 *   object    target_object(ARG)
 *   free      target_object_free(ARG)
 *   irq       target_quick(ARG) in hardirq context
 *   span      target_begin(key) in the writer, target_end(key) in hardirq; keys ARG, ARG + 1, ...
 *   block     COUNT kthreads enter target_block(), one after the other, and stay there
 *   release   they leave
 *   storm     COUNT kthreads call quick and tick all the time, until
 *   calm      they are told to stop
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#define CREATE_TRACE_POINTS
#include "kstall_target_events.h"

static unsigned int init_calls;
module_param(init_calls, uint, 0444);
MODULE_PARM_DESC(init_calls, "target_quick(99) and target_tick(99) so many times in init (default 0)");
static bool fail_init;
module_param(fail_init, bool, 0444);
MODULE_PARM_DESC(fail_init, "init fails after its calls (default 0)");
static unsigned int exit_ms;
module_param(exit_ms, uint, 0644);
MODULE_PARM_DESC(exit_ms, "exit takes so long (default 0)");

/* ---- what is hooked: never inlined, cloned, or (hence the barriers) found to be pointless ---- */

#define target noinline __noclone

int target_quick(int arg);
int target_sleep(int ms);
int target_block(int nr);
int target_recurse(int depth);
void target_begin(u64 key);
void target_end(u64 key);
void target_object(u64 key);
void target_object_free(u64 key);

target int target_quick(int arg)
{
	barrier();
	return 2 * arg + 1;
}

target int target_sleep(int ms)
{
	/* Not msleep(): it counts ticks, which in a guest come late and then all at once. */
	usleep_range(1000 * ms, 1000 * ms + 100);
	return -ms;
}

static DECLARE_WAIT_QUEUE_HEAD(block_wait);
static atomic_t blocked;
static bool released;

target int target_block(int nr)
{
	atomic_inc(&blocked);
	wake_up_all(&block_wait);
	wait_event_idle(block_wait, READ_ONCE(released));
	return nr;
}

/* Through a variable, so that the compiler makes no loop of it. */
static int (*recurse_ptr)(int depth) = target_recurse;

target int target_recurse(int depth)
{
	return depth ? READ_ONCE(recurse_ptr)(depth - 1) + 1 : 0;
}

target void target_begin(u64 key) { barrier(); }
target void target_end(u64 key) { barrier(); }
target void target_object(u64 key) { barrier(); }
target void target_object_free(u64 key) { barrier(); }

/* ---- in hardirq context ---- */

struct in_irq {
	struct irq_work work;
	void (*fn)(u64 arg);
	u64 arg;
};

static void in_irq_work(struct irq_work *work)
{
	struct in_irq *irq = container_of(work, struct in_irq, work);

	irq->fn(irq->arg);
}

static void call_in_irq(void (*fn)(u64 arg), u64 arg)
{
	struct in_irq irq = { .work = IRQ_WORK_INIT_HARD(in_irq_work), .fn = fn, .arg = arg };

	irq_work_queue(&irq.work);
	irq_work_sync(&irq.work);
}

/* ---- one call of each ---- */

static void do_quick(u64 arg) { target_quick(arg); }
static void do_sleep(u64 arg) { target_sleep(arg); }
static void do_recurse(u64 arg) { target_recurse(arg); }
static void do_tick(u64 arg) { trace_target_tick(arg, 1); }
static void do_irq(u64 arg) { call_in_irq(do_quick, arg); }

static void do_span(u64 key)
{
	target_begin(key);
	call_in_irq(target_end, key);
}

struct job {
	const char *name;
	void (*fn)(u64 arg);
	bool count_up;		/* ARG, ARG + 1, ... */
};

static const struct job jobs[] = {
	{ "quick", do_quick },
	{ "sleep", do_sleep },
	{ "recurse", do_recurse },
	{ "tick", do_tick },
	{ "object", target_object },
	{ "free", target_object_free },
	{ "irq", do_irq },
	{ "span", do_span, true },
};

struct run {
	const struct job *job;
	unsigned int count;
	u64 arg;
	atomic_t threads;	/* still at it */
};

static void run(const struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->count; i++)
		r->job->fn(r->job->count_up ? r->arg + i : r->arg);
}

/* ---- kthreads ---- */

#define MAX_THREADS 256

struct crew {
	struct task_struct *tasks[MAX_THREADS];
	unsigned int nr;
};

static DEFINE_MUTEX(knob_lock);
static struct crew blockers, stormers;

static int run_thread(void *data)
{
	struct run *r = data;

	run(r);
	atomic_dec(&r->threads);
	wake_up_all(&block_wait);
	wait_event_idle(block_wait, kthread_should_stop());
	return 0;
}

static int block_thread(void *data)
{
	target_block((long)data);
	wait_event_idle(block_wait, kthread_should_stop());
	return 0;
}

static int storm_thread(void *data)
{
	while (!kthread_should_stop()) {
		target_quick(1);
		trace_target_tick(1, 1);
		target_object(1);
		schedule_timeout_idle(1);
	}
	return 0;
}

static int crew_add(struct crew *crew, int (*fn)(void *data), void *data)
{
	struct task_struct *task;

	if (crew->nr == MAX_THREADS)
		return -ENOSPC;
	task = kthread_run(fn, data, "target/%u", crew->nr);
	if (IS_ERR(task))
		return PTR_ERR(task);
	crew->tasks[crew->nr++] = task;
	return 0;
}

static void crew_stop(struct crew *crew)
{
	while (crew->nr)
		kthread_stop(crew->tasks[--crew->nr]);
}

static int run_threads(struct run *r, unsigned int threads)
{
	struct crew *crew = kzalloc(sizeof(*crew), GFP_KERNEL);
	int ret = 0;

	if (!crew)
		return -ENOMEM;
	while (threads-- && !ret) {
		atomic_inc(&r->threads);
		ret = crew_add(crew, run_thread, r);
		if (ret)
			atomic_dec(&r->threads);
	}
	wait_event_idle(block_wait, !atomic_read(&r->threads));
	crew_stop(crew);
	kfree(crew);
	return ret;
}

/* Each is inside before the next one starts, so that nothing that counts them counts at once. */
static int block(unsigned int count)
{
	int ret = 0;

	WRITE_ONCE(released, false);
	while (count-- && !ret) {
		ret = crew_add(&blockers, block_thread, (void *)(long)blockers.nr);
		if (!ret)
			wait_event_idle(block_wait, atomic_read(&blocked) == blockers.nr);
	}
	return ret;
}

static void release(void)
{
	WRITE_ONCE(released, true);
	wake_up_all(&block_wait);
	crew_stop(&blockers);
	atomic_set(&blocked, 0);
}

static int storm(unsigned int count)
{
	int ret = 0;

	while (count-- && !ret)
		ret = crew_add(&stormers, storm_thread, NULL);
	return ret;
}

/* ---- the knob ---- */

static int call(const char *what, unsigned int count, u64 arg, unsigned int threads)
{
	struct run r = { .count = count, .arg = arg };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		if (strcmp(jobs[i].name, what))
			continue;
		r.job = &jobs[i];
		if (threads)
			return run_threads(&r, threads);
		run(&r);
		return 0;
	}
	if (!strcmp(what, "block"))
		return block(count);
	if (!strcmp(what, "storm"))
		return storm(count);
	if (!strcmp(what, "release"))
		release();
	else if (!strcmp(what, "calm"))
		crew_stop(&stormers);
	else
		return -EINVAL;
	return 0;
}

static ssize_t call_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	unsigned int count = 1, threads = 0;
	char buf[64] = "", what[16];
	u64 arg = 0;
	int ret;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	if (sscanf(buf, "%15s %u %llu %u", what, &count, &arg, &threads) < 1)
		return -EINVAL;
	/* quick calls may come from several writers at once */
	if (strcmp(what, "quick"))
		mutex_lock(&knob_lock);
	ret = call(what, count, arg, threads);
	if (strcmp(what, "quick"))
		mutex_unlock(&knob_lock);
	return ret ?: len;
}

static const struct file_operations call_fops = {
	.owner = THIS_MODULE,
	.write = call_write,
};

static struct dentry *dir;

static int __init kstall_target_init(void)
{
	unsigned int i;

	for (i = 0; i < init_calls; i++) {
		target_quick(99);
		trace_target_tick(99, i);
	}
	if (fail_init)
		return -EIO;
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("call", 0200, dir, NULL, &call_fops);
	return 0;
}

static void __exit kstall_target_exit(void)
{
	debugfs_remove_recursive(dir);
	crew_stop(&stormers);
	release();
	msleep(exit_ms);
}

module_init(kstall_target_init);
module_exit(kstall_target_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(intree, "Y");	/* as the modules that are hooked have it */
MODULE_DESCRIPTION("kstall tests: functions to hook");
