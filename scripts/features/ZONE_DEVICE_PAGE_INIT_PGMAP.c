// SPDX-License-Identifier: GPL-2.0
/*
 * Does a page of device memory get its map when it is given out?
 *
 * include/linux/memremap.h; "mm/zone_device: reinitialize large zone device private folios", v7.0.
 */
#include <linux/memremap.h>

void test_ZONE_DEVICE_PAGE_INIT_PGMAP(struct page *page, struct dev_pagemap *pgmap);
void test_ZONE_DEVICE_PAGE_INIT_PGMAP(struct page *page, struct dev_pagemap *pgmap)
{
#ifndef OTHERWISE
	zone_device_page_init(page, pgmap, 0);
#else
	zone_device_page_init(page);
#endif
}
