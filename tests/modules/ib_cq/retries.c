// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD=retries.so PROGRAM: its queue pairs send 6 times again, not 7
 *
 * 7 is what perftest asks for, and soft-RoCE takes it for "without end": the program never fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

/* Of libibverbs' ABI: struct ibv_qp_attr and enum ibv_qp_attr_mask */
#define RETRY_CNT_OFFSET	131
#define QP_RETRY_CNT		(1 << 10)

int ibv_modify_qp(void *qp, uint8_t *attr, int mask)
{
	int (*modify)(void *qp, uint8_t *attr, int mask) = dlsym(RTLD_NEXT, "ibv_modify_qp");

	if (mask & QP_RETRY_CNT && attr[RETRY_CNT_OFFSET] == 7)
		attr[RETRY_CNT_OFFSET] = 6;
	return modify(qp, attr, mask);
}
