// SPDX-License-Identifier: GPL-2.0
/* What NCCL and RCCL were seen to do, and what programs do to them. The lines that the plugin writes are what the test looks at. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl.h"

#define CHANNELS	4
#define HASH		0xabc

/* The lines until now. */
static void show(void)
{
	FILE *f = fopen(getenv("KSTALL_MARKER"), "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
	if (f)
		fclose(f);
	puts("so far");
}

/* One of its own plan, of which @stops channels' stops are reported. Returns its handle. */
static void *collective(void *context, int seq, int announced, int stops)
{
	void *coll = start_coll(context, "AllReduce", seq, announced, NULL, start_group(context));
	int i;

	stop(coll);
	for (i = 0; i < CHANNELS; i++) {
		void *handle = start_channel(context, coll, i);

		if (i < stops)
			stop_channel(handle);
	}
	return coll;
}

static void each_lacks_a_stop(void *context, int n)
{
	for (int i = 0; i < n; i++)
		collective(context, i, CHANNELS, CHANNELS - 1);
}

static void tenth_lacks_a_stop(void *context, int n)
{
	for (int i = 0; i < n; i++)
		collective(context, i, CHANNELS, i % 10 ? CHANNELS : CHANNELS - 1);
}

static void more_announced(void *context, int n)
{
	for (int i = 0; i < n; i++)
		collective(context, i, 224, CHANNELS);
}

/* All are on the GPU's queue, none has begun there; then the first few end. */
static void queued(void *context, int n)
{
	void **coll = calloc(n, sizeof(*coll));
	int i, c;

	for (i = 0; i < n; i++) {
		coll[i] = start_coll(context, "AllReduce", i, CHANNELS, NULL, start_group(context));
		stop(coll[i]);
	}
	for (i = 0; i < 10; i++) {
		for (c = 0; c < CHANNELS; c++)
			stop_channel(start_channel(context, coll[i], c));
	}
	free(coll);
}

/* Stops that come when others are in their places. */
static void late_stops(void *context, int n)
{
	void *first = start_coll(context, "AllReduce", 0, 1, NULL, start_group(context));
	void *channel = start_channel(context, first, 0);

	for (int i = 1; i <= n; i++)
		stop(start_coll(context, "AllReduce", i, 1, NULL, start_group(context)));
	for (int i = 0; i < n; i++) {
		stop_channel(channel);
		stop(first);
		if (start_channel(context, first, 0))
			die("a channel of what is over");
	}
}

static void stopped_twice(void *context, int n)
{
	void *coll = start_coll(context, "AllReduce", 0, 2, NULL, start_group(context));
	void *channel = start_channel(context, coll, 0);

	stop(coll);
	stop_channel(channel);
	stop_channel(channel);
	show();
	stop_channel(start_channel(context, coll, 1));
}

/* N collectives of one plan; the first one's channel is slow. */
static void fused(void *context, int n)
{
	void *group = start_group(context), *first = NULL, *slow = NULL;

	for (int i = 0; i < n; i++) {
		void *coll = start_coll(context, "AllReduce", i, 1, NULL, group);
		void *channel = start_channel(context, coll, i);

		stop(coll);
		first = first ? first : coll;
		slow = slow ? slow : channel;
		if (i)
			stop_channel(channel);
	}
	stop_channel(slow);
}

/* When the communicator is gone, and the library, too, as far as NCCL knows. */
static void after_finalize(void *context, int n)
{
	void *coll = start_coll(context, "AllReduce", 0, 1, NULL, start_group(context));
	void *channel = start_channel(context, coll, 0), *handle = coll;
	struct descr d = { .type = COLL, .coll = { .func = "AllReduce", .channels = 1 } };

	plugin.finalize(context);
	unload();
	stop_channel(channel);
	stop(coll);
	plugin.start(context, &handle, &d);
	if (handle)
		die("a collective of a communicator that is gone");
	plugin.finalize(context);
}

/* The same, and another communicator is in its place. */
static void after_another(void *context, int n)
{
	void *coll = start_coll(context, "AllReduce", 0, 1, NULL, start_group(context)), *next, *other;
	void *channel = start_channel(context, coll, 0);

	plugin.finalize(context);
	init_comm(&next, 0xdef, 1);
	other = start_coll(next, "Broadcast", 7, 1, NULL, start_group(next));
	stop(coll);
	stop_channel(channel);
	if (start_coll(context, "AllReduce", 1, 1, NULL, NULL))
		die("a collective of a communicator that is gone");
	show();
	stop(other);
	stop_channel(start_channel(next, other, 0));
	plugin.finalize(next);
}

/* ---- the network ---- */

static const int rank = 3;

/* One of its own plan, of which @op are operations of one step that has been posted. */
static void *with_ops(void *context, int seq, void **op, void **step, int n)
{
	void *coll = start_coll(context, "AllReduce", seq, 1, NULL, start_group(context));

	stop(coll);
	for (int i = 0; i < n; i++) {
		op[i] = start_op(context, coll, rank, i, 1);
		step[i] = start_step(context, op[i], 0);
		state(step[i], RECV_WAIT);
	}
	return coll;
}

static void through(void *context, void *coll)
{
	stop_channel(start_channel(context, coll, 0));
}

/* The operations of a collective that another process's proxy thread does come there with this one's handles. */
static void pxn(void *context, int n)
{
	void *coll = start_coll(context, "AllReduce", 0, 1, NULL, start_group(context)), *handle = NULL;
	struct descr d = { .type = PROXY_OP, .parent = coll, .rank = rank, .op = { getpid() + 1, 0, 1, 1, 1, 0 } };

	stop(coll);
	plugin.start(context, &handle, &d);
	if (handle)
		die("an operation of another process");
	if (start_op(context, coll, rank + 1, 1, 1))
		die("an operation of another rank");
	if (start_op(context, NULL, rank, 1, 1))
		die("an operation of a send");
	if (start_step(context, NULL, 0) || start_step(context, coll, 0))
		die("a step of no operation");
	through(context, coll);
}

/* More operations than there is room for; the next collective has room. */
static void many_ops(void *context, int n)
{
	void **op = calloc(n, sizeof(*op)), **step = calloc(n, sizeof(*step));

	through(context, with_ops(context, 0, op, step, n));
	through(context, with_ops(context, 1, op, step, 1));
	free(op);
	free(step);
}

/* What the proxy thread says of operations of which the collective is over, and another one is in its place. */
static void late_ops(void *context, int n)
{
	void *op[2], *step[2], *other[2], *coll = with_ops(context, 0, op, step, 2);

	through(context, coll);
	coll = with_ops(context, 1, other, other + 1, 1);
	for (int i = 0; i < 2; i++) {
		state(step[i], RECV_GPU_WAIT);
		stop(step[i]);
		stop(op[i]);
		if (start_step(context, op[i], 1))
			die("a step of an operation that is over");
	}
	through(context, coll);
}

/* ncclCommAbort(): the communicator goes, then the proxy thread ends what it has. */
static void aborted(void *context, int n)
{
	void *op[2], *step[2];

	with_ops(context, 0, op, step, 2);
	plugin.finalize(context);
	for (int i = 0; i < 2; i++) {
		state(step[i], RECV_GPU_WAIT);
		stop(step[i]);
		stop(op[i]);
	}
}

/* What waits for @peer while the GPU has it: of communicator @context, in which this is @rank. */
static void *waits(void *context, int rank, int seq, int peer, void **op, void **step, void **channel)
{
	void *coll = start_coll(context, "AllReduce", seq, 1, NULL, start_group(context));

	stop(coll);
	*channel = start_channel(context, coll, 0);
	*op = start_op(context, coll, rank, peer, 1);
	*step = start_step(context, *op, 0);
	state(*step, RECV_WAIT);
	return coll;
}

/* ncclCommSplit() with splitShare: a child, of which this is rank 1, has the proxy thread of its parent, and goes first. @n of them. */
static void split(void *context, int n)
{
	void *op[2], *step[2], *channel[2], *child, *coll;

	waits(context, rank, 0, 6, op, step, channel);
	for (int i = 0; i < n; i++) {
		init_comm(&child, HASH + 1, 1);
		coll = waits(child, 1, i, 2, op + 1, step + 1, channel + 1);
		if (start_op(child, coll, rank, 6, 1))
			die("an operation of the rank in the parent");
		spin(200000);
		state(step[1], RECV_GPU_WAIT);
		stop_channel(channel[1]);
		plugin.finalize(child);
		stop(step[1]);
		stop(op[1]);
	}
	state(step[0], RECV_GPU_WAIT);
	stop(step[0]);
	stop(op[0]);
	stop_channel(channel[0]);
}

/* Each time that it cannot post a step NCCL begins it anew, and takes the last handle. */
static void begun_again(void *context, int n)
{
	void *coll = start_coll(context, "AllReduce", 0, 1, NULL, start_group(context));
	void *op = start_op(context, coll, rank, 6, 20), *step = NULL, *channel;

	stop(coll);
	channel = start_channel(context, coll, 0);
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < n; j++)
			step = start_step(context, op, i);
		state(step, RECV_WAIT);
		state(step, RECV_GPU_WAIT);
		stop(step);
	}
	stop(op);
	stop_channel(channel);
}

