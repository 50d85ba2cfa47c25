// SPDX-License-Identifier: GPL-2.0
/*
 * Does pin_user_pages() give the VMAs too?
 *
 * include/linux/mm.h; "mm/gup: remove vmas parameter from pin_user_pages()", v6.5.
 */
#include <linux/mm.h>

long test_PIN_USER_PAGES_VMAS(struct page **pages);
long test_PIN_USER_PAGES_VMAS(struct page **pages)
{
#ifndef OTHERWISE
	return pin_user_pages(0, 1, 0, pages, NULL);
#else
	return pin_user_pages(0, 1, 0, pages);
#endif
}
