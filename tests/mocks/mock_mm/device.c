// SPDX-License-Identifier: GPL-2.0
/*
 * device.c - memory of a device, which programs cannot touch: what is in it comes back when they do
 *
 * There is no device. What its pages hold is kept in pages of the machine's own.
 */
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/ioport.h>
#include <linux/memremap.h>
#include <linux/migrate.h>
#include <linux/mm.h>

#include <generated/kstall_features.h>

#include "device.h"

#if defined(CONFIG_DEVICE_PRIVATE) && defined(HAVE_ZONE_DEVICE_PAGE_INIT_PGMAP)

#define MOCK_PAGES	512	/* used; the kernel maps whole sections */
#define MOCK_SIZE	(128UL << 20)
#define MOCK_FETCH_US	2000	/* how long it takes to get one back */

static struct dev_pagemap mock_map;
static struct page *mock_first;
static struct page *mock_backing[MOCK_PAGES];
static DECLARE_BITMAP(mock_used, MOCK_PAGES);

static void mock_device_free(struct folio *folio)
{
	unsigned int i = folio_page(folio, 0) - mock_first;

	__free_page(mock_backing[i]);
	clear_bit(i, mock_used);
}

/* A page of the device with the same content. Return: NULL if there is no room. */
static struct page *mock_device_copy(struct page *src)
{
	struct page *backing = alloc_page(GFP_HIGHUSER);
	unsigned int i;

	if (!backing)
		return NULL;
	do {
		i = find_first_zero_bit(mock_used, MOCK_PAGES);
		if (i == MOCK_PAGES) {
			__free_page(backing);
			return NULL;
		}
	} while (test_and_set_bit(i, mock_used));
	if (src)
		copy_highpage(backing, src);
	else
		clear_highpage(backing);
	mock_backing[i] = backing;
	zone_device_page_init(mock_first + i, &mock_map, 0);
	return mock_first + i;
}

static struct page *mock_memory_copy(struct page *src)
{
	struct page *dst = alloc_page(GFP_HIGHUSER_MOVABLE);

	if (!dst)
		return NULL;
	copy_highpage(dst, mock_backing[src - mock_first]);
	lock_page(dst);
	return dst;
}

static void mock_device_move(struct migrate_vma *args, bool to_device)
{
	unsigned long i;

	for (i = 0; i < args->npages; i++) {
		struct page *src = migrate_pfn_to_page(args->src[i]);
		struct page *dst;

		if (!(args->src[i] & MIGRATE_PFN_MIGRATE))
			continue;
		dst = to_device ? mock_device_copy(src) : mock_memory_copy(src);
		if (!dst)
			continue;
		args->dst[i] = migrate_pfn(page_to_pfn(dst));
		if (args->src[i] & MIGRATE_PFN_WRITE)
			args->dst[i] |= MIGRATE_PFN_WRITE;
	}
}

static noinline __noclone vm_fault_t mock_to_ram(struct vm_fault *vmf)
{
	unsigned long src = 0, dst = 0, start = vmf->address & PAGE_MASK;
	struct migrate_vma args = {
		.vma = vmf->vma, .start = start, .end = start + PAGE_SIZE,
		.src = &src, .dst = &dst, .pgmap_owner = &mock_map,
		.flags = MIGRATE_VMA_SELECT_DEVICE_PRIVATE, .fault_page = vmf->page,
	};

	if (migrate_vma_setup(&args))
		return VM_FAULT_SIGBUS;
	usleep_range(MOCK_FETCH_US, MOCK_FETCH_US + 100);
	mock_device_move(&args, false);
	migrate_vma_pages(&args);
	migrate_vma_finalize(&args);
	return 0;
}

static const struct dev_pagemap_ops mock_ops = {
	.folio_free = mock_device_free,
	.migrate_to_ram = mock_to_ram,
};

/**
 * mock_to_device() - moves pages of the caller to the device
 * @arg: which; counts those that went
 * @src: as many words
 * @dst: as many words, zeroed
 */
noinline __noclone int mock_to_device(struct mock_mm_range *arg, unsigned long *src,
				      unsigned long *dst)
{
	struct migrate_vma args = {
		.start = arg->start, .end = arg->start + arg->pages * PAGE_SIZE,
		.src = src, .dst = dst, .pgmap_owner = &mock_map,
		.flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	int ret = -EINVAL;
	unsigned long i;

	mmap_read_lock(current->mm);
	args.vma = find_vma(current->mm, args.start);
	if (args.vma)
		ret = migrate_vma_setup(&args);
	if (!ret) {
		mock_device_move(&args, true);
		migrate_vma_pages(&args);
		for (i = 0; i < args.npages; i++)
			arg->done += !!(args.src[i] & MIGRATE_PFN_MIGRATE);
		migrate_vma_finalize(&args);
	}
	mmap_read_unlock(current->mm);
	return ret;
}

/* Without device memory the rest works all the same. */
void __init mock_device_init(void)
{
	struct resource *res = request_free_mem_region(&iomem_resource, MOCK_SIZE, "mock_mm");
	void *mapped;

	if (IS_ERR(res))
		return;
	mock_map.type = MEMORY_DEVICE_PRIVATE;
	mock_map.range.start = res->start;
	mock_map.range.end = res->end;
	mock_map.nr_range = 1;
	mock_map.ops = &mock_ops;
	mock_map.owner = &mock_map;
	mapped = memremap_pages(&mock_map, numa_node_id());
	if (IS_ERR(mapped)) {
		release_mem_region(res->start, MOCK_SIZE);
		return;
	}
	mock_first = pfn_to_page(PHYS_PFN(res->start));
}

void mock_device_exit(void)
{
	if (!mock_first)
		return;
	memunmap_pages(&mock_map);
	release_mem_region(mock_map.range.start, MOCK_SIZE);
}

bool mock_has_device(void)
{
	return mock_first;
}

#else

int mock_to_device(struct mock_mm_range *arg, unsigned long *src, unsigned long *dst)
{
	return -EOPNOTSUPP;
}

void __init mock_device_init(void)
{
}

void mock_device_exit(void)
{
}

bool mock_has_device(void)
{
	return false;
}

#endif
