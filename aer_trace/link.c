// SPDX-License-Identifier: GPL-2.0
/* link.c - links that become slower or narrower, or recover */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "aer_trace.h"
#include "aer_trace_events.h"

#ifdef HAVE_PCIE_LINK_EVENT
#include <trace/events/pci.h>
#endif

/* The port at a link's upper end. */
static bool aer_is_link_port(struct pci_dev *pdev)
{
	return pci_is_pcie(pdev) && (pci_pcie_type(pdev) == PCI_EXP_TYPE_ROOT_PORT ||
				     pci_pcie_type(pdev) == PCI_EXP_TYPE_DOWNSTREAM ||
				     pci_pcie_type(pdev) == PCI_EXP_TYPE_PCIE_BRIDGE);
}

/* Transfers per second and lane, in millions, by the register's code. */
static u32 aer_link_mts(u32 speed)
{
	static const u32 mts[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000, 128000 };

	return speed < ARRAY_SIZE(mts) ? mts[speed] : 0;
}

/* Return: false if the port does not answer. */
static bool aer_link_read(struct pci_dev *port, struct aer_link *link, struct aer_link *max)
{
	u32 cap;
	u16 sta;

	if (pcie_capability_read_dword(port, PCI_EXP_LNKCAP, &cap) ||
	    pcie_capability_read_word(port, PCI_EXP_LNKSTA, &sta) || PCI_POSSIBLE_ERROR(cap) ||
	    PCI_POSSIBLE_ERROR(sta))
		return false;
	*max = (struct aer_link){ .speed = cap & PCI_EXP_LNKCAP_SLS,
				  .width = (cap & PCI_EXP_LNKCAP_MLW) >> 4 };
	*link = (struct aer_link){ };
	if (cap & PCI_EXP_LNKCAP_DLLLARC && !(sta & PCI_EXP_LNKSTA_DLLLA))
		return true;
	link->speed = sta & PCI_EXP_LNKSTA_CLS;
	link->width = (sta & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT;
	return true;
}

static void aer_link_emit(struct pci_dev *port, const struct aer_link *from,
			  const struct aer_link *to, const struct aer_link *max, u8 means)
{
	struct kstall_aer_link e = {
		.from_mts = aer_link_mts(from->speed), .from_width = from->width,
		.to_mts = aer_link_mts(to->speed), .to_width = to->width,
		.max_mts = aer_link_mts(max->speed), .max_width = max->width,
	};
	struct aer_dev dev;

	aer_dev_read(&dev, port);
	e.id = aer_id(&dev);
	e.dev = &dev;
	/* Not of port->subordinate, which goes when the port is removed though we hold it. */
	pci_read_config_byte(port, PCI_SECONDARY_BUS, &e.bus);
	trace_pcie_link_change(0, dev.bdf, (u64)e.to_mts * e.to_width, means, &e);
}

/* Has the link changed since the last look? The first look is only remembered. */
static void aer_link_check(struct pci_dev *port, u8 means)
{
	struct aer_link from, to, max;
	struct kstall_slot slot;
	bool found;

	if (!aer_link_read(port, &to, &max) ||
	    !kstall_inflight_find_or_insert(&aer_links, aer_bdf(port) + 1, kstall_now(), &slot,
					    &found))
		return;
	from = *(struct aer_link *)slot.rec;
	*(struct aer_link *)slot.rec = to;
	kstall_inflight_unlock(&slot);
	if (found && (from.speed != to.speed || from.width != to.width))
		aer_link_emit(port, &from, &to, &max, means);
}

/* Is it time to poll? The first time is when the table is new. */
static bool aer_link_due(void)
{
	u64 now = kstall_now();
	struct kstall_slot slot;
	struct aer_link *clock;
	bool found, due;

	if (!kstall_inflight_find_or_insert(&aer_links, 0, now, &slot, &found))
		return false;
	clock = slot.rec;
	due = !found || (READ_ONCE(link_poll_ms) && clock->next_ns <= now);
	if (due)
		clock->next_ns = now + (u64)READ_ONCE(link_poll_ms) * NSEC_PER_MSEC;
	kstall_inflight_unlock(&slot);
	return due;
}

/* Ten times a second while the event is enabled, process context. */
void aer_link_poll(void)
{
	struct pci_dev *pdev = NULL;

	if (!aer_link_due())
		return;
	for_each_pci_dev(pdev) {
		if (!aer_is_link_port(pdev))
			continue;
		preempt_disable();
		aer_link_check(pdev, AER_MEANS_POLL);
		preempt_enable();
	}
}

/* pci:pcie_link_event, since 7.0. Hardirq at times; the kernel has just read the same register. */
KSTALL_PROBE(aer_on_link,
	     TP_PROTO(struct pci_bus *bus, unsigned int reason, unsigned int width,
		      unsigned int status),
	     TP_ARGS(bus, reason, width, status))
{
	if (bus->self && aer_is_link_port(bus->self))
		aer_link_check(bus->self, AER_MEANS_REASON + reason);
}
#ifdef HAVE_PCIE_LINK_EVENT
KSTALL_CHECK_PROBE(pcie_link_event, aer_on_link);
#endif
