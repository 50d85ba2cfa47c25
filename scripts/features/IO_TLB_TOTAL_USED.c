// SPDX-License-Identifier: GPL-2.0
/*
 * Does the pool of bounce buffers count what is in use, when there is debugfs?
 *
 * include/linux/swiotlb.h; 8b0977ecc8b3 ("swiotlb: track and report io_tlb_used high water marks
 * in debugfs"), v6.4.
 */
#include <linux/swiotlb.h>

unsigned long test_IO_TLB_TOTAL_USED(struct io_tlb_mem *mem);
unsigned long test_IO_TLB_TOTAL_USED(struct io_tlb_mem *mem)
{
#ifndef OTHERWISE
	return atomic_long_read(&mem->total_used);
#else
	return mem->nslabs;
#endif
}