/* As many as a proxy thread at 400 Gb/s has in a second or ten: N collectives of 64 steps. */
static void busy(void *context, int n)
{
	for (int i = 0; i < n; i++) {
		void *coll = start_coll(context, "AllReduce", i, 1, NULL, start_group(context));
		void *op = start_op(context, coll, rank, 6, 64), *channel = start_channel(context, coll, 0);

		stop(coll);
		for (int k = 0; k < 64; k++) {
			void *step = start_step(context, op, k);

			state(step, SEND_GPU_WAIT);
			state(step, SEND_PEER_WAIT);
			state(step, SEND_WAIT);
			stop(step);
		}
		stop(op);
		stop_channel(channel);
	}
}

/* ---- sends and receives ---- */

#define RANKS	4
#define PARTS	2	/* channels of each */

/* One plan of @nr of them, as NCCL announces, launches and reports it: on each channel several. Copies to itself are in no channel. */
static void *p2ps(void *context, void *call, int nr, void **task)
{
	static const char *const func[] = { "Send", "Recv" };
	void *group = start_group(context);
	int i;

	for (i = 0; i < nr; i++)
		task[i] = start_p2p(context, func[i % 2], i / 2 % RANKS, PARTS, call, group);
	for (i = 0; i < nr; i++)
		stop(task[i]);
	return group;
}

