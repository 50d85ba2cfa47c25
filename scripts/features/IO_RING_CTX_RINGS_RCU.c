// SPDX-License-Identifier: GPL-2.0
/*
 * Has a ring rings_rcu, to be read under RCU by who holds no lock that keeps
 * the ring from being resized? If not, there is only ctx->rings: it lives as
 * long as ctx before v6.13, and as long as uring_lock is held since then
 * (79cfe9e59c2a, "io_uring/register: add IORING_REGISTER_RESIZE_RINGS"; rings
 * with IORING_SETUP_DEFER_TASKRUN only).
 *
 * include/linux/io_uring_types.h; "io_uring: ensure ctx->rings is stable for
 * task work flags manipulation", March 2026, and stable releases since.
 */
#include <linux/io_uring_types.h>

struct io_rings *test(struct io_ring_ctx *ctx);
struct io_rings *test(struct io_ring_ctx *ctx)
{
#ifndef OTHERWISE
	return rcu_dereference(ctx->rings_rcu);
#else
	return ctx->rings;
#endif
}
