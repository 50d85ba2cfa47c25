/* SPDX-License-Identifier: GPL-2.0 */
/* kstall_test_events.h - the test module's events: all have the same fields */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kstall_test

#ifndef _KSTALL_TEST_EVENTS_TYPES
#define _KSTALL_TEST_EVENTS_TYPES

#include <kstall/event.h>
#include <kstall/identity.h>

KSTALL_DECLARE_EVENT(kt_entry);
KSTALL_DECLARE_TIMED_EVENT(kt_pair);
KSTALL_DECLARE_TIMED_EVENT(kt_sleep);
KSTALL_DECLARE_TIMED_EVENT(kt_block);
KSTALL_DECLARE_EVENT(kt_recurse);
KSTALL_DECLARE_TIMED_EVENT(kt_span);
KSTALL_DECLARE_EVENT(kt_tick);
KSTALL_DECLARE_EVENT(kt_storm);
KSTALL_DECLARE_EVENT(kt_folio);
KSTALL_DECLARE_EVENT(kt_timer);
KSTALL_DECLARE_EVENT(kt_missing);
KSTALL_DECLARE_EVENT(kt_huge);
KSTALL_DECLARE_TIMED_EVENT(kt_placed);

/* irq: emitted in hardirq context */
#define KT_EVENT(_name)							\
	KSTALL_TRACE_EVENT(_name,					\
		TP_PROTO(u64 duration_ns, u64 id, u64 count, s64 result, \
			 const struct kstall_id *who),			\
		TP_ARGS(duration_ns, id, count, result, who),		\
		TP_STRUCT__entry(					\
			KSTALL_ID_FIELDS				\
			__field(u64, duration_ns)			\
			__field(u64, id)				\
			__field(u64, count)				\
			__field(s64, result)				\
			__field(u8, irq)				\
		),							\
		TP_fast_assign(						\
			KSTALL_ID_ASSIGN(who);				\
			__entry->duration_ns = duration_ns;		\
			__entry->id = id;				\
			__entry->count = count;				\
			__entry->result = result;			\
			__entry->irq = !!in_hardirq();			\
		),							\
		TP_printk(KSTALL_ID_FMT " duration_ns=%llu id=%llu count=%llu result=%lld irq=%u", \
			  KSTALL_ID_ARGS, __entry->duration_ns, __entry->id, \
			  __entry->count, __entry->result, __entry->irq) \
	)

#endif /* _KSTALL_TEST_EVENTS_TYPES */

#if !defined(_KSTALL_TEST_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KSTALL_TEST_EVENTS_H

#include <linux/tracepoint.h>

KT_EVENT(kt_entry);
KT_EVENT(kt_pair);
KT_EVENT(kt_sleep);
KT_EVENT(kt_block);
KT_EVENT(kt_recurse);
KT_EVENT(kt_span);
KT_EVENT(kt_tick);
KT_EVENT(kt_storm);
KT_EVENT(kt_folio);
KT_EVENT(kt_timer);
KT_EVENT(kt_missing);
KT_EVENT(kt_huge);
KT_EVENT(kt_placed);

#endif /* _KSTALL_TEST_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE kstall_test_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
