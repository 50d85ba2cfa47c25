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
 *	kstall nccl COMM:RANK:FUNC:SEQ lost	NCCL has not reported its end, and will not
 *
 * with the communicator's hash in hexadecimal. NCCL counts the sequence for each function. A begin that
 * another thread writes than the one that called the collective has tid=CALLER; one whose caller is a
 * guess has owner=inferred, too.
 *
 * The lines go where $KSTALL_MARKER says, else to trace_marker, else to /dev/null, by one write(2) each.
 * NCCL_PROFILE_EVENT_MASK=2 leaves the channels out: a collective then ends when it has been handed over.
 *
 * NCCL calls start and stop from the program's threads and from its proxy thread, and may do so once more
 * when all is over. So a handle is a number that is looked up, nothing is ever freed, and the library
 * stays in memory (-z nodelete). Whatever fails, NCCL runs on as without the plugin.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler_abi.h"

#define MARKER	"/sys/kernel/tracing/trace_marker"
#define COMMS	1024	/* in a process, at once */
#define OPEN	1024	/* collectives of a communicator under way; the GPU's queue holds as many */
#define ID	48	/* as `kstall why` reads it */

/*
 * NCCL runs a communicator's plans one after the other. What so many later ones have overtaken has ended
 * unseen: the proxy thread looks at all channels in turn, at some of them a little later.
 */
#define BEHIND	256

/* A collective under way. */
struct coll {
	TAILQ_ENTRY(coll) next;
	bool open;
	bool handed_over;	/* NCCL's call is over */
	uint32_t use;		/* of this place */
	unsigned int channels;	/* that NCCL has announced; 0: it will not report them */
	unsigned int through;	/* of them */
	uint64_t on_gpu[4];	/* channels that have begun and are not through */
	uint64_t order;		/* among the communicator's */
	uint64_t plan;		/* what NCCL launches as one kernel, in this order; 0: not known */
	char id[ID];
};

TAILQ_HEAD(colls, coll);

/* Kept for the next one when it is over. */
struct communicator {
	pthread_mutex_t lock;	/* also of the order of lines */
	bool open;
	bool asks_for_channels;
	uint32_t use;		/* of this place */
	unsigned int number;
	uint64_t hash;
	int rank, ranks;
	pid_t maker;
	nccl_log_t log;
	uint64_t plans, marked, lost, late, unwritten;
	struct colls under_way, unused;	/* the oldest first */
	struct coll colls[OPEN];
};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static struct communicator *_Atomic comms[COMMS];
static int marker = -1;
static atomic_bool forked;	/* a child's NCCL is its parent's, and its locks may be held for ever */

/* ---- handles ---- */

enum kind { COMM = 1, COLL, CHANNEL, GROUP, CALL };

static void *handle_of(enum kind kind, unsigned int comm, uint64_t rest)
{
	return (void *)(uintptr_t)(rest << 13 | comm << 3 | kind);
}

static enum kind kind_of(const void *handle)
{
	return (uintptr_t)handle & 7;
}

static uint64_t rest_of(const void *handle)
{
	return (uintptr_t)handle >> 13;
}

static void *coll_handle(const struct communicator *comm, const struct coll *coll, enum kind kind,
			 unsigned int channel)
{
	return handle_of(kind, comm->number,
			 (uint64_t)coll->use << 18 | channel << 10 | (coll - comm->colls));
}

static unsigned int channel_of(const void *handle)
{
	return rest_of(handle) >> 10 & 0xff;
}

/* The communicator of any handle, locked; NULL: there is none. */
static struct communicator *lock_comm(const void *handle)
{
	struct communicator *comm;

	if (!handle || atomic_load(&forked))
		return NULL;
	comm = atomic_load(&comms[(uintptr_t)handle >> 3 & (COMMS - 1)]);
	if (comm)
		pthread_mutex_lock(&comm->lock);
	return comm;
}

static void unlock(struct communicator *comm)
{
	pthread_mutex_unlock(&comm->lock);
}

/* NULL: it is over, and another one may be in its place. */
static struct coll *coll_of(struct communicator *comm, const void *handle)
{
	struct coll *coll = &comm->colls[rest_of(handle) & (OPEN - 1)];

