/* SPDX-License-Identifier: GPL-2.0 */
/* mock_compat.h - how kernels differ in what a GPU driver calls */
#ifndef _MOCK_COMPAT_H
#define _MOCK_COMPAT_H

#include <generated/kstall_features.h>

#include <linux/hrtimer.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>
#ifdef HAVE_TTM_BO_H
#include <drm/ttm/ttm_bo.h>
#else
#include <drm/ttm/ttm_bo_api.h>
#include <drm/ttm/ttm_bo_driver.h>
#endif
#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_placement.h>
#include <drm/ttm/ttm_range_manager.h>
#include <drm/ttm/ttm_tt.h>

static inline int mock_sched_init(struct drm_gpu_scheduler *sched,
				  const struct drm_sched_backend_ops *ops, u32 limit,
				  long timeout, const char *name, struct device *dev)
{
#ifdef HAVE_DRM_SCHED_INIT_ARGS
	return drm_sched_init(sched, &(struct drm_sched_init_args){
		.ops = ops,
#ifdef HAVE_DRM_SCHED_NUM_RQS
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = limit, .timeout = timeout, .name = name, .dev = dev });
#elif defined(HAVE_DRM_SCHED_NUM_RQS)
	return drm_sched_init(sched, ops, NULL, DRM_SCHED_PRIORITY_COUNT, limit, 0, timeout, NULL,
			      NULL, name, dev);
#else
	return drm_sched_init(sched, ops, limit, 0, timeout, NULL, NULL, name, dev);
#endif
}

static inline int mock_job_init(struct drm_sched_job *job, struct drm_sched_entity *ent,
				u32 credits, struct drm_file *file)
{
#ifdef HAVE_DRM_SCHED_CLIENT_ID
	return drm_sched_job_init(job, ent, credits, file, file->client_id);
#elif defined(HAVE_DRM_SCHED_CREDITS)
	return drm_sched_job_init(job, ent, credits, file);
#else
	return drm_sched_job_init(job, ent, file);
#endif
}

static inline void mock_sched_start(struct drm_gpu_scheduler *sched)
{
#ifdef HAVE_DRM_SCHED_START_ERRNO
	drm_sched_start(sched, -ETIME);
#elif defined(HAVE_DRM_SCHED_START_VOID)
	drm_sched_start(sched);
#else
	drm_sched_start(sched, true);
#endif
}

#ifdef HAVE_DRM_SCHED_STAT_RESET
#define MOCK_STAT_RESET	DRM_GPU_SCHED_STAT_RESET
#else
#define MOCK_STAT_RESET	DRM_GPU_SCHED_STAT_NOMINAL
#endif

/* Called before a job runs, until it has no more fences to wait for. */
#ifdef HAVE_DRM_SCHED_CREDITS
#define mock_prepare	prepare_job
#else
#define mock_prepare	dependency
#endif

static inline enum drm_sched_priority mock_priority(u32 urgency)
{
#ifdef HAVE_DRM_SCHED_PRIORITY_LOW
	return min_t(u32, urgency, DRM_SCHED_PRIORITY_LOW);
#else
	return DRM_SCHED_PRIORITY_KERNEL - min_t(u32, urgency, DRM_SCHED_PRIORITY_KERNEL);
#endif
}

static inline void mock_timer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer->function = fn;
#endif
}

static inline int mock_ttm_init(struct ttm_device *bdev, const struct ttm_device_funcs *funcs,
				struct device *dev, struct drm_vma_offset_manager *vma)
{
#ifdef HAVE_TTM_DEVICE_ALLOC_FLAGS
	return ttm_device_init(bdev, funcs, dev, NULL, vma, 0);
#else
	return ttm_device_init(bdev, (void *)funcs, dev, NULL, vma, false, false);
#endif
}

static inline struct ttm_placement mock_placement(const struct ttm_place *place)
{
	return (struct ttm_placement){
		.num_placement = 1, .placement = place,
#ifdef HAVE_TTM_BUSY_PLACEMENT
		.num_busy_placement = 1, .busy_placement = place,
#endif
	};
}

static inline void mock_ttm_put(struct ttm_buffer_object *bo)
{
#ifdef HAVE_TTM_BO_FINI
	ttm_bo_fini(bo);
#else
	ttm_bo_put(bo);
#endif
}

static inline int mock_ttm_populate(struct ttm_buffer_object *bo, struct ttm_operation_ctx *ctx)
{
#ifdef HAVE_TTM_BO_POPULATE
	return ttm_bo_populate(bo, ctx);
#else
	return ttm_tt_populate(bo->bdev, bo->ttm, ctx);
#endif
}

#endif /* _MOCK_COMPAT_H */
