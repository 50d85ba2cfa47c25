// SPDX-License-Identifier: GPL-2.0
/* reg.c - the events header names this in place of the kernel's own function, and hides that */
#include <linux/trace_events.h>

#include <kstall/event.h>

int kstall_class_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	return trace_event_reg(call, type, data);
}
