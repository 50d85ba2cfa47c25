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
 *
 * Context: the device is locked and has a driver. iommu_get_domain_for_dev() is for drivers only:
 * the IOMMU group of a device that goes is freed without a word (iommu_release_device()).
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

/* The IOMMU that translates for a device, and a copy of it. Context: as above. */
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
static DEFINE_MUTEX(it_units_lock);	/* adding to them */

static void it_unit_add(struct pci_dev *pdev, const struct iommu_device *iommu,
			const struct iommu_device *copy)
{
	struct it_unit *unit = &it_units[it_nr_units];
	unsigned int i;

	if (it_nr_units == ARRAY_SIZE(it_units))
		return;
	for (i = 0; i < it_nr_units; i++) {
		if (it_units[i].at == (unsigned long)iommu)
			return;
	}
	*unit = (struct it_unit){
		.at = (unsigned long)iommu, .node = dev_to_node(&pdev->dev),
		.segment = pci_domain_nr(pdev->bus),
	};
	it_driver_name(copy, unit->driver, sizeof(unit->driver));
	it_iommu_name(copy, unit->name);
	/* Pairs with it_unit_find(). */
	smp_store_release(&it_nr_units, it_nr_units + 1);
}

static void it_unit_note(struct pci_dev *pdev)
{
	struct iommu_device copy, *iommu = it_iommu_of(&pdev->dev, &copy);

	if (!iommu || !copy.dev)
		return;
	mutex_lock(&it_units_lock);
	it_unit_add(pdev, iommu, &copy);
	mutex_unlock(&it_units_lock);
}

/*
 * How far above what its driver knows an IOMMU by the core's struct iommu_device is: part of the
 * same object, so that one of another object above is further away. The least that was seen.
 */
static unsigned long it_unit_offset = SZ_64K;

/**
 * it_unit_find() - which IOMMU a driver means
 * @at: pointer to what the driver knows it by, its struct intel_iommu for instance, of which all
 *	but the struct iommu_device in it is the driver's secret
 * @unit: gets a copy; empty if it is not known
 *
 * Any context. Return: true if it is known.
 */
bool it_unit_find(unsigned long at, struct it_unit *unit)
{
	/* Pairs with it_unit_add(). */
	unsigned int nr = smp_load_acquire(&it_nr_units);
	unsigned long nearest = READ_ONCE(it_unit_offset);
	unsigned int i;

	*unit = (struct it_unit){ .node = NUMA_NO_NODE };
	for (i = 0; i < nr; i++) {
		if (it_units[i].at - at > nearest)
			continue;
		nearest = it_units[i].at - at;
		*unit = it_units[i];
	}
	if (unit->at)
		WRITE_ONCE(it_unit_offset, nearest);
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
	rcu_read_lock();	/* the table may go: nothing waits for it_on_bus() */
	if (kstall_inflight_find_or_insert(&it_homes, (unsigned long)domain, scan, &slot, &found)) {
		rec = slot.rec;
		if (rec->scan != scan)
			*rec = home;
		rec->devices++;
		kstall_inflight_unlock(&slot);
	}
	rcu_read_unlock();
}

/* @ops: gets its domain's, if it has one. Context: as for it_domain_of(). Return: it has. */
static bool it_look(struct pci_dev *pdev, u64 scan, struct iommu_domain_ops *ops)
{
	struct iommu_domain *domain = it_domain_of(&pdev->dev, ops);

	it_unit_note(pdev);
	if (!domain)
		return false;
	it_home_note(domain, &pdev->dev, scan);
	return true;
}

/* A domain that no device is in any more: another may come to be in its place. */
static bool it_home_left(const struct kstall_node *node, u64 scan)
{
	return ((const struct it_home *)node->rec)->scan < scan;
}

static unsigned long it_again;	/* jiffies of the next look, 0: none; under kstall.lock */

/**
 * it_scan() - look at all devices: which is in which domain
 * @first: gets the operations of this node's IOMMU driver, whichever it is: its flushing functions
 *	are what the core calls through domain->ops. Names would not do, arm-smmu and arm-smmu-v3
 *	have the same
 *
 * Process context, may sleep, but does not wait for a device's lock, which a driver may hold for as
 * long as its device does not answer: such devices are looked at a second later.
 */
