// SPDX-License-Identifier: GPL-2.0
/*
 * wc.c - work requests from their posting to their completion, and those that fail
 *
 * Kernel users post through the provider's post_send() and poll through its poll_cq(), which are
 * hooked by the names that the device's operations point to; most let the core poll, which has a
 * tracepoint. What a program posts the kernel does
 * not see; its completions pass rxe_cq_post() on soft-RoCE, and nothing elsewhere.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <rdma/ib_user_verbs.h>

#include "ib_cq_trace.h"
#include "ib_cq_trace_events.h"

/* ---- completions that failed ---- */

/* One that failed, as both ways of seeing it give it. */
struct iq_failed {
	struct ib_cq *cq;
	u64 wr_id;
	u64 latency_ns;
	u64 cgroup_id;
	const void *done;
	u32 qp_num;
	u32 vendor_err;
	u8 status;
	u8 opcode;
};

/*
 * What the queue pair's record says, with this error taken down. What is flushed does not make a
 * record: it may come after the queue pair's end. Return: it is the first.
 */
static bool iq_take_down(u64 key, u8 status, u64 now, struct iq_qp *qp)
{
	struct kstall_slot slot;
	struct iq_qp *rec;
	bool flushed = status == IB_WC_WR_FLUSH_ERR, first = false, found = true;

	memset(qp, 0, sizeof(*qp));
	qp->state = IQ_UNKNOWN;
	if (flushed ? !kstall_inflight_find(&iq_qps, key, &slot) :
		      !kstall_inflight_find_or_insert(&iq_qps, key, now, &slot, &found))
		return false;
	rec = slot.rec;
	if (!found)
		rec->state = IQ_UNKNOWN;
	if (!flushed && !rec->first_status) {
		rec->first_status = status;
		first = true;
	}
	*qp = *rec;
	kstall_inflight_unlock(&slot);
	return first;
}

