/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iommu_compat.h - how kernels differ in what this module reads
 *
 * HAVE_* come from scripts/features/; each test cites the change it asks about.
 */
#ifndef _IOMMU_COMPAT_H
#define _IOMMU_COMPAT_H

#include <kstall/compat.h>
#include <kstall/fn.h>

#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/memremap.h>
#include <linux/swiotlb.h>

/*
 * Has it DMA functions of its own? A kernel without GART and the like knows none;
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

/* Does another than the core map for it, Xen for instance? Before 6.12 nothing says so. */
static inline bool it_dma_other(struct device *dev)
{
#if defined(HAVE_DEV_DMA_IOMMU_FLAG) || defined(HAVE_DEV_DMA_IOMMU_BIT)
	return it_dma_ops(dev);
#else
	return false;
#endif
}

/*
 * The functions that make and end single mappings. What a mapping is of is a page, since 6.18 a
 * physical address, which need not have one.
 */
KSTALL_FN(void, it_unmap_single, struct device *, dev, dma_addr_t, addr, size_t, size,
	  enum dma_data_direction, dir, unsigned long, attrs);
#ifdef HAVE_DMA_MAP_PHYS
#define IT_MAP_SINGLE		"dma_map_phys"
#define IT_UNMAP_SINGLE		"dma_unmap_phys"
KSTALL_FN(dma_addr_t, it_map_single, struct device *, dev, phys_addr_t, phys, size_t, size,
	  enum dma_data_direction, dir, unsigned long, attrs);
KSTALL_CHECK_FN(it_map_single, dma_map_phys);
KSTALL_CHECK_FN(it_unmap_single, dma_unmap_phys);

#define it_mapped_memory(_regs)	kstall_arg(_regs, it_map_single, phys)
#define it_page_memory(_page)	page_to_phys(_page)

static inline struct page *it_memory_page(u64 memory)
{
	return pfn_valid(PHYS_PFN(memory)) ? phys_to_page(memory) : NULL;
}
#else
#define IT_MAP_SINGLE		"dma_map_page_attrs"
#define IT_UNMAP_SINGLE		"dma_unmap_page_attrs"
KSTALL_FN(dma_addr_t, it_map_single, struct device *, dev, struct page *, page, size_t, offset,
	  size_t, size, enum dma_data_direction, dir, unsigned long, attrs);
KSTALL_CHECK_FN(it_map_single, dma_map_page_attrs);
KSTALL_CHECK_FN(it_unmap_single, dma_unmap_page_attrs);

#define it_mapped_memory(_regs)	((unsigned long)kstall_arg(_regs, it_map_single, page))
#define it_page_memory(_page)	((unsigned long)(_page))

static inline struct page *it_memory_page(u64 memory)
{
	return (struct page *)(unsigned long)memory;
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
