/* SPDX-License-Identifier: GPL-2.0 */
/* Where events come from. */
#ifndef KSTALL_SOURCE_H
#define KSTALL_SOURCE_H

#include "engine/engine.h"

/* A trace.dat. It is checked first; what is wrong with it ends the program with one line. */
struct ks_file;
struct ks_file *ks_file_open(const char *name);
void ks_file_run(struct ks_file *f, struct ks_engine *e);
void ks_file_close(struct ks_file *f);
u64 ks_file_bad(const struct ks_file *f);

/*
 * Text, for tests: "TIME CPU PID FLAGS SYSTEM:EVENT FIELD=VALUE ...", a line an event; and
 * "lost FROM TO NR". @line is changed. False: not understood.
 */
bool ks_text_line(struct ks_engine *e, char *line);

#endif
