// SPDX-License-Identifier: GPL-2.0
/*
 * mock_gpu - a GPU driver without a GPU, on the kernel's real scheduler, for tests
 *
 * A render node takes jobs; a ring works on one after the other, each for as long as the program
 * said, and ends it in hardirq context. Jobs can hang, fail, depend on others and on fences that
 * the program signals. Nothing here traces: what the kernel makes of it is what is tested.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/dma-resv.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "mock.h"

static unsigned int rings = 3;
module_param(rings, uint, 0444);
MODULE_PARM_DESC(rings, "number of rings (1 to 4, default 3)");

static unsigned int limit = 2;
module_param(limit, uint, 0444);
MODULE_PARM_DESC(limit, "credits of each ring (default 2)");

static unsigned int timeout_ms;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "a job that takes longer has hung (default 0: never)");

static unsigned int reset_ms;
module_param(reset_ms, uint, 0644);
MODULE_PARM_DESC(reset_ms, "how long a reset takes (default 0)");

static unsigned int max_live = 16384;
module_param(max_live, uint, 0644);
MODULE_PARM_DESC(max_live, "unfinished jobs at which a submitter waits (default 16384)");

static char soft_driver[32];
module_param_string(soft_driver, soft_driver, sizeof(soft_driver), 0444);
MODULE_PARM_DESC(soft_driver, "whose fences those of the program are, as they say; empty: its own");

#define MAX_ENTITIES	64

struct mock_ring {
	struct drm_gpu_scheduler sched;
	char name[16];
	u64 ctx;
	u64 seqno;
	ktime_t busy_until;
	struct dma_fence *last;		/* finished: of the job it was given last */
	bool hung;
};

struct mock_fence {
	struct dma_fence base;
	spinlock_t lock;		/* dma_fence_init() wants one */
};

struct mock_job {
	struct drm_sched_job base;
	struct mock_fence *hw;
	struct dma_fence *before;	/* finished: of the job that ends before this one */
	struct hrtimer timer;
	u32 run_us;
	u32 prepare_us;
	u32 flags;
};

struct mock_ent {
	struct drm_sched_entity base;
	struct drm_gpu_scheduler *scheds[MOCK_MAX_RINGS];
	atomic_t guilty;
	struct llist_node gone;
};

/* A file that has the node open. */
struct mock_file {
	struct mutex lock;		/* arming and pushing of its jobs */
	struct mock_ent *ents[MAX_ENTITIES];
	u32 nr_ents;
};

/* A fence with a handle. */
struct mock_obj {
	struct dma_fence *fence;
	struct drm_file *file;
	bool soft;
};

struct drm_device *mock_drm;
struct dma_resv mock_resv;
static struct device *mock_dev;
static struct mock_ring mock_rings[MOCK_MAX_RINGS];
static DEFINE_XARRAY_ALLOC1(mock_objs);
static DEFINE_MUTEX(mock_objs_lock);
static atomic_t mock_live;
static DECLARE_WAIT_QUEUE_HEAD(mock_less);
static atomic64_t mock_soft_seqno;
static u64 mock_soft_ctx;
static LLIST_HEAD(mock_gone);

/* ---- fences ---- */

static const char *mock_driver_name(struct dma_fence *f)
{
	return f->context == mock_soft_ctx && *soft_driver ? soft_driver : "mock_gpu";
}

static const char *mock_timeline_name(struct dma_fence *f)
{
	return f->context == mock_soft_ctx ? "soft" : "hw";
}

/* Nothing has to be done for it. Without this function nobody's wish is traced. */
static bool mock_enable_signaling(struct dma_fence *f)
{
	return true;
}

static const struct dma_fence_ops mock_fence_ops = {
	.get_driver_name = mock_driver_name,
	.get_timeline_name = mock_timeline_name,
	.enable_signaling = mock_enable_signaling,
};

static struct mock_fence *mock_fence_alloc(void)
{
	struct mock_fence *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (f)
		spin_lock_init(&f->lock);
	return f;
}

static struct dma_fence *mock_obj_get(u32 handle)
{
	struct dma_fence *f = NULL;
	struct mock_obj *obj;

	mutex_lock(&mock_objs_lock);
	obj = xa_load(&mock_objs, handle);
	if (obj)
		f = dma_fence_get(obj->fence);
	mutex_unlock(&mock_objs_lock);
	return f;
}

