// SPDX-License-Identifier: GPL-2.0
/*
 * Has a TTM placement a second list, for when memory is short?
 *
 * include/drm/ttm/ttm_placement.h; removed by a78a8da51b36 ("drm/ttm: replace busy
 * placement with flags v6"), v6.9.
 */
#include <drm/ttm/ttm_placement.h>

#ifndef OTHERWISE
struct ttm_placement placement = { .num_busy_placement = 1 };
#else
struct ttm_placement placement = { .num_placement = 1 };
#endif
