// SPDX-License-Identifier: GPL-2.0
/*
 * May a ring's submission always start at entry 0, head and tail unused?
 *
 * include/uapi/linux/io_uring.h; 5247c034a67f ("io_uring: introduce non-circular
 * SQ").
 */
#include <linux/io_uring.h>
#include <uapi/linux/io_uring.h>

#ifndef OTHERWISE
unsigned int flag = IORING_SETUP_SQ_REWIND;
#else
unsigned int flag = IORING_SETUP_SQPOLL;
#endif
