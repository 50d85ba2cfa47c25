// SPDX-License-Identifier: GPL-2.0
/*
 * Has the tracepoint aer_event the bus type?
 *
 * include/ras/ras_event.h, since 7.0; before it has five arguments.
 */
#include <linux/types.h>
#include <linux/aer.h>
#include <linux/tracepoint.h>
#include <ras/ras_event.h>

#ifndef OTHERWISE
void test_AER_EVENT_BUS_TYPE(void *data, const char *name, const u32 status, const u8 severity,
			     const u8 valid, struct pcie_tlp_log *tlp, const char *bus_type);
void test_AER_EVENT_BUS_TYPE(void *data, const char *name, const u32 status, const u8 severity,
			     const u8 valid, struct pcie_tlp_log *tlp, const char *bus_type)
{
	check_trace_callback_type_aer_event(test_AER_EVENT_BUS_TYPE);
}
#else
void test_AER_EVENT_BUS_TYPE(const char *name, void *tlp);
void test_AER_EVENT_BUS_TYPE(const char *name, void *tlp)
{
	trace_aer_event(name, 0, 0, 0, tlp);
}
#endif
