// SPDX-License-Identifier: GPL-2.0
/* report.c - what devices report, and what the kernel dropped of it */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/aer.h>
#include <linux/interrupt.h>
#include <linux/uaccess.h>
#include <ras/ras_event.h>

#include "aer_trace.h"
#include "aer_trace_events.h"

const struct kstall_who aer_nobody;

/* ---- the device ---- */

/*
 * Reads a device that the caller holds. Its driver may be unbound meanwhile, but not freed: its
 * module goes a grace period later, and preemption is disabled here.
 */
void aer_dev_read(struct aer_dev *dev, struct pci_dev *pdev)
{
	const struct device_driver *driver = READ_ONCE(pdev->dev.driver);
	const struct pci_dev *root = pcie_find_root_port(pdev);

	memset(dev, 0, sizeof(*dev));
	strscpy(dev->name, pci_name(pdev), sizeof(dev->name));
	if (root)
		strscpy(dev->root_port, pci_name(root), sizeof(dev->root_port));
	if (driver)
		strscpy(dev->driver, driver->name, sizeof(dev->driver));
	dev->bdf = aer_bdf(pdev);
	dev->class = pdev->class;
	dev->vendor = pdev->vendor;
	dev->device = pdev->device;
	dev->node = dev_to_node(&pdev->dev);
}

/* All there is to say of a device of which only the name is known. */
static void aer_dev_named(struct aer_dev *dev, const char *name)
{
	unsigned int domain, bus, slot, fn;

	memset(dev, 0, sizeof(*dev));
	strscpy(dev->name, name, sizeof(dev->name));
	dev->node = NUMA_NO_NODE;
	if (sscanf(name, "%x:%x:%x.%u", &domain, &bus, &slot, &fn) == 4)
		dev->bdf = (u64)domain << 16 | bus << 8 | PCI_DEVFN(slot, fn);
}

/* Is there a device at @addr, and @name its very name? @addr may be anything. */
static struct pci_dev *aer_dev_if(unsigned long addr, const char *name)
{
	struct pci_dev *pdev = (struct pci_dev *)addr;
	const char *its;

	if (!addr || get_kernel_nofault(its, &pdev->dev.kobj.name) || its != name)
		return NULL;
	return pdev;
}

/*
 * The device in the arguments of the function that reports its error, which holds it. They are
 * (pdev, info) up to 6.15 and (info, i) since, the info beginning with an array of devices. It is
 * a private structure: nothing is taken from it that does not prove to be the device of that name.
 */
static struct pci_dev *aer_reported_dev(const struct aer_report *r, const char *name)
{
	struct pci_dev *pdev = aer_dev_if(r->arg, name);
	unsigned long addr;

	if (pdev || r->index >= 8 ||
	    get_kernel_nofault(addr, (unsigned long *)r->arg + r->index))
		return pdev;
	return aer_dev_if(addr, name);
}

/* ---- the device that reports ---- */

static bool aer_report_same(const struct aer_report *a, const struct aer_report *b)
{
	return a->arg == b->arg && a->index == b->index && a->regs == b->regs &&
	       a->source == b->source;
}

/*
 * 7.3 reports an Advisory Non-Fatal Error twice: its function calls itself, with the same device
 * and registers. Return: false inside such a report, or where there is no room (counted).
 */
static bool aer_report_begin(const struct aer_report *r)
{
	struct kstall_slot slot;
	bool same = false;

	if (kstall_inflight_find(&aer_reports, (unsigned long)current, &slot)) {
		same = aer_report_same(slot.rec, r);
		kstall_inflight_unlock(&slot);
	}
	if (same ||
	    !kstall_inflight_insert(&aer_reports, (unsigned long)current, kstall_now(), &slot))
		return false;
	*(struct aer_report *)slot.rec = *r;
	kstall_inflight_unlock(&slot);
	return true;
}

/* (struct pci_dev *, struct aer_err_info *), or since 6.16 (struct aer_err_info *, int) */
KSTALL_FN(void, aer_print_error, unsigned long, dev_or_info, unsigned long, info_or_index);

bool aer_print_enter(void *data, struct pt_regs *regs)
{
	struct aer_report r = {
		.arg = kstall_arg(regs, aer_print_error, dev_or_info),
		.index = kstall_arg(regs, aer_print_error, info_or_index),
		.source = AER_NATIVE,
	};
	struct kstall_slot slot;

	if (kstall_inflight_find(&aer_dpcs, (unsigned long)current, &slot)) {
		kstall_inflight_unlock(&slot);
		r.source = AER_DPC;
	}
	return aer_report_begin(&r);
}

