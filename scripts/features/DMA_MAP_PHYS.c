// SPDX-License-Identifier: GPL-2.0
/*
 * Are single mappings made of physical addresses? Before, of pages.
 *
 * include/linux/dma-mapping.h, dma_map_phys(), since 6.18.
 */
#include <linux/dma-mapping.h>

dma_addr_t test_DMA_MAP_PHYS(struct device *dev, struct page *page);
dma_addr_t test_DMA_MAP_PHYS(struct device *dev, struct page *page)
{
#ifndef OTHERWISE
	return dma_map_phys(dev, page_to_phys(page), 1, DMA_TO_DEVICE, 0);
#else
	return dma_map_page_attrs(dev, page, 0, 1, DMA_TO_DEVICE, 0);
#endif
}
