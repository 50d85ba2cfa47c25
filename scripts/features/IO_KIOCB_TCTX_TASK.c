// SPDX-License-Identifier: GPL-2.0
/*
 * Is the task that submitted a request req->tctx->task? If not, it is
 * req->task.
 *
 * include/linux/io_uring_types.h; b6f58a3f4aa8 ("io_uring: move struct io_kiocb
 * from task_struct to io_uring_task"), v6.13.
 */
#include <linux/io_uring_types.h>

struct task_struct *test_IO_KIOCB_TCTX_TASK(struct io_kiocb *req);
struct task_struct *test_IO_KIOCB_TCTX_TASK(struct io_kiocb *req)
{
#ifndef OTHERWISE
	return req->tctx->task;
#else
	return req->task;
#endif
}