/*
 * Before 6.5 its name is cper_print_aer(). In 7.3 the compiler inlines it: what it calls,
 * __pci_print_aer(), has two arguments more.
 */
KSTALL_FN(void, pci_print_aer, struct pci_dev *, dev, int, aer_severity,
	  struct aer_capability_regs *, aer);
KSTALL_CHECK_DECLARED(pci_print_aer);

bool aer_firmware_enter(void *data, struct pt_regs *regs)
{
	const struct aer_report r = {
		.arg = (unsigned long)kstall_arg(regs, pci_print_aer, dev),
		.regs = kstall_arg(regs, pci_print_aer, aer),
		.source = AER_FIRMWARE,
	};

	return aer_report_begin(&r);
}

void aer_report_return(void *data, struct pt_regs *regs)
{
	struct aer_report r;

	if (!kstall_inflight_take(&aer_reports, (unsigned long)current, &r))
		kstall_inflight_unmatched(&aer_reports);
}

/* dpc_process_error(struct pci_dev *): what is reported inside was found by containment */
bool aer_dpc_process_enter(void *data, struct pt_regs *regs)
{
	struct kstall_slot slot;

	if (!kstall_inflight_insert(&aer_dpcs, (unsigned long)current, kstall_now(), &slot))
		return false;
	kstall_inflight_unlock(&slot);
	return true;
}

void aer_dpc_process_return(void *data, struct pt_regs *regs)
{
	u64 rec;

	kstall_inflight_take(&aer_dpcs, (unsigned long)current, &rec);
}

/* ---- registers ---- */

struct aer_regs {
	u32 status;
	u32 mask;
	u32 cap;
};

/*
 * Of a native report: read from the device, as the kernel has a moment ago; the status is not
 * cleared yet. No status: the link is taken for dead, and nothing is read.
 */
static void aer_regs_read(struct aer_regs *regs, const struct aer_report *r, struct pci_dev *pdev,
			  u32 status, bool correctable)
{
	int where = correctable ? PCI_ERR_COR_MASK : PCI_ERR_UNCOR_MASK;

	*regs = (struct aer_regs){ .status = status };
	if (r->regs) {
		regs->status = correctable ? r->regs->cor_status : r->regs->uncor_status;
		regs->mask = correctable ? r->regs->cor_mask : r->regs->uncor_mask;
		regs->cap = r->regs->cap_control;
		return;
	}
	if (!pdev || !status || !pdev->aer_cap)
		return;
	if (pci_read_config_dword(pdev, pdev->aer_cap + where, &regs->mask))
		regs->mask = 0;
	if (correctable &&
	    (pci_read_config_dword(pdev, pdev->aer_cap + PCI_ERR_COR_STATUS, &regs->status) ||
	     PCI_POSSIBLE_ERROR(regs->status)))
		regs->status = status;
	if (!correctable && pci_read_config_dword(pdev, pdev->aer_cap + PCI_ERR_CAP, &regs->cap))
		regs->cap = 0;
}

/* ---- correctable ---- */

static void aer_cor_emit(const struct aer_cor *c)
{
	struct kstall_aer_cor e = { .id = aer_id(&c->dev), .cor = c };

	trace_aer_correctable(c->since_ns, c->dev.bdf, c->folded.count, c->bit, &e);
}

void aer_fold_emit(const struct kstall_folded *folded)
{
	preempt_disable();
	aer_cor_emit(container_of(folded, struct aer_cor, folded));
	preempt_enable();
}

/* Moves the minute's window to @sec and adds one. */
static void aer_minute_add(struct aer_count *n, u32 sec)
{
	sec = max(sec, n->now);
	if (sec - n->now >= AER_MINUTE) {
		memset(n->slot, 0, sizeof(n->slot));
		n->minute = 0;
		n->now = sec;
	}
	while (n->now < sec) {
		u32 *oldest = &n->slot[++n->now % AER_MINUTE];

		n->minute -= *oldest;
		*oldest = 0;
	}
	n->slot[sec % AER_MINUTE]++;
	n->minute++;
}

