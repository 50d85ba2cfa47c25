// SPDX-License-Identifier: GPL-2.0
/*
 * Is TTM's buffer object in <drm/ttm/ttm_bo.h>? If not, in ttm_bo_api.h and
 * ttm_bo_driver.h.
 *
 * include/drm/ttm; "drm/ttm: merge ttm_bo_api.h and ttm_bo_driver.h", v6.3.
 */
#ifndef OTHERWISE
#include <drm/ttm/ttm_bo.h>
#else
#include <drm/ttm/ttm_bo_api.h>
#include <drm/ttm/ttm_bo_driver.h>
#endif

struct ttm_buffer_object test_TTM_BO_H;
