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
 *	kstall nccl COMM:RANK:FUNC:SEQ gpu	it runs there, and the writer is the thread that looks after the network for it
 *	kstall nccl COMM:RANK:FUNC:SEQ end launch=NS queued=NS peer=NS:RANK credit=NS:RANK wire=NS flush=NS gpu=NS ...
 *	kstall nccl COMM:RANK:FUNC:SEQ lost	NCCL has not reported its end, and will not
 *
 * The sends and receives that NCCL launches as one kernel are one collective, of the FUNC "P2p"; those to the rank itself are copies
 * and do not count. v4 of the interface does not say enough of them.
 *
 * COMM is the communicator's hash in hexadecimal. What it was held by (split.h) is the time between the
 * lines; what is 0 is left out. NCCL counts the sequence for each function. A begin that
 * another thread writes than the one that called the collective has tid=CALLER; one whose caller is a
 * guess has owner=inferred, too.
 *
 * The lines go where $KSTALL_MARKER says, else to trace_marker, else to /dev/null, by one write(2) each.
 * NCCL_PROFILE_EVENT_MASK=2 leaves the channels out: a collective then ends when it has been handed over,
 * and nothing says what it was held by. With 0x42 nothing is asked of the network, and of sends and receives.
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
#include "split.h"

#define MARKER	"/sys/kernel/tracing/trace_marker"
#define COMMS	1024	/* in a process, at once */
#define OPEN	1024	/* collectives of a communicator under way; the GPU's queue holds as many */
#define OPS	65536	/* operations of the network, of the collectives under way */
#define ID	48	/* as `kstall why` reads it */

/*
 * NCCL runs a communicator's plans one after the other. What so many later ones have overtaken has ended
 * unseen: the proxy thread looks at all channels in turn, at some of them a little later.
 */
#define BEHIND	256

struct coll;

/* What goes over the network for a collective, by one channel, to or from one rank. */
struct op {
	LIST_ENTRY(op) next;
	struct coll *coll;	/* NULL: it is unused */
	uint32_t use;		/* of this place */
	struct split_op split;
};

LIST_HEAD(ops, op);

/* A collective under way. */
struct coll {
	TAILQ_ENTRY(coll) next;
	bool open;
	bool p2p;		/* sends and receives */
	unsigned int tasks;	/* of NCCL's call that is not over: one, or its sends and receives */
	uint32_t use;		/* of this place */
	unsigned int channels;	/* that NCCL has announced; 0: it will not report them */
	unsigned int through;	/* of them */
	uint16_t on_gpu[256];	/* by channel: how often it has begun and is not through */
	uint64_t order;		/* among the communicator's */
	uint64_t plan;		/* what NCCL launches as one kernel, in this order; 0: not known */
	uint64_t gpu_end;	/* of the channels that are through */
	bool blind;		/* there was no room for an operation */
	struct split split;
	struct ops ops;
	char id[ID];
};

TAILQ_HEAD(colls, coll);

/* Kept for the next one when it is over. */
struct communicator {
	pthread_mutex_t lock;	/* also of the order of lines */
	bool open;
	bool asks_for_channels, asks_for_steps, asks_for_p2p;
	uint32_t use;		/* of this place */
	unsigned int number;
	uint64_t hash;
	int rank, ranks;
	pid_t maker;
	nccl_log_t log;
	uint64_t plans, marked, lost, late, unwritten, blind, p2ps;
	struct coll *p2p;	/* the last that were sends and receives; NULL: none */
	struct gpu_clock gpu;
	struct colls under_way, unused;	/* the oldest first */
	struct coll colls[OPEN];
	unsigned int colls_used;	/* places that have ever been used: the others take no memory */
	struct op *ops;			/* NULL: there has been none */
	unsigned int ops_used;		/* places that have ever been used */
	struct ops unused_ops;
};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static struct communicator *_Atomic comms[COMMS];
static int marker = -1;
static atomic_bool forked;	/* a child's NCCL is its parent's, and its locks may be held for ever */
static pid_t process;

/* ---- handles ---- */

enum kind { COMM = 1, COLL, CHANNEL, GROUP, CALL, OP, STEP };

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

static void *op_handle(const struct communicator *comm, const struct op *op)
{
	return handle_of(OP, comm->number, (uint64_t)op->use << 19 | (op - comm->ops));
}

static void *step_handle(const void *op, unsigned int step)
{
	const uint64_t nth = step % SPLIT_STEPS;

	return (void *)(((uintptr_t)op & ~7ULL) | nth << 29 | STEP);
}

