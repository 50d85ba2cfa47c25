// SPDX-License-Identifier: GPL-2.0
/* ring.c - submission rings, completion rings and the life of a request */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/siphash.h>

#include "io_uring_trace.h"
#include "io_uring_trace_events.h"

/*
 * Requests on their way to a worker, counted by the node where they go in and where they come out:
 * each event adds them up, which for a counter a CPU would be hundreds of cache misses.
 */
static struct {
	atomic64_t pending;
} ____cacheline_aligned_in_smp uring_wq_nodes[8];

static void uring_wq_count(s64 requests)
{
	unsigned int i = numa_node_id() % ARRAY_SIZE(uring_wq_nodes);

	atomic64_add(requests, &uring_wq_nodes[i].pending);
}

static siphash_key_t uring_key __read_mostly;

void uring_ring_init(void)
{
	get_random_bytes(&uring_key, sizeof(uring_key));
}

/*
 * A name for a ring that is the same in all its events and gives away no kernel address.
 * 0 means no ring.
 */
u32 uring_ring_id(const void *ctx)
{
	return ctx ? (u32)siphash_1u64((unsigned long)ctx, &uring_key) ?: 1 : 0;
}

static struct kstall_id uring_id_of(struct task_struct *task, s32 cpu_node)
{
	return (struct kstall_id){ .dev_node = NUMA_NO_NODE, .cpu_node = cpu_node,
				   .task = uring_owner(task) };
}

/* ---- submission ring ---- */

/* Entries user space has queued; sq.tail is user memory: read once, believe nothing. */
static u32 uring_sq_queued(const struct io_ring_ctx *ctx)
{
	if (!uring_sq_has_tail(ctx))
		return ctx->sq_entries;
	return READ_ONCE(ctx->rings->sq.tail) - ctx->cached_sq_head;
}

static void uring_sq_full_fill(struct uring_sq_full *f, const struct uring_submit_call *call)
{
	kstall_who_read(&f->who, uring_owner(current));
	f->ctx = call->ctx;
	f->sq_entries = call->ctx->sq_entries;
	f->to_submit = call->to_submit;
	f->cpu_node = numa_node_id();
	f->sqpoll = uring_is_sqpoll(call->ctx);
}

void uring_sq_full_emit(const struct kstall_folded *folded)
{
	const struct uring_sq_full *f = container_of(folded, struct uring_sq_full, folded);
	struct kstall_io_uring_sq sq = {
		.id = { .dev_node = NUMA_NO_NODE, .cpu_node = f->cpu_node, .who = &f->who },
		.ctx = f->ctx,
		.sq_entries = f->sq_entries,
		.sqpoll = f->sqpoll,
		.first_ns = folded->first_ns,
		.last_ns = folded->last_ns,
	};

	trace_io_uring_sq_full(0, uring_ring_id(f->ctx), folded->count, f->to_submit, &sq);
}

static void uring_sq_full(const struct uring_submit_call *call)
{
	struct kstall_slot slot;
	struct uring_sq_full one;
	u64 now = kstall_now();

	if (kstall_fold_hit(&uring_sq_full_fold, (unsigned long)call->ctx, now, &slot)) {
		uring_sq_full_fill(slot.rec, call);
		kstall_inflight_unlock(&slot);
		return;
	}
	one.folded = (struct kstall_folded){ .count = 1, .first_ns = now, .last_ns = now };
	uring_sq_full_fill(&one, call);
	uring_sq_full_emit(&one.folded);
}

KSTALL_FN(int, io_submit_sqes, struct io_ring_ctx *, ctx, unsigned int, nr);

/* Under ctx->uring_lock. */
bool uring_submit_enter(void *data, struct pt_regs *regs)
{
	struct uring_submit_call *call = data;
	struct io_ring_ctx *ctx = kstall_arg(regs, io_submit_sqes, ctx);

	call->ctx = ctx;
	call->to_submit = kstall_arg(regs, io_submit_sqes, nr);
	call->queued = uring_sq_queued(ctx);
	call->expected = min3(call->to_submit, call->queued, ctx->sq_entries);
	call->sq_dropped = READ_ONCE(ctx->rings->sq_dropped);
	if (call->queued >= ctx->sq_entries && uring_sq_has_tail(ctx) &&
	    trace_io_uring_sq_full_enabled())
		uring_sq_full(call);
	return trace_io_uring_sq_overflow_enabled();
}

