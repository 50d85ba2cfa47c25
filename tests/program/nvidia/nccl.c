// SPDX-License-Identifier: GPL-2.0
/*
 * Plays NCCL for ./torch: one rank of two, which are connected by a socket. A collective is over when the other rank's byte has come. The
 * proxy thread looks for it without sleeping, as NCCL's does, and tells the profiler plugin, if there is one.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu.h"
#include "nccl.h"

#define LOOK_NS 20000	/* between two looks at the socket */

static int peer, rank;
static void *context;
static uint64_t seq;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *coll;
	int asked;
} proxy = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void await_peer(void)
{
	char byte;

	while (recv(peer, &byte, 1, MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN)
			die("the other rank has gone");
		gpu_spin(LOOK_NS);
	}
}

static void transfer(void *coll)
{
	void *recvs, *sends, *receives, *sent, *channel;

	if (!context) {
		await_peer();
		return;
	}
	recvs = start_op(context, coll, rank, !rank, 1);
	sends = start_op(context, coll, rank, !rank, 1);
	receives = start_step(context, recvs, 0);
	sent = start_step(context, sends, 0);
	state(sent, SEND_GPU_WAIT);
	state(receives, RECV_WAIT);
	channel = start_channel(context, coll, 0);
	await_peer();
	state(receives, RECV_FLUSH_WAIT);
	state(receives, RECV_GPU_WAIT);
	state(sent, SEND_WAIT);
	stop(sent);
	stop(sends);
	stop(receives);
	stop(recvs);
	stop_channel(channel);
}

static void *progress(void *unused)
{
	void *coll;

	pthread_mutex_lock(&proxy.lock);
	for (;;) {
		while (!proxy.asked)
			pthread_cond_wait(&proxy.changed, &proxy.lock);
		coll = proxy.coll;
		proxy.asked = 0;
		pthread_mutex_unlock(&proxy.lock);
		transfer(coll);
		gpu_collective_ends();
		pthread_mutex_lock(&proxy.lock);
	}
	return unused;
}

void ncclCommInitRank(int fd, int own)
{
	pthread_t thread;

	peer = fd;
	rank = own;
	if (getenv("NCCL_PROFILER_PLUGIN")) {
		load("6");
		init_comm(&context, 0xfeed, rank);
	}
	if (pthread_create(&thread, NULL, progress, NULL))
		die("pthread_create");
}

void ncclAllReduce(void)
{
	void *call = NULL, *coll = NULL;

	gpu_collective_begins();
	if (context) {
		call = start_call(context, false);
		coll = start_coll(context, "AllReduce", seq++, 1, call, start_group(context));
	}
	if (write(peer, "", 1) != 1)
		die("the other rank has gone");
	pthread_mutex_lock(&proxy.lock);
	proxy.coll = coll;
	proxy.asked = 1;
	pthread_cond_broadcast(&proxy.changed);
	pthread_mutex_unlock(&proxy.lock);
	if (context) {
		stop(coll);
		stop(call);
	}
}
