/* SPDX-License-Identifier: GPL-2.0 */
/* Raw records to events, by the formats the kernel (or the recording) gives. */
#ifndef KSTALL_DECODE_H
#define KSTALL_DECODE_H

#include <event-parse.h>

#include "engine/event.h"
#include "trace/merge.h"

struct ks_decoder;

/* @group: the system that has the session's own events; in a file that is "kstall". */
struct ks_decoder *ks_decoder_new(struct tep_handle *tep, const char *group);
/* The recorder has added events of families since, and @tep knows their formats. */
void ks_decoder_families(struct ks_decoder *d);
void ks_decoder_free(struct ks_decoder *d);

/*
 * False: not an event that is read, or one too short for its format (which is counted). Strings
 * are valid as long as the record.
 */
bool ks_decode(struct ks_decoder *d, const struct ks_record *r, struct ks_event *ev);
u64 ks_decoder_bad(const struct ks_decoder *d);

/* Is there a format of @type's; which field of @type's is not in it (NULL: none); how many were decoded? */
bool ks_decoder_has(const struct ks_decoder *d, const struct ks_type *type);
const char *ks_decoder_lacks(const struct ks_decoder *d, const struct ks_type *type);
u64 ks_decoder_seen(const struct ks_decoder *d, const struct ks_type *type);

#endif