/* An event of io_uring_sq_overflow about the current task. */
static void uring_sq_overflow(struct io_ring_ctx *ctx, int cause, u32 queued, u32 to_submit,
			      int submitted, u64 wait_ns)
{
	struct kstall_io_uring_sq sq = {
		.id = uring_id_of(current, numa_node_id()),
		.ctx = ctx,
		.sq_entries = ctx->sq_entries,
		.queued = queued,
		.submitted = submitted,
		.sqpoll = uring_is_sqpoll(ctx),
	};

	trace_io_uring_sq_overflow(wait_ns, uring_ring_id(ctx), to_submit, cause, &sq);
}

void uring_submit_return(void *data, struct pt_regs *regs)
{
	struct uring_submit_call *call = data;
	int ret = regs_return_value(regs);
	int cause;

	if (ret >= (int)call->expected)
		return;
	if (ret == -EAGAIN)
		cause = URING_NO_MEMORY;
	else if (READ_ONCE(call->ctx->rings->sq_dropped) != call->sq_dropped)
		cause = URING_DROPPED_SQE;
	else
		cause = URING_SHORT_SUBMIT;
	uring_sq_overflow(call->ctx, cause, call->queued, call->to_submit, ret, 0);
}

KSTALL_FN(void, io_sqpoll_wait_sq, struct io_ring_ctx *, ctx);

/* No lock is held. */
bool uring_sq_wait_enter(void *data, struct pt_regs *regs)
{
	struct uring_sq_wait_call *call = data;

	call->ctx = kstall_arg(regs, io_sqpoll_wait_sq, ctx);
	call->nvcsw = current->nvcsw;
	call->start_ns = kstall_now();
	return true;
}

/* It returns at once when there is room: only a task that slept was delayed. */
void uring_sq_wait_return(void *data, struct pt_regs *regs)
{
	struct uring_sq_wait_call *call = data;
	u64 wait_ns;

	if (current->nvcsw == call->nvcsw)
		return;
	wait_ns = kstall_delta(kstall_now(), call->start_ns);
	if (kstall_long_enough(&kstall_event_io_uring_sq_overflow, wait_ns))
		uring_sq_overflow(call->ctx, URING_SQPOLL_WAIT, call->ctx->sq_entries, 0, 0,
				  wait_ns);
}

/* ---- completion ring ---- */

static void uring_cq_emit(const void *ctx, const struct uring_cq_episode *ep, int phase,
			  u32 overflowed, u64 duration_ns)
{
	struct kstall_io_uring_cq cq = {
		.id = { .dev_node = NUMA_NO_NODE, .cpu_node = ep->cpu_node, .who = &ep->who },
		.ctx = ctx,
		.user_data = ep->user_data,
		.cq_entries = ep->cq_entries,
		.dropped = ep->dropped,
		.sqpoll = ep->sqpoll,
		.seen_by_waiter = ep->reported,
	};

	trace_io_uring_cq_overflow(duration_ns, uring_ring_id(ctx), overflowed, phase, &cq);
}

static void uring_cq_end(const struct io_ring_ctx *ctx)
{
	struct uring_cq_episode ep;
	u64 duration_ns;

	if (!kstall_inflight_take(&uring_rings, (unsigned long)ctx, &ep))
		return;
	duration_ns = kstall_delta(kstall_now(), ep.first_ns);
	if (kstall_long_enough(&kstall_event_io_uring_cq_overflow, duration_ns))
		uring_cq_emit(ctx, &ep, URING_CQ_FLUSHED, ep.overflowed, duration_ns);
}

static void uring_cq_begin(const struct io_ring_ctx *ctx, u64 user_data, bool dropped)
{
	u64 now = kstall_now();
	struct uring_cq_episode ep = {
		.first_ns = now,
		.user_data = user_data,
		.dropped = dropped,
		.cq_entries = ctx->cq_entries,
		.cpu_node = numa_node_id(),
		.sqpoll = uring_is_sqpoll(ctx),
	};
	struct kstall_slot slot;

	kstall_who_read(&ep.who, uring_owner(current));
	if (kstall_inflight_insert(&uring_rings, (unsigned long)ctx, now, &slot)) {
		memcpy(slot.rec, &ep, sizeof(ep));
		kstall_inflight_unlock(&slot);
	}
	uring_cq_emit(ctx, &ep, URING_CQ_BEGIN, 1, 0);
}

