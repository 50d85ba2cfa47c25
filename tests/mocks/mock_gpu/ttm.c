// SPDX-License-Identifier: GPL-2.0
/* ttm.c - the mock GPU's memory: little VRAM, so that buffers push each other out */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <drm/drm_vma_manager.h>

#include "mock.h"

static unsigned int vram_mib = 4;
module_param(vram_mib, uint, 0444);
MODULE_PARM_DESC(vram_mib, "size of the VRAM (default 4)");

static unsigned int evict_ms;
module_param(evict_ms, uint, 0644);
MODULE_PARM_DESC(evict_ms, "how long it takes to move a buffer out of VRAM (default 0)");

struct mock_buffer {
	struct ttm_buffer_object base;
	struct drm_file *file;
};

static struct ttm_device mock_bdev;
static struct drm_vma_offset_manager mock_vma;
static DEFINE_XARRAY_ALLOC1(mock_bos);
static DEFINE_MUTEX(mock_bos_lock);

static const struct ttm_place mock_vram = { .mem_type = TTM_PL_VRAM };
static const struct ttm_place mock_system = { .mem_type = TTM_PL_SYSTEM };

/* ---- what TTM asks of a driver ---- */

static struct ttm_tt *mock_tt_create(struct ttm_buffer_object *bo, u32 page_flags)
{
	struct ttm_tt *tt = kzalloc(sizeof(*tt), GFP_KERNEL);

	if (tt && ttm_tt_init(tt, bo, page_flags, ttm_cached, 0)) {
		kfree(tt);
		tt = NULL;
	}
	return tt;
}

static void mock_tt_destroy(struct ttm_device *bdev, struct ttm_tt *tt)
{
	ttm_tt_fini(tt);
	kfree(tt);
}

static void mock_evict_flags(struct ttm_buffer_object *bo, struct ttm_placement *placement)
{
	*placement = mock_placement(&mock_system);
}

static int mock_move(struct ttm_buffer_object *bo, bool evict, struct ttm_operation_ctx *ctx,
		     struct ttm_resource *new, struct ttm_place *hop)
{
	if (evict && evict_ms)
		usleep_range(evict_ms * 1000UL, evict_ms * 1000UL + 100);
	ttm_bo_move_null(bo, new);
	return 0;
}

static const struct ttm_device_funcs mock_funcs = {
	.ttm_tt_create = mock_tt_create,
	.ttm_tt_destroy = mock_tt_destroy,
	.eviction_valuable = ttm_bo_eviction_valuable,
	.evict_flags = mock_evict_flags,
	.move = mock_move,
};

/* ---- buffers ---- */

static void mock_bo_destroy(struct ttm_buffer_object *bo)
{
	drm_gem_object_release(&bo->base);
	kfree(container_of(bo, struct mock_buffer, base));
}

static int mock_bo_new(struct drm_file *file, struct mock_bo *args)
{
	struct ttm_placement placement = mock_placement(&mock_vram);
	struct mock_buffer *buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	int ret;

	if (!buf)
		return -ENOMEM;
	buf->file = file;
	drm_gem_private_object_init(mock_drm, &buf->base.base, (size_t)args->mib << 20);
	ret = ttm_bo_init_validate(&mock_bdev, &buf->base, ttm_bo_type_kernel, &placement, 0, true,
				   NULL, NULL, mock_bo_destroy);
	if (ret)
		return ret;
	ret = xa_alloc(&mock_bos, &args->handle, buf, xa_limit_31b, GFP_KERNEL);
	if (ret)
		mock_ttm_put(&buf->base);
	return ret;
}

/* Under mock_bos_lock, which keeps it alive. */
static int mock_bo_place(struct mock_buffer *buf, const struct ttm_place *place)
{
	struct ttm_placement placement = mock_placement(place);
	struct ttm_operation_ctx ctx = { .interruptible = true };
	int ret;

	ret = ttm_bo_reserve(&buf->base, true, false, NULL);
	if (ret)
		return ret;
	ret = ttm_bo_validate(&buf->base, &placement, &ctx);
	if (!ret && place == &mock_system)
		ret = mock_ttm_populate(&buf->base, &ctx);
	ttm_bo_unreserve(&buf->base);
	return ret;
}

static int mock_swapout(void)
{
	struct ttm_operation_ctx ctx = { };
	int ret = ttm_device_swapout(&mock_bdev, &ctx, GFP_KERNEL);

	return ret < 0 ? ret : 0;
}

int mock_ttm_validate(u32 handle)
{
	struct mock_buffer *buf;
	int ret = -ENOENT;

	mutex_lock(&mock_bos_lock);
	buf = xa_load(&mock_bos, handle);
	if (buf)
		ret = mock_bo_place(buf, &mock_vram);
	mutex_unlock(&mock_bos_lock);
	return ret;
}

int mock_bo_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct mock_bo *args = data;
	struct mock_buffer *buf;
	int ret = 0;

	mutex_lock(&mock_bos_lock);
	buf = xa_load(&mock_bos, args->handle);
	if (args->op == MOCK_BO_NEW)
		ret = mock_bo_new(file, args);
	else if (args->op == MOCK_BO_SWAPOUT)
		ret = mock_swapout();
	else if (!buf)
		ret = -ENOENT;
	else if (args->op == MOCK_BO_FREE)
		mock_ttm_put(xa_erase(&mock_bos, args->handle));
	else
		ret = mock_bo_place(buf, args->op == MOCK_BO_VALIDATE ? &mock_vram : &mock_system);
	mutex_unlock(&mock_bos_lock);
	return ret;
}

void mock_ttm_close(struct drm_file *file)
{
	struct mock_buffer *buf;
	unsigned long i;

	mutex_lock(&mock_bos_lock);
	xa_for_each(&mock_bos, i, buf) {
		if (buf->file == file)
			mock_ttm_put(xa_erase(&mock_bos, i));
	}
	mutex_unlock(&mock_bos_lock);
}

int mock_ttm_start(struct device *dev)
{
	int ret;

	drm_vma_offset_manager_init(&mock_vma, DRM_FILE_PAGE_OFFSET_START,
				    DRM_FILE_PAGE_OFFSET_SIZE);
	ret = mock_ttm_init(&mock_bdev, &mock_funcs, dev, &mock_vma);
	if (ret)
		goto err_vma;
	ret = ttm_range_man_init(&mock_bdev, TTM_PL_VRAM, false,
				 (unsigned long)vram_mib << (20 - PAGE_SHIFT));
	if (ret)
		goto err_ttm;
	return 0;

err_ttm:
	ttm_device_fini(&mock_bdev);
err_vma:
	drm_vma_offset_manager_destroy(&mock_vma);
	return ret;
}

void mock_ttm_stop(void)
{
	ttm_range_man_fini(&mock_bdev, TTM_PL_VRAM);
	ttm_device_fini(&mock_bdev);
	drm_vma_offset_manager_destroy(&mock_vma);
}
