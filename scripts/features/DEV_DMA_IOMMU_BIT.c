// SPDX-License-Identifier: GPL-2.0
/*
 * Is a device's use of the IOMMU for DMA a bit of its own? Before, it is dma_ops.
 *
 * include/linux/device.h; b5c58b2fdc42 ("dma-mapping: direct calls for dma-iommu"), v6.12. Later
 * the bit is read through dev_dma_iommu(), see DEV_DMA_IOMMU_FLAG.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>

bool test_DEV_DMA_IOMMU_BIT(struct device *dev);
bool test_DEV_DMA_IOMMU_BIT(struct device *dev)
{
#ifndef OTHERWISE
	return dev->dma_iommu;
#else
	return get_dma_ops(dev);
#endif
}
