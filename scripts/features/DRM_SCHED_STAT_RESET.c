// SPDX-License-Identifier: GPL-2.0
/*
 * Does a driver's timeout handler report a reset as DRM_GPU_SCHED_STAT_RESET? If not,
 * as _NOMINAL.
 *
 * include/drm/gpu_scheduler.h; "drm/sched: Rename DRM_GPU_SCHED_STAT_NOMINAL to
 * DRM_GPU_SCHED_STAT_RESET", v6.17.
 */
#include <drm/gpu_scheduler.h>

#ifndef OTHERWISE
enum drm_gpu_sched_stat stat = DRM_GPU_SCHED_STAT_RESET;
#else
enum drm_gpu_sched_stat stat = DRM_GPU_SCHED_STAT_NOMINAL;
#endif
