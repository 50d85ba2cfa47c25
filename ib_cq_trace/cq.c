// SPDX-License-Identifier: GPL-2.0
/*
 * cq.c - completion queues: how late they are processed, those that overflow, and the channels
 * through which programs wait for them
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mlx5/device.h>

#include "ib_cq_trace.h"
#include "ib_cq_trace_events.h"

/* ---- processing by the core ---- */

/* Since when; the earliest counts. */
static void iq_schedule(const struct ib_cq *cq)
{
	u64 now = kstall_now();
	struct iq_scheduled *rec;
	struct kstall_slot slot;
	bool found;

	if (!kstall_inflight_find_or_insert(&iq_scheduled, (unsigned long)cq, now, &slot, &found))
		return;
	rec = slot.rec;
	if (!found)
		rec->ns = now;
	kstall_inflight_unlock(&slot);
}

/* cq_schedule, cq_reschedule: mostly in the completion's interrupt */
KSTALL_PROBE(iq_on_schedule, PARAMS(struct ib_cq *cq), PARAMS(cq))
{
	iq_schedule(cq);
}

/* cq_process, at the beginning of __ib_process_cq(): its entry, below, may have been missed. */
KSTALL_PROBE(iq_on_process, PARAMS(const struct ib_cq *cq), PARAMS(cq))
{
	struct iq_scheduled rec;

	kstall_inflight_take(&iq_scheduled, (unsigned long)cq, &rec);
}

KSTALL_FN(int, __ib_process_cq, struct ib_cq *, cq, int, budget, struct ib_wc *, wcs, int, batch);

/* Softirq, worker. */
bool iq_process_enter(void *data, struct pt_regs *regs)
{
	struct iq_process_call *call = data;
	struct iq_scheduled rec;

	call->cq = kstall_arg(regs, __ib_process_cq, cq);
	call->budget = kstall_arg(regs, __ib_process_cq, budget);
	call->start_ns = kstall_now();
	call->scheduled = kstall_inflight_take(&iq_scheduled, (unsigned long)call->cq, &rec);
	call->delay_ns = call->scheduled ? kstall_delta(call->start_ns, rec.ns) : 0;
	return true;
}

void iq_process_return(void *data, struct pt_regs *regs)
{
	const struct iq_process_call *call = data;
	struct ib_cq *cq = call->cq;
	int completed = regs_return_value(regs);
	bool exhausted = call->budget > 0 && completed >= call->budget;
	struct kstall_who who = {};
	struct kstall_ib_round r = {
		.id = iq_id(cq->device, &who), .user = iq_user(&cq->res),
		.delay_ns = call->delay_ns, .budget = call->budget,
		.scheduled = call->scheduled, .poll_ctx = cq->poll_ctx,
		.comp_vector = cq->comp_vector,
	};

	/* It is put at the queue's end again, and no tracepoint says so. */
	if (exhausted && cq->poll_ctx != IB_POLL_DIRECT)
		iq_schedule(cq);
	r.duration_ns = kstall_delta(kstall_now(), call->start_ns);
	if (kstall_long_enough(&kstall_event_ib_cq_process, r.delay_ns + r.duration_ns))
		trace_ib_cq_process(r.delay_ns + r.duration_ns, cq->res.id, completed, exhausted,
				    &r);
}

/* ---- overflow ---- */

static void iq_emit_overflow(const struct iq_overflow *o, u64 count, u64 first_ns, u64 last_ns)
{
	struct kstall_ib_cq_error e = {
		.id = { .dev = o->dev, .dev_node = o->dev_node, .cpu_node = numa_node_id(),
			.who = &o->who },
		.o = o, .count = count, .first_ns = first_ns, .last_ns = last_ns,
	};

	trace_ib_cq_overflow(last_ns - first_ns, o->cq_id, count, o->syndrome, &e);
}

void iq_emit_overflows(const struct kstall_folded *folded)
{
	iq_emit_overflow(container_of(folded, struct iq_overflow, folded), folded->count,
			 folded->first_ns, folded->last_ns);
}

/* @used: entries in use, -1 unknown. In the provider's callback, up to hardirq. */
void iq_overflowed(struct ib_cq *cq, s32 used, s32 syndrome)
{
	struct iq_overflow o = {
		.cq_id = cq->res.id, .depth = cq->cqe, .used = used,
		.attached = atomic_read(&cq->usecnt), .syndrome = syndrome,
		.dev_node = ibdev_to_node(cq->device),
	};
	u64 now = kstall_now();
	struct kstall_slot slot;

	if (!trace_ib_cq_overflow_enabled())
		return;
	strscpy(o.dev, dev_name(&cq->device->dev), sizeof(o.dev));
	strscpy(o.user, iq_user(&cq->res), sizeof(o.user));
	iq_owner(&o.who, &cq->res);
	if (!kstall_fold_hit(&iq_overflows, iq_key(cq->device, cq->res.id), now, &slot)) {
		iq_emit_overflow(&o, 1, now, now);
		return;
	}
	o.folded = *(struct kstall_folded *)slot.rec;
	*(struct iq_overflow *)slot.rec = o;
	kstall_inflight_unlock(&slot);
}

