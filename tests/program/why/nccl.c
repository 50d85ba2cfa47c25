// SPDX-License-Identifier: GPL-2.0
/*
 * nccl VERSION COLLECTIVES - loads the profiler plugin $NCCL_PROFILER_PLUGIN and plays NCCL's part
 *
 * As NCCL 2.30 does it: a thread of the program hands collectives over, another one reports the
 * channels; of each second collective they end before the first is through. Two communicators take
 * turns. A collective over CollNet and an event that nobody asked for come last. Prints a line each:
 *
 *	COMM:RANK:FUNC:SEQ begin=NS end=NS
 *
 * from before it is handed over to after the last of it has been reported.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHANNELS	4
#define COLL		2
#define PROXY_OP	8
#define KERNEL_CH	64

/* NCCL's side of the interface, so that a mistake in the plugin's is seen. */
struct descr {
	uint64_t type;
	void *parent;
	int rank;
	struct {
		uint64_t seq;
		const char *func;
		const void *send;
		void *recv;
		size_t count;
		int root;
		const char *datatype;
		uint8_t channels, warps;
		const char *algo, *proto;
		void *group;
	} coll;
};

struct rest {
	int (*start)(void *context, void **handle, struct descr *d);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

struct v4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *name, uint64_t comm, int nodes, int ranks, int rank, void *log);
	struct rest rest;
};

struct v5 {
	const char *name;
	int (*init)(void **context, uint64_t comm, int *mask, const char *name, int nodes, int ranks, int rank, void *log);
	struct rest rest;
};

static const struct rest *plugin;
static const uint64_t comms[2] = { 0xfeedfacecafebeef, 0x1234 };
static void *contexts[2];

static void die(const char *what)
{
	fprintf(stderr, "nccl: %s\n", what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void logged(int level, unsigned long subsys, const char *file, int line, const char *fmt, ...)
{
	fprintf(stderr, "nccl: the plugin says: %s\n", fmt);
}

static void load(const char *version)
{
	const char *file = getenv("NCCL_PROFILER_PLUGIN");
	void *lib = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
	char symbol[32];
	void *p;
	int i, ret, mask = 0;

	if (!lib)
		die(dlerror());
	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%s", version);
	p = dlsym(lib, symbol);
	if (!p)
		die(dlerror());
	for (i = 0; i < 2; i++) {
		if (!strcmp(version, "4"))
			ret = ((struct v4 *)p)->init(&contexts[i], &mask, "world", comms[i], 1, 8, i + 3, logged);
		else
			ret = ((struct v5 *)p)->init(&contexts[i], comms[i], &mask, "world", 1, 8, i + 3, logged);
		if (ret)
			die("init failed; NCCL goes on without the plugin");
	}
	if (mask != (COLL | KERNEL_CH))
		die("it asks for other events");
	plugin = !strcmp(version, "4") ? &((struct v4 *)p)->rest : &((struct v5 *)p)->rest;
}

/* ---- the proxy thread ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *context, *coll;	/* whose channels are to be reported; NULL: none */
	int quit;
} proxy = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void report_channels(void *context, void *coll)
{
	void *handle[CHANNELS];
	int i;

	for (i = 0; i < CHANNELS; i++) {
		struct descr d = { .type = KERNEL_CH, .parent = coll };

		plugin->start(context, &handle[i], &d);
	}
	usleep(2000);
	for (i = 0; i < CHANNELS; i++) {
		plugin->state(handle[i], 22, NULL);
		plugin->stop(handle[i]);
	}
}

static void *proxy_thread(void *arg)
{
	pthread_mutex_lock(&proxy.lock);
	for (;;) {
		while (!proxy.coll && !proxy.quit)
			pthread_cond_wait(&proxy.changed, &proxy.lock);
		if (proxy.quit)
			break;
		report_channels(proxy.context, proxy.coll);
		proxy.coll = NULL;
		pthread_cond_broadcast(&proxy.changed);
	}
	pthread_mutex_unlock(&proxy.lock);
	return NULL;
}

static void hand_to_proxy(void *context, void *coll)
{
	pthread_mutex_lock(&proxy.lock);
	proxy.context = context;
	proxy.coll = coll;
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
	struct descr d = {
		.type = COLL, .rank = n % 2 + 3,
		.coll = { .seq = n / 2, .func = channels ? "AllReduce" : "AllGather", .channels = channels },
	};
	void *context = contexts[n % 2], *handle = NULL;
	uint64_t begin = now();

	plugin->start(context, &handle, &d);
	if (!handle)
		die("no handle");
	hand_to_proxy(context, handle);
	if (n % 4 < 2)
		await_proxy();
	plugin->stop(handle);
	await_proxy();
	printf("%" PRIx64 ":%d:%s:%" PRIu64 " begin=%" PRIu64 " end=%" PRIu64 "\n", comms[n % 2], d.rank,
	       d.coll.func, d.coll.seq, begin, now());
}

int main(int argc, char **argv)
{
	struct descr unasked = { .type = PROXY_OP };
	pthread_t thread;
	void *handle;
	int i;

	if (argc != 3)
		return 2;
	load(argv[1]);
	if (pthread_create(&thread, NULL, proxy_thread, NULL))
		die("pthread_create");
	for (i = 0; i < atoi(argv[2]); i++)
		collective(i, CHANNELS);
	collective(0, 0);
	plugin->start(contexts[0], &handle, &unasked);
	plugin->stop(handle);
	pthread_mutex_lock(&proxy.lock);
	proxy.quit = 1;
	pthread_cond_broadcast(&proxy.changed);
	pthread_mutex_unlock(&proxy.lock);
	pthread_join(thread, NULL);
	for (i = 0; i < 2; i++)
		plugin->finalize(contexts[i]);
	return 0;
}
