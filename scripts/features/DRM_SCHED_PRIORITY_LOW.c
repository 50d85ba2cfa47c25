// SPDX-License-Identifier: GPL-2.0
/*
 * Do a scheduler's priorities go from KERNEL = 0 to LOW? If not, from MIN = 0 to
 * KERNEL.
 *
 * include/drm/gpu_scheduler.h; 38f922a563aa ("drm/sched: Reverse run-queue
 * priority enumeration"), v6.8.
 */
#include <drm/gpu_scheduler.h>

#ifndef OTHERWISE
int test_DRM_SCHED_PRIORITY_LOW[DRM_SCHED_PRIORITY_LOW - DRM_SCHED_PRIORITY_KERNEL];
#else
int test_DRM_SCHED_PRIORITY_LOW[DRM_SCHED_PRIORITY_KERNEL - DRM_SCHED_PRIORITY_MIN];
#endif