static void report_p2ps(void *context, int nr, void **task)
{
	void *channel[2 * RANKS][PARTS];

	for (int i = 0; i < nr; i++) {
		for (int c = 0; c < PARTS; c++)
			channel[i][c] = task[i] ? start_channel(context, task[i], c) : NULL;
	}
	for (int i = nr; i-- > 0;) {
		for (int c = 0; c < PARTS; c++)
			stop_channel(channel[i][c]);
	}
}

#define MANY	600

static void many_on_a_channel(void *context, void *call)
{
	void *group = start_group(context), *task[MANY], *channel[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		task[i] = start_p2p(context, "Send", rank + 1 + i, 1, call, group);
	for (i = 0; i < MANY; i++)
		stop(task[i]);
	for (i = 0; i < MANY; i++)
		channel[i] = task[i] ? start_channel(context, task[i], 0) : NULL;
	for (i = 0; i < MANY; i++)
		stop_channel(channel[i]);
}

/* An all-to-all, the rank itself among them; then one send, of which the peer is late; then a copy to itself. */
static void sends(void *context, int n)
{
	void *task[2 * RANKS], *call = start_p2p_call(context), *op, *step;

	for (int i = 0; i < n; i++) {
		p2ps(context, call, 2 * RANKS, task);
		report_p2ps(context, 2 * RANKS, task);
	}
	/* of a plan so large that more begin on a channel before one of them ends than a byte counts */
	many_on_a_channel(context, call);
	p2ps(context, call, 1, task);
	op = start_op(context, task[0], rank, 0, 1);
	step = start_step(context, op, 0);
	if (task[0]) {
		void *channel = start_channel(context, task[0], 0), *other = start_channel(context, task[0], 1);

		state(step, SEND_PEER_WAIT);
		usleep(1000);
		state(step, SEND_WAIT);
		stop(step);
		stop(op);
		stop_channel(channel);
		stop_channel(other);
	}
	if (start_p2p(context, "Send", rank, PARTS, call, start_group(context)))
		die("a copy to itself");
	if (start_p2p(context, "Send", 1, PARTS, call, NULL))
		die("a send of no plan");
}

/* ---- several threads ---- */

#define COMMS 4
#define QUEUE 1000	/* the GPU's has an end, too */

/* A communicator with a thread that hands collectives over, and NCCL's own, which reports them in order. */
struct pair {
	void *context;
	int n;
	void **coll;
	atomic_int nr, done;
};

static void *hand_over(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < p->n; i++) {
		while (i - atomic_load(&p->done) >= QUEUE)
			sched_yield();
		p->coll[i] = start_coll(p->context, "AllReduce", i, CHANNELS, NULL, start_group(p->context));
		atomic_store(&p->nr, i + 1);
		stop(p->coll[i]);
	}
	return NULL;
}

static void *report(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < p->n; i++) {
		while (atomic_load(&p->nr) <= i)
			sched_yield();
		for (int c = 0; c < CHANNELS; c++)
			stop_channel(start_channel(p->context, p->coll[i], c));
		atomic_store(&p->done, i + 1);
	}
	return NULL;
}

static void threads(void *context, int n)
{
	pthread_t thread[2 * COMMS];
	struct pair pair[COMMS];
	int i;

	for (i = 0; i < COMMS; i++) {
		pair[i] = (struct pair){ .n = n / COMMS, .coll = calloc(n / COMMS, sizeof(void *)) };
		init_comm(&pair[i].context, 0x100 + i, i);
		if (pthread_create(&thread[2 * i], NULL, hand_over, &pair[i]) ||
		    pthread_create(&thread[2 * i + 1], NULL, report, &pair[i]))
			die("pthread_create");
	}
	for (i = 0; i < 2 * COMMS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < COMMS; i++) {
		plugin.finalize(pair[i].context);
		free(pair[i].coll);
	}
}

