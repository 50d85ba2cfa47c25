// SPDX-License-Identifier: GPL-2.0
/*
 * Is user memory pinned by ib_umem_get_va(), which came with moving that code from ib_uverbs to
 * ib_core? If not, by ib_umem_get().
 *
 * include/rdma/ib_umem.h, v7.2.
 */
#include <rdma/ib_umem.h>

struct ib_umem *test_IB_UMEM_GET_VA(struct ib_device *device);
struct ib_umem *test_IB_UMEM_GET_VA(struct ib_device *device)
{
#ifndef OTHERWISE
	return ib_umem_get_va(device, 0, 0, 0);
#else
	return ib_umem_get(device, 0, 0, 0);
#endif
}
