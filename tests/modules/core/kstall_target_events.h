/* SPDX-License-Identifier: GPL-2.0 */
/* kstall_target_events.h - the target's own tracepoint, which kstall_test attaches to by name */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kstall_target

#if !defined(_KSTALL_TARGET_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KSTALL_TARGET_EVENTS_H

#include <linux/tracepoint.h>

TRACE_EVENT(target_tick,
	TP_PROTO(u64 id, unsigned int nr),
	TP_ARGS(id, nr),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, nr)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->nr = nr;
	),
	TP_printk("id=%llu nr=%u", __entry->id, __entry->nr)
);

#endif /* _KSTALL_TARGET_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE kstall_target_events
#include <trace/define_trace.h>
