// SPDX-License-Identifier: GPL-2.0
/*
 * Is a direct trampoline with an ftrace_ops of its own called multi?
 *
 * include/linux/ftrace.h; f64dd4627ec6 ("ftrace: Add multi direct register/unregister interface"),
 * v5.16, until da8bdfbd42f3, v6.4, which gave it its name without (FTRACE_DIRECT_OPS).
 */
#include <linux/ftrace.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
int test_FTRACE_DIRECT_MULTI(struct ftrace_ops *ops);
int test_FTRACE_DIRECT_MULTI(struct ftrace_ops *ops)
{
#ifndef OTHERWISE
	return register_ftrace_direct_multi(ops, 1);
#else
	return register_ftrace_direct(ops, 1);
#endif
}
#elif !defined(OTHERWISE)
#error this kernel has no direct trampolines
#endif
