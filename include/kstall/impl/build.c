// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - the helpers' code as one translation unit, as kernel/sched/build_utility.c has it
 *
 * Each module compiles it. Eight objects would each read the kernel's headers, and a build of all
 * modules would take twice as long.
 */
#include "direct.c"
#include "event.c"
#include "fold.c"
#include "hook.c"
#include "inflight.c"
#include "own.c"
#include "recorder.c"
#include "status.c"
