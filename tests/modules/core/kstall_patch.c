// SPDX-License-Identifier: GPL-2.0
/* kstall_patch - a live patch of kstall_target: target_quick() returns 1000 more */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/livepatch.h>
#include <linux/module.h>

static noinline int patched_quick(int arg)
{
	barrier();
	return 2 * arg + 1 + 1000;
}

static struct klp_func funcs[] = {
	{ .old_name = "target_quick", .new_func = patched_quick },
	{ }
};

static struct klp_object objects[] = {
	{ .name = "kstall_target", .funcs = funcs },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init kstall_patch_init(void)
{
	return klp_enable_patch(&patch);
}

/* Called once it is disabled: /sys/kernel/livepatch/kstall_patch/enabled. */
static void __exit kstall_patch_exit(void) {}

module_init(kstall_patch_init);
module_exit(kstall_patch_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("kstall tests: a live patch");
