// SPDX-License-Identifier: GPL-2.0
/*
 * Does drm_sched_init() take its parameters in a struct?
 *
 * include/drm/gpu_scheduler.h; 796a9f55a8d1 ("drm/sched: Use struct for
 * drm_sched_init() params"), v6.15, and in stable releases of v6.1.
 */
#include <drm/gpu_scheduler.h>

int test_DRM_SCHED_INIT_ARGS(struct drm_gpu_scheduler *sched);
int test_DRM_SCHED_INIT_ARGS(struct drm_gpu_scheduler *sched)
{
#ifndef OTHERWISE
	return drm_sched_init(sched, &(struct drm_sched_init_args){ .name = "" });
#else
	return sched->hang_limit;
#endif
}