/* Consumes @f. */
static int mock_obj_add(struct drm_file *file, struct dma_fence *f, bool soft, u32 *handle)
{
	struct mock_obj *obj = kmalloc(sizeof(*obj), GFP_KERNEL);
	int ret = -ENOMEM;

	if (obj) {
		*obj = (struct mock_obj){ .fence = f, .file = file, .soft = soft };
		ret = xa_alloc(&mock_objs, handle, obj, xa_limit_31b, GFP_KERNEL);
	}
	if (ret) {
		kfree(obj);
		dma_fence_put(f);
	}
	return ret;
}

static void mock_objs_close(struct drm_file *file)
{
	struct mock_obj *obj;
	unsigned long i;

	mutex_lock(&mock_objs_lock);
	xa_for_each(&mock_objs, i, obj) {
		if (obj->file != file)
			continue;
		xa_erase(&mock_objs, i);
		if (obj->soft && !dma_fence_is_signaled(obj->fence))
			dma_fence_signal(obj->fence);
		dma_fence_put(obj->fence);
		kfree(obj);
	}
	mutex_unlock(&mock_objs_lock);
}

/* ---- rings ---- */

static enum hrtimer_restart mock_job_ends(struct hrtimer *timer)
{
	struct mock_job *job = container_of(timer, struct mock_job, timer);

	/* Their timers may be on two CPUs, one of which was held up. */
	if (job->before && !test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &job->before->flags)) {
		hrtimer_forward_now(timer, 100 * NSEC_PER_USEC);
		return HRTIMER_RESTART;
	}
	dma_fence_signal(&job->hw->base);
	return HRTIMER_NORESTART;
}

static struct dma_fence *mock_prepare_job(struct drm_sched_job *base, struct drm_sched_entity *ent)
{
	struct mock_job *job = container_of(base, struct mock_job, base);

	if (job->prepare_us)
		usleep_range(job->prepare_us, job->prepare_us + 10);
	job->prepare_us = 0;
	return NULL;
}

/* Only the ring's worker comes here. */
static struct dma_fence *mock_run_job(struct drm_sched_job *base)
{
	struct mock_job *job = container_of(base, struct mock_job, base);
	struct mock_ring *ring = container_of(base->sched, struct mock_ring, sched);
	ktime_t now = ktime_get();

	if (base->s_fence->finished.error)
		return NULL;
	if (job->flags & MOCK_FAIL)
		return ERR_PTR(-EIO);
	dma_fence_init(&job->hw->base, &mock_fence_ops, &job->hw->lock, ring->ctx, ++ring->seqno);
	dma_fence_get(&job->hw->base);
	ring->hung |= job->flags & MOCK_HANG;
	if (ring->hung)
		return &job->hw->base;
	ring->busy_until = ktime_add_us(max(ring->busy_until, now), job->run_us);
	if (job->run_us) {
		job->before = ring->last;
		ring->last = dma_fence_get(&base->s_fence->finished);
		hrtimer_start(&job->timer, ring->busy_until, HRTIMER_MODE_ABS_HARD);
	} else {
		dma_fence_signal(&job->hw->base);
	}
	return &job->hw->base;
}

/* As most drivers do: all that the ring has is given up. */
static enum drm_gpu_sched_stat mock_timedout_job(struct drm_sched_job *base)
{
	struct mock_job *job = container_of(base, struct mock_job, base);
	struct mock_ring *ring = container_of(base->sched, struct mock_ring, sched);

	drm_sched_stop(&ring->sched, base);
	drm_sched_increase_karma(base);
	if (reset_ms)
		usleep_range(reset_ms * 1000UL, reset_ms * 1000UL + 100);
	ring->hung = false;
	ring->busy_until = 0;
	if (!dma_fence_is_signaled(&base->s_fence->finished))
		dma_fence_set_error(&base->s_fence->finished, -ETIME);
	if (!dma_fence_is_signaled(&job->hw->base)) {
		dma_fence_set_error(&job->hw->base, -ETIME);
		dma_fence_signal(&job->hw->base);
	}
	mock_sched_start(&ring->sched);
	return MOCK_STAT_RESET;
}

static void mock_job_free(struct mock_job *job)
{
	hrtimer_cancel(&job->timer);
	dma_fence_put(job->before);
	if (job->hw && kref_read(&job->hw->base.refcount))
		dma_fence_put(&job->hw->base);
	else
		kfree(job->hw);
	drm_sched_job_cleanup(&job->base);
	kfree(job);
	atomic_dec(&mock_live);
	wake_up_all(&mock_less);
}

static void mock_free_job(struct drm_sched_job *base)
{
	mock_job_free(container_of(base, struct mock_job, base));
}

