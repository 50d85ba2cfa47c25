// SPDX-License-Identifier: GPL-2.0
/*
 * Can a ring be resized, so that who does not hold uring_lock has to read
 * ctx->rings_rcu under RCU? If not, ctx->rings lives as long as ctx.
 *
 * include/linux/io_uring_types.h.
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
