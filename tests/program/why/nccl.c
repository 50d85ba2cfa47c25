// SPDX-License-Identifier: GPL-2.0
/*
 * nccl VERSION COLLECTIVES [CASE] - loads the profiler plugin $NCCL_PROFILER_PLUGIN and plays NCCL's part
 *
 * As NCCL 2.30 does it: a thread of the program hands collectives over, another one reports the
 * channels; of each second collective they end before the first is through. That thread waits for data of rank 6
 * for 2 ms on its CPU, then sleeps for 2 ms. Two communicators take turns. A collective over CollNet and an event
 * that nobody asked for come last. Prints a line each:
 *
 *	COMM:RANK:FUNC:SEQ begin=NS end=NS
 *
 * from before it is handed over to after the last of it has been reported. A CASE of nccl_cases.c is what NCCL
 * does wrong, or at another time, and prints what it says itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nccl.h"

#define CHANNELS	4
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
static const uint64_t comms[2] = { 0xfeedfacecafebeef, 0x1234 };
static void *contexts[2];

void die(const char *what)
{
	fprintf(stderr, "nccl: %s\n", what);
	exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
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
	struct descr d = { .type = KERNEL_CH, .parent = coll, .channel = { channel, now() + GPU_CLOCK } };
	void *handle = NULL;

	plugin.start(context, &handle, &d);
	return handle;
}

/* What has no handle NCCL does not stop. */
void stop_channel(void *handle)
{
	union state args = { .timer = now() + GPU_CLOCK };

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

/* ---- the proxy thread ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *context, *coll;	/* whose channels are to be reported; NULL: none */
	int rank, quit;
} proxy = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

void spin(uint64_t ns)
{
	const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* A ring of which rank 6 is the one before: its data is late, and then this thread has no CPU. */
static void report_channels(void *context, void *coll, int rank)
{
	void *recv = start_op(context, coll, rank, 6, 1), *send = start_op(context, coll, rank, 5, 1);
	void *receives = start_step(context, recv, 0), *sends = start_step(context, send, 0), *handle[CHANNELS];
	int i;

	state(sends, SEND_GPU_WAIT);
	state(receives, RECV_WAIT);
	for (i = 0; i < CHANNELS; i++)
		handle[i] = start_channel(context, coll, i);
	spin(2000000);
	state(receives, RECV_FLUSH_WAIT);
	state(receives, RECV_GPU_WAIT);
	state(sends, SEND_PEER_WAIT);
	state(sends, SEND_WAIT);
	usleep(2000);
	stop(sends);
	stop(send);
	stop(receives);
	stop(recv);
	for (i = 0; i < CHANNELS; i++)
		stop_channel(handle[i]);
}

static void *proxy_thread(void *arg)
{
	pthread_mutex_lock(&proxy.lock);
	for (;;) {
		while (!proxy.coll && !proxy.quit)
			pthread_cond_wait(&proxy.changed, &proxy.lock);
		if (proxy.quit)
			break;
		report_channels(proxy.context, proxy.coll, proxy.rank);
		proxy.coll = NULL;
		pthread_cond_broadcast(&proxy.changed);
	}
	pthread_mutex_unlock(&proxy.lock);
	return NULL;
}

static void hand_to_proxy(void *context, void *coll, int rank)
{
	pthread_mutex_lock(&proxy.lock);
	proxy.context = context;
	proxy.coll = coll;
	proxy.rank = rank;
	pthread_cond_broadcast(&proxy.changed);
	pthread_mutex_unlock(&proxy.lock);
}

static void await_proxy(void)
{
	pthread_mutex_lock(&proxy.lock);
	while (proxy.coll)
		pthread_cond_wait(&proxy.changed, &proxy.lock);
	pthread_mutex_unlock(&proxy.lock);
}

/* ---- the program's thread ---- */

static void collective(int n, int channels)
{
	const char *func = channels ? "AllReduce" : "AllGather";
	void *context = contexts[n % 2], *call, *handle;
	uint64_t begin = now();

	call = start_call(context, false);
	handle = start_coll(context, func, n / 2, channels, call, start_group(context));
	if (!handle)
		die("no handle");
	hand_to_proxy(context, handle, n % 2 + 3);
	if (n % 4 < 2)
		await_proxy();
	stop(handle);
	stop(call);
	await_proxy();
	printf("%" PRIx64 ":%d:%s:%d begin=%" PRIu64 " end=%" PRIu64 "\n", comms[n % 2], n % 2 + 3, func, n / 2,
	       begin, now());
}

static void play(int n)
{
	struct descr unasked = { .type = PROXY_CTRL };
	pthread_t thread;
	void *handle;
	int i;

	for (i = 0; i < 2; i++) {
		if (init_comm(&contexts[i], comms[i], i + 3) != (GROUP | COLL | (is_v4 ? 0 : P2P) | PROXY_OP | PROXY_STEP | KERNEL_CH))
			die("it asks for other events");
	}
	if (pthread_create(&thread, NULL, proxy_thread, NULL))
		die("pthread_create");
	for (i = 0; i < n; i++)
		collective(i, CHANNELS);
	collective(0, 0);
	plugin.start(contexts[0], &handle, &unasked);
	stop(handle);
	pthread_mutex_lock(&proxy.lock);
	proxy.quit = 1;
	pthread_cond_broadcast(&proxy.changed);
	pthread_mutex_unlock(&proxy.lock);
	pthread_join(thread, NULL);
	for (i = 0; i < 2; i++)
		plugin.finalize(contexts[i]);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	load(argv[1]);
	if (argc > 3)
		return play_case(argv[3], atoi(argv[2]));
	play(atoi(argv[2]));
	unload();
	return 0;
}
