// SPDX-License-Identifier: GPL-2.0
/*
 * Is the address it is asked about an argument of ftrace_ops.ops_func?
 *
 * include/linux/ftrace.h, ftrace_ops_func_t: with the direct trampolines of several functions in
 * one ftrace_ops (update_ftrace_direct_add()), between v6.12 and v7.2.
 */
#include <linux/ftrace.h>

#ifdef CONFIG_FUNCTION_TRACER
int test_FTRACE_OPS_FUNC_IP(struct ftrace_ops *ops);
int test_FTRACE_OPS_FUNC_IP(struct ftrace_ops *ops)
{
#ifndef OTHERWISE
	return ops->ops_func(ops, 1UL, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
#else
	return ops->ops_func(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
#endif
}
#elif !defined(OTHERWISE)
#error this kernel has no function tracer
#endif
