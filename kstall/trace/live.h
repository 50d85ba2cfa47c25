/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a session as they come. */
#ifndef KSTALL_LIVE_H
#define KSTALL_LIVE_H

#include "engine/engine.h"
#include "trace/session.h"

struct ks_live;

struct ks_live *ks_live_open(struct ks_session *s);

/* The session has events that it had not when this was opened. */
void ks_live_formats(struct ks_live *l, struct ks_session *s);

/* Gives the engine what has come so far, in order across CPUs. */
void ks_live_pass(struct ks_live *l, struct ks_engine *e);
u64 ks_live_bad(const struct ks_live *l);
void ks_live_close(struct ks_live *l);

#endif