void it_scan(struct iommu_domain_ops *first)
{
	struct pci_dev *pdev = NULL;
	u64 scan = kstall_now();
	bool all = true;

	memset(first, 0, sizeof(*first));
	for_each_pci_dev(pdev) {
		struct iommu_domain_ops ops;

		if (!device_trylock(&pdev->dev)) {
			it_again = it_again ?: (jiffies + HZ) | 1;
			all = false;
			continue;
		}
		if (pdev->dev.driver && it_look(pdev, scan, &ops) && !first->iotlb_sync)
			*first = ops;
		device_unlock(&pdev->dev);
	}
	if (all)
		kstall_inflight_purge(&it_homes, it_home_left, scan);
}

/* Ten times a second for each enabled event that names domains or IOMMUs; never twice at once. */
void it_rescan(void)
{
	bool attached = xchg(&it_attached, false);

	if (!attached && (!it_again || time_before(jiffies, it_again)))
		return;
	it_again = attached ? (jiffies + HZ / 20) | 1 : 0;
	kstall_rearm();
}

/*
 * A device gets a driver, which is about to be probed. It is locked until that is done: now is the
 * time to ask for its domain.
 */
static int it_on_bus(struct notifier_block *nb, unsigned long action, void *data)
{
	struct iommu_domain_ops ops;

	if (action != BUS_NOTIFY_BIND_DRIVER)
		return NOTIFY_DONE;
	it_look(to_pci_dev(data), kstall_now(), &ops);
	WRITE_ONCE(it_attached, true);
	return NOTIFY_DONE;
}

static struct notifier_block it_bus_nb = { .notifier_call = it_on_bus };

int it_domains_init(void)
{
	return bus_register_notifier(&pci_bus_type, &it_bus_nb);
}

void it_domains_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &it_bus_nb);
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

KSTALL_FN(void, iotlb_sync, struct iommu_domain *, domain, struct iommu_iotlb_gather *, gather);
KSTALL_CHECK_FN(iotlb_sync, *KSTALL_OP(const struct iommu_domain_ops, iotlb_sync));

bool it_sync_enter(void *data, struct pt_regs *regs)
{
	const struct iommu_iotlb_gather *gather = kstall_arg(regs, iotlb_sync, gather);
	struct it_sync_call *call = data;

	call->domain = kstall_arg(regs, iotlb_sync, domain);
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

KSTALL_FN(void, flush_iotlb_all, struct iommu_domain *, domain);
KSTALL_CHECK_FN(flush_iotlb_all, *KSTALL_OP(const struct iommu_domain_ops, flush_iotlb_all));

bool it_flush_enter(void *data, struct pt_regs *regs)
{
	struct it_sync_call *call = data;

	call->domain = kstall_arg(regs, flush_iotlb_all, domain);
	call->type = call->domain->type;
	call->start = 0;
	call->end = U64_MAX;
	call->pgsize = 0;
	call->start_ns = kstall_now();
	return true;
}

/* What waited on all CPUs; not what is left of a domain that was in the same place. */
static void it_queue_take(const struct it_sync_call *call, struct it_queue *all)
{
	u64 domain = (unsigned long)call->domain;
	struct it_queue queue;
	unsigned int cpu;

	*all = (struct it_queue){ };
	for_each_possible_cpu(cpu) {
		if (!kstall_inflight_take(&it_queues, it_queue_key(domain, cpu), &queue) ||
		    queue.first_ns + IT_QUEUE_MAX_NS < call->start_ns)
			continue;
		all->entries += queue.entries;
		all->bytes += queue.bytes;
		if (!all->first_ns || queue.first_ns < all->first_ns)
			all->first_ns = queue.first_ns;
	}
}

static void it_queue_emit(const struct it_sync_call *call, u64 duration_ns)
{
	u8 reason = kstall_own_find(&it_timers) ? IT_FQ_TIMEOUT : IT_FQ_FULL;
	struct kstall_iommu_fq e = { .call = call };
	struct it_queue queue;
	struct it_home home;

	it_queue_take(call, &queue);
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
