// SPDX-License-Identifier: GPL-2.0
/* device.c - RDMA devices that come and go, and their ports */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "ib_cq_trace.h"
#include "ib_cq_trace_events.h"

/* More than that wait only while a port does not answer: those have an event without its state. */
#define IQ_PORT_EVENTS	256

/* An event of a port that is not emitted yet. */
struct iq_port_event {
	struct list_head node;
	enum ib_event_type type;
	u32 port;	/* 0: of the device as a whole */
};

/**
 * struct iq_device - a device; the client's data of it
 * @node: in iq_devices
 * @handler: takes its events of ports
 * @lock: guards @events and @nr_events
 * @events: struct iq_port_event, oldest first
 * @nr_events: how many they are
 * @work: emits them
 * @sweep: looks for its failed queue pairs
 */
struct iq_device {
	struct list_head node;
	struct ib_event_handler handler;
	spinlock_t lock;	/* events, nr_events */
	struct list_head events;
	unsigned int nr_events;
	struct work_struct work;
	struct iq_sweep sweep;
};

static LIST_HEAD(iq_devices);
static DEFINE_MUTEX(iq_devices_lock);	/* the list, and iq_wanted */
static bool iq_wanted;

/* @attr: what the port is, NULL if it is not known */
static void iq_port_event(struct ib_device *ibdev, enum ib_event_type type, u32 port,
			  const struct ib_port_attr *attr)
{
	struct kstall_who nobody = {};
	struct kstall_ib_port p = {};

	if (attr) {
		p.state = attr->state;
		p.lid = attr->lid;
		p.sm_lid = attr->sm_lid;
		p.speed = attr->active_speed;
		p.width = attr->active_width;
	}
	p.id = iq_id(ibdev, &nobody);
	trace_ib_port_event(0, port, 1, type, &p);
}

static struct iq_port_event *iq_next_event(struct iq_device *dev)
{
	struct iq_port_event *e;

	spin_lock(&dev->lock);
	e = list_first_entry_or_null(&dev->events, struct iq_port_event, node);
	if (e) {
		list_del(&e->node);
		dev->nr_events--;
	}
	spin_unlock(&dev->lock);
	return e;
}

static void iq_events_work(struct work_struct *work)
{
	struct iq_device *dev = container_of(work, struct iq_device, work);
	struct ib_device *ibdev = dev->sweep.ibdev;
	struct iq_port_event *e;
	struct ib_port_attr attr;

	while ((e = iq_next_event(dev))) {
		bool known = e->port && !ib_query_port(ibdev, e->port, &attr);

		iq_port_event(ibdev, e->type, e->port, known ? &attr : NULL);
		kfree(e);
	}
}

/* Return: false if too many wait already. */
static bool iq_queue_event(struct iq_device *dev, struct iq_port_event *e)
{
	bool room;

	spin_lock(&dev->lock);
	room = dev->nr_events < IQ_PORT_EVENTS;
	if (room) {
		list_add_tail(&e->node, &dev->events);
		dev->nr_events++;
	}
	spin_unlock(&dev->lock);
	return room;
}

/*
 * A worker of the core's, which holds the device's event_handler_rwsem: the port must not be asked
 * here, as drivers take the RTNL for that (ib_get_eth_speed()), under which GID changes want the
 * rwsem.
 */
static void iq_on_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct iq_device *dev = container_of(handler, struct iq_device, handler);
	u32 port = event->event == IB_EVENT_DEVICE_FATAL ? 0 : event->element.port_num;
	struct iq_port_event *e;

	if (!trace_ib_port_event_enabled())
		return;
	e = kmalloc(sizeof(*e), GFP_KERNEL);
	if (e)
		*e = (struct iq_port_event){ .type = event->event, .port = port };
	if (e && iq_queue_event(dev, e)) {
		queue_work(system_long_wq, &dev->work);
		return;
	}
	kfree(e);
	iq_port_event(event->device, event->event, port, NULL);
}

static struct ib_client iq_client;

