// SPDX-License-Identifier: GPL-2.0
/*
 * Does a job's fence know the drm client, and is it an argument of drm_sched_job_init()?
 *
 * include/drm/gpu_scheduler.h; "drm/sched: Store the drm client_id in
 * drm_sched_fence", v6.17, and in stable releases of v6.12.
 */
#include <drm/gpu_scheduler.h>

u64 test_DRM_SCHED_CLIENT_ID(struct drm_sched_job *job, struct drm_sched_entity *entity);
u64 test_DRM_SCHED_CLIENT_ID(struct drm_sched_job *job, struct drm_sched_entity *entity)
{
#ifndef OTHERWISE
	if (drm_sched_job_init(job, entity, 1, NULL, 0))
		return 0;
	return job->s_fence->drm_client_id;
#else
	return job->s_fence->finished.context;
#endif
}
