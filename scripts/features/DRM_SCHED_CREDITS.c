// SPDX-License-Identifier: GPL-2.0
/*
 * Does a job take credits of its ring? If not, one of hw_submission_limit places.
 *
 * include/drm/gpu_scheduler.h; a78422e9dff3 ("drm/sched: implement dynamic
 * job-flow control"), v6.8.
 */
#include <drm/gpu_scheduler.h>

u32 test_DRM_SCHED_CREDITS(struct drm_gpu_scheduler *sched, struct drm_sched_job *job);
u32 test_DRM_SCHED_CREDITS(struct drm_gpu_scheduler *sched, struct drm_sched_job *job)
{
#ifndef OTHERWISE
	return sched->credit_limit - atomic_read(&sched->credit_count) - job->credits;
#else
	return sched->hw_submission_limit - atomic_read(&sched->hw_rq_count);
#endif
}
