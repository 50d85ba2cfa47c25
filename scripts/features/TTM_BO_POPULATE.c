// SPDX-License-Identifier: GPL-2.0
/*
 * Is a TTM buffer given its pages by ttm_bo_populate()? If not, by ttm_tt_populate().
 *
 * include/drm/ttm/ttm_bo.h; came with the shrinker's backup of pages, v6.15.
 */
#ifndef OTHERWISE
#include <drm/ttm/ttm_bo.h>
#else
#include <drm/ttm/ttm_tt.h>
struct ttm_buffer_object;
#endif

struct ttm_operation_ctx;
int test_TTM_BO_POPULATE(struct ttm_buffer_object *bo, struct ttm_device *bdev, struct ttm_tt *tt,
	 struct ttm_operation_ctx *ctx);
int test_TTM_BO_POPULATE(struct ttm_buffer_object *bo, struct ttm_device *bdev, struct ttm_tt *tt,
	 struct ttm_operation_ctx *ctx)
{
#ifndef OTHERWISE
	return ttm_bo_populate(bo, ctx);
#else
	return ttm_tt_populate(bdev, tt, ctx);
#endif
}