	if (!comm->open)
		return NULL;
	if (!coll->open || coll->use != (uint32_t)(rest_of(handle) >> 18)) {
		comm->late++;
		return NULL;
	}
	return coll;
}

/* ---- lines ---- */

static void say(nccl_log_t log, int level, const char *text)
{
	if (log)
		log(level, NCCL_INIT, __FILE__, __LINE__, "kstall: %s", text);
}

__attribute__((format(printf, 2, 3)))
static void mark(struct communicator *comm, const char *fmt, ...)
{
	char line[256], text[128];
	va_list args;
	ssize_t n;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	n = write(marker, line, len);
	/* Into a trace buffer that is switched off: kstall has read it all the same. */
	if (n == len || (n < 0 && errno == EBADF))
		return;
	if (comm->unwritten++)
		return;
	snprintf(text, sizeof(text), "a line was not written: %s; collectives will be missing",
		 n < 0 ? strerror(errno) : "no room");
	say(comm->log, NCCL_LOG_WARN, text);
}

static void release(struct communicator *comm, struct coll *coll)
{
	coll->open = false;
	coll->use++;
	TAILQ_REMOVE(&comm->under_way, coll, next);
	TAILQ_INSERT_HEAD(&comm->unused, coll, next);
}

static void lose(struct communicator *comm, struct coll *coll)
{
	char text[160];

	mark(comm, "kstall nccl %s lost\n", coll->id);
	release(comm, coll);
	if (comm->lost++)
		return;
	snprintf(text, sizeof(text), "NCCL has not reported the end of %s: marked as lost, as others will be",
		 coll->id);
	say(comm->log, NCCL_LOG_WARN, text);
}

/* ---- events ---- */

/* The function's name is what is cut if there is no room. */
static void name(struct coll *coll, const struct communicator *comm, const char *func, uint64_t seq)
{
	int most = 16;

	while (snprintf(coll->id, ID, "%" PRIx64 ":%d:%.*s:%" PRIu64, comm->hash, comm->rank, most, func,
			seq) >= ID && most)
		most--;
}

static pid_t self(void)
{
	return syscall(SYS_gettid);
}

/* Whose step it is, if not the writer's: a graph's collectives are announced by a thread of CUDA. */
static const char *owner(char *text, size_t size, const struct communicator *comm, const void *call)
{
	bool known = kind_of(call) == CALL, graph = known && (rest_of(call) & 1);
	pid_t caller = known ? (pid_t)(rest_of(call) >> 1) : comm->maker;

	if (caller == self())
		return "";
	if (!known)
		return " owner=inferred";
	snprintf(text, size, " tid=%d%s", caller, graph ? " owner=inferred" : "");
	return text;
}

static struct coll *claim(struct communicator *comm)
{
	struct coll *coll;

	if (TAILQ_EMPTY(&comm->unused))
		lose(comm, TAILQ_FIRST(&comm->under_way));
	coll = TAILQ_FIRST(&comm->unused);
	TAILQ_REMOVE(&comm->unused, coll, next);
	TAILQ_INSERT_TAIL(&comm->under_way, coll, next);
	return coll;
}

static void *start_coll(struct communicator *comm, const struct nccl_coll *c, const void *call,
			const void *group)
{
	struct coll *coll = claim(comm);
	const char *func = c->func ? c->func : "?";
	char whose[48];

	coll->open = true;
	coll->handed_over = false;
	coll->channels = comm->asks_for_channels ? c->channels : 0;
	coll->through = 0;
	memset(coll->on_gpu, 0, sizeof(coll->on_gpu));
	coll->plan = kind_of(group) == GROUP ? rest_of(group) : 0;
	name(coll, comm, func, c->seq);
	coll->order = ++comm->marked;
	mark(comm, "kstall nccl %s begin comm=%" PRIx64 " rank=%d seq=%" PRIu64 " func=%.16s ranks=%d%s\n",
	     coll->id, comm->hash, comm->rank, c->seq, func, comm->ranks,
	     owner(whose, sizeof(whose), comm, call));
	return coll_handle(comm, coll, COLL, 0);
}

static bool is_overtaken(const struct coll *coll, const struct coll *by)
{
	return coll->plan && coll->plan < by->plan && coll->order + BEHIND <= by->order;
}

static void lose_overtaken(struct communicator *comm, const struct coll *by)
{
	struct coll *coll;

	while ((coll = TAILQ_FIRST(&comm->under_way)) && is_overtaken(coll, by))
		lose(comm, coll);
}

