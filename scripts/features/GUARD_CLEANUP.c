// SPDX-License-Identifier: GPL-2.0
/*
 * Are there guard(), scoped_guard() and __free(), and the ones we would use?
 *
 * include/linux/cleanup.h; 54da6a092431 ("locking: Introduce __cleanup() based
 * infrastructure"), v6.5, and in later 6.1 stable releases.
 */
#ifndef OTHERWISE
#include <linux/cleanup.h>
#endif
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_MUTEX(mutex);
static DEFINE_RAW_SPINLOCK(lock);

void test(void);
void test(void)
{
#ifndef OTHERWISE
	void *p __free(kfree) = kmalloc(1, GFP_KERNEL);

	guard(mutex)(&mutex);
	scoped_guard(rcu) {
		guard(preempt_notrace)();
	}
	scoped_guard(raw_spinlock_irqsave, &lock)
		memset(p, 0, 1);
#else
	mutex_lock(&mutex);
	raw_spin_lock(&lock);
#endif
}
