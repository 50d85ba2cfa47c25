// SPDX-License-Identifier: GPL-2.0
/*
 * Does drm_sched_start() take nothing but the scheduler?
 *
 * include/drm/gpu_scheduler.h; "drm/scheduler: remove full_recover from
 * drm_sched_start", v6.12; DRM_SCHED_START_ERRNO is what came next.
 */
#include <drm/gpu_scheduler.h>

void test_DRM_SCHED_START_VOID(struct drm_gpu_scheduler *sched);
void test_DRM_SCHED_START_VOID(struct drm_gpu_scheduler *sched)
{
#ifndef OTHERWISE
	drm_sched_start(sched);
#else
	drm_sched_start(sched, 1);
#endif
}
