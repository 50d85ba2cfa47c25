/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_IO_URING_TYPES_H
#define _LINUX_IO_URING_TYPES_H
#include <linux/types.h>
struct task_struct;
struct io_ring_ctx;
struct io_uring_cqe;
struct io_uring_task { struct task_struct *task; };
struct io_kiocb {
	struct { u64 user_data; s32 res; } cqe;
	struct io_uring_task *tctx;
	struct { u64 extra1, extra2; } big_cqe;
};
#endif
