// SPDX-License-Identifier: GPL-2.0
/*
 * Does a kretprobe take its instances from an objpool, which has for each CPU a ring with
 * room for all of them?
 *
 * include/linux/rethook.h; 4bbd93455659 ("kprobes: kretprobe scalability improvement"),
 * v6.7.
 */
#include <linux/bug.h>		/* which 6.1's freelist.h needs, and has on x86 only */
#include <linux/rethook.h>

long test_RETHOOK_OBJPOOL(struct rethook *rh);
long test_RETHOOK_OBJPOOL(struct rethook *rh)
{
#ifndef OTHERWISE
	return rh->pool.capacity;
#else
	return (long)rh->pool.head;
#endif
}
