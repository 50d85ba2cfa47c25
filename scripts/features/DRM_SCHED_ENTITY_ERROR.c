// SPDX-License-Identifier: GPL-2.0
/*
 * Is the job's result an argument of drm_sched_fence_finished()? Newer kernels keep its
 * declaration to themselves; drm_sched_entity_error() came with the same series.
 *
 * include/drm/gpu_scheduler.h; "drm/scheduler: properly forward fence errors" and
 * "drm/scheduler: add drm_sched_entity_error and use rcu for last_scheduled", v6.5.
 */
#include <drm/gpu_scheduler.h>

int test_DRM_SCHED_ENTITY_ERROR(struct drm_sched_entity *entity);
int test_DRM_SCHED_ENTITY_ERROR(struct drm_sched_entity *entity)
{
#ifndef OTHERWISE
	return drm_sched_entity_error(entity);
#else
	return entity->last_scheduled->error;
#endif
}
