// SPDX-License-Identifier: GPL-2.0
/*
 * Does __assign_str() take only the field, the source being what __string()
 * named?
 *
 * include/trace/stages/stage6_event_callback.h; 2c92ca849fcc
 * ("tracing/treewide: Remove second parameter of __assign_str()"), v6.10.
 */
#include <linux/tracepoint.h>
#include <trace/stages/stage6_event_callback.h>

/* Too few arguments are an error before anything is expanded. */
#ifndef OTHERWISE
const char assign_str[] = __stringify(__assign_str(field));
#else
const char assign_str[] = __stringify(__assign_str(field, src));
#endif