/* Counts an error, in @c too. Return: is it within the rate? */
static bool aer_count_add(struct aer_count *n, u64 now, struct aer_cor *c)
{
	aer_minute_add(n, div_u64(now, NSEC_PER_SEC));
	if (n->total++)
		c->since_ns = kstall_delta(now, n->last_ns);
	n->last_ns = now;
	c->total = n->total;
	c->minute = n->minute;
	if (now - n->second_ns >= NSEC_PER_SEC) {
		n->second_ns = now;
		n->emitted = 0;
	}
	return n->emitted++ < READ_ONCE(aer_correctable_per_s);
}

/* Into the record of those that have no event each. */
static void aer_cor_fold(struct aer_cor *sum, const struct aer_cor *c)
{
	const struct kstall_folded folded = sum->folded;
	u64 since_ns = folded.count > 1 ? sum->since_ns : c->since_ns;
	u32 status = sum->status | c->status, raw_status = sum->raw_status | c->raw_status;

	*sum = *c;
	sum->folded = folded;
	sum->since_ns = since_ns;
	sum->status = status;
	sum->raw_status = raw_status;
}

static void aer_cor_hit(struct aer_cor *c)
{
	u64 now = kstall_now(), key = c->dev.bdf << 8 | c->bit;
	struct kstall_slot slot;
	bool found, emit = true;

	c->since_ns = 0;
	if (kstall_inflight_find_or_insert(&aer_counts, key, now, &slot, &found)) {
		emit = aer_count_add(slot.rec, now, c);
		kstall_inflight_unlock(&slot);
	}
	if (!emit && kstall_fold_add(&aer_fold, key, now, &slot)) {
		aer_cor_fold(slot.rec, c);
		kstall_inflight_unlock(&slot);
		return;
	}
	c->folded = (struct kstall_folded){ .count = 1, .first_ns = now, .last_ns = now };
	aer_cor_emit(c);
}

/* ---- uncorrectable ---- */

#define AER_LOGS_TLP	(PCI_ERR_UNC_POISON_TLP | PCI_ERR_UNC_ECRC | PCI_ERR_UNC_UNSUP | \
			 PCI_ERR_UNC_COMP_ABORT | PCI_ERR_UNC_UNX_COMP | PCI_ERR_UNC_MALF_TLP)

#define TLP_FMT_4DW	1
#define TLP_FMT_DATA	2
#define TLP_FMT_PREFIX	4

static bool aer_tlp_is_message(u8 type)
{
	return (type & 0x18) == 0x10;
}

/* PCIe 6.0 table 2-3: what fmt and type say; the second is with data. */
static const char *aer_tlp_type(u8 fmt, u8 type)
{
	static const char * const names[][2] = {
		[0x00] = { "MRd", "MWr" }, [0x01] = { "MRdLk", NULL },
		[0x02] = { "IORd", "IOWr" }, [0x04] = { "CfgRd0", "CfgWr0" },
		[0x05] = { "CfgRd1", "CfgWr1" }, [0x0a] = { "Cpl", "CplD" },
		[0x0b] = { "CplLk", "CplDLk" }, [0x0c] = { NULL, "FetchAdd" },
		[0x0d] = { NULL, "Swap" }, [0x0e] = { NULL, "CAS" }, [0x1b] = { NULL, "DMWr" },
	};

	if (fmt & TLP_FMT_PREFIX)
		return "prefix";
	if (aer_tlp_is_message(type))
		return fmt & TLP_FMT_DATA ? "MsgD" : "Msg";
	return (type < ARRAY_SIZE(names) ? names[type][!!(fmt & TLP_FMT_DATA)] : NULL) ?: "?";
}

static void aer_tlp_decode(struct kstall_aer_uncor *u, const u32 *dw)
{
	u8 fmt = dw[0] >> 29, type = dw[0] >> 24 & 0x1f;
	bool completion = (type & 0x1e) == 0x0a;
	u32 id = completion ? dw[2] : dw[1];

	memcpy(u->tlp, dw, sizeof(u->tlp));
	u->tlp_type = aer_tlp_type(fmt, type);
	if (fmt & TLP_FMT_PREFIX)
		return;
	/* The length is that of the data, or of what a read asks for; else reserved. */
	if (fmt & TLP_FMT_DATA || type <= 0x05)
		u->tlp_bytes = ((dw[0] & 0x3ff) ?: 1024) * 4;
	u->tlp_requester = id >> 16;
	u->tlp_tag = id >> 8 & 0xff;
	if (completion)
		u->tlp_completer = dw[1] >> 16;
	else if (type <= 0x02 || (type >= 0x0c && type <= 0x0e) || type == 0x1b)
		u->tlp_addr = (fmt & TLP_FMT_4DW ? (u64)dw[2] << 32 | dw[3] : dw[2]) & ~3ULL;
}

