/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _GPU_H
#define _GPU_H

/* The GPU is not idle before a collective is over. */
void gpu_collective_begins(void);
void gpu_collective_ends(void);

#endif /* _GPU_H */
