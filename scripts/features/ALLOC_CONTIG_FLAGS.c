// SPDX-License-Identifier: GPL-2.0
/*
 * Does alloc_contig_range() take flags of its own in place of a migrate type?
 *
 * include/linux/gfp.h; "mm: page_alloc: add alloc_contig_range_flags_t type", v6.17.
 */
#include <linux/gfp.h>

int test_ALLOC_CONTIG_FLAGS(unsigned long start);
int test_ALLOC_CONTIG_FLAGS(unsigned long start)
{
#ifndef OTHERWISE
	return alloc_contig_range(start, start + 1, ACR_FLAGS_NONE, GFP_KERNEL);
#else
	return alloc_contig_range(start, start + 1, MIGRATE_MOVABLE, GFP_KERNEL);
#endif
}
