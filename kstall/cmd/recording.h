/* SPDX-License-Identifier: GPL-2.0 */
/* The engine over a recording, as the options want it. */
#ifndef KSTALL_RECORDING_H
#define KSTALL_RECORDING_H

#include "cmd/options.h"

/* Is @path a recording in trace-cmd's format, by what it begins with? */
bool ks_is_recording(const char *path);

/*
 * @e, with its callbacks set, gets all events of @name. What the recording has not, be it the process or the marks that @o asks
 * for, ends the program with one line. Returns how many records do not fit their formats.
 */
u64 ks_recording_read(struct ks_engine *e, const struct ks_options *o, const char *name);

/*
 * Steps that nobody has chosen: markers if there are any, else seconds, else the whole. True: @o has the next ones, and the
 * recording has to be read again.
 */
bool ks_recording_again(struct ks_options *o, bool markers, u64 steps, const char *name);

#endif
