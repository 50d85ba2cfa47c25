/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _GPU_H
#define _GPU_H

#include <stdint.h>

/* The caller keeps its CPU for @ns, without a system call. */
void gpu_spin(uint64_t ns);

/* The GPU is not idle before a collective is over. */
void gpu_collective_begins(void);
void gpu_collective_ends(void);

#endif /* _GPU_H */
