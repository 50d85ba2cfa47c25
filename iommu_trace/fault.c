// SPDX-License-Identifier: GPL-2.0
/* fault.c - DMA that an IOMMU refused */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dmar.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include <trace/events/iommu.h>

#include "iommu_trace.h"
#include "iommu_trace_events.h"

/* The first at once, what follows at once, of the same key, summed up. */
static void it_fault_note(struct it_fault *fault, u64 key)
{
	u64 now = kstall_now();
	struct kstall_slot slot;

	if (kstall_fold_hit(&it_faults, key, now, &slot)) {
		fault->folded = ((struct it_fault *)slot.rec)->folded;
		fault->overflow |= ((struct it_fault *)slot.rec)->overflow;
		*(struct it_fault *)slot.rec = *fault;
		kstall_inflight_unlock(&slot);
		return;
	}
	fault->folded = (struct kstall_folded){ .count = 1, .first_ns = now, .last_ns = now };
	it_fault_emit(&fault->folded);
}

/* In the fault's context, or the worker. No task has caused it. */
void it_fault_emit(const struct kstall_folded *folded)
{
	const struct it_fault *fault = container_of(folded, struct it_fault, folded);
	struct kstall_iommu_fault e = { .fault = fault };

	if (!trace_iommu_fault_enabled())
		return;
	preempt_disable();
	e.id = (struct kstall_id){ .dev = fault->dev, .dev_node = fault->node,
				   .cpu_node = numa_node_id(), .who = &kstall_nobody };
	trace_iommu_fault(0, fault->addr, folded->count, fault->reason, &e);
	preempt_enable();
}

/* ---- what drivers report ---- */

/* iommu:io_page_fault */
KSTALL_PROBE(it_on_page_fault, TP_PROTO(struct device *dev, unsigned long iova, int flags),
	     TP_ARGS(dev, iova, flags))
{
	struct it_fault fault = {
		.node = dev ? dev_to_node(dev) : NUMA_NO_NODE, .pasid = -1, .addr = iova,
		.raw = flags, .source = IT_FAULT_REPORT, .write = flags & IOMMU_FAULT_WRITE,
	};

	if (dev)
		strscpy(fault.dev, dev_name(dev), sizeof(fault.dev));
	it_fault_note(&fault, (unsigned long)dev);
}
KSTALL_CHECK_PROBE(io_page_fault, it_on_page_fault);

/* ---- Intel's ---- */

/* Registers of VT-d's remapping hardware */
#define VTD_CAP			0x08
#define VTD_FSTS		0x34
#define VTD_FSTS_OVERFLOW	BIT(0)
#define VTD_FSTS_PENDING	BIT(1)
#define VTD_RECORD_FAULT	BIT(31)

/* What struct intel_iommu begins with, unchanged since 2.6.29 but for the two in the middle. */
struct it_intel_head {
	unsigned long reg;
	u64 reg_phys;
	u64 reg_size;
	u64 cap;
};

/* A register, or false if there is none: nothing vouches for the pointer we have it from. */
static bool it_vtd_read(unsigned long addr, u32 *val)
{
	return !get_kernel_nofault(*val, (u32 *)addr);
}

static bool it_vtd_readq(unsigned long addr, u64 *val)
{
	u32 low, high;

	if (!it_vtd_read(addr, &low) || !it_vtd_read(addr + 4, &high))
		return false;
	*val = (u64)high << 32 | low;
	return true;
}

/* Its head, if it is one: the copy of the capabilities is what the register says. */
static bool it_intel_head(unsigned long iommu, struct it_intel_head *head)
{
	u64 cap;

	return !copy_from_kernel_nofault(head, (void *)iommu, sizeof(*head)) &&
	       is_vmalloc_addr((void *)head->reg) &&
	       it_vtd_readq(head->reg + VTD_CAP, &cap) && cap == head->cap;
}

static void it_intel_note(unsigned long iommu, const struct it_unit *unit, const u32 *rec,
			  u32 status)
{
	u16 source = rec[2] & 0xffff;
	struct it_fault fault = {
		.node = unit->node, .source = IT_FAULT_INTEL, .raw = rec[3],
		.addr = ((u64)rec[1] << 32 | rec[0]) & ~0xfffULL,
		.reason = rec[3] & 0xff, .write = !(rec[3] & BIT(30)),
		.pasid = rec[2] & BIT(31) ? (rec[3] >> 8) & 0xfffff : -1,
		.overflow = status & VTD_FSTS_OVERFLOW,
	};

	snprintf(fault.dev, sizeof(fault.dev), "%04x:%02x:%02x.%d", unit->segment,
		 PCI_BUS_NUM(source), PCI_SLOT(source), PCI_FUNC(source));
	strscpy(fault.iommu, unit->name, sizeof(fault.iommu));
	/* A kernel pointer's upper 16 bits are all set. */
	it_fault_note(&fault, (u64)iommu << 16 | source);
}

KSTALL_FN(irqreturn_t, dmar_fault, int, irq, void *, dev_id);
KSTALL_CHECK_FN(dmar_fault, dmar_fault);

/* Hardirq. The kernel is about to read the records and clear them; reading has no side effects. */
bool it_fault_intel(void *data, struct pt_regs *regs)
{
	/* a struct intel_iommu */
	unsigned long iommu = (unsigned long)kstall_arg(regs, dmar_fault, dev_id);
	unsigned long records;
	struct it_intel_head head;
	u32 status, nr, at, i, j;
	struct it_unit unit;
	u32 rec[4];

	if (!it_intel_head(iommu, &head) || !it_vtd_read(head.reg + VTD_FSTS, &status) ||
	    !(status & VTD_FSTS_PENDING))
		return false;
	it_unit_find(iommu, &unit);
	records = head.reg + ((head.cap >> 24) & 0x3ff) * 16;
	nr = ((head.cap >> 40) & 0xff) + 1;
	at = (status >> 8) & 0xff;
	for (i = 0; i < nr; i++) {
		for (j = 0; j < ARRAY_SIZE(rec); j++) {
			if (!it_vtd_read(records + ((at + i) % nr) * sizeof(rec) + 4 * j, &rec[j]))
				return false;
		}
		if (!(rec[3] & VTD_RECORD_FAULT))
			break;
		it_intel_note(iommu, &unit, rec, status);
	}
	return false;
}