static const struct drm_sched_backend_ops mock_sched_ops = {
	.mock_prepare = mock_prepare_job,
	.run_job = mock_run_job,
	.timedout_job = mock_timedout_job,
	.free_job = mock_free_job,
};

static void mock_rings_stop(u32 nr)
{
	while (nr--) {
		drm_sched_fini(&mock_rings[nr].sched);
		dma_fence_put(mock_rings[nr].last);
		mock_rings[nr].last = NULL;
	}
}

static int mock_rings_start(void)
{
	long timeout = timeout_ms ? msecs_to_jiffies(timeout_ms) : MAX_SCHEDULE_TIMEOUT;
	u32 i;
	int ret;

	for (i = 0; i < rings; i++) {
		struct mock_ring *ring = &mock_rings[i];

		snprintf(ring->name, sizeof(ring->name), "mock%u", i);
		ring->ctx = dma_fence_context_alloc(1);
		ret = mock_sched_init(&ring->sched, &mock_sched_ops, limit, timeout, ring->name,
				      mock_dev);
		if (ret) {
			mock_rings_stop(i);
			return ret;
		}
	}
	return 0;
}

/* ---- entities ---- */

static int mock_entity_new(struct mock_file *mf, struct mock_entity *args)
{
	struct mock_ent *ent;
	u32 i, nr = 0;
	int ret;

	if (mf->nr_ents == MAX_ENTITIES)
		return -ENOSPC;
	ent = kzalloc(sizeof(*ent), GFP_KERNEL);
	if (!ent)
		return -ENOMEM;
	for (i = 0; i < rings; i++) {
		if (args->rings & BIT(i))
			ent->scheds[nr++] = &mock_rings[i].sched;
	}
	ret = nr ? drm_sched_entity_init(&ent->base, mock_priority(args->priority), ent->scheds, nr,
					 &ent->guilty) : -EINVAL;
	if (ret) {
		kfree(ent);
		return ret;
	}
	args->id = mf->nr_ents;
	mf->ents[mf->nr_ents++] = ent;
	return 0;
}

/*
 * Its memory stays until the rings are stopped: a ring's thread of 6.1 completes ->entity_idle
 * after it has run the last job, which drm_sched_entity_fini() waits for since 2fdb8a8f07c2 (v6.2)
 * only.
 */
static void mock_entity_free(struct mock_file *mf, u32 id)
{
	drm_sched_entity_fini(&mf->ents[id]->base);
	llist_add(&mf->ents[id]->gone, &mock_gone);
	mf->ents[id] = NULL;
}

static void mock_entities_free(void)
{
	struct mock_ent *ent, *next;

	llist_for_each_entry_safe(ent, next, llist_del_all(&mock_gone), gone)
		kfree(ent);
}

/*
 * 6.1's drm_sched_entity_fini() waits for all that holds up a first job the ring did not look at
 * yet: forever, if it is for the caller to signal.
 */
static int mock_entity_kill(struct mock_file *mf, u32 id)
{
	struct drm_sched_entity *ent = &mf->ents[id]->base;
	int ms = 0;

	while (spsc_queue_count(&ent->job_queue) && !READ_ONCE(ent->dependency)) {
		if (++ms > 30000)
			return -EBUSY;
		usleep_range(1000, 2000);
	}
	mock_entity_free(mf, id);
	return 0;
}

static int mock_entity_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct mock_file *mf = file->driver_priv;
	struct mock_entity *args = data;
	int ret = 0;

	mutex_lock(&mf->lock);
	if (args->op == MOCK_OP_NEW)
		ret = mock_entity_new(mf, args);
	else if (args->id >= mf->nr_ents || !mf->ents[args->id])
		ret = -ENOENT;
	else if (args->op == MOCK_OP_FLUSH)
		drm_sched_entity_flush(&mf->ents[args->id]->base, MAX_SCHEDULE_TIMEOUT);
	else if (args->op == MOCK_OP_FINI)
		ret = mock_entity_kill(mf, args->id);
	else
		drm_sched_entity_set_priority(&mf->ents[args->id]->base,
					      mock_priority(args->priority));
	mutex_unlock(&mf->lock);
	return ret;
}

/* ---- jobs ---- */

static int mock_add_deps(struct mock_job *job, const struct mock_submit *args)
{
	struct drm_sched_fence *sf;
	struct dma_fence *f;
	u32 i;
	int ret;

	for (i = 0; i < args->nr_deps; i++) {
		f = mock_obj_get(args->deps[i]);
		if (!f)
			return -ENOENT;
		sf = to_drm_sched_fence(f);
		if (args->flags & MOCK_GANG && sf) {
			dma_fence_get(&sf->scheduled);
			dma_fence_put(f);
			f = &sf->scheduled;
		}
		ret = drm_sched_job_add_dependency(&job->base, f);
		if (ret)
			return ret;
	}
	return 0;
}

