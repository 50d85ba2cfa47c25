// SPDX-License-Identifier: GPL-2.0
/*
 * Is a scheduler given the number of its run queues (priorities)?
 *
 * include/drm/gpu_scheduler.h; 56e449603f0a ("drm/sched: Convert the GPU scheduler
 * to variable number of run-queues"), v6.7.
 */
#include <drm/gpu_scheduler.h>

u32 test_DRM_SCHED_NUM_RQS(struct drm_gpu_scheduler *sched);
u32 test_DRM_SCHED_NUM_RQS(struct drm_gpu_scheduler *sched)
{
#ifndef OTHERWISE
	return sched->num_rqs;
#else
	return ARRAY_SIZE(sched->sched_rq);
#endif
}
