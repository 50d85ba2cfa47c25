/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_TRACING_H
#define KSTALL_TRACING_H

#include <stdbool.h>

/* Ends the program, with the reason, unless tracefs is there for this user. */
void ks_need_tracing(void);

/* Is there @file below tracefs? Libtracefs opens /proc/mounts to tell, and where it cannot there is none. */
bool ks_tracefs_has(const char *file);

#endif