/* What makes a submitter wait in a driver's submission. */
static int mock_submit_blocks(const struct mock_submit *args)
{
	struct dma_fence *f;
	int ret;

	if (args->wait) {
		f = mock_obj_get(args->wait);
		if (!f)
			return -ENOENT;
		ret = dma_fence_wait(f, true);
		dma_fence_put(f);
		if (ret)
			return ret;
	}
	if (args->flags & MOCK_LOCK) {
		ret = dma_resv_lock_interruptible(&mock_resv, NULL);
		if (ret)
			return ret;
		dma_resv_unlock(&mock_resv);
	}
	return args->bo ? mock_ttm_validate(args->bo) : 0;
}

static struct mock_job *mock_job_new(struct mock_ent *ent, const struct mock_submit *args,
				     struct drm_file *file)
{
	struct mock_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!job)
		return ERR_PTR(ret);
	mock_timer_setup(&job->timer, mock_job_ends);
	job->run_us = args->run_us;
	job->prepare_us = args->prepare_us;
	job->flags = args->flags;
	job->hw = mock_fence_alloc();
	if (job->hw)
		ret = mock_job_init(&job->base, &ent->base, args->credits, file);
	if (ret) {
		kfree(job->hw);
		kfree(job);
		return ERR_PTR(ret);
	}
	atomic_inc(&mock_live);
	return job;
}

/* The job may be gone when the push returns. */
static int mock_job_push(struct mock_job *job, struct mock_submit *args, struct drm_file *file)
{
	struct dma_fence *finished;
	int ret = 0;

	drm_sched_job_arm(&job->base);
	finished = dma_fence_get(&job->base.s_fence->finished);
	args->ctx = finished->context;
	args->seqno = finished->seqno;
	if (args->flags & MOCK_NO_PIPELINE)
		set_bit(DRM_SCHED_FENCE_DONT_PIPELINE, &finished->flags);
	drm_sched_entity_push_job(&job->base);
	if (args->flags & MOCK_KEEP)
		ret = mock_obj_add(file, finished, false, &args->handle);
	else
		dma_fence_put(finished);
	return ret;
}

static int mock_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct mock_file *mf = file->driver_priv;
	struct mock_submit *args = data;
	struct mock_job *job;
	int ret;

	if (args->nr_deps > MOCK_MAX_DEPS || !args->credits || args->credits > limit)
		return -EINVAL;
	ret = wait_event_interruptible(mock_less, atomic_read(&mock_live) < max_live) ?:
	      mock_submit_blocks(args);
	if (ret)
		return ret;
	mutex_lock(&mf->lock);
	ret = -ENOENT;
	if (args->entity >= mf->nr_ents || !mf->ents[args->entity])
		goto out;
	job = mock_job_new(mf->ents[args->entity], args, file);
	ret = PTR_ERR_OR_ZERO(job);
	if (ret)
		goto out;
	ret = mock_add_deps(job, args);
	if (ret)
		mock_job_free(job);
	else
		ret = mock_job_push(job, args, file);
out:
	mutex_unlock(&mf->lock);
	return ret;
}

/* ---- fences of the program ---- */

static int mock_fence_new(struct drm_file *file, struct mock_fence_args *args)
{
	struct mock_fence *f = mock_fence_alloc();

	if (!f)
		return -ENOMEM;
	args->ctx = mock_soft_ctx;
	args->seqno = atomic64_inc_return(&mock_soft_seqno);
	dma_fence_init(&f->base, &mock_fence_ops, &f->lock, args->ctx, args->seqno);
	return mock_obj_add(file, &f->base, true, &args->handle);
}

static long mock_wait_resv(struct dma_fence *f, long timeout)
{
	struct dma_resv resv;
	long ret;

	dma_resv_init(&resv);
	dma_resv_lock(&resv, NULL);
	ret = dma_resv_reserve_fences(&resv, 1);
	if (!ret)
		dma_resv_add_fence(&resv, f, DMA_RESV_USAGE_WRITE);
	dma_resv_unlock(&resv);
	if (!ret)
		ret = dma_resv_wait_timeout(&resv, DMA_RESV_USAGE_WRITE, true, timeout);
	dma_resv_fini(&resv);
	return ret;
}

