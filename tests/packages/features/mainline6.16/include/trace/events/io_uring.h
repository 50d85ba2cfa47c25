/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/tracepoint.h>
FAKE_TRACEPOINT(io_uring_complete, TP_PROTO(struct io_ring_ctx *ctx, void *req,
		struct io_uring_cqe *cqe))
FAKE_TRACEPOINT(io_uring_submit_req, TP_PROTO(struct io_kiocb *req))
FAKE_TRACEPOINT(io_uring_queue_async_work, TP_PROTO(struct io_kiocb *req, int rw))