/* ocqe is NULL if there was no memory for the overflow list: the completion is lost. */
KSTALL_PROBE(uring_on_cqe_overflow,
	     TP_PROTO(void *ctx, unsigned long long user_data, s32 res, u32 cflags, void *ocqe),
	     TP_ARGS(ctx, user_data, res, cflags, ocqe))
{
	struct uring_cq_episode *ep;
	struct kstall_slot slot;

	if (!kstall_inflight_find(&uring_rings, (unsigned long)ctx, &slot)) {
		uring_cq_begin(ctx, user_data, !ocqe);
		return;
	}
	ep = slot.rec;
	ep->overflowed++;
	ep->dropped += !ocqe;
	kstall_inflight_unlock(&slot);
}

KSTALL_CHECK_PROBE(io_uring_cqe_overflow, uring_on_cqe_overflow);

KSTALL_FN(void, __io_cqring_overflow_flush, struct io_ring_ctx *, ctx);

/* Under ctx->uring_lock. */
bool uring_flush_enter(void *data, struct pt_regs *regs)
{
	struct uring_ctx_call *call = data;

	call->ctx = kstall_arg(regs, __io_cqring_overflow_flush, ctx);
	return true;
}

void uring_flush_return(void *data, struct pt_regs *regs)
{
	struct uring_ctx_call *call = data;

	if (list_empty(&call->ctx->cq_overflow_list))
		uring_cq_end(call->ctx);
}

KSTALL_FN(void, io_ring_ctx_wait_and_kill, struct io_ring_ctx *, ctx);

/* Nobody can submit any more. */
bool uring_kill_enter(void *data, struct pt_regs *regs)
{
	struct io_ring_ctx *ctx = kstall_arg(regs, io_ring_ctx_wait_and_kill, ctx);

	kstall_fold_end(&uring_sq_full_fold, (unsigned long)ctx);
	if (list_empty(&ctx->cq_overflow_list))
		uring_cq_end(ctx);
	return false;
}

/* io_cqring_wait(struct io_ring_ctx *ctx, ...), sleeps */
bool uring_cq_wait_enter(void *data, struct pt_regs *regs)
{
	return uring_flush_enter(data, regs);
}

void uring_cq_wait_return(void *data, struct pt_regs *regs)
{
	struct uring_ctx_call *call = data;
	struct uring_cq_episode ep = {
		.cq_entries = call->ctx->cq_entries,
		.cpu_node = numa_node_id(),
		.sqpoll = uring_is_sqpoll(call->ctx),
	};
	struct kstall_slot slot;

	if ((int)regs_return_value(regs) != -EBADR)
		return;
	kstall_who_read(&ep.who, uring_owner(current));
	if (kstall_inflight_find(&uring_rings, (unsigned long)call->ctx, &slot)) {
		((struct uring_cq_episode *)slot.rec)->reported = true;
		memcpy(&ep, slot.rec, sizeof(ep));
		kstall_inflight_unlock(&slot);
	}
	ep.reported = true;
	uring_cq_emit(call->ctx, &ep, URING_CQ_REPORTED, 0, 0);
}

/* ---- requests ---- */

/*
 * Bytes asked for. struct io_rw is private (io_uring/rw.c) but the same on all kernels: a
 * kiocb at the start of the request's command area, then u64 addr, u32 len.
 */
static u32 uring_rw_len(const struct io_kiocb *req)
{
	const void *rw = req;

	switch (req->opcode) {
	case IORING_OP_READ:
	case IORING_OP_WRITE:
	case IORING_OP_READ_FIXED:
	case IORING_OP_WRITE_FIXED:
		return *(const u32 *)(rw + sizeof(struct kiocb) + sizeof(u64));
	default:
		return 0;
	}
}

/*
 * What works on no file, without needs_file in io_uring/opdef.c, finds in cqe.fd what the request
 * before left there. Numbers are of opcodes that headers of 6.1 do not know.
 */
static bool uring_needs_file(u8 opcode)
{
	switch (opcode) {
	case IORING_OP_NOP:
	case IORING_OP_POLL_REMOVE:
	case IORING_OP_TIMEOUT:
	case IORING_OP_TIMEOUT_REMOVE:
	case IORING_OP_ASYNC_CANCEL:
	case IORING_OP_LINK_TIMEOUT:
	case IORING_OP_OPENAT:
	case IORING_OP_CLOSE:
	case IORING_OP_FILES_UPDATE:
	case IORING_OP_STATX:
	case IORING_OP_MADVISE:
	case IORING_OP_OPENAT2:
	case IORING_OP_EPOLL_CTL:
	case IORING_OP_PROVIDE_BUFFERS:
	case IORING_OP_REMOVE_BUFFERS:
	case IORING_OP_RENAMEAT:
	case IORING_OP_UNLINKAT:
	case IORING_OP_MKDIRAT:
	case IORING_OP_SYMLINKAT:
	case IORING_OP_LINKAT:
	case IORING_OP_SETXATTR:
	case IORING_OP_GETXATTR:
	case IORING_OP_SOCKET:
	case 50 ... 53:		/* WAITID, FUTEX_* */
	case 62 ... 63:		/* PIPE, NOP128 */
		return false;
	default:
		return true;
	}
}

