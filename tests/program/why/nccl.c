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
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nccl.h"

#define CHANNELS	4

static const uint64_t comms[2] = { 0xfeedfacecafebeef, 0x1234 };
static void *contexts[2];

/* ---- the proxy thread ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *context, *coll;	/* whose channels are to be reported; NULL: none */
	int rank, quit;
} proxy = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

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
