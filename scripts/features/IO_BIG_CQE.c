// SPDX-License-Identifier: GPL-2.0
/*
 * Has the second half of a large CQE a type of its own? It got its name to be an argument of
 * io_alloc_ocqe(), which headers do not show.
 *
 * include/linux/io_uring_types.h; "io_uring: pass in struct io_big_cqe to io_alloc_ocqe()", v6.16.
 */
#include <linux/io_uring_types.h>

bool test_IO_BIG_CQE(struct io_kiocb *req);
bool test_IO_BIG_CQE(struct io_kiocb *req)
{
#ifndef OTHERWISE
	struct io_big_cqe *big = &req->big_cqe;

	return big->extra1;
#else
	return req->cqe.user_data;
#endif
}
