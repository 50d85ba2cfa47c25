// SPDX-License-Identifier: GPL-2.0
/*
 * Is the second argument of io_uring_queue_async_work "bool hashed"? If not,
 * it is "int rw", of the same meaning.
 *
 * include/trace/events/io_uring.h; "io_uring/trace: rename
 * io_uring_queue_async_work event "rw" field", December 2025.
 */
#include <linux/io_uring_types.h>
#include <trace/events/io_uring.h>

#ifndef OTHERWISE
static void probe_IO_URING_ASYNC_WORK_BOOL(void *data, struct io_kiocb *req, bool hashed)
#else
static void probe_IO_URING_ASYNC_WORK_BOOL(void *data, struct io_kiocb *req, int rw)
#endif
{
	check_trace_callback_type_io_uring_queue_async_work(probe_IO_URING_ASYNC_WORK_BOOL);
}
