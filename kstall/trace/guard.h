/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a session has in tracefs: two buffers and events of its own. All of it carries the session's
 * ID, and nothing else is ever written to or removed. A session is alive as long as somebody has the
 * lock (flock) of its buffer KS_JOB: a pid could be another process's by now, or of another namespace.
 */
#ifndef KSTALL_GUARD_H
#define KSTALL_GUARD_H

#include "base/util.h"

enum { KS_ALL, KS_JOB, KS_BUFFERS };

#define KS_ID 9			/* eight hex digits and NUL */
#define KS_NAME 32

/* "kstall-ID-job", a buffer; "kstall_ID", the group of its events. @buf has KS_NAME bytes. */
char *ks_buffer_name(char *buf, const char *id, int buffer);
char *ks_group_name(char *buf, const char *id);
bool ks_is_group(const char *system);

/* Removes what sessions have left that nobody has the lock of, and says so. */
void ks_guard_sweep(void);

/*
 * Makes the buffer KS_JOB of a new session, with its lock, and starts a process that removes
 * everything of the session when this one dies, be it by kill -9.
 */
void ks_guard_begin(char id[KS_ID]);

/* Closes all files but the guardian's: a buffer that is open cannot be removed. */
void ks_guard_close_others(void);

/* Removes everything of the session; a message names what somebody holds open, and the guardian waits for it. */
void ks_guard_end(const char *id);

#endif
