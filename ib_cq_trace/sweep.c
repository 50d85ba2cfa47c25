// SPDX-License-Identifier: GPL-2.0
/*
 * sweep.c - queue pairs that failed without a word
 *
 * A queue pair of a process whose retries run out enters the state ERR in the device; the kernel
 * has no event. But the port's counters of errors grow. So while ib_qp_error is enabled they are
 * looked at once a second, and when they have grown the device's queue pairs are asked for their
 * states: twice, as a device may count before a queue pair is in ERR (soft-RoCE does: rxe_comp.c).
 * The first sweep begins with the first look: it finds those that have failed before, and the
 * peers of the others.
 *
 * Asking is a command to the device's firmware: at most IQ_BATCH every tenth of a second, those
 * last seen in RTS first. A sweep that qp_sweep_max ends is continued by the next one.
 *
 * Before "RDMA/core: Fix use after free in ib_query_qp()" (CVE-2026-92512) a queue pair could be
 * found until its driver had destroyed it, and what its driver asks then may be freed. There none
 * is asked.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/xarray.h>
#include <rdma/ib_cache.h>

#include "ib_cq_trace.h"
#include "ib_cq_trace_events.h"

#define IQ_BATCH	10
#define IQ_PAUSE	msecs_to_jiffies(100)
#define IQ_LOOK		msecs_to_jiffies(1000)

KSTALL_PARAM_UINT_RW(qp_sweep_max, 4096, 0, 1 << 20,
		     "queue pairs a sweep for failed ones asks at most, 0: no sweeps (0 to 1048576, default 4096)");

KSTALL_PARAM_UINT_RW(qp_sweep_force, 0, 0, 1,
		     "sweep although this kernel is not known to have the fix of CVE-2026-92512 (0 to 1, default 0)");

/* This kernel's ib_core hides a queue pair before its driver destroys it. */
static bool iq_asking_is_safe;

/* The fix came with this function; vendors may have it under another name: qp_sweep_force. */
void iq_sweeps_init(void)
{
	iq_asking_is_safe = kstall_symbol("rdma_restrack_begin_del");
}

bool iq_may_ask(void)
{
	return iq_asking_is_safe || READ_ONCE(qp_sweep_force);
}

/* Any of these growing says that a queue pair may have failed. */
static const char * const iq_error_counters[] = {
	/* mlx5 */
	"req_cqe_error", "resp_cqe_error", "req_cqe_flush_error", "resp_cqe_flush_error",
	"req_remote_access_errors", "resp_remote_access_errors", "req_remote_invalid_request",
	"resp_local_length_error", "req_transport_retries_exceeded", "req_rnr_retries_exceeded",
	"rnr_nak_retry_err",
	/* bnxt_re */
	"max_retry_exceeded", "unrecoverable_err", "local_qp_op_err", "remote_access_err",
	"remote_op_err", "bad_resp_err", "local_protection_err", "mem_mgmt_op_err",
	"remote_invalid_req_err",
	/* soft-RoCE */
	"retry_exceeded_err", "retry_rnr_exceeded_err",
};

static bool iq_counts_errors(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(iq_error_counters); i++) {
		if (!strcmp(name, iq_error_counters[i]))
			return true;
	}
	return false;
}

/* Sum of a port's counters of errors; may ask the firmware. */
static u64 iq_errors(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port)
{
	u64 sum = 0;
	int i, ret;

	mutex_lock(&stats->lock);
	ret = ibdev->ops.get_hw_stats(ibdev, stats, port, 0);
	for (i = 0; ret >= 0 && i < stats->num_counters; i++) {
		if (iq_counts_errors(stats->descs[i].name))
			sum += stats->value[i];
	}
	mutex_unlock(&stats->lock);
	return sum;
}

/*
 * Queue pairs with counters of their own (rdma statistic qp set, bind) do not count in the port's,
 * and the sum over all of them (rdma_counter_get_hwstat_value()) is ib_core's alone.
 */
static bool iq_counted_apart(struct ib_device *ibdev, u32 port)
{
	return READ_ONCE(ibdev->port_data[port].port_counter.mode.mode) != RDMA_COUNTER_MODE_NONE;
}

