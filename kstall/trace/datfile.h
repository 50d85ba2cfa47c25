/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a trace.dat: version 6 of trace-cmd's format, as trace-cmd.dat.v6(5) has it. */
#ifndef KSTALL_DATFILE_H
#define KSTALL_DATFILE_H

#include <stdio.h>

#include "base/util.h"

struct ks_dat_cpu {
	int fd;			/* the pages of a CPU, from the file's begin */
	u64 bytes;
};

struct ks_dat_buffer {
	const char *name;
	struct ks_dat_cpu *cpu;
};

/*
 * Its two parts: what this boot's formats are, and the pages. @systems: of which events the formats
 * are kept, ends in NULL. @name is for what goes wrong.
 */
void ks_dat_head(FILE *f, const char *name, const char *const *systems);
void ks_dat_body(FILE *f, const char *name, int cpus, const struct ks_dat_buffer *buffers,
		 int nr_buffers);

#endif
