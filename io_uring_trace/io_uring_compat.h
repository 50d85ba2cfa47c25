/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring_compat.h - how kernels differ in what this module reads
 *
 * HAVE_* come from scripts/features/; each test cites the change it asks about.
 */
#ifndef _IO_URING_COMPAT_H
#define _IO_URING_COMPAT_H

#include <kstall/compat.h>
#include <kstall/fn.h>

#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/io_uring.h>
#include <linux/io_uring_types.h>
#include <linux/ptrace.h>
#include <trace/events/block.h>
#include <trace/events/io_uring.h>

#ifdef HAVE_IO_URING_SUBMIT_REQ
#define URING_SUBMIT		io_uring_submit_req
#define URING_SUBMIT_PROTO	TP_PROTO(struct io_kiocb *req)
#define URING_SUBMIT_ARGS	TP_ARGS(req)
#else
#define URING_SUBMIT		io_uring_submit_sqe
#define URING_SUBMIT_PROTO	TP_PROTO(struct io_kiocb *req, bool force_nonblock)
#define URING_SUBMIT_ARGS	TP_ARGS(req, force_nonblock)
#endif

/* What the completion's arguments say beside req is in req->cqe too. */
#ifdef HAVE_IO_URING_COMPLETE_CQE
#define URING_COMPLETE_PROTO	TP_PROTO(struct io_ring_ctx *ctx, void *req,		\
					 struct io_uring_cqe *cqe)
#define URING_COMPLETE_ARGS	TP_ARGS(ctx, req, cqe)
#else
#define URING_COMPLETE_PROTO	TP_PROTO(void *ctx, void *req, u64 user_data, int res,	\
					 unsigned int cflags, u64 extra1, u64 extra2)
#define URING_COMPLETE_ARGS	TP_ARGS(ctx, req, user_data, res, cflags, extra1, extra2)
#endif

#ifdef HAVE_IO_URING_ASYNC_WORK_BOOL
#define URING_PUNT_PROTO	TP_PROTO(struct io_kiocb *req, bool how)
#else
#define URING_PUNT_PROTO	TP_PROTO(struct io_kiocb *req, int how)
#endif

/*
 * The one function every request goes through whose completion does not fit into the ring.
 * uring_overflow_first() and _next() give the requests it is called for.
 *
 * 6.16 folded io_req_cqe_overflow(req) into io_alloc_ocqe(ctx, cqe, big_cqe, gfp), where cqe
 * is the request's own iff big_cqe is set (io_uring/io_uring.c). 6.1 has the former too, but
 * inlined where it matters: there it is io_free_batch_list(ctx, node), called under uring_lock
 * with the requests whose completions have just been posted. It misses those that an io-wq
 * worker completes.
 */
#if defined(HAVE_IO_BIG_CQE)
#define URING_REQ_OVERFLOW	"io_alloc_ocqe"
struct io_overflow_cqe;
KSTALL_FN(struct io_overflow_cqe *, io_alloc_ocqe, struct io_ring_ctx *, ctx, struct io_cqe *, cqe,
	  struct io_big_cqe *, big_cqe);

static inline const struct io_kiocb *uring_overflow_first(struct pt_regs *regs)
{
	if (!kstall_arg(regs, io_alloc_ocqe, big_cqe))
		return NULL;
	return container_of(kstall_arg(regs, io_alloc_ocqe, cqe), struct io_kiocb, cqe);
}

static inline const struct io_kiocb *uring_overflow_next(const struct io_kiocb *req)
{
	return NULL;
}
#elif defined(HAVE_IO_URING_SUBMIT_REQ)
#define URING_REQ_OVERFLOW	"io_req_cqe_overflow"
KSTALL_FN(bool, io_req_cqe_overflow, struct io_kiocb *, req);

static inline const struct io_kiocb *uring_overflow_first(struct pt_regs *regs)
{
	return kstall_arg(regs, io_req_cqe_overflow, req);
}

static inline const struct io_kiocb *uring_overflow_next(const struct io_kiocb *req)
{
	return NULL;
}
#else
#define URING_REQ_OVERFLOW	"io_free_batch_list"
KSTALL_FN(void, io_free_batch_list, struct io_ring_ctx *, ctx, struct io_wq_work_node *, node);

static inline const struct io_kiocb *uring_overflow_of(const struct io_wq_work_node *node)
{
	return node ? container_of(node, struct io_kiocb, comp_list) : NULL;
}

static inline const struct io_kiocb *uring_overflow_first(struct pt_regs *regs)
{
	const struct io_ring_ctx *ctx = kstall_arg(regs, io_free_batch_list, ctx);

	if (list_empty(&ctx->cq_overflow_list))
		return NULL;
	return uring_overflow_of(kstall_arg(regs, io_free_batch_list, node));
}

static inline const struct io_kiocb *uring_overflow_next(const struct io_kiocb *req)
{
	return uring_overflow_of(req->comp_list.next);
}
#endif

/* The submitter's task, held by the request. */
static inline struct task_struct *uring_req_task(const struct io_kiocb *req)
{
#ifdef HAVE_IO_KIOCB_TCTX_TASK
	return req->tctx->task;
#else
	return req->task;
#endif
}

/*
 * The cgroup that a kernel thread writes for: writeback, and threads that lend themselves (loop),
 * leave it in the bio (wbc_init_bio(), kthread_associate_blkcg()). 0: not said.
 */
static inline u64 uring_bio_cgroup(struct bio *bio)
{
#ifdef CONFIG_BLK_CGROUP
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	if (css && css->cgroup->root == &cgrp_dfl_root)
		return cgroup_id(css->cgroup);
#endif
	return 0;
}

/* With IORING_SETUP_SQ_REWIND the kernel ignores the ring's tail. */
static inline bool uring_sq_has_tail(const struct io_ring_ctx *ctx)
{
#ifdef HAVE_IORING_SETUP_SQ_REWIND
	return !(ctx->flags & IORING_SETUP_SQ_REWIND);
#else
	return true;
#endif
}

#endif /* _IO_URING_COMPAT_H */
