// SPDX-License-Identifier: GPL-2.0
/*
 * Is a TTM buffer given up by ttm_bo_fini()? If not, by ttm_bo_put().
 *
 * include/drm/ttm/ttm_bo.h; "drm/ttm: rename ttm_bo_put to _fini", v6.18.
 */
#ifdef OTHERWISE
#include <linux/dma-resv.h>
#include <drm/ttm/ttm_device.h>
struct ttm_buffer_object;
void ttm_bo_put(struct ttm_buffer_object *bo);
#else
#include <drm/ttm/ttm_bo.h>
#endif

void test_TTM_BO_FINI(struct ttm_buffer_object *bo);
void test_TTM_BO_FINI(struct ttm_buffer_object *bo)
{
#ifndef OTHERWISE
	ttm_bo_fini(bo);
#else
	ttm_bo_put(bo);
#endif
}
