// SPDX-License-Identifier: GPL-2.0
/*
 * Is there a tracepoint for changes of a link?
 *
 * include/trace/events/pci.h, pcie_link_event, since 7.0.
 */
#ifndef OTHERWISE
#include <linux/pci.h>
#include <linux/tracepoint.h>
#include <trace/events/pci.h>

void test_PCIE_LINK_EVENT(void *data, struct pci_bus *bus, unsigned int reason, unsigned int width,
	  unsigned int status);
void test_PCIE_LINK_EVENT(void *data, struct pci_bus *bus, unsigned int reason, unsigned int width,
	  unsigned int status)
{
	check_trace_callback_type_pcie_link_event(test_PCIE_LINK_EVENT);
}
#else
int test_PCIE_LINK_EVENT;
#endif
