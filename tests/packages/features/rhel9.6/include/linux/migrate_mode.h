/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>
enum migrate_mode { MIGRATE_SYNC };
enum migrate_reason { MR_SYSCALL, MR_DEMOTION };
