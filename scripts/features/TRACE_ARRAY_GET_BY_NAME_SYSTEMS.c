// SPDX-License-Identifier: GPL-2.0
/*
 * Does trace_array_get_by_name() take the list of event systems that the
 * instance shall have? If not, it has them all.
 *
 * include/linux/trace.h; d23569979ca1 ("tracing: Allow creating instances with
 * specified system events"), v6.8.
 */
#include <linux/kernel.h>
#include <linux/trace.h>

struct trace_array *test_TRACE_ARRAY_GET_BY_NAME_SYSTEMS(void);
struct trace_array *test_TRACE_ARRAY_GET_BY_NAME_SYSTEMS(void)
{
#ifndef OTHERWISE
	return trace_array_get_by_name("kstall", NULL);
#else
	return trace_array_get_by_name("kstall");
#endif
}
