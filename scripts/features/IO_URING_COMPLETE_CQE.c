// SPDX-License-Identifier: GPL-2.0
/*
 * Is io_uring_complete given the CQE? If not, it is given user_data, res,
 * cflags and two extra words, and the context as a void pointer.
 *
 * include/trace/events/io_uring.h; "io_uring: clean up cqe trace points", v6.13.
 */
#include <linux/io_uring_types.h>
#include <trace/events/io_uring.h>

static void probe_IO_URING_COMPLETE_CQE(void *data,
#ifndef OTHERWISE
		  struct io_ring_ctx *ctx, void *req, struct io_uring_cqe *cqe)
#else
		  void *ctx, void *req, u64 user_data, int res, unsigned int cflags,
		  u64 extra1, u64 extra2)
#endif
{
	check_trace_callback_type_io_uring_complete(probe_IO_URING_COMPLETE_CQE);
}
