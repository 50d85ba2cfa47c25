// SPDX-License-Identifier: GPL-2.0
/*
 * May an interval notifier invalidate in two passes?
 *
 * include/linux/mmu_notifier.h; "mm/mmu_notifier: allow two-pass struct
 * mmu_interval_notifiers", v7.1.
 */
#include <linux/mmu_notifier.h>

void *test_MMU_INTERVAL_INVALIDATE_START(const struct mmu_interval_notifier_ops *ops);
void *test_MMU_INTERVAL_INVALIDATE_START(const struct mmu_interval_notifier_ops *ops)
{
#ifndef OTHERWISE
	return ops->invalidate_start;
#else
	return ops->invalidate;
#endif
}
