// SPDX-License-Identifier: GPL-2.0
/*
 * Does a direct trampoline belong to an ftrace_ops of its own?
 *
 * include/linux/ftrace.h; da8bdfbd42f3 ("ftrace: Rename _ftrace_direct_multi APIs to _ftrace_direct
 * APIs"), v6.4. Before, register_ftrace_direct() took two addresses.
 */
#include <linux/ftrace.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
int test_FTRACE_DIRECT_OPS(struct ftrace_ops *ops);
int test_FTRACE_DIRECT_OPS(struct ftrace_ops *ops)
{
#ifndef OTHERWISE
	return register_ftrace_direct(ops, 1);
#else
	return register_ftrace_direct(1, 2);
#endif
}
#elif !defined(OTHERWISE)
#error this kernel has no direct trampolines
#endif
