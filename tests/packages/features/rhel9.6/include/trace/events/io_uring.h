/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/tracepoint.h>
FAKE_TRACEPOINT(io_uring_complete, TP_PROTO(void *ctx, void *req, u64 user_data, int res,
		unsigned int cflags, u64 extra1, u64 extra2))
FAKE_TRACEPOINT(io_uring_submit_req, TP_PROTO(struct io_kiocb *req))
FAKE_TRACEPOINT(io_uring_queue_async_work, TP_PROTO(struct io_kiocb *req, int rw))
