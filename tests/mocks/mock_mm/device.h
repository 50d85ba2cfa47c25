/* SPDX-License-Identifier: GPL-2.0 */
/* device.h - memory of a device that there is not, where the kernel can have such */
#ifndef _MOCK_DEVICE_H
#define _MOCK_DEVICE_H

#include <linux/types.h>

#include "mock_mm.h"

int mock_to_device(struct mock_mm_range *arg, unsigned long *src, unsigned long *dst);
bool mock_has_device(void);
void mock_device_init(void);
void mock_device_exit(void);

#endif /* _MOCK_DEVICE_H */
