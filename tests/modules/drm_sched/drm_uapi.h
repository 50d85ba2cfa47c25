/* SPDX-License-Identifier: GPL-2.0 */
/*
 * drm_uapi.h - what the tests need of <drm/drm.h> and <drm/qxl_drm.h>, which not every Debian
 * has without libdrm
 */
#ifndef _DRM_UAPI_H
#define _DRM_UAPI_H

#include <linux/types.h>
#include <sys/ioctl.h>

struct drm_syncobj_create {
	__u32 handle;		/* out */
	__u32 flags;
};

struct drm_syncobj_wait {
	__u64 handles;		/* array of them */
	__s64 timeout_nsec;	/* absolute, CLOCK_MONOTONIC */
	__u32 count_handles;
	__u32 flags;
	__u32 first_signaled;	/* out */
	__u32 pad;
};

#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT	2

#define DRM_IOCTL_SYNCOBJ_CREATE	_IOWR('d', 0xBF, struct drm_syncobj_create)
#define DRM_IOCTL_SYNCOBJ_WAIT		_IOWR('d', 0xC3, struct drm_syncobj_wait)

struct drm_qxl_alloc {
	__u32 size;
	__u32 handle;		/* out */
};

#define DRM_IOCTL_QXL_ALLOC		_IOWR('d', 0x40, struct drm_qxl_alloc)

#endif /* _DRM_UAPI_H */
