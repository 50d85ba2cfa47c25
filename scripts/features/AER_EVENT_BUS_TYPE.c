// SPDX-License-Identifier: GPL-2.0
/*
 * Does the tracepoint aer_event tell the bus type?
 *
 * include/ras/ras_event.h, since 7.0; before it has five arguments.
 */
#include <linux/types.h>
#include <linux/aer.h>
#include <linux/tracepoint.h>
#include <ras/ras_event.h>

#ifndef OTHERWISE
void test(void *data, const char *name, const u32 status, const u8 severity, const u8 valid,
	  struct pcie_tlp_log *tlp, const char *bus_type);
void test(void *data, const char *name, const u32 status, const u8 severity, const u8 valid,
	  struct pcie_tlp_log *tlp, const char *bus_type)
{
	check_trace_callback_type_aer_event(test);
}
#else
void test(const char *name, void *tlp);
void test(const char *name, void *tlp)
{
	trace_aer_event(name, 0, 0, 0, tlp);
}
#endif
