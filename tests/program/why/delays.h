/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DELAYS_H
#define _DELAYS_H

#include <stdint.h>

/* ns that the calling thread has waited for compaction, by the kernel's delay accounting; -1: it keeps none */
int64_t compaction_delay(void);

#endif
