// SPDX-License-Identifier: GPL-2.0
/*
 * mock_event - iommu_trace's events as static tracepoints, for the benchmark
 *
 *	echo N >/sys/kernel/debug/mock_event/do
 *		dma_map_done, N times, with two looks at the clock each
 *
 * What an event costs in a kernel that has the tracepoint in its source: no hook, the same fields.
 * It cannot be loaded beside iommu_trace.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>

#include <kstall/event.h>

/* Plain events: nothing to arm. */
#undef KSTALL_TRACE_EVENT
#define KSTALL_TRACE_EVENT(name, proto, args, tstruct, assign, print)	\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print))

#define CREATE_TRACE_POINTS
#include "iommu_trace_events.h"

static struct dentry *dir;

static noinline void emit(void)
{
	struct it_map_call call = {
		.start_ns = kstall_now(), .addr = 4096, .bytes = 4096, .nents = 1
	};
	struct it_parts parts = { };
	struct kstall_dma_map e = { .id = KSTALL_ID_CURRENT, .call = &call, .parts = &parts };

	if (!trace_dma_map_done_enabled())
		return;
	e.id.dev = "0000:00:02.0";
	trace_dma_map_done(kstall_now() - call.start_ns, call.addr, call.bytes, 1, &e);
}

static ssize_t do_write(struct file *file, const char __user *user, size_t len, loff_t *pos)
{
	unsigned int n;
	int ret = kstrtouint_from_user(user, len, 0, &n);

	if (ret)
		return ret;
	preempt_disable();
	while (n--)
		emit();
	preempt_enable();
	return len;
}

static const struct file_operations do_fops = { .owner = THIS_MODULE, .write = do_write };

static int __init mock_event_init(void)
{
	dir = debugfs_create_dir("mock_event", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	return 0;
}

static void __exit mock_event_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(mock_event_init);
module_exit(mock_event_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kstall benchmark: an event without a hook");
