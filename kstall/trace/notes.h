/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_NOTES_H
#define KSTALL_NOTES_H

#include "trace/session.h"

/* A line into our own buffer, so that it goes where the events go. */
void ks_note(struct ks_session *s, const char *text);

/* Before the first event: the job's threads, so that nobody else's events are taken for theirs. */
void ks_note_names(struct ks_session *s, const struct ks_target *target);

/* When events come: what those threads do, and those that came meanwhile; their files; the node's disks. */
void ks_note_states(struct ks_session *s, const struct ks_target *target);

#endif