KSTALL_PROBE(uring_on_submit, URING_SUBMIT_PROTO, URING_SUBMIT_ARGS)
{
	u64 now = kstall_now();
	struct kstall_slot slot __uninitialized;
	struct uring_req *rec;

	if (!kstall_inflight_insert(&uring_reqs, (unsigned long)req, now, &slot))
		return;
	rec = slot.rec;
	*rec = (struct uring_req){
		.submit_ns = now,
		.user_data = req->cqe.user_data,
		.ctx = req->ctx,
		.len = uring_rw_len(req),
		.fd = uring_needs_file(req->opcode) ? req->cqe.fd : -1,
		.cpu_node = numa_node_id(),
		.opcode = req->opcode,
		.sqpoll = uring_is_sqpoll(req->ctx),
	};
	kstall_inflight_unlock(&slot);
}

KSTALL_CHECK_PROBE(URING_SUBMIT, uring_on_submit);

/*
 * It will complete without having been accepted: what is known under its io_kiocb is of another
 * request, whose end could not be seen (IOSQE_CQE_SKIP_SUCCESS). In a link 6.1 refuses it late.
 */
KSTALL_PROBE(uring_on_refused,
	     TP_PROTO(const struct io_uring_sqe *sqe, struct io_kiocb *req, int error),
	     TP_ARGS(sqe, req, error))
{
	struct uring_req rec;

	kstall_inflight_take(&uring_reqs, (unsigned long)req, &rec);
}

KSTALL_CHECK_PROBE(io_uring_req_failed, uring_on_refused);

/* A worker has taken the request, or it ended without one. */
static void uring_wq_started(struct uring_req *rec, u64 now)
{
	if (!rec->punt_ns)
		return;
	rec->wq_ns += kstall_delta(now, rec->punt_ns);
	rec->punt_ns = 0;
	uring_wq_count(-1);
}

KSTALL_FN(int, io_issue_sqe, struct io_kiocb *, req, unsigned int, issue_flags);

/* Each attempt to issue. */
bool uring_issue_enter(void *data, struct pt_regs *regs)
{
	unsigned long req = (unsigned long)kstall_arg(regs, io_issue_sqe, req);
	struct uring_req *rec = kstall_inflight_peek(&uring_reqs, req);
	u64 now;

	if (!rec || (rec->begin_ns && !rec->punt_ns))
		return false;
	now = kstall_now();
	if (!rec->begin_ns)
		rec->begin_ns = now;
	uring_wq_started(rec, now);
	return false;
}

static s32 uring_req_fd(const struct io_kiocb *req)
{
	struct kstall_slot slot;
	s32 fd;

	if (!kstall_inflight_find(&uring_reqs, (unsigned long)req, &slot))
		return -1;
	fd = ((struct uring_req *)slot.rec)->fd;
	kstall_inflight_unlock(&slot);
	return fd;
}

/*
 * Also io_issue_sqe(), for io_uring_block_rq only: a hook of its own, so that requests alone
 * do not pay for a return probe. Remembers what the current task issues, and around which
 * other request, as links nest.
 */
bool uring_window_enter(void *data, struct pt_regs *regs)
{
	const struct io_kiocb *req = kstall_arg(regs, io_issue_sqe, req);
	struct uring_window win = {
		.user_data = req->cqe.user_data,
		.ctx = req->ctx,
		.fd = uring_req_fd(req),
		.opcode = req->opcode,
		.sqpoll = uring_is_sqpoll(req->ctx),
	};
	struct uring_window_call *call = data;
	struct kstall_slot slot;

	call->nested = kstall_inflight_find(&uring_windows, (unsigned long)current, &slot);
	if (call->nested)
		call->outer = *(struct uring_window *)slot.rec;
	else if (!kstall_inflight_insert(&uring_windows, (unsigned long)current, kstall_now(),
					 &slot))
		return false;
	*(struct uring_window *)slot.rec = win;
	kstall_inflight_unlock(&slot);
	return true;
}

