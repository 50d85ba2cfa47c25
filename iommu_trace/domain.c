// SPDX-License-Identifier: GPL-2.0
/* domain.c - flushes of the IOMMUs' TLBs, and which devices wait for them */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pci.h>
#include <linux/uaccess.h>
#include <trace/events/iommu.h>

#include "iommu_trace.h"
#include "iommu_trace_events.h"

/* ---- which domains there are ---- */

/* A device has been attached to a domain since the last look. */
static bool it_attached = true;

/*
 * A domain of a device, and its operations. The domain is not ours to hold and may be freed at
 * any moment: nothing is read from it that may fault, and what is read is only kept or compared.
 */
static struct iommu_domain *it_domain_of(struct device *dev, struct iommu_domain_ops *ops)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);
	const struct iommu_domain_ops *its;
	unsigned int type;

	if (IS_ERR_OR_NULL(domain) || get_kernel_nofault(type, &domain->type) ||
	    !(type & __IOMMU_DOMAIN_PAGING) || get_kernel_nofault(its, &domain->ops) ||
	    copy_from_kernel_nofault(ops, its, sizeof(*ops)))
		return NULL;
	return domain;
}

/*
 * The IOMMU that translates for a device, and a copy of it. It is not ours to hold either: a device
 * that goes, as VFs do, has its dev->iommu freed while we look (dev_iommu_free()).
 */
static struct iommu_device *it_iommu_of(struct device *dev, struct iommu_device *copy)
{
	struct dev_iommu *param = READ_ONCE(dev->iommu);
	struct iommu_device *iommu;

	if (!param || get_kernel_nofault(iommu, &param->iommu_dev) || !iommu ||
	    copy_from_kernel_nofault(copy, iommu, sizeof(*copy)))
		return NULL;
	return iommu;
}

/* The IOMMU's own name, as dmar0; empty if that cannot be read. @name: IT_NAME_LEN bytes */
static void it_iommu_name(const struct iommu_device *iommu, char *name)
{
	const char *its;

	if (!iommu->dev || get_kernel_nofault(its, &iommu->dev->kobj.name) ||
	    copy_from_kernel_nofault(name, its, IT_NAME_LEN - 1))
		*name = '\0';
	name[IT_NAME_LEN - 1] = '\0';
}

/* The IOMMU's driver: "intel_iommu" of "intel_iommu_ops" */
static void it_driver_name(const struct iommu_device *iommu, char *name, size_t size)
{
	char sym[KSYM_SYMBOL_LEN];
	char *suffix;

	kstall_symbol_at(sym, sizeof(sym), iommu->ops);
	sym[strcspn(sym, " ")] = '\0';
	suffix = strrchr(sym, '_');
	if (suffix && !strcmp(suffix, "_ops"))
		*suffix = '\0';
	strscpy(name, sym, size);
}

/*
 * The IOMMUs that have devices. None is taken off: whoever looks is in a probe, and a name that
 * outlives its IOMMU by accident does no harm.
 */
static struct it_unit it_units[128];
static unsigned int it_nr_units;

static void it_unit_note(struct pci_dev *pdev)
{
	struct it_unit *unit = &it_units[it_nr_units];
	struct iommu_device copy, *iommu;
	unsigned int i;

	if (it_nr_units == ARRAY_SIZE(it_units))
		return;
	iommu = it_iommu_of(&pdev->dev, &copy);
	if (!iommu || !copy.dev)
		return;
	for (i = 0; i < it_nr_units; i++) {
		if (it_units[i].at == (unsigned long)iommu)
			return;
	}
	*unit = (struct it_unit){
		.at = (unsigned long)iommu, .node = dev_to_node(&pdev->dev),
		.segment = pci_domain_nr(pdev->bus),
	};
	it_driver_name(&copy, unit->driver, sizeof(unit->driver));
	it_iommu_name(&copy, unit->name);
	/* Pairs with it_unit_find(). */
	smp_store_release(&it_nr_units, it_nr_units + 1);
}

