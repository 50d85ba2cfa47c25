// SPDX-License-Identifier: GPL-2.0
/*
 * Has mm_migrate_pages the large folios that were split?
 *
 * include/trace/events/migrate.h; "mm/migrate: add nr_split to trace_mm_migrate_pages stats.",
 * v6.9.
 */
#include <linux/migrate_mode.h>
#include <trace/events/migrate.h>

void test_MM_MIGRATE_LARGE_SPLIT(void);
void test_MM_MIGRATE_LARGE_SPLIT(void)
{
#ifndef OTHERWISE
	trace_mm_migrate_pages(0, 0, 0, 0, 0, 0, MIGRATE_SYNC, MR_SYSCALL);
#else
	trace_mm_migrate_pages(0, 0, 0, 0, 0, MIGRATE_SYNC, MR_SYSCALL);
#endif
}