void uring_window_return(void *data, struct pt_regs *regs)
{
	struct uring_window_call *call = data;
	struct uring_window closed;
	struct kstall_slot slot;

	if (!call->nested) {
		kstall_inflight_take(&uring_windows, (unsigned long)current, &closed);
	} else if (kstall_inflight_find(&uring_windows, (unsigned long)current, &slot)) {
		*(struct uring_window *)slot.rec = call->outer;
		kstall_inflight_unlock(&slot);
	}
}

KSTALL_PROBE(uring_on_poll_arm, TP_PROTO(struct io_kiocb *req, int mask, int events),
	     TP_ARGS(req, mask, events))
{
	struct kstall_slot slot;

	if (!kstall_inflight_find(&uring_reqs, (unsigned long)req, &slot))
		return;
	((struct uring_req *)slot.rec)->poll_armed = true;
	kstall_inflight_unlock(&slot);
}

KSTALL_CHECK_PROBE(io_uring_poll_arm, uring_on_poll_arm);

/*
 * No request is followed any more, no probe runs: those on their way to a worker will not be seen
 * to arrive there.
 */
void uring_wq_forget(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uring_wq_nodes); i++)
		atomic64_set(&uring_wq_nodes[i].pending, 0);
}

static u64 uring_wq_pending(void)
{
	s64 pending = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uring_wq_nodes); i++)
		pending += atomic64_read(&uring_wq_nodes[i].pending);
	return max(pending, 0LL);
}

KSTALL_PROBE(uring_on_punt, URING_PUNT_PROTO, TP_ARGS(req, how))
{
	struct kstall_io_uring_req e = {
		.id = uring_id_of(uring_req_task(req), numa_node_id()),
		.ctx = req->ctx,
		.user_data = req->cqe.user_data,
		.fd = -1,
		.opcode = req->opcode,
		.sqpoll = uring_is_sqpoll(req->ctx),
		.punted = true,
	};
	int reason = URING_PUNT_BEFORE_ISSUE;
	u64 now = kstall_now();
	struct kstall_slot slot;

	if (kstall_inflight_find(&uring_reqs, (unsigned long)req, &slot)) {
		struct uring_req *rec = slot.rec;

		if (rec->begin_ns)
			reason = URING_PUNT_WOULD_BLOCK;
		else
			rec->begin_ns = now;
		rec->punt_ns = now;
		rec->punted = true;
		e.submit_ns = rec->submit_ns;
		e.fd = rec->fd;
		e.poll_armed = rec->poll_armed;
		kstall_inflight_unlock(&slot);
		uring_wq_count(1);
	}
	if (req->flags & REQ_F_FORCE_ASYNC)
		reason = URING_PUNT_FORCE_ASYNC;
	if (trace_io_uring_wq_punt_enabled())
		trace_io_uring_wq_punt(0, e.user_data, uring_wq_pending(), reason, &e);
}

KSTALL_CHECK_PROBE(io_uring_queue_async_work, uring_on_punt);

static void uring_req_emit(const struct io_kiocb *req, const struct uring_req *rec, u64 now)
{
	u64 total_ns = kstall_delta(now, rec->submit_ns);
	/* Each part within what is left, so that they add up whatever the clock did. */
	u64 queue_ns = min(kstall_delta(rec->begin_ns ?: now, rec->submit_ns), total_ns);
	u64 wq_ns = min(rec->wq_ns, total_ns - queue_ns);
	struct kstall_io_uring_req e = {
		.id = uring_id_of(uring_req_task(req), rec->cpu_node),
		.ctx = rec->ctx,
		.user_data = rec->user_data,
		.submit_ns = rec->submit_ns,
		.queue_ns = queue_ns,
		.wq_ns = wq_ns,
		.exec_ns = total_ns - queue_ns - wq_ns,
		.fd = rec->fd,
		.opcode = rec->opcode,
		.sqpoll = rec->sqpoll,
		.punted = rec->punted,
		.poll_armed = rec->poll_armed,
	};

	if (!kstall_long_enough(&kstall_event_io_uring_req_done, total_ns))
		return;
	trace_io_uring_req_done(total_ns, rec->user_data, rec->len, req->cqe.res, &e);
}

/*
 * The request is over: into the completion ring or onto its overflow list.
 * Return: false if it is not known.
 */
