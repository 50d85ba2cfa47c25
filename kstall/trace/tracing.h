/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_TRACING_H
#define KSTALL_TRACING_H

#include <stdbool.h>

struct tep_handle;

/* Ends the program, with the reason, unless tracefs is there for this user. */
void ks_need_tracing(void);

/* Is there @file below tracefs? Libtracefs opens /proc/mounts for that, and where it cannot there is none. */
bool ks_tracefs_has(const char *file);

/*
 * What the kernel says of the events of @systems, a list that ends with NULL. tracefs_local_events_system() would read all of
 * /proc/kallsyms, too, 200,000 lines; nothing here prints an address as a name.
 */
struct tep_handle *ks_formats(const char *const *systems);

/* Of one event more, unless it is there. False: it cannot be read. */
bool ks_formats_add(struct tep_handle *tep, const char *system, const char *event);

#endif