KSTALL_FN(int, cq_err_event_notifier, struct notifier_block *, nb, unsigned long, type,
	  void *, eqe);

/* mlx5: it calls what is below, in hardirq; the syndrome is in its hands only. */
bool iq_mlx5_cq_error_enter(void *data, struct pt_regs *regs)
{
	const struct mlx5_eqe *eqe = kstall_arg(regs, cq_err_event_notifier, eqe);
	struct iq_mlx5_error *error = kstall_own_claim(&iq_mlx5_errors, kstall_now());

	if (!error)
		return false;
	error->reported = false;
	error->cqn = be32_to_cpu(eqe->data.cq_err.cqn) & 0xffffff;
	error->syndrome = eqe->data.cq_err.syndrome;
	return true;
}

/*
 * mlx5e_cq_error_event(struct mlx5_core_cq *, enum mlx5_event): mlx5's Ethernet driver has CQs too,
 * which are not RDMA's, and reports them in the log.
 */
bool iq_mlx5e_cq_error_enter(void *data, struct pt_regs *regs)
{
	struct iq_mlx5_error *error = kstall_own_find(&iq_mlx5_errors);

	if (error)
		error->reported = true;
	return false;
}

/*
 * A CQ that no ib_cq stands for is a DEVX object's, or another mlx5 driver's (vDPA, steering): all
 * that is known is its number.
 */
void iq_mlx5_cq_error_return(void *data, struct pt_regs *regs)
{
	struct iq_mlx5_error *error = kstall_own_find(&iq_mlx5_errors);
	struct iq_overflow o = { .used = -1, .dev_node = NUMA_NO_NODE };
	u64 now = kstall_now();
	bool reported;

	if (!error)
		return;
	o.cq_id = error->cqn;
	o.syndrome = error->syndrome;
	reported = error->reported;
	kstall_own_release(error);
	if (!reported && trace_ib_cq_overflow_enabled())
		iq_emit_overflow(&o, 1, now, now);
}

static void iq_cq_error(struct ib_cq *cq)
{
	struct iq_mlx5_error *error = kstall_own_find(&iq_mlx5_errors);
	s32 syndrome = error ? error->syndrome : 0;

	if (error)
		error->reported = true;
	/* soft-RoCE says so when it is full, mlx5 by the syndrome; of others it is not known. */
	iq_overflowed(cq, syndrome == MLX5_CQ_ERROR_SYNDROME_CQ_OVERRUN ||
		      cq->device->ops.driver_id == RDMA_DRIVER_RXE ? cq->cqe : -1, syndrome);
}

KSTALL_FN(void, ib_uverbs_cq_event_handler, struct ib_event *, event, void *, context);

/* Up to hardirq. */
bool iq_uverbs_cq_event_enter(void *data, struct pt_regs *regs)
{
	const struct ib_event *event = kstall_arg(regs, ib_uverbs_cq_event_handler, event);

	if (event->event == IB_EVENT_CQ_ERR)
		iq_cq_error(event->element.cq);
	return false;
}

struct mlx5_core_cq;
KSTALL_FN(void, mlx5_ib_cq_event, struct mlx5_core_cq *, mcq, enum mlx5_event, type);

/* struct mlx5_ib_cq begins with its ib_cq and, right behind it, @mcq (6.1 to 7.2). */
bool iq_mlx5_cq_event_enter(void *data, struct pt_regs *regs)
{
	struct ib_cq *cq = (struct ib_cq *)kstall_arg(regs, mlx5_ib_cq_event, mcq) - 1;

	if (!cq->uobject)
		iq_cq_error(cq);
	return false;
}

/* ---- completion channels ---- */

KSTALL_FN(void, ib_uverbs_comp_handler, struct ib_cq *, cq, void *, ev_queue);

/* Tasklet, or interrupts off. */
bool iq_comp_enter(void *data, struct pt_regs *regs)
{
	const struct ib_cq *cq = kstall_arg(regs, ib_uverbs_comp_handler, cq);
	unsigned long queue = (unsigned long)kstall_arg(regs, ib_uverbs_comp_handler, ev_queue);
	u64 now = kstall_now();
	struct iq_channel *channel;
	struct kstall_slot slot;
	bool found;

	if (!queue || !kstall_inflight_find_or_insert(&iq_channels, queue, now, &slot, &found))
		return false;
	channel = slot.rec;
	if (!found) {
		channel->dev_node = ibdev_to_node(cq->device);
		strscpy(channel->dev, dev_name(&cq->device->dev), sizeof(channel->dev));
	}
	/* They are read in order: those behind a lost one are lost too. */
	if (channel->nr < IQ_CHANNEL_EVENTS && !channel->lost) {
		channel->cq_id[channel->nr] = cq->res.id;
		channel->ns[channel->nr++] = now;
	} else {
		channel->lost++;
	}
	kstall_inflight_unlock(&slot);
	return false;
}

