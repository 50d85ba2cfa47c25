/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of libcuda and libamdhip64 that can hold their caller, and what each does. */
#ifndef KSTALL_GPUCALL_H
#define KSTALL_GPUCALL_H

#include "base/util.h"

struct ks_gpu_function {
	const char *name;	/* without what a variant has at its end */
	u8 layer;
	u8 bytes;		/* which argument says how many; 0: none */
	u8 kind;		/* ... in which direction is copied (enum hipMemcpyKind) */
	const char *phase;	/* NULL: the name, or what the kind says */
};

/* NULL: it is none that is known. */
const struct ks_gpu_function *ks_gpu_function(const char *name);

#endif
