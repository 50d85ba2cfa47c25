// SPDX-License-Identifier: GPL-2.0
/*
 * Is the error of the jobs it gives up an argument of drm_sched_start()?
 *
 * include/drm/gpu_scheduler.h; "drm/sched: add optional errno to
 * drm_sched_start()", v6.13.
 */
#include <drm/gpu_scheduler.h>

void test_DRM_SCHED_START_ERRNO(struct drm_gpu_scheduler *sched);
void test_DRM_SCHED_START_ERRNO(struct drm_gpu_scheduler *sched)
{
#ifndef OTHERWISE
	void (*start)(struct drm_gpu_scheduler *sched, int error) = drm_sched_start;
#else
	void (*start)(struct drm_gpu_scheduler *sched, struct drm_sched_job *bad) = drm_sched_stop;
#endif

	start(sched, 0);
}
