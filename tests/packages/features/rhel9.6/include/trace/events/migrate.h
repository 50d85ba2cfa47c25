/* SPDX-License-Identifier: GPL-2.0 */
static inline void trace_mm_migrate_pages(unsigned long succeeded, unsigned long failed,
		unsigned long thp_succeeded, unsigned long thp_failed, unsigned long thp_split,
		unsigned long large_folio_split, enum migrate_mode mode, int reason)
{
}
