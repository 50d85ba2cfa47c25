// SPDX-License-Identifier: GPL-2.0
/*
 * Is a device's use of the IOMMU for DMA one of its flags? Before, see DEV_DMA_IOMMU_BIT.
 *
 * include/linux/device.h, DEV_FLAG_DMA_IOMMU, since 7.1.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>

bool test_DEV_DMA_IOMMU_FLAG(struct device *dev);
bool test_DEV_DMA_IOMMU_FLAG(struct device *dev)
{
#ifndef OTHERWISE
	return dev_dma_iommu(dev);
#else
	return get_dma_ops(dev);
#endif
}
