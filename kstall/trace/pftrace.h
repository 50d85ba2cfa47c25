/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a trace for Perfetto, packet by packet. */
#ifndef KSTALL_PFTRACE_H
#define KSTALL_PFTRACE_H

#include <stdio.h>

#include "base/util.h"

struct ks_pftrace;

/* Into @f, which @name is for error messages of. */
struct ks_pftrace *ks_pftrace_new(FILE *f, const char *name);
void ks_pftrace_free(struct ks_pftrace *p);

/* Tracks: of a thread (and its process), one with a name, one that counts. @track: it has another name now; 0: a new one. */
u64 ks_pftrace_thread(struct ks_pftrace *p, u64 track, int pid, int tid, const char *comm);
u64 ks_pftrace_track(struct ks_pftrace *p, const char *name, u64 parent, bool counter);

/* @flow: the same number on two slices draws an arrow; 0: none. @what may be "". */
void ks_pftrace_slice(struct ks_pftrace *p, u64 track, u64 begin, u64 end, const char *category,
		      const char *name, const char *what, u64 flow);
void ks_pftrace_count(struct ks_pftrace *p, u64 track, u64 ts, s64 value);

#endif
