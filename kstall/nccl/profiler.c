// SPDX-License-Identifier: GPL-2.0
/*
 * libkstall-nccl.so - has NCCL and RCCL mark each collective for `kstall why --step nccl`
 *
 *	NCCL_PROFILER_PLUGIN=/usr/lib/kstall/libkstall-nccl.so ./train.sh
 *
 * A collective begins when the program's thread hands it over, and ends when it has been handed over
 * and each of its channels on the GPU is through:
 *
 *	kstall nccl COMM:RANK:FUNC:SEQ begin comm=COMM rank=RANK seq=SEQ func=FUNC ranks=N
 *	kstall nccl COMM:RANK:FUNC:SEQ end
 *
 * with the communicator's hash in hexadecimal. NCCL counts the sequence for each function. The lines
 * go to trace_marker, or where $KSTALL_MARKER says, by one write(2) each. Where it cannot be opened,
 * and when something else fails, NCCL is told once and runs on as without the plugin.
 *
 * NCCL calls start and stop from the program's threads and from its proxy thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler_abi.h"

#define MARKER	"/sys/kernel/tracing/trace_marker"
#define OPEN	512	/* collectives of a communicator under way; the GPU's queue holds fewer */
#define ID	48	/* as `kstall why` reads it */

struct communicator;

/* A collective; NCCL gets its address as handle. */
struct coll {
	struct communicator *comm;
	_Atomic int parts;	/* what has not ended, 0: free */
	int alone;		/* it has no channels that are known beforehand */
	char id[ID];
};

struct communicator {
	uint64_t hash;
	int rank, ranks;
	int fd;
	_Atomic unsigned int next;
	struct coll colls[OPEN];
};

static void mark(const struct communicator *comm, const char *line, int len)
{
	/* An error helps nobody: the collective goes on, and its step is missing. */
	if (len > 0 && write(comm->fd, line, len) < 0)
		return;
}

static void ended(struct coll *coll)
{
	char line[96], id[ID];

	memcpy(id, coll->id, ID);
	if (atomic_fetch_sub(&coll->parts, 1) != 1)
		return;
	mark(coll->comm, line, snprintf(line, sizeof(line), "kstall nccl %s end\n", id));
}

static struct coll *claim(struct communicator *comm, int parts)
{
	unsigned int i;

	for (i = 0; i < OPEN; i++) {
		struct coll *s = &comm->colls[atomic_fetch_add(&comm->next, 1) % OPEN];
		int none = 0;

		if (atomic_compare_exchange_strong(&s->parts, &none, parts))
			return s;
	}
	return NULL;
}

/* The call itself is a part, and so is each channel: those begin later, and may all end before the call does. */
static struct coll *start_coll(struct communicator *comm, const struct nccl_coll *c)
{
	struct coll *s = claim(comm, 1 + c->channels);
	const char *func = c->func ? c->func : "?";
	char line[192];

	if (!s)
		return NULL;
	s->comm = comm;
	s->alone = !c->channels;
	snprintf(s->id, ID, "%" PRIx64 ":%d:%.12s:%" PRIu64, comm->hash, comm->rank, func, c->seq);
	mark(comm, line, snprintf(line, sizeof(line), "kstall nccl %s begin comm=%" PRIx64
				  " rank=%d seq=%" PRIu64 " func=%.12s ranks=%d\n", s->id, comm->hash,
				  comm->rank, c->seq, func, comm->ranks));
	return s;
}

/*
 * A channel's handle is its collective's, of which it is a part. Of a collective over CollNet NCCL does
 * not say how many it has: that ends when it has been handed over.
 */
static struct coll *start_channel(struct coll *coll)
{
	return coll && !coll->alone ? coll : NULL;
}

static int profiler_start(void *context, void **handle, struct nccl_event *event)
{
	struct communicator *comm = context;

	*handle = NULL;
	if (!comm)
		return NCCL_SUCCESS;
	if (event->type_v4 == NCCL_PROFILE_COLL)
		*handle = start_coll(comm, &event->coll);
	else if (event->type_v4 == NCCL_PROFILE_KERNEL_CH)
		*handle = start_channel(event->parent);
	return NCCL_SUCCESS;
}

static int profiler_stop(void *handle)
{
	if (handle)
		ended(handle);
	return NCCL_SUCCESS;
}

static int profiler_state(void *handle, int state, void *args)
{
	(void)handle, (void)state, (void)args;
	return NCCL_SUCCESS;
}

static int profiler_finalize(void *context)
{
	struct communicator *comm = context;

	if (comm) {
		close(comm->fd);
		free(comm);
	}
	return NCCL_SUCCESS;
}

static int init(void **context, uint64_t hash, int *mask, int ranks, int rank, nccl_log_t log)
{
	const char *file = getenv("KSTALL_MARKER");
	struct communicator *comm = calloc(1, sizeof(*comm));

	*context = NULL;
	if (!comm)
		return NCCL_SYSTEM_ERROR;
	file = file ? file : MARKER;
	comm->fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (comm->fd < 0) {
		if (log)
			log(NCCL_LOG_INFO, NCCL_INIT, __FILE__, __LINE__,
			    "kstall: cannot write to %s: %s; collectives are not marked", file,
			    strerror(errno));
		free(comm);
		return NCCL_SYSTEM_ERROR;
	}
	comm->hash = hash;
	comm->rank = rank;
	comm->ranks = ranks;
	*context = comm;
	*mask = NCCL_PROFILE_COLL | NCCL_PROFILE_KERNEL_CH;
	return NCCL_SUCCESS;
}

static int init_v4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
		   int rank, nccl_log_t log)
{
	(void)name, (void)nodes;
	return init(context, hash, mask, ranks, rank, log);
}

static int init_v5(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
		   int rank, nccl_log_t log)
{
	(void)name, (void)nodes;
	return init(context, hash, mask, ranks, rank, log);
}

#define REST .start = profiler_start, .stop = profiler_stop, \
	     .state = profiler_state, .finalize = profiler_finalize

__attribute__((visibility("default")))
struct nccl_profiler_v4 ncclProfiler_v4 = { .name = "kstall", .init = init_v4, REST };
__attribute__((visibility("default")))
struct nccl_profiler_v5 ncclProfiler_v5 = { .name = "kstall", .init = init_v5, REST };
__attribute__((visibility("default")))
struct nccl_profiler_v5 ncclProfiler_v6 = { .name = "kstall", .init = init_v5, REST };
