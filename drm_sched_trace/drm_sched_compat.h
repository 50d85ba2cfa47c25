/* SPDX-License-Identifier: GPL-2.0 */
/*
 * drm_sched_compat.h - how kernels differ in what this module reads
 *
 * HAVE_* come from scripts/features/; each test cites the change it asks about. Nothing here
 * refers to a symbol of gpu_sched, drm or ttm: that would make the module pull them in and pin
 * them. The scheduler's tracepoints were renamed in 6.17 but kept their prototypes, so their
 * names in main.c are all there is to them; their header is not among the kernel's.
 */
#ifndef _DRM_SCHED_COMPAT_H
#define _DRM_SCHED_COMPAT_H

#include <kstall/compat.h>
#include <kstall/fn.h>

#include <linux/dma-fence-chain.h>
#include <linux/ptrace.h>
#include <drm/gpu_scheduler.h>

/* The kernel's own numbers go up with urgency before 6.8 and down since; ours go down. */
#define DS_PRIO_KERNEL	0
#define DS_PRIO_HIGH	1
#define DS_PRIO_NORMAL	2
#define DS_PRIO_LOW	3
#define DS_NR_PRIO	4

static inline u8 ds_priority(const struct drm_sched_job *job)
{
#ifdef HAVE_DRM_SCHED_PRIORITY_LOW
	int prio = job->s_priority;
#else
	int prio = DRM_SCHED_PRIORITY_KERNEL - job->s_priority;
#endif
	return clamp(prio, DS_PRIO_KERNEL, DS_PRIO_LOW);
}

/* Before credits a job took one of hw_submission_limit places. */
#ifdef HAVE_DRM_SCHED_CREDITS
static inline u32 ds_credits(const struct drm_sched_job *job)
{
	return job->credits;
}

static inline u32 ds_in_flight(const struct drm_gpu_scheduler *sched)
{
	return atomic_read(&sched->credit_count);
}

static inline u32 ds_limit(const struct drm_gpu_scheduler *sched)
{
	return sched->credit_limit;
}
#else
static inline u32 ds_credits(const struct drm_sched_job *job)
{
	return 1;
}

static inline u32 ds_in_flight(const struct drm_gpu_scheduler *sched)
{
	return atomic_read(&sched->hw_rq_count);
}

static inline u32 ds_limit(const struct drm_gpu_scheduler *sched)
{
	return sched->hw_submission_limit;
}
#endif

static inline u64 ds_client_id(const struct drm_sched_fence *sf)
{
#ifdef HAVE_DRM_SCHED_CLIENT_ID
	return sf->drm_client_id;
#else
	return 0;
#endif
}

#ifdef HAVE_DRM_SCHED_ENTITY_ERROR
KSTALL_FN(void, drm_sched_fence_finished, struct drm_sched_fence *, fence, int, result);
#else
KSTALL_FN(void, drm_sched_fence_finished, struct drm_sched_fence *, fence);
#endif
KSTALL_CHECK_DECLARED(drm_sched_fence_finished);

/*
 * Result of a job at the entry of drm_sched_fence_finished(). Before 6.5 it was not passed, and
 * the hardware's error was not forwarded: it is in the hardware's fence, which sf holds.
 */
static inline int ds_finished_result(const struct drm_sched_fence *sf, struct pt_regs *regs)
{
#ifdef HAVE_DRM_SCHED_ENTITY_ERROR
	return kstall_arg(regs, drm_sched_fence_finished, result) ?: sf->finished.error;
#else
	return sf->finished.error ?: (sf->parent ? sf->parent->error : 0);
#endif
}

/* Only to be compared: since 7.0 it may change to NULL when the fence is signaled. */
static inline const void *ds_fence_ops(const struct dma_fence *f)
{
	return (__force const void *)READ_ONCE(f->ops);
}

static inline bool ds_fence_is_signaled(const struct dma_fence *f)
{
	return test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &f->flags);
}

/*
 * Copies the names of an unsignaled fence; of a signaled one they may be gone with its driver,
 * and are left empty. The caller holds the fence.
 */
static inline void ds_fence_names(struct dma_fence *f, char *driver, size_t driver_size,
				  char *timeline, size_t timeline_size)
{
	driver[0] = '\0';
	timeline[0] = '\0';
	rcu_read_lock();
	if (!ds_fence_is_signaled(f)) {
#ifdef HAVE_DMA_FENCE_DRIVER_NAME
		strscpy(driver, (__force const char *)dma_fence_driver_name(f), driver_size);
		strscpy(timeline, (__force const char *)dma_fence_timeline_name(f), timeline_size);
#else
		strscpy(driver, f->ops->get_driver_name(f), driver_size);
		strscpy(timeline, f->ops->get_timeline_name(f), timeline_size);
#endif
	}
	rcu_read_unlock();
}

/*
 * The function that swaps out one buffer. Since 6.12 it is a callback of a walk over them and
 * returns s64.
 */
struct ttm_buffer_object;
#ifdef HAVE_TTM_LRU_WALK
struct ttm_lru_walk;
#define DS_SWAPOUT		"ttm_bo_swapout_cb"
KSTALL_FN(s64, ds_swapout, struct ttm_lru_walk *, walk, struct ttm_buffer_object *, bo);
#define DS_SWAPOUT_RET(regs)	((s64)regs_return_value(regs))
#else
#define DS_SWAPOUT		"ttm_bo_swapout"
KSTALL_FN(int, ds_swapout, struct ttm_buffer_object *, bo);
#define DS_SWAPOUT_RET(regs)	((s64)(int)regs_return_value(regs))
#endif

#endif /* _DRM_SCHED_COMPAT_H */
