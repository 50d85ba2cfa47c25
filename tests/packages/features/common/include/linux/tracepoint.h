/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TRACEPOINT_H
#define _LINUX_TRACEPOINT_H
#include <linux/types.h>
struct tracepoint { const char *name; };
#define TP_PROTO(...) __VA_ARGS__
/* What a TRACE_EVENT() leaves of itself for one that compiles a probe. */
#define FAKE_TRACEPOINT(name, proto)					\
	static inline void check_trace_callback_type_##name(void (*cb)(void *data, proto)) {}
#endif
