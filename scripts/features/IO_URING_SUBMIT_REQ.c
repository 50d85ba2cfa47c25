// SPDX-License-Identifier: GPL-2.0
/*
 * Is a submission traced as io_uring_submit_req(req)? If not, it is
 * io_uring_submit_sqe(req, bool force_nonblock).
 *
 * include/trace/events/io_uring.h; "io_uring: rename
 * trace_io_uring_submit_sqe() tracepoint", v6.4.
 */
#include <linux/io_uring_types.h>
#include <trace/events/io_uring.h>

#ifndef OTHERWISE
static void probe_IO_URING_SUBMIT_REQ(void *data, struct io_kiocb *req)
{
	check_trace_callback_type_io_uring_submit_req(probe_IO_URING_SUBMIT_REQ);
}
#else
static void probe_IO_URING_SUBMIT_REQ(void *data, struct io_kiocb *req, bool force_nonblock)
{
	check_trace_callback_type_io_uring_submit_sqe(probe_IO_URING_SUBMIT_REQ);
}
#endif