static int iq_add(struct ib_device *ibdev)
{
	struct iq_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int ret;

	ret = dev ? iq_sweep_init(&dev->sweep, ibdev) : -ENOMEM;
	if (ret) {
		/* The core says nothing, but leaves the device to its other users. */
		pr_warn("device %s: not watched: error %d\n", dev_name(&ibdev->dev), ret);
		kfree(dev);
		return ret;
	}
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->events);
	INIT_WORK(&dev->work, iq_events_work);
	INIT_IB_EVENT_HANDLER(&dev->handler, ibdev, iq_on_event);
	ib_register_event_handler(&dev->handler);
	ib_set_client_data(ibdev, &iq_client, dev);

	mutex_lock(&iq_devices_lock);
	list_add_tail(&dev->node, &iq_devices);
	iq_sweep_set(&dev->sweep, iq_wanted);
	mutex_unlock(&iq_devices_lock);
	/* Nothing of the device shall be missed that begins after this. */
	kstall_rearm_wait();
	return 0;
}

static void iq_remove(struct ib_device *ibdev, void *data)
{
	struct iq_device *dev = data;

	mutex_lock(&iq_devices_lock);
	list_del(&dev->node);
	mutex_unlock(&iq_devices_lock);
	ib_unregister_event_handler(&dev->handler);
	flush_work(&dev->work);
	iq_sweep_exit(&dev->sweep);
	kfree(dev);
}

static struct ib_client iq_client = {
	.name = KBUILD_MODNAME, .add = iq_add, .remove = iq_remove,
	/* Those that no kernel user can use have asynchronous events all the same. */
	.no_kverbs_req = 1,
};

/**
 * iq_devices_update() - a device may have come, or ib_qp_error been enabled or disabled
 * @wanted: it is enabled
 *
 * Under kstall.update().
 *
 * Return: true if a provider's function was not hooked.
 */
bool iq_devices_update(bool wanted)
{
	struct iq_device *dev;
	bool news = false;

	mutex_lock(&iq_devices_lock);
	list_for_each_entry(dev, &iq_devices, node) {
		news |= iq_place_provider(&dev->sweep.ibdev->ops);
		if (iq_wanted != wanted)
			iq_sweep_set(&dev->sweep, wanted);
	}
	iq_wanted = wanted;
	mutex_unlock(&iq_devices_lock);
	return news;
}

static const char *iq_sweep_state(const struct iq_sweep *sweep)
{
	if (!sweep->stats)
		return "no-counters";
	if (!iq_may_ask())
		return "off";
	if (!sweep->wanted)
		return "idle";
	return sweep->sweeping ? "sweeping" : "watching";
}

/* Status file. */
void iq_show_devices(struct seq_file *m)
{
	struct iq_device *dev;
	unsigned int nr = 0;

	mutex_lock(&iq_devices_lock);
	list_for_each_entry(dev, &iq_devices, node) {
		const struct iq_sweep *s = &dev->sweep;

		seq_printf(m, "sweep %s state=%s sweeps=%llu asked=%llu left=%u cut=%llu busy_ns=%llu round_ns=%llu\n",
			   dev_name(&s->ibdev->dev), iq_sweep_state(s), s->sweeps, s->asked,
			   s->sweeping ? s->left : 0, s->cut, s->busy_ns, s->round_ns);
		nr++;
	}
	list_for_each_entry(dev, &iq_devices, node) {
		const struct ib_device *ibdev = dev->sweep.ibdev;

		seq_printf(m, "reach %s kernel users: all; user verbs: %s\n",
			   dev_name(&ibdev->dev), ibdev->ops.driver_id == RDMA_DRIVER_RXE ?
			   "completions, events, states, registrations" :
			   "events, states, registrations");
	}
	if (!iq_may_ask())
		seq_puts(m, "reach ib_qp_error does not look for queue pairs that failed unseen: this kernel may free one while it is asked (CVE-2026-92512); if yours has the fix, load with qp_sweep_force=1\n");
	if (!nr)
		seq_puts(m, "reach no RDMA device\n");
	mutex_unlock(&iq_devices_lock);
}

int iq_devices_init(void)
{
	iq_sweeps_init();
	return ib_register_client(&iq_client);
}

void iq_devices_exit(void)
{
	ib_unregister_client(&iq_client);
}
