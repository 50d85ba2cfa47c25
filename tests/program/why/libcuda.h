/* SPDX-License-Identifier: GPL-2.0 */
#include <stddef.h>
#include <stdint.h>

/* How long a function of our libcuda is to take, asleep or not; how long it took. */
struct stall {
	uint64_t ns, took;
	int blocks;
};

int cuStreamSynchronize(struct stall *s);
int cuEventSynchronize(struct stall *s);
int cuCtxSynchronize(struct stall *s);
int cuCtxSynchronize_v2(struct stall *s);
int cuMemcpyHtoD_v2(struct stall *to, const void *from, size_t bytes);
int cuMemHostRegister_v2(struct stall *s, size_t bytes, unsigned int flags);
int cuMemAlloc_v2(struct stall *s, size_t bytes);
int cuModuleLoadData(struct stall *s, const void *image);
int cuLaunchKernel(struct stall *s);
