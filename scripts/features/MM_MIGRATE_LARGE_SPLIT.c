// SPDX-License-Identifier: GPL-2.0
/*
 * Does mm_migrate_pages tell the large folios that were split?
 *
 * include/trace/events/migrate.h; "mm/migrate: add nr_split to trace_mm_migrate_pages stats.",
 * v6.9.
 */
#include <linux/migrate_mode.h>
#include <trace/events/migrate.h>

static void probe(void *data, unsigned long succeeded, unsigned long failed,
		  unsigned long thp_succeeded, unsigned long thp_failed, unsigned long thp_split,
#ifndef OTHERWISE
		  unsigned long large_folio_split,
#endif
		  enum migrate_mode mode, int reason)
{
	check_trace_callback_type_mm_migrate_pages(probe);
}