static int mock_fence_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct mock_fence_args *args = data;
	long timeout = msecs_to_jiffies(args->timeout_ms);
	struct dma_fence *f;

	if (args->op == MOCK_FENCE_NEW)
		return mock_fence_new(file, args);
	f = mock_obj_get(args->handle);
	if (!f)
		return -ENOENT;
	if (args->op == MOCK_FENCE_SIGNAL)
		dma_fence_signal(f);
	else if (args->op == MOCK_FENCE_WAIT)
		args->result = dma_fence_wait_timeout(f, true, timeout);
	else if (args->op == MOCK_FENCE_WAIT_ANY)
		args->result = dma_fence_wait_any_timeout(&f, 1, true, timeout, NULL);
	else
		args->result = mock_wait_resv(f, timeout);
	dma_fence_put(f);
	return 0;
}

static int mock_lock_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct mock_lock *args = data;
	int ret;

	ret = dma_resv_lock_interruptible(&mock_resv, NULL);
	if (ret)
		return ret;
	msleep(args->hold_ms);
	dma_resv_unlock(&mock_resv);
	return 0;
}

/* ---- the node ---- */

static int mock_open(struct drm_device *drm, struct drm_file *file)
{
	struct mock_file *mf = kzalloc(sizeof(*mf), GFP_KERNEL);

	if (!mf)
		return -ENOMEM;
	mutex_init(&mf->lock);
	file->driver_priv = mf;
	return 0;
}

/* Its fences first: a killed job still waits for those it depends on. */
static void mock_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct mock_file *mf = file->driver_priv;
	u32 i;

	mock_objs_close(file);
	for (i = 0; i < mf->nr_ents; i++) {
		if (!mf->ents[i])
			continue;
		drm_sched_entity_flush(&mf->ents[i]->base, HZ);
		mock_entity_free(mf, i);
	}
	mock_ttm_close(file);
	kfree(mf);
}

static const struct drm_ioctl_desc mock_ioctls[] = {
	DRM_IOCTL_DEF_DRV(MOCK_ENTITY, mock_entity_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(MOCK_SUBMIT, mock_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(MOCK_FENCE, mock_fence_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(MOCK_BO, mock_bo_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(MOCK_LOCK_HOLD, mock_lock_ioctl, DRM_RENDER_ALLOW),
};

DEFINE_DRM_GEM_FOPS(mock_fops);

static const struct drm_driver mock_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ,
	.open = mock_open,
	.postclose = mock_postclose,
	.ioctls = mock_ioctls,
	.num_ioctls = ARRAY_SIZE(mock_ioctls),
	.fops = &mock_fops,
	.name = "mock_gpu",
	.desc = "GPU for tests",
	.major = 1,
};

static int __init mock_gpu_init(void)
{
	int ret;

	if (!rings || rings > MOCK_MAX_RINGS || !limit)
		return -EINVAL;
	mock_dev = root_device_register("mock_gpu");
	if (IS_ERR(mock_dev))
		return PTR_ERR(mock_dev);
	set_dev_node(mock_dev, 0);	/* not what a device has that says nothing */
	dma_resv_init(&mock_resv);
	mock_soft_ctx = dma_fence_context_alloc(1);
	ret = mock_rings_start();
	if (ret)
		goto err_dev;
	mock_drm = drm_dev_alloc(&mock_driver, mock_dev);
	ret = PTR_ERR_OR_ZERO(mock_drm);
	if (ret)
		goto err_rings;
	ret = mock_ttm_start(mock_dev);
	if (ret)
		goto err_drm;
	ret = drm_dev_register(mock_drm, 0);
	if (ret)
		goto err_ttm;
	return 0;

err_ttm:
	mock_ttm_stop();
err_drm:
	drm_dev_put(mock_drm);
err_rings:
	mock_rings_stop(rings);
err_dev:
	dma_resv_fini(&mock_resv);
	root_device_unregister(mock_dev);
	return ret;
}

/* Nobody has the node open any more; what the hardware still has ends by itself. */
static void __exit mock_gpu_exit(void)
{
	drm_dev_unregister(mock_drm);
	wait_event(mock_less, !atomic_read(&mock_live));
	mock_ttm_stop();
	drm_dev_put(mock_drm);
	mock_rings_stop(rings);
	mock_entities_free();
	dma_resv_fini(&mock_resv);
	root_device_unregister(mock_dev);
	rcu_barrier();
}

module_init(mock_gpu_init);
module_exit(mock_gpu_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kstall: a GPU driver without a GPU, for tests");