static atomic_bool over;

static void *go_on(void *context)
{
	for (int i = 0; !atomic_load(&over); i++)
		collective(context, i, CHANNELS, CHANNELS);
	return NULL;
}

/* A child of a process that goes on. It may find any lock held, and has nothing to say. */
static void child(void *context, void *coll)
{
	void *next = NULL;

	stop(coll);
	collective(context, 1000000, CHANNELS, CHANNELS);
	if (init_comm(&next, 0xdef, 1) || next)
		die("a communicator in a child");
	plugin.finalize(context);
	_exit(0);
}

static void forks(void *context, int n)
{
	void *coll = start_coll(context, "Broadcast", 0, 0, NULL, NULL);
	pthread_t thread;
	int status;

	if (pthread_create(&thread, NULL, go_on, context))
		die("pthread_create");
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			child(context, coll);
		if (waitpid(pid, &status, 0) != pid || status)
			die("a child failed");
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	stop(coll);
}

/* ---- the caller ---- */

struct launch {
	void *context, *call;
	int seq;
};

static void *announce(void *arg)
{
	const struct launch *l = arg;

	stop(start_coll(l->context, "AllReduce", l->seq, 0, l->call, start_group(l->context)));
	return NULL;
}

static void in_thread(void *context, void *call, int seq)
{
	struct launch l = { context, call, seq };
	pthread_t thread;

	if (pthread_create(&thread, NULL, announce, &l))
		die("pthread_create");
	pthread_join(thread, NULL);
}

/* A plain one; one that NCCL's own thread launches; a graph, captured once and run twice by a thread of CUDA. */
static void callers(void *context, int n)
{
	void *graph;

	printf("%ld\n", syscall(SYS_gettid));
	announce(&(struct launch){ context, start_call(context, false), 0 });
	in_thread(context, start_call(context, false), 1);
	graph = start_call(context, true);
	stop(graph);
	in_thread(context, graph, 2);
	in_thread(context, graph, 3);
}

static void names(void *context, int n)
{
	void *other;

	stop(start_coll(context, "ReduceScatter", 0, 0, NULL, NULL));
	stop(start_coll(context, NULL, 0, 0, NULL, NULL));
	init_comm(&other, UINT64_MAX, 1234567);
	stop(start_coll(other, "ReduceScatter", 123456789012345, 0, NULL, NULL));
	plugin.finalize(other);
}

/* More communicators than there is room for, and as many again once they are gone. */
static void many_comms(void *context, int n)
{
	void **contexts = calloc(n, sizeof(*contexts));
	int round, i, got;

	for (round = 0; round < 2; round++) {
		for (i = got = 0; i < n; i++) {
			init_comm(&contexts[i], i, 0);
			got += !!start_coll(contexts[i], "AllReduce", 0, 0, NULL, NULL);
		}
		printf("%d\n", got);
		for (i = 0; i < n; i++) {
			if (contexts[i])
				plugin.finalize(contexts[i]);
		}
	}
	free(contexts);
}

/* Where the lines go: what is open for appending, and does not wait. */
static void where(void *context, int n)
{
	const int flags = O_WRONLY | O_APPEND | O_NONBLOCK;
	char path[64], file[256];
	ssize_t len;

	for (int fd = 3; fd < 64; fd++) {
		if ((fcntl(fd, F_GETFL) & flags) != flags)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, file, sizeof(file));
		if (len > 0)
			printf("%.*s\n", (int)len, file);
	}
}

static const struct {
	const char *name;
	void (*play)(void *context, int n);
} cases[] = {
	{ "nostop", each_lacks_a_stop }, { "rare", tenth_lacks_a_stop }, { "garbage", more_announced },
	{ "queued", queued }, { "late", late_stops }, { "twice", stopped_twice }, { "fused", fused },
	{ "gone", after_finalize }, { "next", after_another }, { "threads", threads }, { "fork", forks },
	{ "pxn", pxn }, { "ops", many_ops }, { "lateops", late_ops }, { "abort", aborted },
	{ "split", split }, { "again", begun_again },
	{ "sends", sends }, { "busy", busy }, { "callers", callers }, { "names", names }, { "comms", many_comms }, { "where", where },
};

int play_case(const char *name, int n)
{
	void *context;

	printf("asks for %d\n", init_comm(&context, HASH, 3));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, name))
			continue;
		cases[i].play(context, n);
		if (context)
			plugin.finalize(context);
		return 0;
	}
	return 2;
}
