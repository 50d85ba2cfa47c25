// SPDX-License-Identifier: GPL-2.0
/* nccl_calls.c - NCCL's calls of its profiler plugin, as NCCL 2.30 makes them */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nccl.h"

#define GPU_CLOCK	1000000000000ULL	/* that much later than ours */

struct v4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *name, uint64_t comm, int nodes, int ranks, int rank, void *log);
	struct plugin rest;
};

struct v5 {
	const char *name;
	int (*init)(void **context, uint64_t comm, int *mask, const char *name, int nodes, int ranks, int rank, void *log);
	struct plugin rest;
};

struct plugin plugin;
bool is_v4;
static void *lib, *symbol;

void die(const char *what)
{
	fprintf(stderr, "nccl: %s\n", what);
	exit(1);
}

/* The GPU's clock, which has nothing to do with ours but for its pace. */
static uint64_t gpu_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec + GPU_CLOCK;
}

static void logged(int level, unsigned long subsys, const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "nccl: %s %s\n", level == 2 ? "WARN" : "INFO", text);
}

void load(const char *version)
{
	const char *file = getenv("NCCL_PROFILER_PLUGIN");
	char name[32];

	lib = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!lib)
		die(dlerror());
	snprintf(name, sizeof(name), "ncclProfiler_v%s", version);
	symbol = dlsym(lib, name);
	if (!symbol)
		die(dlerror());
	is_v4 = !strcmp(version, "4");
	plugin = is_v4 ? ((struct v4 *)symbol)->rest : ((struct v5 *)symbol)->rest;
}

void unload(void)
{
	dlclose(lib);
}

int init_comm(void **context, uint64_t hash, int rank)
{
	int ret, mask = 0;

	if (is_v4)
		ret = ((struct v4 *)symbol)->init(context, &mask, "world", hash, 1, 8, rank, logged);
	else
		ret = ((struct v5 *)symbol)->init(context, hash, &mask, "world", 1, 8, rank, logged);
	if (ret)
		die("init failed");
	return mask;
}

/* ---- NCCL's calls ---- */

void *start_group(void *context)
{
	struct descr d = { .type = GROUP };
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	return handle;
}

void *start_call(void *context, bool graph)
{
	struct descr d = { .type = COLL_API, .call = { .func = "AllReduce", .graph = graph } };
	void *handle = NULL;

	if (!is_v4)
		plugin.start(context, &handle, &d);
	return handle;
}

void *start_coll(void *context, const char *func, uint64_t seq, int channels, void *call, void *group)
{
	struct descr d = {
		.type = COLL, .parent = is_v4 ? group : call,
		.coll = { .seq = seq, .func = func, .channels = channels, .group = is_v4 ? NULL : group },
	};
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	return handle;
}

void *start_p2p_call(void *context)
{
	struct descr d = { .type = P2P_API, .p2p_call.func = "Send" };
	void *handle = NULL;

	if (!is_v4)
		plugin.start(context, &handle, &d);
	return handle;
}

/* v4 has no number of channels there. */
void *start_p2p(void *context, const char *func, int peer, int channels, void *call, void *group)
{
	struct descr d = {
		.type = P2P, .parent = is_v4 ? group : call,
		.p2p = { .func = func, .peer = peer, .channels = is_v4 ? 0 : channels, .group = is_v4 ? NULL : group },
	};
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	return handle;
}

void *start_channel(void *context, void *coll, int channel)
{
	struct descr d = { .type = KERNEL_CH, .parent = coll, .channel = { channel, gpu_clock() } };
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	return handle;
}

/* What has no handle NCCL does not stop. */
void stop_channel(void *handle)
{
	union state args = { .timer = gpu_clock() };

	if (!handle)
		return;
	plugin.state(handle, KERNEL_CH_STOP, &args);
	plugin.stop(handle);
}

void *start_op(void *context, void *coll, int rank, int peer, int steps)
{
	struct descr d = { .type = PROXY_OP, .parent = coll, .rank = rank, .op = { getpid(), 0, peer, steps, 1 << 19 } };
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	state(handle, OP_IN_PROGRESS);
	return handle;
}

void *start_step(void *context, void *op, int step)
{
	struct descr d = { .type = PROXY_STEP, .parent = op, .step.step = step };
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	return handle;
}

void state(void *handle, int state)
{
	union state args = { .size = 1 << 19 };

	if (handle)
		plugin.state(handle, state, &args);
}

void stop(void *handle)
{
	if (handle)
		plugin.stop(handle);
}
