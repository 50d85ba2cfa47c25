/* SPDX-License-Identifier: GPL-2.0 */
/* What a recording, or this kernel's formats, cannot answer. */
#ifndef KSTALL_UNSEEN_H
#define KSTALL_UNSEEN_H

#include "engine/engine.h"
#include "trace/decode.h"

/* Events that are not read, as a field of theirs has another name in this version. */
void ks_unseen_fields(struct ks_engine *e, const struct ks_decoder *d);

/* What events say of when a phase was, by CLOCK_MONOTONIC, is of no use beside times of another clock. */
void ks_unseen_phases(struct ks_engine *e, const struct ks_decoder *d, const char *clock);

/* Of a recording that does not say so itself: what it lacks, by its formats and by what occurred in it. */
void ks_unseen_events(struct ks_engine *e, const struct ks_decoder *d);

#endif
