/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event that NVIDIA's driver has since 575: the same system, name, fields and text
 * (kernel-open/nvidia/nv-tracepoint.h of open-gpu-kernel-modules).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia

#if !defined(_MOCK_NVIDIA_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MOCK_NVIDIA_EVENTS_H

#include <linux/string.h>
#include <linux/tracepoint.h>

/* __dynamic_array(): what __assign_str() takes differs from kernel to kernel (since 6.10) */
TRACE_EVENT(nvidia_dev_xid,
	TP_PROTO(const char *dev, u32 error_code, const char *msg),
	TP_ARGS(dev, error_code, msg),
	TP_STRUCT__entry(
		__dynamic_array(char, dev, strlen(dev) + 1)
		__field(u32, error_code)
		__dynamic_array(char, msg, strlen(msg) + 1)
	),
	TP_fast_assign(
		memcpy(__get_str(dev), dev, strlen(dev) + 1);
		__entry->error_code = error_code;
		memcpy(__get_str(msg), msg, strlen(msg) + 1);
	),
	TP_printk("Xid (PCI:%s): %u, %s", __get_str(dev), __entry->error_code, __get_str(msg))
);

#endif /* _MOCK_NVIDIA_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mock_nvidia_events
#include <trace/define_trace.h>