static unsigned int step_of(const void *handle)
{
	return rest_of(handle) >> 16 & (SPLIT_STEPS - 1);
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

/* NULL: its collective is over, which may be before it. */
static struct op *op_of(struct communicator *comm, const void *handle)
{
	struct op *op = comm->ops ? &comm->ops[rest_of(handle) & (OPS - 1)] : NULL;

	if (!comm->open || !op || !op->coll || op->use != (uint32_t)(rest_of(handle) >> 19))
		return NULL;
	return op;
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
	char line[384], text[128];
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

static void release_op(struct communicator *comm, struct op *op)
{
	op->coll = NULL;
	op->use++;
	LIST_INSERT_HEAD(&comm->unused_ops, op, next);
}

static void release(struct communicator *comm, struct coll *coll)
{
	struct op *op;

	while ((op = LIST_FIRST(&coll->ops))) {
		LIST_REMOVE(op, next);
		release_op(comm, op);
	}
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

/* The step's owner, if that is not the writer: a graph's collectives are announced by a thread of CUDA. */
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

	if (TAILQ_EMPTY(&comm->unused) && comm->colls_used == OPEN)
		lose(comm, TAILQ_FIRST(&comm->under_way));
	coll = TAILQ_FIRST(&comm->unused);
	if (coll)
		TAILQ_REMOVE(&comm->unused, coll, next);
	else
		coll = &comm->colls[comm->colls_used++];
	TAILQ_INSERT_TAIL(&comm->under_way, coll, next);
	return coll;
}

static uint64_t plan_of(const void *group)
{
	return kind_of(group) == GROUP ? rest_of(group) : 0;
}

/* @first: what else the line says */
static struct coll *new_coll(struct communicator *comm, const char *func, uint64_t seq, const char *first,
			     const void *call, const void *group)
{
	struct coll *coll = claim(comm);
	char of[48];

	coll->open = true;
	coll->p2p = false;
	coll->tasks = 0;
	coll->channels = 0;
	coll->through = 0;
	memset(coll->on_gpu, 0, sizeof(coll->on_gpu));
	coll->gpu_end = 0;
	coll->blind = false;
	coll->plan = plan_of(group);
	name(coll, comm, func, seq);
	coll->order = ++comm->marked;
	mark(comm, "kstall nccl %s begin comm=%" PRIx64 " rank=%d seq=%" PRIu64 " func=%.16s ranks=%d%s%s\n",
	     coll->id, comm->hash, comm->rank, seq, func, comm->ranks, first, owner(of, sizeof(of), comm, call));
	split_begin(&coll->split, split_now());
	return coll;
}

static void *start_coll(struct communicator *comm, const struct nccl_coll *c, const void *call,
			const void *group)
{
	struct coll *coll = new_coll(comm, c->func ? c->func : "?", c->seq, "", call, group);

	coll->tasks = 1;
	coll->channels = comm->asks_for_channels ? c->channels : 0;
	return coll_handle(comm, coll, COLL, 0);
}

/* All of a plan are announced before it is launched. */
static void *start_p2p(struct communicator *comm, const struct nccl_p2p *p, const void *call, const void *group)
{
	struct coll *coll = comm->p2p;
	char first[48];

	if (!comm->asks_for_p2p || !plan_of(group) || p->peer == comm->rank)
		return NULL;
	if (!coll || !coll->open || !coll->p2p || coll->plan != plan_of(group)) {
		snprintf(first, sizeof(first), " first=%.8s:%d", p->func ? p->func : "?", p->peer);
		coll = new_coll(comm, "P2p", comm->p2ps++, first, call, group);
		coll->p2p = true;
		comm->p2p = coll;
	}
	coll->tasks++;
	coll->channels += p->channels;
	return coll_handle(comm, coll, COLL, 0);
}

/* The thread that says so is the one that posts what is sent and received. */
static void begin_on_gpu(struct communicator *comm, struct coll *coll, uint64_t timer)
{
	const uint64_t now = split_now(), at = split_on_host(&comm->gpu, timer, now);

	if (coll->split.begun)
		return;
	split_on_gpu(&coll->split, at, now);
	if (coll->split.has_ops)
		mark(comm, "kstall nccl %s gpu\n", coll->id);
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

static void *start_channel(struct communicator *comm, const void *parent, const struct nccl_channel *kernel)
{
	const unsigned int channel = kernel->channel;
	struct coll *coll = kind_of(parent) == COLL ? coll_of(comm, parent) : NULL;

	if (!coll || !coll->channels)
		return NULL;
	lose_overtaken(comm, coll);
	coll->on_gpu[channel]++;
	begin_on_gpu(comm, coll, kernel->timer);
	return coll_handle(comm, coll, CHANNEL, channel);
}

static struct op *claim_op(struct communicator *comm)
{
	struct op *op = LIST_FIRST(&comm->unused_ops);

	if (op) {
		LIST_REMOVE(op, next);
		return op;
	}
	comm->ops = comm->ops ? comm->ops : calloc(OPS, sizeof(*comm->ops));
	if (!comm->ops || comm->ops_used == OPS)
		return NULL;
	return &comm->ops[comm->ops_used++];
}

/* With PXN the handles in it are another process's: its plugin's, which may have made the same ones. */
static bool is_ours(const struct communicator *comm, const struct nccl_event *event)
{
	return event->op.pid == process && event->rank == comm->rank;
}

static void *start_op(struct communicator *comm, const struct nccl_event *event)
{
	const bool known = comm->asks_for_steps && kind_of(event->parent) == COLL && is_ours(comm, event);
	struct coll *coll = known ? coll_of(comm, event->parent) : NULL;
	struct op *op;

	if (!coll)
		return NULL;
	op = claim_op(comm);
	if (!op) {
		coll->blind = true;
		return NULL;
	}
	op->coll = coll;
	LIST_INSERT_HEAD(&coll->ops, op, next);
	split_op_begin(&coll->split, &op->split, event->op.peer, event->op.steps);
	return op_handle(comm, op);
}

static void *start_step(struct communicator *comm, const void *parent, unsigned int step)
{
	struct op *op = kind_of(parent) == OP ? op_of(comm, parent) : NULL;

	if (!op)
		return NULL;
	split_step_begin(&op->coll->split, &op->split, step);
	return step_handle(parent, step);
}

static void *start(struct communicator *comm, const struct nccl_event *event, uint64_t type,
		   const void *group)
{
	switch (type) {
	case NCCL_PROFILE_COLL:
		return start_coll(comm, &event->coll, event->parent, group);
	case NCCL_PROFILE_P2P:
		return start_p2p(comm, &event->p2p, event->parent, group);
	case NCCL_PROFILE_P2P_CALL:
		return handle_of(CALL, comm->number, (uint64_t)self() << 1 | event->p2p_call.graph);
	case NCCL_PROFILE_GROUP:
		return handle_of(GROUP, comm->number, ++comm->plans);
	case NCCL_PROFILE_COLL_CALL:
		return handle_of(CALL, comm->number, (uint64_t)self() << 1 | event->call.graph);
	case NCCL_PROFILE_KERNEL_CH:
		return start_channel(comm, event->parent, &event->kernel);
	case NCCL_PROFILE_PROXY_OP:
		return start_op(comm, event);
	case NCCL_PROFILE_PROXY_STEP:
		return start_step(comm, event->parent, event->step);
	default:
		return NULL;
	}
}

static void stop_channel(struct coll *coll, unsigned int channel)
{
	if (!coll->on_gpu[channel])
		return;
	coll->on_gpu[channel]--;
	coll->through++;
}

static void end(struct communicator *comm, struct coll *coll, uint64_t now)
{
	char text[SPLIT_TEXT] = "";

	split_end(&coll->split, now);
	if (comm->asks_for_channels && !coll->blind)
		split_text(text, &coll->split);
	comm->blind += coll->blind;
	mark(comm, "kstall nccl %s end%s\n", coll->id, text);
	release(comm, coll);
}

static void stop(struct communicator *comm, const void *handle)
{
	struct coll *coll = coll_of(comm, handle);
	const uint64_t now = split_now();

	if (!coll)
		return;
	if (kind_of(handle) == CHANNEL) {
		stop_channel(coll, channel_of(handle));
	} else {
		coll->tasks -= !!coll->tasks;
		if (!coll->tasks)
			split_handed_over(&coll->split, now);
	}
	if (coll->through < coll->channels)
		return;
	if (kind_of(handle) == CHANNEL && !coll->split.through)
		split_through(&coll->split, coll->gpu_end ? coll->gpu_end : now, now);
	if (!coll->tasks)
		end(comm, coll, now);
}

static void stop_op(struct communicator *comm, const void *handle)
{
	struct op *op = op_of(comm, handle);

	if (!op)
		return;
	split_op_end(&op->coll->split, &op->split);
	LIST_REMOVE(op, next);
	release_op(comm, op);
}

static void stop_step(struct communicator *comm, const void *handle)
{
	struct op *op = op_of(comm, handle);

	if (op)
		split_step_end(&op->coll->split, &op->split, step_of(handle));
}

static void step_state(struct communicator *comm, const void *handle, int state)
{
	static const enum op_state op_state[] = {
		[NCCL_SEND_GPU_WAIT] = OP_SEND_GPU,
		[NCCL_SEND_PEER_WAIT] = OP_SEND_PEER,
		[NCCL_SEND_WAIT] = OP_SEND_WIRE,
		[NCCL_RECV_WAIT] = OP_RECV_PEER,
		[NCCL_RECV_FLUSH_WAIT] = OP_RECV_FLUSH,
		[NCCL_RECV_GPU_WAIT] = OP_RECV_GPU,
	};
	struct op *op = op_of(comm, handle);

	if (!op || state < 0 || (size_t)state >= sizeof(op_state) / sizeof(*op_state) || !op_state[state])
		return;
	split_step_state(&op->coll->split, &op->split, step_of(handle), op_state[state]);
}

static void channel_state(struct communicator *comm, const void *handle, int state, const union nccl_state *args)
{
	struct coll *coll = state == NCCL_KERNEL_CH_STOP && args ? coll_of(comm, handle) : NULL;
	uint64_t at;

	if (!coll)
		return;
	at = split_on_host(&comm->gpu, args->timer, split_now());
	coll->gpu_end = at > coll->gpu_end ? at : coll->gpu_end;
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
	const void *group = event->type == NCCL_PROFILE_COLL ? event->coll.group :
			    event->type == NCCL_PROFILE_P2P ? event->p2p.group : NULL;

	return profiler_start(context, handle, event, event->type, group);
}

static int profiler_stop(void *handle)
{
	struct communicator *comm;

	if (kind_of(handle) == CALL || kind_of(handle) == GROUP)
		return NCCL_SUCCESS;
	comm = lock_comm(handle);
	if (!comm)
		return NCCL_SUCCESS;
	if (kind_of(handle) == OP)
		stop_op(comm, handle);
	else if (kind_of(handle) == STEP)
		stop_step(comm, handle);
	else
		stop(comm, handle);
	unlock(comm);
	return NCCL_SUCCESS;
}

static int profiler_state(void *handle, int state, const union nccl_state *args)
{
	const bool wanted = kind_of(handle) == STEP || kind_of(handle) == CHANNEL;
	struct communicator *comm = wanted ? lock_comm(handle) : NULL;

	if (!comm)
		return NCCL_SUCCESS;
	if (kind_of(handle) == STEP)
		step_state(comm, handle, state);
	else
		channel_state(comm, handle, state, args);
	unlock(comm);
	return NCCL_SUCCESS;
}

/* What was lost is said, as nothing else will say it. */
static void sum_up(const struct communicator *comm)
{
	bool bad = comm->lost || comm->unwritten || comm->blind;
	char text[192];

	snprintf(text, sizeof(text), "communicator %" PRIx64 ": %" PRIu64 " collectives, %" PRIu64 " lost, %"
		 PRIu64 " not split, %" PRIu64 " events too late, %" PRIu64 " lines not written", comm->hash,
		 comm->marked, comm->lost, comm->blind, comm->late, comm->unwritten);
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

/* Once for the process. It may not wait for the reader of a pipe. */
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
	process = getpid();
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
	LIST_INIT(&comm->unused_ops);
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
	if (!(wanted & NCCL_PROFILE_KERNEL_CH))
		return NCCL_PROFILE_GROUP | NCCL_PROFILE_COLL;
	return NCCL_PROFILE_GROUP | NCCL_PROFILE_COLL | NCCL_PROFILE_KERNEL_CH |
	       (wanted & (NCCL_PROFILE_P2P | NCCL_PROFILE_PROXY_OP | NCCL_PROFILE_PROXY_STEP));
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
	comm->marked = comm->lost = comm->late = comm->unwritten = comm->blind = comm->p2ps = 0;
	comm->p2p = NULL;
	memset(&comm->gpu, 0, sizeof(comm->gpu));
}

/* Never an error: NCCL 2.30 would then count the communicators wrongly and unload what others still use. */
static int init(void **context, uint64_t hash, int *mask, int ranks, int rank, nccl_log_t log, int known)
{
	struct communicator *comm = NULL;
	int wanted = wanted_events() & known;

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
	comm->asks_for_steps = wanted & NCCL_PROFILE_PROXY_STEP;
	comm->asks_for_p2p = wanted & NCCL_PROFILE_P2P;
	*context = handle_of(COMM, comm->number, comm->use);
	*mask = wanted;
	unlock(comm);
	return NCCL_SUCCESS;
}

static int init_v4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
		   int rank, nccl_log_t log)
{
	(void)name, (void)nodes;
	return init(context, hash, mask, ranks, rank, log, ~NCCL_PROFILE_P2P);
}

static int init_v5(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
		   int rank, nccl_log_t log)
{
	(void)name, (void)nodes;
	return init(context, hash, mask, ranks, rank, log, ~0);
}

#define REST .stop = profiler_stop, .state = profiler_state, .finalize = profiler_finalize

__attribute__((visibility("default")))
struct nccl_profiler_v4 ncclProfiler_v4 = { .name = "kstall", .init = init_v4, .start = start_v4, REST };
__attribute__((visibility("default")))
struct nccl_profiler_v5 ncclProfiler_v5 = { .name = "kstall", .init = init_v5, .start = start_v5, REST };
__attribute__((visibility("default")))
struct nccl_profiler_v5 ncclProfiler_v6 = { .name = "kstall", .init = init_v5, .start = start_v5, REST };
