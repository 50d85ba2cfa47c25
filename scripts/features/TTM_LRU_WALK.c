// SPDX-License-Identifier: GPL-2.0
/*
 * Does TTM walk its buffers with callbacks, for swapping them out too?
 *
 * include/drm/ttm/ttm_bo.h; da966b82bf3d ("drm/ttm: Provide a generic LRU walker
 * helper"), v6.12.
 */
#ifndef OTHERWISE
#include <drm/ttm/ttm_bo.h>

struct ttm_lru_walk test_TTM_LRU_WALK;
#else
#include <linux/types.h>

int test_TTM_LRU_WALK;
#endif