static void *start_channel(struct communicator *comm, const void *parent, unsigned int channel)
{
	struct coll *coll = kind_of(parent) == COLL ? coll_of(comm, parent) : NULL;

	if (!coll || !coll->channels)
		return NULL;
	lose_overtaken(comm, coll);
	coll->on_gpu[channel / 64] |= 1ULL << channel % 64;
	return coll_handle(comm, coll, CHANNEL, channel);
}

static void *start(struct communicator *comm, const struct nccl_event *event, uint64_t type,
		   const void *group)
{
	switch (type) {
	case NCCL_PROFILE_COLL:
		return start_coll(comm, &event->coll, event->parent, group);
	case NCCL_PROFILE_GROUP:
		return handle_of(GROUP, comm->number, ++comm->plans);
	case NCCL_PROFILE_COLL_CALL:
		return handle_of(CALL, comm->number, (uint64_t)self() << 1 | event->call.graph);
	case NCCL_PROFILE_KERNEL_CH:
		return start_channel(comm, event->parent, event->channel);
	default:
		return NULL;
	}
}

static void stop_channel(struct coll *coll, unsigned int channel)
{
	uint64_t bit = 1ULL << channel % 64, *on_gpu = &coll->on_gpu[channel / 64];

	coll->through += !!(*on_gpu & bit);
	*on_gpu &= ~bit;
}

static void stop(struct communicator *comm, const void *handle)
{
	struct coll *coll = coll_of(comm, handle);

	if (!coll)
		return;
	if (kind_of(handle) == CHANNEL)
		stop_channel(coll, channel_of(handle));
	else
		coll->handed_over = true;
	if (!coll->handed_over || coll->through < coll->channels)
		return;
	mark(comm, "kstall nccl %s end\n", coll->id);
	release(comm, coll);
}

/* ---- what NCCL calls ---- */

static int profiler_start(void *context, void **handle, const struct nccl_event *event, uint64_t type,
			  const void *group)
{
	struct communicator *comm = lock_comm(context);

	*handle = NULL;
	if (!comm)
		return NCCL_SUCCESS;
	if (comm->open && comm->use == (uint32_t)rest_of(context))
		*handle = start(comm, event, type, group);
	unlock(comm);
	return NCCL_SUCCESS;
}

static int start_v4(void *context, void **handle, const struct nccl_event *event)
{
	return profiler_start(context, handle, event, event->type_v4, event->parent);
}

static int start_v5(void *context, void **handle, const struct nccl_event *event)
{
	const void *group = event->type == NCCL_PROFILE_COLL ? event->coll.group : NULL;

	return profiler_start(context, handle, event, event->type, group);
}

static int profiler_stop(void *handle)
{
	struct communicator *comm;

	if (kind_of(handle) != COLL && kind_of(handle) != CHANNEL)
		return NCCL_SUCCESS;
	comm = lock_comm(handle);
	if (!comm)
		return NCCL_SUCCESS;
	stop(comm, handle);
	unlock(comm);
	return NCCL_SUCCESS;
}

static int profiler_state(void *handle, int state, void *args)
{
	(void)handle, (void)state, (void)args;
	return NCCL_SUCCESS;
}

/* What was lost is said, as nothing else will say it. */
static void sum_up(const struct communicator *comm)
{
	bool bad = comm->lost || comm->unwritten;
	char text[192];

	snprintf(text, sizeof(text), "communicator %" PRIx64 ": %" PRIu64 " collectives, %" PRIu64 " lost, %"
		 PRIu64 " events too late, %" PRIu64 " lines not written", comm->hash, comm->marked,
		 comm->lost, comm->late, comm->unwritten);
	say(comm->log, bad ? NCCL_LOG_WARN : NCCL_LOG_INFO, text);
}

static int profiler_finalize(void *context)
{
	struct communicator *comm = lock_comm(context);

	if (!comm)
		return NCCL_SUCCESS;
	if (comm->open && comm->use == (uint32_t)rest_of(context)) {
		while (!TAILQ_EMPTY(&comm->under_way))
			lose(comm, TAILQ_FIRST(&comm->under_way));
		sum_up(comm);
		comm->open = false;
		comm->use++;
	}
	unlock(comm);
	return NCCL_SUCCESS;
}