/* Return: they have grown since the last look or cannot be read, or this is the first. */
static bool iq_errors_grew(struct iq_sweep *sweep)
{
	struct ib_device *ibdev = sweep->ibdev;
	bool grew = !sweep->primed;
	u32 port;

	rdma_for_each_port(ibdev, port) {
		u32 i = port - rdma_start_port(ibdev);
		u64 errors;

		if (!sweep->stats[i])
			continue;
		errors = iq_errors(ibdev, sweep->stats[i], port);
		grew |= errors > sweep->errors[i] || iq_counted_apart(ibdev, port);
		sweep->errors[i] = errors;
	}
	sweep->primed = true;
	return grew;
}

/* Return: a sweep is to begin. */
static bool iq_sweep_due(struct iq_sweep *sweep)
{
	bool first = !sweep->primed, grew = iq_errors_grew(sweep), due = grew || sweep->again;

	sweep->again = grew && !first;
	return due && READ_ONCE(qp_sweep_max);
}

/* ---- what is known of a queue pair ---- */

/*
 * What it was when it was asked last: an XArray value by restrack id. A record has more, but there
 * is room for max_qps of them only. Fits in the 31 bits that a 32-bit kernel has.
 */
#define IQ_SEEN_STATE	GENMASK(3, 0)
#define IQ_SEEN_NONE	15		/* it did not answer */
#define IQ_SEEN_SWEEP	GENMASK(14, 4)	/* in which */
#define IQ_SEEN_WHO	GENMASK(30, 15)

/* Numbers are used again, also by a queue pair at the same place: its owner differs then. */
static unsigned long iq_who(const struct ib_qp *qp)
{
	u64 who = (unsigned long)qp ^ hash_ptr(qp->res.task, 32);

	return hash_64(who ^ (u64)(qp->send_cq ? qp->send_cq->res.id : 0) << 32, 16);
}

static unsigned long iq_this_sweep(const struct iq_sweep *sweep)
{
	return sweep->sweeps & FIELD_MAX(IQ_SEEN_SWEEP);
}

/* If there is no memory for it, a queue pair without a record has its event again. */
static void iq_note(struct iq_sweep *sweep, const struct ib_qp *qp, u8 state)
{
	unsigned long seen = FIELD_PREP(IQ_SEEN_STATE, state) |
			     FIELD_PREP(IQ_SEEN_SWEEP, iq_this_sweep(sweep)) |
			     FIELD_PREP(IQ_SEEN_WHO, iq_who(qp));

	xa_store(&sweep->seen, qp->res.id, xa_mk_value(seen), GFP_KERNEL);
}

/* Return: it was in ERR when it was asked last. */
static bool iq_was_in_error(struct iq_sweep *sweep, const struct ib_qp *qp)
{
	void *seen = xa_load(&sweep->seen, qp->res.id);

	return seen && FIELD_GET(IQ_SEEN_STATE, xa_to_value(seen)) == IB_QPS_ERR &&
	       FIELD_GET(IQ_SEEN_WHO, xa_to_value(seen)) == iq_who(qp);
}

/* What its record says, or else @seen. The numbers of those that are asked are their ids. */
static u8 iq_last_state(struct iq_sweep *sweep, u32 id, void *seen)
{
	u8 state = seen ? FIELD_GET(IQ_SEEN_STATE, xa_to_value(seen)) : IQ_UNKNOWN;
	struct kstall_slot slot;

	rcu_read_lock();	/* the table may go: nobody waits for this worker */
	if (kstall_inflight_find(&iq_qps, iq_key(sweep->ibdev, id), &slot)) {
		const struct iq_qp *rec = slot.rec;

		if (rec->state != IQ_UNKNOWN)
			state = rec->state;
		kstall_inflight_unlock(&slot);
	}
	rcu_read_unlock();
	return state;
}

/* ---- one queue pair ---- */

/* Takes down the other end of one that was connected before anybody looked. */
static void iq_learn(struct ib_qp *qp, const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;
	bool grh = rdma_ah_get_ah_flags(ah) & IB_AH_GRH;
	union ib_gid lgid = {};
	struct kstall_slot slot;
	struct iq_qp *rec;

	/* bnxt_re_query_qp() leaves the AH's port 0. */
	if (grh)
		rdma_query_gid(qp->device, rdma_ah_get_port_num(ah) ?: qp->port,
			       rdma_ah_read_grh(ah)->sgid_index, &lgid);
	rcu_read_lock();	/* as above */
	rec = iq_qp_record(qp, &slot);
	rcu_read_unlock();
	if (!rec)
		return;
	if (!rec->connected && attr->dest_qp_num && (grh || rdma_ah_get_dlid(ah)))
		iq_peer_fill(rec, &lgid, attr);
	if (rec->state == IQ_UNKNOWN && attr->qp_state != IB_QPS_ERR)
		rec->state = attr->qp_state;
	kstall_inflight_unlock(&slot);
}

