/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Calls of the driver that mock_nvidia has. Only the numbers are NVIDIA's, of
 * open-gpu-kernel-modules: kernel-open/common/inc/nv-ioctl-numbers.h and
 * src/nvidia/arch/nvalloc/unix/include/nv_escape.h. Each says how long it is to work.
 */
#ifndef _MOCK_NVIDIA_H
#define _MOCK_NVIDIA_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct mock_nvidia - the argument of each call
 * @ns: for how long it works: with a lock asleep, without one on its CPU; of MOCK_RM_EVENT, after
 *	how long the file is readable
 * @gpu_only: of MOCK_RM_CONTROL: it takes the GPU's lock and not the API's
 */
struct mock_nvidia {
	__u64 ns;
	__u64 gpu_only;
};

#define MOCK_RM_ALLOC_MEMORY	_IOWR('F', 0x27, struct mock_nvidia)	/* without a lock */
#define MOCK_RM_FREE		_IOWR('F', 0x29, struct mock_nvidia)
#define MOCK_RM_CONTROL		_IOWR('F', 0x2A, struct mock_nvidia)
#define MOCK_RM_ALLOC		_IOWR('F', 0x2B, struct mock_nvidia)
#define MOCK_RM_EVENT		_IOWR('F', 0xCE, struct mock_nvidia)	/* ALLOC_OS_EVENT */
#define MOCK_UVM_MAP		33	/* UVM_MAP_EXTERNAL_ALLOCATION, of nvidia-uvm */

#endif /* _MOCK_NVIDIA_H */
