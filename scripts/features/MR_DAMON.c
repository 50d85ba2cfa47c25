// SPDX-License-Identifier: GPL-2.0
/*
 * Is DAMON a reason to migrate pages?
 *
 * include/linux/migrate_mode.h; "mm/migrate: add MR_DAMON to migrate_reason", v6.11.
 */
#include <linux/migrate_mode.h>

#ifndef OTHERWISE
int test_MR_DAMON = MR_DAMON;
#else
int test_MR_DAMON = MR_DEMOTION;
#endif
