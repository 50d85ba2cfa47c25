/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a trace.dat: version 6 of trace-cmd's format, as trace-cmd.dat.v6(5) has it. */
#ifndef KSTALL_DATFILE_H
#define KSTALL_DATFILE_H

#include <stdio.h>

#include "base/util.h"

/* The pages of a CPU, a file from its begin. */
struct ks_dat_cpu {
	int fd;
	char *path;		/* to be opened when its turn comes; NULL: @fd is open */
	u64 bytes;
	bool spool;		/* nobody wants what has been copied: the disk gets the room back */
};

struct ks_dat_buffer {
	const char *name;
	struct ks_dat_cpu *cpu;
};

/*
 * Its three parts: what this boot's formats are, the names of tasks until now, and the pages.
 * @systems: of which events the formats are kept besides those of "ftrace", ends in NULL. @name is
 * for what goes wrong.
 */
void ks_dat_head(FILE *f, const char *name, const char *const *systems);
void ks_dat_tasks(FILE *f, const char *name);
void ks_dat_body(FILE *f, const char *name, int cpus, const struct ks_dat_buffer *buffers,
		 int nr_buffers);

#endif
