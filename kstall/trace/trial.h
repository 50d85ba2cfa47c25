/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a return probe (uretprobe) does a process harm here. */
#ifndef KSTALL_TRIAL_H
#define KSTALL_TRIAL_H

#include <tracefs.h>

#include "base/util.h"

/*
 * A child under a seccomp filter has one, as a job in a container would. NULL: it lives; else why there must be none, in one line.
 * The event is of @group, and enabled in @in meanwhile.
 */
const char *ks_trial(struct tracefs_instance *in, const char *group);

#endif
