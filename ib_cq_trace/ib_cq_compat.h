/* SPDX-License-Identifier: GPL-2.0 */
/* ib_cq_compat.h - how kernels differ in what this module hooks */
#ifndef _IB_CQ_COMPAT_H
#define _IB_CQ_COMPAT_H

#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

#include <kstall/compat.h>

/* The module that has the code of user memory. */
#ifdef HAVE_IB_UMEM_GET_VA
#define IQ_UMEM_MODULE	"ib_core"
#else
#define IQ_UMEM_MODULE	"ib_uverbs"
#endif

/* Is a fault with this access mask one of writing? */
static inline bool iq_odp_for_writing(u64 access)
{
#ifdef ODP_WRITE_ALLOWED_BIT
	return access & ODP_WRITE_ALLOWED_BIT;
#else
	return access & HMM_PFN_WRITE;
#endif
}

#endif /* _IB_CQ_COMPAT_H */