/* Those of management, and a driver's own, have states that are not theirs. */
static bool iq_can_ask(const struct ib_qp *qp)
{
	return qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_UC || qp->qp_type == IB_QPT_UD ||
	       qp->qp_type == IB_QPT_XRC_INI || qp->qp_type == IB_QPT_XRC_TGT;
}

/* @qp cannot go, nor what its driver has of it: its restrack entry is held, see above. */
static void iq_ask(struct iq_sweep *sweep, struct ib_qp *qp)
{
	bool news, known = iq_was_in_error(sweep, qp);
	/* Providers fill what they know. */
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};
	struct iq_qp rec;

	if (ib_query_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_DEST_QPN, &init)) {
		iq_note(sweep, qp, IQ_SEEN_NONE);
		return;
	}
	iq_learn(qp, &attr);
	iq_note(sweep, qp, attr.qp_state);
	if (attr.qp_state != IB_QPS_ERR || !trace_ib_qp_error_enabled())
		return;
	rcu_read_lock();	/* as above */
	news = iq_qp_to_error(qp, &rec, known);
	rcu_read_unlock();
	if (news)
		iq_qp_error(qp, &rec, IQ_BY_SWEEP, -1);
}

/* ---- all of them, a few at a time ---- */

/* drivers/infiniband/core/restrack.h, the same from 5.1 to 7.2. */
struct iq_restrack_root {
	struct xarray xa;
	u32 next_id;
};

static struct xarray *iq_all(const struct iq_sweep *sweep)
{
	struct iq_restrack_root *roots = (struct iq_restrack_root *)sweep->ibdev->res;

	return &roots[RDMA_RESTRACK_QP].xa;
}

/* A position is an id, and this for those that were not last seen in RTS: they come later. */
#define IQ_OTHERS	BIT_ULL(32)
#define IQ_END		(2 * IQ_OTHERS)

/* All have had their turn. What was seen of those that are gone is forgotten. */
static void iq_turn_round(struct iq_sweep *sweep)
{
	u64 now = kstall_now();
	unsigned long id;
	void *seen;

	xa_for_each(&sweep->seen, id, seen) {
		if (!xa_load(iq_all(sweep), id))
			xa_erase(&sweep->seen, id);
	}
	sweep->pos = 0;
	sweep->turned = true;
	sweep->round_ns = max(now, sweep->round_began_ns) - sweep->round_began_ns;
	sweep->round_began_ns = now;
}

static bool iq_has_turn(struct iq_sweep *sweep, u32 id)
{
	void *seen = xa_load(&sweep->seen, id);

	if (seen && FIELD_GET(IQ_SEEN_SWEEP, xa_to_value(seen)) == iq_this_sweep(sweep))
		return false;
	return (iq_last_state(sweep, id, seen) == IB_QPS_RTS) == (sweep->pos < IQ_OTHERS);
}

/* On to the next position whose queue pair has its turn. Return: false if all have had it. */
static bool iq_move(struct iq_sweep *sweep)
{
	unsigned long id;

	while (!sweep->turned || sweep->pos < sweep->began) {
		if (sweep->pos >= IQ_END) {
			iq_turn_round(sweep);
			continue;
		}
		id = lower_32_bits(sweep->pos);
		sweep->pos -= id;
		if (!xa_find(iq_all(sweep), &id, U32_MAX, XA_PRESENT)) {
			sweep->pos += IQ_OTHERS;
			continue;
		}
		sweep->pos += id;
		if (iq_has_turn(sweep, id))
			return true;
		sweep->pos++;
		cond_resched();
	}
	return false;
}

/* The next queue pair to ask, held, at the position; NULL if all have been. */
static struct ib_qp *iq_next(struct iq_sweep *sweep)
{
	struct rdma_restrack_entry *res;
	struct ib_qp *qp;

	for (; iq_move(sweep); sweep->pos++) {
		res = rdma_restrack_get_byid(sweep->ibdev, RDMA_RESTRACK_QP,
					     lower_32_bits(sweep->pos));
		if (IS_ERR(res))
			continue;
		qp = container_of(res, struct ib_qp, res);
		if (iq_can_ask(qp))
			return qp;
		rdma_restrack_put(res);
	}
	return NULL;
}

