/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iommu_compat.h - how kernels differ in what this module reads
 *
 * HAVE_* come from scripts/features/; each test cites the change it asks about.
 */
#ifndef _IOMMU_COMPAT_H
#define _IOMMU_COMPAT_H

#include <kstall/compat.h>

#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/memremap.h>
#include <linux/swiotlb.h>

/*
 * Has somebody set functions of his own for it? A kernel without GART and the like knows none;
 * v6.12 renamed the option.
 */
static inline bool it_dma_ops(struct device *dev)
{
#if defined(CONFIG_DMA_OPS) || defined(CONFIG_ARCH_HAS_DMA_OPS)
	return dev->dma_ops;
#else
	return false;
#endif
}

/* Is the device's DMA translated? */
static inline bool it_dma_iommu(struct device *dev)
{
#if defined(HAVE_DEV_DMA_IOMMU_FLAG)
	return dev_dma_iommu(dev);
#elif defined(HAVE_DEV_DMA_IOMMU_BIT)
	return dev->dma_iommu;
#else
	return it_dma_ops(dev);
#endif
}

/* Does somebody else map for it, Xen for instance? Before 6.12 that cannot be told apart. */
static inline bool it_dma_other(struct device *dev)
{
#if defined(HAVE_DEV_DMA_IOMMU_FLAG) || defined(HAVE_DEV_DMA_IOMMU_BIT)
	return it_dma_ops(dev);
#else
	return false;
#endif
}

/*
 * The function that makes single mappings, and its second and third arguments: (page, offset,
 * size, dir) or (phys, size, dir). The page is NULL for what has none.
 */
#ifdef HAVE_DMA_MAP_PHYS
#define IT_MAP_SINGLE		"dma_map_phys"
#define IT_UNMAP_SINGLE		"dma_unmap_phys"
#define IT_MAP_SIZE_ARG		2
static inline struct page *it_mapped_page(unsigned long arg)
{
	return pfn_valid(PHYS_PFN(arg)) ? phys_to_page(arg) : NULL;
}
#else
#define IT_MAP_SINGLE		"dma_map_page_attrs"
#define IT_UNMAP_SINGLE		"dma_unmap_page_attrs"
#define IT_MAP_SIZE_ARG		3
static inline struct page *it_mapped_page(unsigned long arg)
{
	return (struct page *)arg;
}
#endif

/* Slots of the bounce buffers' pool in use, 0 if the kernel does not count them. */
static inline unsigned long it_pool_used(const struct io_tlb_mem *mem)
{
#if defined(HAVE_IO_TLB_TOTAL_USED)
	return atomic_long_read(&mem->total_used);
#else
	return 0;
#endif
}

#endif /* _IOMMU_COMPAT_H */
