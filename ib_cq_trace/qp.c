// SPDX-License-Identifier: GPL-2.0
/*
 * qp.c - queue pairs: their peers and owners, and how they fail
 *
 * struct ib_qp does not keep the other end, so it is taken down where the connection is made: in
 * the change to the state RTR, which every queue pair passes, whoever owns it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "ib_cq_trace.h"
#include "ib_cq_trace_events.h"

/* The owner and the numbers of @qp. Context: the queue pair cannot go, as for iq_owner(). */
void iq_qp_fill(struct iq_qp *rec, const struct ib_qp *qp)
{
	rec->known = true;
	iq_owner(&rec->who, &qp->res);
	strscpy(rec->user, iq_user(&qp->res), sizeof(rec->user));
	rec->cq_id = qp->send_cq ? qp->send_cq->res.id : 0;
	rec->port = qp->port;
}

/* Whom it is connected to, from the attributes it was given or has, and its own GID if any. */
void iq_peer_fill(struct iq_qp *rec, const union ib_gid *lgid, const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;

	memset(&rec->peer, 0, sizeof(rec->peer));
	if (lgid)
		rec->peer.lgid = *lgid;
	if (rdma_ah_get_ah_flags(ah) & IB_AH_GRH)
		rec->peer.rgid = rdma_ah_read_grh(ah)->dgid;
	if (ah->type == RDMA_AH_ATTR_TYPE_IB)
		rec->peer.rlid = rdma_ah_get_dlid(ah);
	rec->peer.rqpn = attr->dest_qp_num;
	rec->connected = true;
}

/* Finds or makes its record, with the owner filled. */
struct iq_qp *iq_qp_record(const struct ib_qp *qp, struct kstall_slot *slot)
{
	struct iq_qp *rec;
	bool found;

	if (!kstall_inflight_find_or_insert(&iq_qps, iq_key(qp->device, qp->qp_num), kstall_now(),
					    slot, &found))
		return NULL;
	rec = slot->rec;
	if (!found)
		rec->state = IQ_UNKNOWN;
	if (!rec->known)
		iq_qp_fill(rec, qp);
	return rec;
}

/* Without a record: what is in the queue pair itself. */
static void iq_qp_bare(struct iq_qp *copy, const struct ib_qp *qp)
{
	memset(copy, 0, sizeof(*copy));
	copy->state = IQ_UNKNOWN;
	iq_qp_fill(copy, qp);
}

/* A copy of its record. */
static void iq_qp_copy(struct iq_qp *copy, const struct ib_qp *qp)
{
	struct kstall_slot slot;
	struct iq_qp *rec = iq_qp_record(qp, &slot);

	if (rec) {
		*copy = *rec;
		kstall_inflight_unlock(&slot);
		return;
	}
	iq_qp_bare(copy, qp);
}

/**
 * iq_qp_to_error() - its state is ERR now
 * @qp: queue pair
 * @copy: gets its record, with the state before
 * @known: what is known of that if there is no record, or none was until now
 *
 * Return: false if that was known.
 */
bool iq_qp_to_error(struct ib_qp *qp, struct iq_qp *copy, bool known)
{
	struct kstall_slot slot;
	struct iq_qp *rec = iq_qp_record(qp, &slot);

	if (!rec) {
		iq_qp_bare(copy, qp);
		return !known;
	}
	*copy = *rec;
	rec->state = IB_QPS_ERR;
	kstall_inflight_unlock(&slot);
	return copy->state == IQ_UNKNOWN ? !known : copy->state != IB_QPS_ERR;
}

void iq_qp_error(struct ib_qp *qp, const struct iq_qp *rec, int source, int cause)
{
	u64 age_ns = rec->rts_ns ? kstall_delta(kstall_now(), rec->rts_ns) : 0;
	struct kstall_ib_qp q = {
		.id = iq_id(qp->device, &rec->who), .qp_num = qp->qp_num, .qp = rec,
		.old_state = rec->state, .cause = cause,
	};

	trace_ib_qp_error(age_ns, qp->qp_num, 1, source, &q);
}

/* ---- states ---- */

static void iq_new_state(struct iq_qp *rec, const struct ib_qp *qp, const struct ib_qp_attr *attr,
			 int mask)
{
	rec->state = attr->qp_state;
	rec->port = qp->port;
	switch (attr->qp_state) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
		/* Numbers are used again. */
		iq_qp_fill(rec, qp);
		rec->first_status = 0;
		rec->rts_ns = 0;
		rec->dead_ns = kstall_now();
		rec->connected = false;
		break;
	case IB_QPS_RTR:
		rec->first_status = 0;
		if (mask & IB_QP_AV)
			iq_peer_fill(rec, qp->av_sgid_attr ? &qp->av_sgid_attr->gid : NULL, attr);
		break;
	case IB_QPS_RTS:
		rec->rts_ns = kstall_now();
		break;
	default:
		break;
	}
}

KSTALL_FN(int, _ib_modify_qp, struct ib_qp *, qp, struct ib_qp_attr *, attr, int, attr_mask,
	  struct ib_udata *, udata);

