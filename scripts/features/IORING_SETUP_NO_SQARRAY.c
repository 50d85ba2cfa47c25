// SPDX-License-Identifier: GPL-2.0
/*
 * May a ring be without the array of SQE indices, so that no index can be bad?
 *
 * include/uapi/linux/io_uring.h; 2af89abda7d9
 * ("io_uring: add option to remove SQ indirection"), v6.6.
 */
#include <linux/io_uring.h>
#include <uapi/linux/io_uring.h>

#ifndef OTHERWISE
unsigned int flag = IORING_SETUP_NO_SQARRAY;
#else
unsigned int flag = IORING_SETUP_SQPOLL;
#endif
