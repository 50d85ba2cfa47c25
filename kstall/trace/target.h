/* SPDX-License-Identifier: GPL-2.0 */
/* Which job is traced. */
#ifndef KSTALL_TARGET_H
#define KSTALL_TARGET_H

#include "base/util.h"

struct ks_target {
	s32 *pids;
	size_t nr_pids, room_pids;
	const char *cgroup, *comm;
	char **command;		/* ends in NULL; NULL: none is started */
	char *binary, *symbol;	/* of a function whose calls end steps; NULL: none */
	bool no_cuda, cuda_launch;	/* without probes on the GPU's library; on what launches, too */
	bool as_root;		/* the command, too, even if a user called sudo */
	size_t buffer_kib;	/* of a CPU's part of each buffer; 0: the default */
};

#endif
