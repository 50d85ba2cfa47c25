// SPDX-License-Identifier: GPL-2.0
/*
 * Is the reason that mm_migrate_pages has of type enum migrate_reason? Before, an int.
 *
 * include/trace/events/migrate.h, since 7.3.
 */
#include <linux/migrate_mode.h>
#include <trace/events/migrate.h>

#ifndef OTHERWISE
static void probe_MM_MIGRATE_REASON_ENUM(void *data, unsigned long succeeded, unsigned long failed,
		  unsigned long thp_succeeded, unsigned long thp_failed, unsigned long thp_split,
		  unsigned long large_folio_split, enum migrate_mode mode,
		  enum migrate_reason reason)
{
	check_trace_callback_type_mm_migrate_pages(probe_MM_MIGRATE_REASON_ENUM);
}
#else
/* with or without large_folio_split, see MM_MIGRATE_LARGE_SPLIT */
bool test_MM_MIGRATE_REASON_ENUM(void);
bool test_MM_MIGRATE_REASON_ENUM(void)
{
	return trace_mm_migrate_pages_enabled();
}
#endif