/* "handler[module]": without the blank, so that it stays one word. */
static void iq_handler_name(char *buf, size_t size, const void *handler)
{
	char *blank;

	kstall_symbol_at(buf, size, handler);
	blank = strchr(buf, ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
}

static void iq_flushed_fill(struct iq_flushed *f, const struct iq_failed *e)
{
	f->key = iq_key(e->cq->device, e->qp_num);
	f->wr_id = e->wr_id;
	f->qp_num = e->qp_num;
	f->cq_id = e->cq->res.id;
	f->dev_node = ibdev_to_node(e->cq->device);
	f->vendor_err = e->vendor_err;
	strscpy(f->dev, dev_name(&e->cq->device->dev), sizeof(f->dev));
	strscpy(f->user, iq_user(&e->cq->res), sizeof(f->user));
	f->done[0] = '\0';
	if (e->done)
		iq_handler_name(f->done, sizeof(f->done), e->done);
	iq_owner(&f->who, &e->cq->res);
	if (!f->who.pid)
		f->who.cgroup_id = e->cgroup_id;
}

static void iq_emit_wc(const struct iq_flushed *f, const struct iq_qp *qp, u64 latency_ns,
		       u8 status, u8 opcode, bool first)
{
	struct kstall_ib_wc w = {
		.id = { .dev = f->dev, .dev_node = f->dev_node, .cpu_node = numa_node_id(),
			.who = &f->who },
		.f = f, .qp = qp, .opcode = opcode, .first = first,
	};

	trace_ib_wc_error(latency_ns, f->qp_num, f->folded.count, status, &w);
}

static void iq_failed(const struct iq_failed *e)
{
	u64 now = kstall_now();
	u64 key = iq_key(e->cq->device, e->qp_num);
	struct iq_flushed f = {
		.folded = { .count = 1, .first_ns = now, .last_ns = now },
	};
	struct kstall_slot slot;
	struct iq_qp qp;
	bool first;

	first = iq_take_down(key, e->status, now, &qp);
	if (e->status == IB_WC_WR_FLUSH_ERR && kstall_fold_hit(&iq_flushes, key, now, &slot)) {
		struct iq_flushed *rec = slot.rec;

		/* The others of a storm are counted, no more: thousands come in one softirq. */
		if (rec->folded.count == 1)
			iq_flushed_fill(rec, e);
		kstall_inflight_unlock(&slot);
		return;
	}
	iq_flushed_fill(&f, e);
	iq_emit_wc(&f, &qp, e->latency_ns, e->status, e->opcode, first);
}

/* The end of a storm of flushed requests. The queue pair's record is still there: see qp.c. */
void iq_emit_flushes(const struct kstall_folded *folded)
{
	const struct iq_flushed *f = container_of(folded, struct iq_flushed, folded);
	struct iq_qp qp = { .state = IQ_UNKNOWN };
	struct kstall_slot slot;

	if (kstall_inflight_find(&iq_qps, f->key, &slot)) {
		qp = *(struct iq_qp *)slot.rec;
		kstall_inflight_unlock(&slot);
	}
	iq_emit_wc(f, &qp, 0, IB_WC_WR_FLUSH_ERR, IQ_UNKNOWN, false);
}

/* ---- posted ---- */

/*
 * The kernel polls what is posted on it. What rdmavt's programs post comes through the kernel
 * (ib_uverbs_post_send()), but they poll for themselves.
 */
static bool iq_is_followed(const struct ib_qp *qp)
{
	return !qp->uobject && qp->qp_type != IB_QPT_SMI && qp->qp_type != IB_QPT_GSI;
}

/* Will it have a completion if all goes well? */
static bool iq_signaled(const struct ib_qp *qp, const struct ib_send_wr *wr)
{
	struct kstall_slot slot;
	bool sig_all;

	if (wr->send_flags & IB_SEND_SIGNALED)
		return true;
	if (!kstall_inflight_find(&iq_qps, iq_key(qp->device, qp->qp_num), &slot))
		return false;
	sig_all = ((struct iq_qp *)slot.rec)->sig_all;
	kstall_inflight_unlock(&slot);
	return sig_all;
}

/* What was posted before has completed, or never will: see struct iq_qp. */
static u64 iq_dead_ns(const struct ib_qp *qp)
{
	struct kstall_slot slot;
	u64 ns;

	if (!kstall_inflight_find(&iq_qps, iq_key(qp->device, qp->qp_num), &slot))
		return 0;
	ns = ((struct iq_qp *)slot.rec)->dead_ns;
	kstall_inflight_unlock(&slot);
	return ns;
}

/*
 * A queue pair's requests complete in order: what was posted before this one is over. (Whatever is
 * flushed may come after the queue pair's end, and must not make a record.)
 */
static void iq_outlived(u64 key, u64 post_ns)
{
	struct kstall_slot slot;
	struct iq_qp *rec;
	bool found;

	if (!kstall_inflight_find_or_insert(&iq_qps, key, post_ns, &slot, &found))
		return;
	rec = slot.rec;
	if (!found)
		rec->state = IQ_UNKNOWN;
	rec->dead_ns = max(rec->dead_ns, post_ns);
	kstall_inflight_unlock(&slot);
}

/* Requests whose completions were missed, or that a reset has done away with. */
static void iq_drop_dead(struct iq_post *post, u64 dead_ns)
{
	u32 nr = 0;

	while (nr < post->nr && post->wr[nr].post_ns < dead_ns)
		nr++;
	post->nr -= nr;
	memmove(post->wr, post->wr + nr, post->nr * sizeof(*post->wr));
	if (!post->nr)
		post->lost = 0;
}

static void iq_posted(const struct ib_qp *qp, const struct ib_send_wr *wr, u64 now,
		      const struct task_struct *poster, u64 cgroup_id)
{
	struct kstall_slot slot;
	struct iq_post *post;
	struct iq_wr *new;
	bool found;
	int i;

	if (!kstall_inflight_find_or_insert(&iq_posts, iq_wr_key(qp, wr->wr_id), now, &slot,
					    &found))
		return;
	if (found) {
		u64 dead_ns;

		/* Not under the lock: one bucket's at a time. */
		kstall_inflight_unlock(&slot);
		dead_ns = iq_dead_ns(qp);
		if (!kstall_inflight_find_or_insert(&iq_posts, iq_wr_key(qp, wr->wr_id), now, &slot,
						    &found))
			return;
		iq_drop_dead(slot.rec, dead_ns);
	}
	post = slot.rec;
	post->qp = qp;
	post->wr_id = wr->wr_id;
	post->qp_num = qp->qp_num;
	post->port = qp->port;
	if (post->nr == IQ_SAME_ID || post->lost) {
		post->lost++;
	} else {
		new = &post->wr[post->nr++];
		new->post_ns = now;
		new->cgroup_id = cgroup_id;
		new->pid = poster ? poster->pid : 0;
		new->opcode = wr->opcode;
		new->bytes = 0;
		for (i = 0; i < wr->num_sge; i++)
			new->bytes += wr->sg_list[i].length;
	}
	kstall_inflight_unlock(&slot);
}

/*
 * Takes the oldest request with this id, or the newest. Return: it was followed; then @wr is it,
 * and @post has the queue pair.
 */
static bool iq_unpost(const struct ib_qp *qp, u64 wr_id, bool newest, struct iq_post *post,
		      struct iq_wr *wr)
{
	u64 key = iq_wr_key(qp, wr_id);
	struct kstall_slot slot;
	struct iq_post *rec;
	bool known;

	if (!kstall_inflight_find(&iq_posts, key, &slot))
		return false;
	rec = slot.rec;
	known = rec->nr && !(newest && rec->lost);
	if (known) {
		*post = *rec;
		*wr = rec->wr[newest ? rec->nr - 1 : 0];
		rec->nr--;
		if (!newest)
			memmove(rec->wr, rec->wr + 1, rec->nr * sizeof(*rec->wr));
	} else {
		rec->lost--;
	}
	/* Its key's twin. */
	known = known && post->qp == qp && post->wr_id == wr_id;
	if (rec->nr || rec->lost)
		kstall_inflight_unlock(&slot);
	else
		kstall_inflight_erase(&iq_posts, key, &slot);
	return known;
}

/*
 * The process that a kernel user posts for: it is in a system call. A kernel thread does not know
 * it any more.
 */
static struct task_struct *iq_poster(void)
{
	return in_task() && !(current->flags & PF_KTHREAD) ? current : NULL;
}

KSTALL_FN(int, post_send, struct ib_qp *, qp, const struct ib_send_wr *, wr,
	  const struct ib_send_wr **, bad_wr);
KSTALL_CHECK_FN(post_send, *KSTALL_OP(const struct ib_device_ops, post_send));

/*
 * Any context. Before the provider has it: it may complete before this returns. Without @wr it
 * is a program's doorbell.
 */
bool iq_post_enter(void *data, struct pt_regs *regs)
{
	const struct ib_qp *qp = kstall_arg(regs, post_send, qp);
	const struct ib_send_wr *wr = kstall_arg(regs, post_send, wr);
	struct iq_post_call *call = data;
	u64 now = kstall_now(), cgroup_id;
	struct task_struct *poster;

	if (!wr || !iq_is_followed(qp))
		return false;
	poster = iq_poster();
	cgroup_id = poster ? kstall_cgroup_id(poster) : 0;
	for (; wr; wr = wr->next) {
		if (iq_signaled(qp, wr))
			iq_posted(qp, wr, now, poster, cgroup_id);
	}
	call->qp = qp;
	call->bad_wr = kstall_arg(regs, post_send, bad_wr);
	return true;
}

/*
 * What was refused will not complete. Read with care: what was accepted may have completed and be
 * gone by now, and a provider that fails without setting *bad_wr leaves what was there.
 */
void iq_post_return(void *data, struct pt_regs *regs)
{
	const struct iq_post_call *call = data;
	const struct ib_send_wr *bad;
	struct ib_send_wr wr;
	struct iq_post post;
	struct iq_wr gone;
	int i;

	if (!(int)regs_return_value(regs) || get_kernel_nofault(bad, call->bad_wr))
		return;
	for (i = 0; bad && i < 1024; i++, bad = wr.next) {
		if (get_kernel_nofault(wr, bad))
			return;
		iq_unpost(call->qp, wr.wr_id, true, &post, &gone);
	}
}

/* ---- polled ---- */

/* Its end. Return: it was followed; then @e knows more of it. */
static bool iq_completed(struct ib_cq *cq, const struct ib_wc *wc, u64 now, struct iq_failed *e)
{
	struct kstall_who who;
	struct kstall_ib_wr w;
	struct iq_post post;
	struct iq_wr wr;

	if (!iq_unpost(wc->qp, wc->wr_id, false, &post, &wr))
		return false;
	/* Of what the core polls no completion is missed, see iq_is_own_array(). */
	if (!cq->wc && wc->status == IB_WC_SUCCESS)
		iq_outlived(iq_key(cq->device, post.qp_num), wr.post_ns);
	e->opcode = wr.opcode;
	e->latency_ns = kstall_delta(now, wr.post_ns);
	e->cgroup_id = wr.cgroup_id;
	if (!trace_ib_wr_latency_enabled() ||
	    !kstall_long_enough(&kstall_event_ib_wr_latency, e->latency_ns))
		return true;
	iq_owner(&who, &cq->res);
	if (!who.pid)
		who.cgroup_id = wr.cgroup_id;
	w = (struct kstall_ib_wr){
		.id = iq_id(cq->device, &who), .user = iq_user(&cq->res), .port = post.port,
		.opcode = wr.opcode, .cq_id = cq->res.id, .post_pid = wr.pid,
	};
	trace_ib_wr_latency(e->latency_ns, post.qp_num, wr.bytes, wc->status, &w);
	return true;
}

/* Of a queue pair that was destroyed without being drained nothing may be left. */
static bool iq_was_followed(const struct ib_qp *qp)
{
	struct ib_qp copy;

	return qp && !copy_from_kernel_nofault(&copy, qp, sizeof(copy)) && iq_is_followed(&copy);
}

static void iq_polled(struct ib_cq *cq, const struct ib_wc *wc, u64 now)
{
	struct iq_failed e = {
		.cq = cq, .vendor_err = wc->vendor_err, .status = wc->status,
		.opcode = IQ_UNKNOWN,
	};
	bool good = wc->status == IB_WC_SUCCESS;

	/* It may have the id of a send. A failed one does not say what it was. */
	if (good && wc->opcode & IB_WC_RECV)
		return;
	if (!iq_completed(cq, wc, now, &e) && good && iq_was_followed(wc->qp))
		kstall_inflight_unmatched(&iq_posts);
	if (good || !trace_ib_wc_error_enabled())
		return;
	if (get_kernel_nofault(e.qp_num, &wc->qp->qp_num))
		e.qp_num = 0;
	/*
	 * The wr_id of ib_alloc_cq()'s users is a pointer to what names the handler. Others in the
	 * kernel have pointers there, too, and these are not to be seen.
	 */
	if (!cq->wc)
		e.wr_id = wc->wr_id < PAGE_OFFSET ? wc->wr_id : 0;
	else if (get_kernel_nofault(e.done, (const void **)&wc->wr_cqe->done))
		e.done = NULL;
	iq_failed(&e);
}

static void iq_all_polled(struct ib_cq *cq, const struct ib_wc *wc, int n)
{
	u64 now = kstall_now();
	int i;

	for (i = 0; i < n; i++)
		iq_polled(cq, &wc[i], now);
}

/*
 * What the core has polled into the CQ's own array, a tracepoint has: cheaper than a pair of
 * probes and, unlike these, not missed in an interrupt of another one. It does not have the array.
 * The core polls into another, on the stack, in two cases: CQs that are polled directly, which do
 * not count here, and an SRQ being drained. iq_poll_return() has seen these and leaves word.
 */
static DEFINE_PER_CPU(const struct ib_cq *, iq_seen);

static bool iq_is_own_array(const struct ib_cq *cq)
{
	if (!cq->wc || this_cpu_read(iq_seen) == cq)
		return false;
	if (cq->poll_ctx == IB_POLL_SOFTIRQ)
		return in_serving_softirq();
	return cq->poll_ctx != IB_POLL_DIRECT && current->flags & PF_WQ_WORKER;
}

/* cq_poll: softirq, worker; the completions' handlers have not run yet */
KSTALL_PROBE(iq_on_poll, PARAMS(const struct ib_cq *cq, int requested, int rc),
	     PARAMS(cq, requested, rc))
{
	if (rc > 0 && iq_is_own_array(cq))
		iq_all_polled((struct ib_cq *)cq, cq->wc, min(rc, requested));
	this_cpu_write(iq_seen, NULL);
}

KSTALL_FN(int, poll_cq, struct ib_cq *, cq, int, num_entries, struct ib_wc *, wc);
KSTALL_CHECK_FN(poll_cq, *KSTALL_OP(const struct ib_device_ops, poll_cq));

/* Any context. */
bool iq_poll_enter(void *data, struct pt_regs *regs)
{
	struct iq_poll_call *call = data;

	call->cq = kstall_arg(regs, poll_cq, cq);
	call->wc = kstall_arg(regs, poll_cq, wc);
	return call->wc != call->cq->wc;
}

void iq_poll_return(void *data, struct pt_regs *regs)
{
	const struct iq_poll_call *call = data;
	int n = regs_return_value(regs);

	if (n > 0)
		iq_all_polled(call->cq, call->wc, n);
	/* Only what the core polls passes its tracepoint, at once. */
	if (call->cq->wc)
		this_cpu_write(iq_seen, call->cq);
}

/* ---- soft-RoCE: a program's completions, and room for anybody's ---- */

/* struct rxe_cq and struct rxe_cqe are the driver's own. */
KSTALL_FN(int, rxe_cq_post, void *, cq, void *, cqe, int, solicited);

/*
 * Process or softirq context, or a worker with interrupts off. A rxe_cq begins with its ib_cq; a
 * rxe_cqe is a struct ib_uverbs_wc if the CQ is a program's, else a struct ib_wc.
 */
bool iq_rxe_post_enter(void *data, struct pt_regs *regs)
{
	struct ib_cq *cq = kstall_arg(regs, rxe_cq_post, cq);
	const struct ib_uverbs_wc *wc = kstall_arg(regs, rxe_cq_post, cqe);
	struct iq_cqe_call *call = data;
	struct iq_failed e;

	call->cq = cq;
	if (!cq->uobject)
		return trace_ib_cq_overflow_enabled();
	if (wc->status == IB_WC_SUCCESS || !trace_ib_wc_error_enabled())
		return false;
	e = (struct iq_failed){
		.cq = cq, .wr_id = wc->wr_id, .qp_num = wc->qp_num,
		.vendor_err = wc->vendor_err, .status = wc->status, .opcode = IQ_UNKNOWN,
	};
	iq_failed(&e);
	return false;
}

/* There was no room in a kernel user's CQ; of a program's ib_uverbs gets the event. */
void iq_rxe_post_return(void *data, struct pt_regs *regs)
{
	const struct iq_cqe_call *call = data;

	if ((int)regs_return_value(regs) == -EBUSY)
		iq_overflowed(call->cq, call->cq->cqe, 0);
}
