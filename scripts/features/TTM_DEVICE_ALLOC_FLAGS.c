// SPDX-License-Identifier: GPL-2.0
/*
 * Does ttm_device_init() take flags? If not, two bools.
 *
 * include/drm/ttm/ttm_device.h; "drm/ttm: Replace multiple booleans with flags in
 * device init".
 */
#include <drm/ttm/ttm_device.h>

int test_TTM_DEVICE_ALLOC_FLAGS(struct ttm_device *bdev, struct ttm_device_funcs *funcs);
int test_TTM_DEVICE_ALLOC_FLAGS(struct ttm_device *bdev, struct ttm_device_funcs *funcs)
{
#ifndef OTHERWISE
	return ttm_device_init(bdev, funcs, NULL, NULL, NULL, 0);
#else
	return ttm_device_init(bdev, funcs, NULL, NULL, NULL, false, false);
#endif
}
