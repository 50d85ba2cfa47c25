// SPDX-License-Identifier: GPL-2.0
/*
 * Is what a page table entry says of a page that is not present called a softleaf?
 *
 * include/linux/leafops.h; "mm: introduce leaf entry type and use to simplify leaf entry logic",
 * v6.19. Before it was a swap entry.
 */
#include <linux/mm.h>
#include <linux/swap.h>
#ifndef OTHERWISE
#include <linux/leafops.h>
#else
#include <linux/swapops.h>
#endif

bool test_SOFTLEAF(pte_t pte);
bool test_SOFTLEAF(pte_t pte)
{
#ifndef OTHERWISE
	return softleaf_is_device_private(softleaf_from_pte(pte));
#else
	return is_device_private_entry(pte_to_swp_entry(pte));
#endif
}