static void iq_sweep_begin(struct iq_sweep *sweep)
{
	sweep->sweeping = true;
	sweep->sweeps++;
	sweep->left = READ_ONCE(qp_sweep_max);
	sweep->began = sweep->pos;
	sweep->turned = false;
	if (!sweep->pos)
		sweep->round_began_ns = kstall_now();
}

/* Return: there are more. */
static bool iq_sweep_batch(struct iq_sweep *sweep)
{
	struct ib_qp *qp;
	int i;

	for (i = 0; i < IQ_BATCH && READ_ONCE(sweep->wanted); i++) {
		qp = iq_next(sweep);
		if (!qp) {
			sweep->pos = 0;
			return false;
		}
		if (sweep->left) {
			sweep->left--;
			sweep->asked++;
			sweep->pos++;
			iq_ask(sweep, qp);
			rdma_restrack_put(&qp->res);
			continue;
		}
		rdma_restrack_put(&qp->res);
		sweep->cut++;
		return false;
	}
	return true;
}

/* It was enabled or disabled: to the next listener nothing is known. */
static void iq_sweep_anew(struct iq_sweep *sweep)
{
	sweep->sweeping = false;
	sweep->primed = false;
	sweep->again = false;
	sweep->pos = 0;
	xa_destroy(&sweep->seen);
}

static void iq_sweep_work(struct work_struct *work)
{
	struct iq_sweep *sweep = container_of(work, struct iq_sweep, work.work);
	u64 start = kstall_now();

	if (xchg(&sweep->anew, false))
		iq_sweep_anew(sweep);
	if (!READ_ONCE(sweep->wanted))
		return;
	if (!iq_may_ask())
		sweep->sweeping = false;
	else if (!sweep->sweeping && iq_sweep_due(sweep))
		iq_sweep_begin(sweep);
	if (sweep->sweeping)
		sweep->sweeping = iq_sweep_batch(sweep);
	sweep->busy_ns += max(kstall_now(), start) - start;
	queue_delayed_work(system_long_wq, &sweep->work, sweep->sweeping ? IQ_PAUSE : IQ_LOOK);
}

/* ---- begin and end ---- */

/*
 * Starts or stops, and does not wait for the worker: that one waits for the device's firmware, for
 * minutes if it hangs, and the caller holds up all modules that come and all that are enabled.
 */
void iq_sweep_set(struct iq_sweep *sweep, bool wanted)
{
	if (!sweep->stats)
		return;
	WRITE_ONCE(sweep->anew, true);
	WRITE_ONCE(sweep->wanted, wanted);
	mod_delayed_work(system_long_wq, &sweep->work, 0);
}

static void iq_stats_free(struct iq_sweep *sweep)
{
	u32 port;

	if (!sweep->stats)
		return;
	rdma_for_each_port(sweep->ibdev, port)
		rdma_free_hw_stats_struct(sweep->stats[port - rdma_start_port(sweep->ibdev)]);
	kfree(sweep->stats);
	kfree(sweep->errors);
	sweep->stats = NULL;
}

/* Return: 0, or -ENOMEM. */
int iq_sweep_init(struct iq_sweep *sweep, struct ib_device *ibdev)
{
	u32 port, nr = ibdev->phys_port_cnt;

	sweep->ibdev = ibdev;
	xa_init(&sweep->seen);
	INIT_DELAYED_WORK(&sweep->work, iq_sweep_work);
	if (!ibdev->ops.alloc_hw_port_stats || !ibdev->ops.get_hw_stats)
		return 0;
	sweep->stats = kcalloc(nr, sizeof(*sweep->stats), GFP_KERNEL);
	sweep->errors = kcalloc(nr, sizeof(*sweep->errors), GFP_KERNEL);
	if (!sweep->stats || !sweep->errors) {
		kfree(sweep->stats);
		kfree(sweep->errors);
		return -ENOMEM;
	}
	/* A port without counters grows none. */
	rdma_for_each_port(ibdev, port)
		sweep->stats[port - rdma_start_port(ibdev)] =
			ibdev->ops.alloc_hw_port_stats(ibdev, port);
	return 0;
}

/* May sleep for as long as the device does not answer. */
void iq_sweep_exit(struct iq_sweep *sweep)
{
	WRITE_ONCE(sweep->wanted, false);
	cancel_delayed_work_sync(&sweep->work);
	xa_destroy(&sweep->seen);
	iq_stats_free(sweep);
}
