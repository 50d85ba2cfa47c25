// SPDX-License-Identifier: GPL-2.0
/*
 * Plays libcuda: functions of its names that hold their caller as long as a struct stall says, which they get instead of a stream, an
 * event or memory, and which say how long it was, by their own clock.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "libcuda.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int stall(struct stall *s)
{
	const struct timespec all = { .tv_nsec = s->ns };
	uint64_t begin = now();

	if (s->blocks)
		nanosleep(&all, NULL);
	else
		while (now() - begin < s->ns)
			;
	s->took = now() - begin;
	return 0;
}

/* The real one's exports are such: the rest is behind a pointer, and jumped to. */
#ifdef __x86_64__
static int wait_for_stream(struct stall *s);
int (*const libcuda_stream)(struct stall *) __attribute__((visibility("hidden"))) = wait_for_stream;
int libcuda_state __attribute__((visibility("hidden"))) = 1;

__asm__(".globl cuStreamSynchronize\n"
	".type cuStreamSynchronize, @function\n"
	"cuStreamSynchronize:\n"
	"	cmpl $0x321cba00, libcuda_state(%rip)\n"
	"	je 1f\n"
	"	jmp *libcuda_stream(%rip)\n"
	"1:	mov $4, %eax\n"
	"	ret\n"
	".size cuStreamSynchronize, .-cuStreamSynchronize\n");

static int wait_for_stream(struct stall *s)
{
	return stall(s);
}
#else
int cuStreamSynchronize(struct stall *s)
{
	return stall(s);
}
#endif

int cuEventSynchronize(struct stall *s)
{
	return stall(s);
}

/* One function, two names. */
int cuCtxSynchronize(struct stall *s)
{
	return stall(s);
}
int cuCtxSynchronize_v2(struct stall *s) __attribute__((alias("cuCtxSynchronize")));

int cuMemcpyHtoD_v2(struct stall *to, const void *from, size_t bytes)
{
	(void)from;
	(void)bytes;
	return stall(to);
}

int cuMemHostRegister_v2(struct stall *s, size_t bytes, unsigned int flags)
{
	(void)bytes;
	(void)flags;
	return stall(s);
}

int cuMemAlloc_v2(struct stall *s, size_t bytes)
{
	(void)bytes;
	return stall(s);
}

/* A call inside a call. */
int cuModuleLoadData(struct stall *s, const void *image)
{
	(void)image;
	return cuMemAlloc_v2(s, 4096);
}

int cuLaunchKernel(struct stall *s)
{
	return stall(s);
}
