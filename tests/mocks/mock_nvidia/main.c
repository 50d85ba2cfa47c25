// SPDX-License-Identifier: GPL-2.0
/*
 * mock_nvidia - NVIDIA's driver for tests: two files, the numbers of their calls, its locks
 *
 * /dev/nvidiactl and /dev/nvidia-uvm. A call works for as long as its argument says. The resource
 * manager's API lock is an rwsem, a GPU's is a semaphore, as in the driver. "DEVICE CODE TEXT"
 * written to /dev/nvidiactl is an Xid.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "mock_nvidia.h"

#define CREATE_TRACE_POINTS
#include "mock_nvidia_events.h"

#define MOCK_MAX_NS	(10ULL * NSEC_PER_SEC)

struct mock_client {
	struct work_struct event;
	u64 event_ns;
	wait_queue_head_t wait;
	bool has_event;
};

static DECLARE_RWSEM(mock_api_lock);
static struct semaphore mock_gpu_lock;

static void mock_work(u64 ns)
{
	u64 end = ktime_get_ns() + ns;

	while (ktime_get_ns() < end && !fatal_signal_pending(current)) {
		cpu_relax();
		cond_resched();
	}
}

/* As for an answer of the GPU's firmware. */
static void mock_wait(u64 ns)
{
	unsigned long us = div_u64(ns, NSEC_PER_USEC);

	usleep_range(us, us + 1);
}

static void mock_rm(const struct mock_nvidia *arg, bool api)
{
	if (api)
		down_write(&mock_api_lock);
	down(&mock_gpu_lock);
	mock_wait(arg->ns);
	up(&mock_gpu_lock);
	if (api)
		up_write(&mock_api_lock);
}

static void mock_event(struct work_struct *work)
{
	struct mock_client *c = container_of(work, struct mock_client, event);

	mock_wait(c->event_ns); /* a timer of the workqueue would round to jiffies */
	WRITE_ONCE(c->has_event, true);
	wake_up_interruptible(&c->wait);
}

static void mock_event_after(struct mock_client *c, u64 ns)
{
	cancel_work_sync(&c->event);
	WRITE_ONCE(c->has_event, false);
	c->event_ns = ns;
	queue_work(system_unbound_wq, &c->event);
}

static int mock_argument(struct mock_nvidia *arg, unsigned long user)
{
	if (copy_from_user(arg, (void __user *)user, sizeof(*arg)))
		return -EFAULT;
	return arg->ns > MOCK_MAX_NS ? -EINVAL : 0;
}

static long mock_ctl_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct mock_nvidia arg;
	int ret = mock_argument(&arg, user);

	if (ret)
		return ret;
	switch (cmd) {
	case MOCK_RM_ALLOC_MEMORY:
		mock_work(arg.ns);
		return 0;
	case MOCK_RM_CONTROL:
		mock_rm(&arg, !arg.gpu_only);
		return 0;
	case MOCK_RM_ALLOC:
	case MOCK_RM_FREE:
		mock_rm(&arg, true);
		return 0;
	case MOCK_RM_EVENT:
		mock_event_after(file->private_data, arg.ns);
		return 0;
	}
	return -ENOTTY;
}

static long mock_uvm_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct mock_nvidia arg;
	int ret = mock_argument(&arg, user);

	if (ret)
		return ret;
	if (cmd != MOCK_UVM_MAP)
		return -ENOTTY;
	mock_work(arg.ns);
	return 0;
}

static ssize_t mock_xid(struct file *file, const char __user *user, size_t len, loff_t *pos)
{
	char line[160], dev[32];
	int text = 0;
	u32 code;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, user, len))
		return -EFAULT;
	line[len] = '\0';
	if (sscanf(line, "%31s %u %n", dev, &code, &text) < 2 || !text)
		return -EINVAL;
	trace_nvidia_dev_xid(dev, code, strim(line + text));
	return len;
}

static __poll_t mock_poll(struct file *file, poll_table *table)
{
	struct mock_client *c = file->private_data;

	poll_wait(file, &c->wait, table);
	return READ_ONCE(c->has_event) ? EPOLLIN | EPOLLPRI : 0;
}

static int mock_open(struct inode *inode, struct file *file)
{
	struct mock_client *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	init_waitqueue_head(&c->wait);
	INIT_WORK(&c->event, mock_event);
	file->private_data = c;
	return 0;
}

static int mock_release(struct inode *inode, struct file *file)
{
	struct mock_client *c = file->private_data;

	cancel_work_sync(&c->event);
	kfree(c);
	return 0;
}

static const struct file_operations mock_ctl_fops = {
	.owner = THIS_MODULE,
	.open = mock_open,
	.release = mock_release,
	.write = mock_xid,
	.unlocked_ioctl = mock_ctl_ioctl,
	.poll = mock_poll,
};

static const struct file_operations mock_uvm_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = mock_uvm_ioctl,
};

static struct miscdevice mock_ctl = {
	.minor = MISC_DYNAMIC_MINOR, .name = "nvidiactl", .fops = &mock_ctl_fops, .mode = 0666,
};

static struct miscdevice mock_uvm = {
	.minor = MISC_DYNAMIC_MINOR, .name = "nvidia-uvm", .fops = &mock_uvm_fops, .mode = 0666,
};

static int __init mock_nvidia_init(void)
{
	int ret;

	sema_init(&mock_gpu_lock, 1);
	ret = misc_register(&mock_ctl);
	if (ret)
		return ret;
	ret = misc_register(&mock_uvm);
	if (ret)
		misc_deregister(&mock_ctl);
	return ret;
}

static void __exit mock_nvidia_exit(void)
{
	misc_deregister(&mock_uvm);
	misc_deregister(&mock_ctl);
}

module_init(mock_nvidia_init);
module_exit(mock_nvidia_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kstall test: NVIDIA's driver without a GPU");
