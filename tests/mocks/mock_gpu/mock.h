/* SPDX-License-Identifier: GPL-2.0 */
/* mock.h - what the module's files share */
#ifndef _MOCK_H
#define _MOCK_H

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#include "mock_compat.h"
#include "mock_gpu.h"

extern struct drm_device *mock_drm;
extern struct dma_resv mock_resv;

int mock_ttm_start(struct device *dev);
void mock_ttm_stop(void);
void mock_ttm_close(struct drm_file *file);
int mock_ttm_validate(u32 handle);
int mock_bo_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _MOCK_H */