/* Sleeps. */
bool iq_modify_enter(void *data, struct pt_regs *regs)
{
	struct iq_modify_call *call = data;

	call->qp = kstall_arg(regs, _ib_modify_qp, qp);
	call->attr = kstall_arg(regs, _ib_modify_qp, attr);
	call->mask = kstall_arg(regs, _ib_modify_qp, attr_mask);
	return call->mask & IB_QP_STATE;
}

void iq_modify_return(void *data, struct pt_regs *regs)
{
	const struct iq_modify_call *call = data;
	struct kstall_slot slot;
	struct iq_qp *rec, copy;

	if ((int)regs_return_value(regs))
		return;
	if (call->attr->qp_state == IB_QPS_ERR) {
		if (iq_qp_to_error(call->qp, &copy, false) && trace_ib_qp_error_enabled())
			iq_qp_error(call->qp, &copy, IQ_BY_MODIFY, -1);
		return;
	}
	rec = iq_qp_record(call->qp, &slot);
	if (!rec)
		return;
	iq_new_state(rec, call->qp, call->attr, call->mask);
	kstall_inflight_unlock(&slot);
}

KSTALL_FN(struct ib_qp *, ib_create_qp_kernel, struct ib_pd *, pd,
	  struct ib_qp_init_attr *, init, const char *, caller);
KSTALL_CHECK_FN(ib_create_qp_kernel, ib_create_qp_kernel);

/* Sleeps. */
bool iq_create_enter(void *data, struct pt_regs *regs)
{
	const struct ib_qp_init_attr *init = kstall_arg(regs, ib_create_qp_kernel, init);

	return init->sq_sig_type == IB_SIGNAL_ALL_WR;
}

void iq_create_return(void *data, struct pt_regs *regs)
{
	const struct ib_qp *qp = (void *)regs_return_value(regs);
	struct kstall_slot slot;
	struct iq_qp *rec;

	if (IS_ERR_OR_NULL(qp))
		return;
	rec = iq_qp_record(qp, &slot);
	if (!rec)
		return;
	rec->sig_all = true;
	kstall_inflight_unlock(&slot);
}

KSTALL_FN(int, ib_destroy_qp_user, struct ib_qp *, qp, struct ib_udata *, udata);
KSTALL_CHECK_FN(ib_destroy_qp_user, ib_destroy_qp_user);

/* Sleeps. The summary needs the record. */
bool iq_destroy_qp_enter(void *data, struct pt_regs *regs)
{
	const struct ib_qp *qp = kstall_arg(regs, ib_destroy_qp_user, qp);
	u64 key = iq_key(qp->device, qp->qp_num);
	struct iq_qp rec;

	kstall_fold_end(&iq_flushes, key);
	kstall_inflight_take(&iq_qps, key, &rec);
	return false;
}

bool iq_destroyed_qp_enter(void *data, struct pt_regs *regs)
{
	const struct ib_qp *qp = kstall_arg(regs, ib_destroy_qp_user, qp);
	struct iq_destroy_call *call = data;

	call->key = iq_key(qp->device, qp->qp_num);
	call->begin_ns = kstall_now();
	return true;
}

/*
 * Once more: a sweep may have held the queue pair when it began, and have put its record back. But
 * its number may be another one's by now, which has been initialised since.
 */
void iq_destroyed_qp_return(void *data, struct pt_regs *regs)
{
	const struct iq_destroy_call *call = data;
	struct kstall_slot slot;

	if (!kstall_inflight_find(&iq_qps, call->key, &slot))
		return;
	if (((struct iq_qp *)slot.rec)->dead_ns < call->begin_ns)
		kstall_inflight_erase(&iq_qps, call->key, &slot);
	else
		kstall_inflight_unlock(&slot);
}

/* ---- events ---- */

static bool iq_is_fatal(int event)
{
	return event == IB_EVENT_QP_FATAL || event == IB_EVENT_QP_REQ_ERR ||
	       event == IB_EVENT_QP_ACCESS_ERR;
}

static void iq_qp_event(struct ib_qp *qp, int event)
{
	struct iq_qp rec;

	if (trace_ib_qp_event_enabled()) {
		struct kstall_ib_qp q = {
			.id = iq_id(qp->device, &rec.who), .qp_num = qp->qp_num, .qp = &rec,
		};

		iq_qp_copy(&rec, qp);
		trace_ib_qp_event(0, qp->qp_num, 1, event, &q);
	}
	if (iq_is_fatal(event) && iq_qp_to_error(qp, &rec, false) && trace_ib_qp_error_enabled())
		iq_qp_error(qp, &rec, IQ_BY_EVENT, event);
}

KSTALL_FN(void, ib_uverbs_qp_event_handler, struct ib_event *, event, void *, context);
KSTALL_FN(void, __ib_qp_event_handler, struct ib_event *, event, void *, context);

/* A program's; up to hardirq. */
bool iq_uverbs_qp_event_enter(void *data, struct pt_regs *regs)
{
	const struct ib_event *event = kstall_arg(regs, ib_uverbs_qp_event_handler, event);

	iq_qp_event(event->element.qp, event->event);
	return false;
}

/* Anybody's; programs' are above. */
bool iq_core_qp_event_enter(void *data, struct pt_regs *regs)
{
	const struct ib_event *event = kstall_arg(regs, __ib_qp_event_handler, event);

	if (!event->element.qp->uobject)
		iq_qp_event(event->element.qp, event->event);
	return false;
}