/* @tlp: NULL if none was logged */
static void aer_uncor_hit(const struct aer_dev *dev, const struct aer_report *r,
			  const struct aer_regs *regs, u32 status, u8 severity, const u32 *tlp)
{
	struct kstall_aer_uncor u = {
		.id = aer_id(dev), .dev = dev, .source = r->source, .mask = regs->mask,
		.first_error = -1, .tlp_type = "",
	};

	if (status & BIT(PCI_ERR_CAP_FEP(regs->cap)))
		u.first_error = PCI_ERR_CAP_FEP(regs->cap);
	if (tlp)
		aer_tlp_decode(&u, tlp);
	trace_aer_uncorrectable(0, dev->bdf, status, severity, &u);
}

/* ---- the kernel's own tracepoint ---- */

static void aer_reported(const char *name, u32 status, u8 severity, bool tlp_valid,
			 const u32 *tlp)
{
	struct aer_report r = { .source = AER_UNKNOWN, .index = ULONG_MAX };
	bool correctable = severity == AER_CORRECTABLE;
	unsigned long bits = status;
	struct kstall_slot slot;
	struct aer_cor c = { };
	struct pci_dev *pdev;
	struct aer_regs regs;
	unsigned int bit;

	if (kstall_inflight_find(&aer_reports, (unsigned long)current, &slot)) {
		r = *(struct aer_report *)slot.rec;
		kstall_inflight_unlock(&slot);
	}
	pdev = aer_reported_dev(&r, name);
	if (pdev)
		aer_dev_read(&c.dev, pdev);
	else
		aer_dev_named(&c.dev, name);
	aer_regs_read(&regs, &r, pdev, status, correctable);
	if (!correctable) {
		/* 6.1 and 6.12 say this in too few bits of what comes from firmware. */
		tlp_valid |= r.regs && status & AER_LOGS_TLP;
		aer_uncor_hit(&c.dev, &r, &regs, status, severity, tlp_valid ? tlp : NULL);
		return;
	}
	c.status = status;
	c.raw_status = regs.status | status;
	c.mask = regs.mask;
	c.source = r.source;
	for_each_set_bit(bit, &bits, 32) {
		c.bit = bit;
		aer_cor_hit(&c);
	}
}

KSTALL_PROBE(aer_on_event, AER_EVENT_PROTO, AER_EVENT_ARGS)
{
	aer_reported(name, status, severity, tlp_valid, (const u32 *)tlp);
}
KSTALL_CHECK_PROBE(aer_event, aer_on_event);

/* ---- what the kernel's queue had no room for ---- */

KSTALL_FN(irqreturn_t, aer_irq, int, irq, void *, context);

/* The context is the port's struct pcie_device. */
bool aer_irq_enter(void *data, struct pt_regs *regs)
{
	struct aer_call *call = data;

	call->result = kstall_arg(regs, aer_irq, context);
	return true;
}

/*
 * aer_irq() wakes its thread if there was an error, and only if its queue is full it says that
 * all is done: the error's source is lost, with all the port had collected under it.
 */
void aer_irq_return(void *data, struct pt_regs *regs)
{
	/* struct pcie_device { int irq; struct pci_dev *port; ... }, private to drivers/pci/pcie */
	const struct { int irq; struct pci_dev *port; } *service;
	struct aer_cor c = { .bit = AER_QUEUE_FULL, .source = AER_NATIVE };
	struct pci_dev *port;
	typeof(port->dev.bus) bus;

	if (regs_return_value(regs) != IRQ_HANDLED)
		return;
	service = ((struct aer_call *)data)->result;
	if (get_kernel_nofault(port, &service->port) || get_kernel_nofault(bus, &port->dev.bus) ||
	    bus != &pci_bus_type)
		aer_dev_named(&c.dev, "");
	else
		aer_dev_read(&c.dev, port);
	aer_cor_hit(&c);
}