static bool uring_req_end(const struct io_kiocb *req)
{
	u64 now = kstall_now();
	struct uring_req *rec;

	/* The second completion of a SEND_ZC has an io_kiocb of its own (io_alloc_notif()). */
	if (req->cqe.flags & IORING_CQE_F_NOTIF)
		return true;
	rec = kstall_inflight_detach(&uring_reqs, (unsigned long)req);
	if (!rec)
		return false;
	uring_wq_started(rec, now);
	if (trace_io_uring_req_done_enabled())
		uring_req_emit(req, rec, now);
	kstall_inflight_put(&uring_reqs, rec);
	return true;
}

/*
 * req is NULL for completions beside the request's own (multishot, msg_ring). Arguments beside
 * it are not read: since 7.0 the cqe is the ring's, in user-mapped memory.
 */
KSTALL_PROBE(uring_on_complete, URING_COMPLETE_PROTO, URING_COMPLETE_ARGS)
{
	if (req && !uring_req_end(req))
		kstall_inflight_unmatched(&uring_reqs);
}

KSTALL_CHECK_PROBE(io_uring_complete, uring_on_complete);

/*
 * Completions on the overflow list: io_uring_complete does not fire for them. On 6.1 among those
 * that want none (see uring_overflow_first()): these have no event, as elsewhere.
 */
bool uring_req_overflow(void *data, struct pt_regs *regs)
{
	const struct io_kiocb *req;
	struct uring_req rec;

	for (req = uring_overflow_first(regs); req; req = uring_overflow_next(req)) {
		if (req->flags & REQ_F_CQE_SKIP)
			kstall_inflight_take(&uring_reqs, (unsigned long)req, &rec);
		else
			uring_req_end(req);
	}
	return false;
}

/* ---- rings that are gone ---- */

/*
 * The end of a request that is to be silent on success (IOSQE_CQE_SKIP_SUCCESS) is not seen: its
 * record stays until the kernel gives its memory to another request, or the ring goes.
 */
struct uring_gone_list {
	unsigned int nr;
	struct {
		unsigned long ctx;
		u64 ns;
	} ring[32];
};

static u64 uring_left;	/* under kstall.lock */

void uring_ring_show(struct seq_file *m)
{
	seq_printf(m, "unseen requests=%llu\n", uring_left);
}

KSTALL_FN(void, io_ring_exit_work, struct work_struct *, work);

/* It waits for the ring's requests and frees the ring. */
bool uring_exit_enter(void *data, struct pt_regs *regs)
{
	struct work_struct *work = kstall_arg(regs, io_ring_exit_work, work);
	struct uring_exit_call *call = data;

	call->ctx = container_of(work, struct io_ring_ctx, exit_work);
	call->begin_ns = kstall_now();
	return true;
}

/* What another ring in the same memory submits is younger than the beginning of this one's end. */
void uring_exit_return(void *data, struct pt_regs *regs)
{
	struct uring_exit_call *call = data;
	struct kstall_slot slot;

	if (kstall_inflight_insert(&uring_gone, (unsigned long)call->ctx, call->begin_ns, &slot))
		kstall_inflight_unlock(&slot);
}

static bool uring_gone_take(const struct kstall_node *node, u64 arg)
{
	struct uring_gone_list *gone = (void *)(unsigned long)arg;

	if (gone->nr == ARRAY_SIZE(gone->ring))
		return false;
	gone->ring[gone->nr].ctx = node->key;
	gone->ring[gone->nr++].ns = node->born_ns;
	return true;
}

static bool uring_req_is_left(const struct kstall_node *node, u64 arg)
{
	const struct uring_gone_list *gone = (void *)(unsigned long)arg;
	const struct uring_req *req = (const void *)node->rec;
	unsigned int i;

	for (i = 0; i < gone->nr; i++) {
		if ((unsigned long)req->ctx != gone->ring[i].ctx ||
		    req->submit_ns > gone->ring[i].ns)
			continue;
		if (req->punt_ns)
			uring_wq_count(-1);
		return true;
	}
	return false;
}

/* kstall.tick() */
void uring_rings_forget(void)
{
	static struct uring_gone_list gone;	/* under kstall.lock */

	do {
		gone.nr = 0;
		kstall_inflight_purge(&uring_gone, uring_gone_take, (unsigned long)&gone);
		if (gone.nr)
			uring_left += kstall_inflight_purge(&uring_reqs, uring_req_is_left,
							    (unsigned long)&gone);
	} while (gone.nr == ARRAY_SIZE(gone.ring));
}