/**
 * it_unit_find() - which IOMMU a driver means
 * @at: pointer to what the driver knows it by, its struct intel_iommu for instance. What is in
 *	that is the driver's secret, but the struct iommu_device that the core knows it by is part
 *	of it, so that the next one above is its own
 * @unit: gets a copy; empty if it is not known
 *
 * Any context. Return: true if it is known.
 */
bool it_unit_find(unsigned long at, struct it_unit *unit)
{
	/* Pairs with it_unit_note(). */
	unsigned int nr = smp_load_acquire(&it_nr_units);
	unsigned long nearest = SZ_64K;
	unsigned int i;

	*unit = (struct it_unit){ .node = NUMA_NO_NODE };
	for (i = 0; i < nr; i++) {
		if (it_units[i].at - at >= nearest)
			continue;
		nearest = it_units[i].at - at;
		*unit = it_units[i];
	}
	return unit->at;
}

static void it_home_note(struct iommu_domain *domain, struct device *dev, u64 scan)
{
	struct it_home home = { .node = dev_to_node(dev), .scan = scan };
	struct iommu_device iommu;
	struct kstall_slot slot;
	struct it_home *rec;
	bool found;

	strscpy(home.dev, dev_name(dev), sizeof(home.dev));
	if (it_iommu_of(dev, &iommu)) {
		it_driver_name(&iommu, home.driver, sizeof(home.driver));
		it_iommu_name(&iommu, home.iommu);
	}
	if (!kstall_inflight_find_or_insert(&it_homes, (unsigned long)domain, scan, &slot, &found))
		return;
	rec = slot.rec;
	if (rec->scan != scan)
		*rec = home;
	rec->devices++;
	kstall_inflight_unlock(&slot);
}

/**
 * it_scan() - look at all devices: who is in which domain
 * @first: gets the operations of this node's IOMMU driver, whichever it is: its flushing functions
 *	are what the core calls through domain->ops. Names would not do, arm-smmu and arm-smmu-v3
 *	have the same
 *
 * Process context, may sleep.
 */
void it_scan(struct iommu_domain_ops *first)
{
	struct pci_dev *pdev = NULL;
	u64 scan = kstall_now();

	memset(first, 0, sizeof(*first));
	for_each_pci_dev(pdev) {
		struct iommu_domain_ops ops;
		struct iommu_domain *domain = it_domain_of(&pdev->dev, &ops);

		it_unit_note(pdev);
		if (!domain)
			continue;
		if (!first->iotlb_sync)
			*first = ops;
		it_home_note(domain, &pdev->dev, scan);
	}
}

/* Ten times a second for each enabled event that names domains or IOMMUs; never twice at once. */
void it_rescan(void)
{
	static unsigned long again;	/* jiffies of the second look, 0: none */
	bool attached = xchg(&it_attached, false);

	if (!attached && (!again || time_before(jiffies, again)))
		return;
	again = attached ? (jiffies + HZ / 20) | 1 : 0;
	kstall_rearm();
}

/* iommu:attach_device_to_domain, a little before the device's domain has changed: look twice. */
KSTALL_PROBE(it_on_attach, TP_PROTO(struct device *dev), TP_ARGS(dev))
{
	WRITE_ONCE(it_attached, true);
}
KSTALL_CHECK_PROBE(attach_device_to_domain, it_on_attach);

/* For the status file. Process context. */
void it_translated(unsigned int *devices, unsigned int *translated)
{
	struct pci_dev *pdev = NULL;

	*devices = 0;
	*translated = 0;
	for_each_pci_dev(pdev) {
		++*devices;
		*translated += it_dma_iommu(&pdev->dev);
	}
}

/* ---- a flush ---- */