static void in_child(void)
{
	atomic_store(&forked, true);
}

/* Once for the process. It may not wait for who reads a pipe. */
static bool open_marker(nccl_log_t log)
{
	const char *named = getenv("KSTALL_MARKER"), *files[] = { named ? named : MARKER, MARKER, "/dev/null" };
	char text[512];

	if (marker >= 0)
		return true;
	for (size_t i = 0; marker < 0 && i < sizeof(files) / sizeof(*files); i++) {
		marker = open(files[i], O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (marker >= 0 || (i && !strcmp(files[i], files[i - 1])))
			continue;
		snprintf(text, sizeof(text), "cannot write to %s: %s", files[i], strerror(errno));
		say(log, named && !i ? NCCL_LOG_WARN : NCCL_LOG_INFO, text);
	}
	pthread_atfork(NULL, NULL, in_child);
	return marker >= 0;
}

static struct communicator *new_comm(unsigned int number)
{
	struct communicator *comm = calloc(1, sizeof(*comm));

	if (!comm)
		return NULL;
	pthread_mutex_init(&comm->lock, NULL);
	comm->number = number;
	TAILQ_INIT(&comm->under_way);
	TAILQ_INIT(&comm->unused);
	for (size_t i = 0; i < OPEN; i++)
		TAILQ_INSERT_TAIL(&comm->unused, &comm->colls[i], next);
	atomic_store(&comms[number], comm);
	return comm;
}

/* Locked. */
static struct communicator *unused_comm(void)
{
	for (unsigned int i = 0; i < COMMS; i++) {
		struct communicator *comm = atomic_load(&comms[i]);

		comm = comm ? comm : new_comm(i);
		if (!comm)
			return NULL;
		pthread_mutex_lock(&comm->lock);
		if (!comm->open)
			return comm;
		unlock(comm);
	}
	return NULL;
}

/* What is asked for; the user may leave something out. */
static int wanted_events(void)
{
	const char *mask = getenv("NCCL_PROFILE_EVENT_MASK");
	int wanted = mask ? strtol(mask, NULL, 0) : ~0;

	if (!(wanted & NCCL_PROFILE_COLL))
		return 0;
	return NCCL_PROFILE_GROUP | NCCL_PROFILE_COLL | (wanted & NCCL_PROFILE_KERNEL_CH);
}

static void begin(struct communicator *comm, uint64_t hash, int ranks, int rank, nccl_log_t log)
{
	comm->open = true;
	comm->hash = hash;
	comm->ranks = ranks;
	comm->rank = rank;
	comm->log = log;
	comm->maker = self();
	comm->plans = 0;
	comm->marked = comm->lost = comm->late = comm->unwritten = 0;
}

/* Never an error: NCCL 2.30 would then count the communicators wrongly and unload what others still use. */
static int init(void **context, uint64_t hash, int *mask, int ranks, int rank, nccl_log_t log)
{
	struct communicator *comm = NULL;
	int wanted = wanted_events();

	*context = NULL;
	if (!wanted || atomic_load(&forked))
		return NCCL_SUCCESS;
	pthread_mutex_lock(&opening);
	if (open_marker(log))
		comm = unused_comm();
	pthread_mutex_unlock(&opening);
	if (!comm) {
		say(log, NCCL_LOG_WARN, "a communicator's collectives are not marked");
		return NCCL_SUCCESS;
	}
	begin(comm, hash, ranks, rank, log);
	comm->asks_for_channels = wanted & NCCL_PROFILE_KERNEL_CH;
	*context = handle_of(COMM, comm->number, comm->use);
	*mask = wanted;
	unlock(comm);
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

#define REST .stop = profiler_stop, .state = profiler_state, .finalize = profiler_finalize

__attribute__((visibility("default")))
struct nccl_profiler_v4 ncclProfiler_v4 = { .name = "kstall", .init = init_v4, .start = start_v4, REST };
__attribute__((visibility("default")))
struct nccl_profiler_v5 ncclProfiler_v5 = { .name = "kstall", .init = init_v5, .start = start_v5, REST };
__attribute__((visibility("default")))
struct nccl_profiler_v5 ncclProfiler_v6 = { .name = "kstall", .init = init_v5, .start = start_v5, REST };
