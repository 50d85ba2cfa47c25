/* SPDX-License-Identifier: GPL-2.0 */
/* Events that we define ourselves, and those that are not to be had. */
#ifndef KSTALL_PROBE_H
#define KSTALL_PROBE_H

#include <tracefs.h>

#include "engine/event.h"
#include "trace/target.h"

/* Adds them to @group, which is of one session only. */
void ks_probes_add(const char *group, const struct ks_target *target);
/* Are lines written to a trace_marker, of whatever instance, seen as events of ours? */
bool ks_probes_see_markers(void);
/* ... and those written to /dev/null? */
bool ks_probes_see_null(void);
void ks_probes_filter(struct tracefs_instance *in, const char *group);

/* The layer of the events of a module of kstall's; NULL: @system is another's. */
const char *ks_module_layer(const char *system);

/* Is there an event of a loaded module that says what @t says, and more? */
bool ks_module_tells(const struct ks_type *t);

typedef void (*ks_unseen_fn)(void *priv, const char *layer, const char *event, const char *why);

/* Calls @fn for each event that cannot come here, and why. */
void ks_unseen(ks_unseen_fn fn, void *priv);

#endif