/* Return: false, and an empty home, if it was not among the devices at the last look. */
static bool it_home_peek(const struct iommu_domain *domain, struct it_home *home)
{
	struct kstall_slot slot;

	if (!kstall_inflight_find(&it_homes, (unsigned long)domain, &slot)) {
		*home = (struct it_home){ .node = NUMA_NO_NODE };
		return false;
	}
	*home = *(struct it_home *)slot.rec;
	kstall_inflight_unlock(&slot);
	return true;
}

static void it_sync_emit(const struct it_sync_call *call, bool all, u64 duration_ns)
{
	struct kstall_iommu_sync e = { .call = call, .all = all };
	struct it_home home;
	u64 pages = 0;

	if (!kstall_long_enough(&kstall_event_iommu_iotlb_sync, duration_ns))
		return;
	it_home_peek(call->domain, &home);
	if (call->start <= call->end)
		pages = (call->end - call->start + 1) >> PAGE_SHIFT;
	e.id = it_id(home.dev, home.node);
	e.home = &home;
	trace_iommu_iotlb_sync(duration_ns, call->start, pages, all, &e);
}

/* iotlb_sync(struct iommu_domain *, struct iommu_iotlb_gather *) */
bool it_sync_enter(void *data, struct pt_regs *regs)
{
	const struct iommu_iotlb_gather *gather = (void *)regs_get_kernel_argument(regs, 1);
	struct it_sync_call *call = data;

	call->domain = (struct iommu_domain *)regs_get_kernel_argument(regs, 0);
	call->type = call->domain->type;
	call->start = gather->start;
	call->end = gather->end;
	call->pgsize = gather->pgsize;
	call->start_ns = kstall_now();
	return true;
}

void it_sync_return(void *data, struct pt_regs *regs)
{
	const struct it_sync_call *call = data;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);

	it_part_add(0, 0, duration_ns, 0);
	if (trace_iommu_iotlb_sync_enabled())
		it_sync_emit(call, false, duration_ns);
}

/* flush_iotlb_all(struct iommu_domain *) */
bool it_flush_enter(void *data, struct pt_regs *regs)
{
	struct it_sync_call *call = data;

	call->domain = (struct iommu_domain *)regs_get_kernel_argument(regs, 0);
	call->type = call->domain->type;
	call->start = 0;
	call->end = U64_MAX;
	call->pgsize = 0;
	call->start_ns = kstall_now();
	return true;
}

static void it_queue_emit(const struct it_sync_call *call, u64 duration_ns)
{
	u8 reason = kstall_own_find(&it_timers) ? IT_FQ_TIMEOUT : IT_FQ_FULL;
	struct kstall_iommu_fq e = { .call = call };
	struct it_queue queue = { };
	struct it_home home;

	kstall_inflight_take(&it_queues, (unsigned long)call->domain, &queue);
	if (!kstall_long_enough(&kstall_event_iommu_fq_flush, duration_ns))
		return;
	it_home_peek(call->domain, &home);
	e.id = it_id(home.dev, home.node);
	e.home = &home;
	e.bytes = queue.bytes;
	e.waited_ns = queue.first_ns ? kstall_delta(call->start_ns, queue.first_ns) : 0;
	trace_iommu_fq_flush(duration_ns, 0, queue.entries, reason, &e);
}

void it_flush_return(void *data, struct pt_regs *regs)
{
	const struct it_sync_call *call = data;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);

	it_part_add(0, 0, duration_ns, 0);
	if (trace_iommu_iotlb_sync_enabled())
		it_sync_emit(call, true, duration_ns);
	if (trace_iommu_fq_flush_enabled() && call->type == IOMMU_DOMAIN_DMA_FQ)
		it_queue_emit(call, duration_ns);
}

/* fq_flush_timeout(struct timer_list *): flushes inside are for time, others for a full queue */
bool it_timer_enter(void *data, struct pt_regs *regs)
{
	return kstall_own_claim(&it_timers, kstall_now());
}

void it_timer_return(void *data, struct pt_regs *regs)
{
	void *own = kstall_own_find(&it_timers);

	if (own)
		kstall_own_release(own);
}