KSTALL_FN(ssize_t, ib_uverbs_comp_event_read, struct file *, filp);

/* The queue stands behind the file's uobject. */
bool iq_comp_read_enter(void *data, struct pt_regs *regs)
{
	const struct file *filp = kstall_arg(regs, ib_uverbs_comp_event_read, filp);
	struct iq_read_call *call = data;

	call->queue = filp->private_data + sizeof(struct ib_uobject);
	call->start_ns = kstall_now();
	call->nvcsw = current->nvcsw;
	return true;
}

/* Lets go of a channel's record, and drops it if nothing is in it. */
static void iq_channel_put(u64 queue, struct kstall_slot *slot)
{
	const struct iq_channel *channel = slot->rec;

	if (channel->nr || channel->lost)
		kstall_inflight_unlock(slot);
	else
		kstall_inflight_erase(&iq_channels, queue, slot);
}

/* Drops a channel's events of @cq or, if that is NULL, those that came before @ns. */
static void iq_channel_drop(const void *queue, const struct ib_cq *cq, u64 ns)
{
	struct iq_channel *channel;
	struct kstall_slot slot;
	u32 from, to = 0;

	if (!kstall_inflight_find(&iq_channels, (unsigned long)queue, &slot))
		return;
	channel = slot.rec;
	for (from = 0; from < channel->nr; from++) {
		if (cq ? channel->cq_id[from] == cq->res.id : channel->ns[from] < ns)
			continue;
		channel->cq_id[to] = channel->cq_id[from];
		channel->ns[to++] = channel->ns[from];
	}
	channel->nr = to;
	/* Whether these were among them is not known; they must not hold up the others for ever. */
	channel->lost = 0;
	iq_channel_put((unsigned long)queue, &slot);
}

/* Takes the oldest event. Return: it was known; then @was is the channel's record as it was. */
static bool iq_channel_take(const void *queue, struct iq_channel *was)
{
	struct iq_channel *channel;
	struct kstall_slot slot;

	if (!kstall_inflight_find(&iq_channels, (unsigned long)queue, &slot))
		return false;
	channel = slot.rec;
	*was = *channel;
	if (channel->nr) {
		channel->nr--;
		memmove(channel->cq_id, channel->cq_id + 1, channel->nr * sizeof(u32));
		memmove(channel->ns, channel->ns + 1, channel->nr * sizeof(u64));
	} else if (channel->lost) {
		channel->lost--;
	}
	iq_channel_put((unsigned long)queue, &slot);
	return was->nr;
}

void iq_comp_read_return(void *data, struct pt_regs *regs)
{
	const struct iq_read_call *call = data;
	struct kstall_ib_channel c = { .id = KSTALL_ID_CURRENT };
	long ret = regs_return_value(regs);
	struct iq_channel channel;
	u64 wait_ns;

	/*
	 * There was nothing to be read (ib_uverbs_event_read()): what is still here was read
	 * unseen, by a task that slept in it when the event was enabled, say.
	 */
	if (ret == -EAGAIN || current->nvcsw != call->nvcsw)
		iq_channel_drop(call->queue, NULL, call->start_ns);
	if (ret <= 0)
		return;
	if (!iq_channel_take(call->queue, &channel)) {
		kstall_inflight_unmatched(&iq_channels);
		return;
	}
	c.id.dev = channel.dev;
	c.id.dev_node = channel.dev_node;
	c.lost = channel.lost;
	wait_ns = kstall_delta(kstall_now(), channel.ns[0]);
	if (kstall_long_enough(&kstall_event_ib_comp_channel, wait_ns))
		trace_ib_comp_channel(wait_ns, channel.cq_id[0], channel.nr - 1 + channel.lost,
				      0, &c);
}

/* ---- the end ---- */

/* A hook each, for the same probe. */
KSTALL_FN(void, ib_free_cq, struct ib_cq *, cq);
KSTALL_CHECK_FN(ib_free_cq, ib_free_cq);
KSTALL_FN(int, ib_destroy_cq_user, struct ib_cq *, cq, struct ib_udata *, udata);
KSTALL_CHECK_FN(ib_destroy_cq_user, ib_destroy_cq_user);

/* They sleep. */
bool iq_destroy_cq_enter(void *data, struct pt_regs *regs)
{
	const struct ib_cq *cq = kstall_arg(regs, ib_free_cq, cq);
	struct iq_scheduled rec;

	kstall_inflight_take(&iq_scheduled, (unsigned long)cq, &rec);
	kstall_fold_end(&iq_overflows, iq_key(cq->device, cq->res.id));
	/* Its events are not read any more. */
	if (cq->uobject)
		iq_channel_drop(cq->cq_context, cq, 0);
	return false;
}
