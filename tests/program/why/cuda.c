// SPDX-License-Identifier: GPL-2.0
/*
 * cuda LOG ROOT LIBRARY - a job that waits for its GPU
 *
 * It marks its steps in /dev/null, goes into ROOT, and loads LIBRARY there when it gets SIGUSR1. Then each step is one call
 * of a function of libcuda, of 20 ms, until SIGTERM. A line in LOG a step:
 * "PID ID FUNCTION LOW HIGH", how long the call was by the library's clock and by its own, around it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "libcuda.h"

typedef int (*call_fn)(void *, size_t, size_t);

static const struct {
	const char *function;
	int blocks;
	size_t arg2, arg3;
} calls[] = {
	{ "cuStreamSynchronize", 0 },
	{ "cuEventSynchronize", 1 },
	{ "cuCtxSynchronize_v2", 0 },
	{ "cuMemcpyHtoD_v2", 0, 0, 1UL << 30 },
	{ "cuMemHostRegister_v2", 1, 2UL << 30 },
	{ "cuModuleLoadData", 0 },
	{ "cuMemAlloc_v2", 0, 3UL << 19 },
	{ "cuLaunchKernel", 0 },
};
#define CALLS (sizeof(calls) / sizeof(*calls))

static volatile sig_atomic_t over;

static void end(int sig)
{
	(void)sig;
	over = 1;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void step(FILE *log, int null, unsigned int nr, call_fn fn)
{
	struct stall s = { .ns = 20000000, .blocks = calls[nr % CALLS].blocks };
	uint64_t begin, took;

	dprintf(null, "kstall step %u begin\n", nr);
	begin = now();
	fn(&s, calls[nr % CALLS].arg2, calls[nr % CALLS].arg3);
	took = now() - begin;
	dprintf(null, "kstall step %u end\n", nr);
	fprintf(log, "%d %u %s %llu %llu\n", getpid(), nr, calls[nr % CALLS].function, (unsigned long long)s.took,
		(unsigned long long)took);
	fflush(log);
}

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), sig;
	call_fn fn[CALLS];
	sigset_t load;
	FILE *log;
	void *lib;

	sigemptyset(&load);
	sigaddset(&load, SIGUSR1);
	sigprocmask(SIG_BLOCK, &load, NULL);
	signal(SIGTERM, end);
	log = argc == 4 ? fopen(argv[1], "w") : NULL;
	if (!log || null < 0 || chroot(argv[2]) || chdir("/"))
		err(1, "cuda LOG ROOT LIBRARY");
	sigwait(&load, &sig);
	lib = dlopen(argv[3], RTLD_NOW);
	if (!lib)
		errx(1, "%s", dlerror());
	for (size_t i = 0; i < CALLS; i++)
		fn[i] = (call_fn)(uintptr_t)dlsym(lib, calls[i].function);
	for (unsigned int nr = 0; !over; nr++)
		step(log, null, nr, fn[nr % CALLS]);
	return 0;
}
