/* SPDX-License-Identifier: GPL-2.0 */
/* Probes on the GPU's library (libcuda, libamdhip64) that processes of the job have mapped. */
#ifndef KSTALL_GPULIB_H
#define KSTALL_GPULIB_H

#include "trace/session.h"

/* The libraries of the job's processes get probes, which are not enabled yet. */
void ks_gpu_find(struct ks_session *s, const struct ks_target *target);

/* All that are there. */
void ks_gpu_enable(struct ks_session *s);

/* What cannot be had, when the buffers take notes. */
void ks_gpu_note(struct ks_session *s);

/* Has the job mapped another one? Then it has enabled probes now, whose formats nobody knows yet. To be called often. */
bool ks_gpu_look(struct ks_session *s);

void ks_gpu_end(struct ks_session *s);

#endif
