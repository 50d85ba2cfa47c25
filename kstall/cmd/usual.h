/* SPDX-License-Identifier: GPL-2.0 */
/* kstall why --snapshot N: steps that take more than N times as long as usual, which is the median of the last ones before. */
#ifndef KSTALL_USUAL_H
#define KSTALL_USUAL_H

#include "base/util.h"

#define KS_STEPS_BEFORE 5	/* fewer say nothing */
#define KS_LAST_STEPS 101

struct ks_usual {
	u64 ns[KS_LAST_STEPS];
	size_t nr;		/* so far; the last KS_LAST_STEPS are kept */
};

/* Does a step of @ns take more than @times as long as usual? It is one of the last from now on. */
bool ks_is_unusual(struct ks_usual *u, u64 ns, size_t times);

#endif
