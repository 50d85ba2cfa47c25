/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mock_gpu.h - what a program can ask of the mock GPU's render node
 *
 * Fences have handles, known to all who have the node open; those of jobs only with MOCK_KEEP.
 */
#ifndef _MOCK_GPU_H
#define _MOCK_GPU_H

#include <linux/types.h>

#define MOCK_MAX_RINGS		4
#define MOCK_MAX_DEPS		16

/* Urgency goes down, as in the events: kernel, high, normal, low. */
struct mock_entity {
	__u32 id;		/* out of MOCK_OP_NEW, in of the others */
	__u32 op;
	__u32 priority;		/* NEW, PRIORITY */
	__u32 rings;		/* NEW: mask */
};

#define MOCK_OP_NEW		0
#define MOCK_OP_FLUSH		1	/* wait until its queue is empty */
#define MOCK_OP_FINI		2	/* kill what is queued */
#define MOCK_OP_PRIORITY	3

#define MOCK_KEEP		1	/* give the job a handle */
#define MOCK_HANG		2	/* never finishes */
#define MOCK_FAIL		4	/* the hardware refuses it: -EIO */
#define MOCK_LOCK		8	/* take the reservation lock while submitting */
#define MOCK_GANG		16	/* dependencies are on being scheduled */
#define MOCK_NO_PIPELINE	32	/* nobody may wait only for it being scheduled */

struct mock_submit {
	__u32 entity;
	__u32 flags;
	__u32 run_us;
	__u32 credits;
	__u32 prepare_us;	/* how long the driver sleeps before it lets the job run */
	__u32 wait;		/* fence to wait for while submitting, 0: none */
	__u32 bo;		/* buffer to validate while submitting, 0: none */
	__u32 nr_deps;
	__u32 deps[MOCK_MAX_DEPS];
	__u32 handle;		/* out */
	__u32 reserved;
	__u64 ctx;		/* out: the job's finished fence */
	__u64 seqno;
};

struct mock_fence_args {
	__u32 handle;		/* out of MOCK_FENCE_NEW */
	__u32 op;
	__u32 timeout_ms;
	__s32 result;		/* out of the waits: what the kernel's function returned */
	__u64 ctx;		/* out of NEW */
	__u64 seqno;
};

#define MOCK_FENCE_NEW		0	/* one that SIGNAL signals */
#define MOCK_FENCE_SIGNAL	1
#define MOCK_FENCE_WAIT		2
#define MOCK_FENCE_WAIT_ANY	3
#define MOCK_FENCE_WAIT_RESV	4

struct mock_bo {
	__u32 handle;
	__u32 op;
	__u32 mib;
	__u32 reserved;
};

#define MOCK_BO_NEW		0	/* in VRAM */
#define MOCK_BO_FREE		1
#define MOCK_BO_VALIDATE	2	/* into VRAM */
#define MOCK_BO_POPULATE	3	/* into system memory, with pages */
#define MOCK_BO_SWAPOUT		4	/* whatever buffer is the first */

struct mock_lock {
	__u32 hold_ms;		/* the reservation lock */
	__u32 reserved;
};

#define MOCK_ENTITY		0
#define MOCK_SUBMIT		1
#define MOCK_FENCE		2
#define MOCK_BO			3
#define MOCK_LOCK_HOLD		4

/* DRM_COMMAND_BASE, <drm/drm.h> */
#define MOCK_IOCTL_BASE		0x40
#define DRM_IOCTL_MOCK_ENTITY	_IOWR('d', MOCK_IOCTL_BASE + MOCK_ENTITY, struct mock_entity)
#define DRM_IOCTL_MOCK_SUBMIT	_IOWR('d', MOCK_IOCTL_BASE + MOCK_SUBMIT, struct mock_submit)
#define DRM_IOCTL_MOCK_FENCE	_IOWR('d', MOCK_IOCTL_BASE + MOCK_FENCE, struct mock_fence_args)
#define DRM_IOCTL_MOCK_BO	_IOWR('d', MOCK_IOCTL_BASE + MOCK_BO, struct mock_bo)
#define DRM_IOCTL_MOCK_LOCK_HOLD _IOWR('d', MOCK_IOCTL_BASE + MOCK_LOCK_HOLD, struct mock_lock)

#endif /* _MOCK_GPU_H */
