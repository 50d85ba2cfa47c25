// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "split.h"

#define NSEC		1000000000ULL
#define LOOK		100000ULL	/* between two looks at the thread's own clock, which is a system call */
#define WINDOW		NSEC		/* the two clocks drift: a difference is good for two of these */
#define RATE_AFTER	(NSEC / 10)	/* clocks are compared over so long */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

uint64_t split_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

const struct proxy_clock *split_proxy(uint64_t now)
{
	static __thread struct proxy_clock clock;
	uint64_t ran;

	if (clock.wall && now - clock.wall < LOOK)
		return &clock;
	ran = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (clock.wall)
		clock.off += less(now - clock.wall, ran - clock.ran);
	clock.wall = now;
	clock.ran = ran;
	return &clock;
}

/* ---- the GPU's clock ---- */

/* RCCL's counts ticks of 10 ns: a clock of another rate says nothing about when. */
static void compare_rates(struct gpu_clock *clock, uint64_t gpu, uint64_t now)
{
	uint64_t ticks = less(gpu, clock->gpu), ns = now - clock->host;

	if (clock->host && ns < RATE_AFTER)
		return;
	if (clock->host && ticks > ns - ns / 10 && ticks < ns + ns / 10)
		clock->ticks_ns = true;
	clock->gpu = gpu;
	clock->host = now;
	clock->window = now;
	clock->least[0] = clock->least[1] = now - gpu;
}

static void note_difference(struct gpu_clock *clock, int64_t difference, uint64_t now)
{
	if (now - clock->window >= WINDOW) {
		clock->window = now;
		clock->least[1] = clock->least[0];
		clock->least[0] = difference;
	}
	if (difference < clock->least[0])
		clock->least[0] = difference;
}

/* The difference that was seen soonest after the GPU wrote its time is the best one. */
uint64_t split_on_host(struct gpu_clock *clock, uint64_t gpu, uint64_t now)
{
	int64_t difference = now - gpu;

	if (!gpu)
		return now;
	if (!clock->ticks_ns)
		compare_rates(clock, gpu, now);
	if (!clock->ticks_ns)
		return now;
	note_difference(clock, difference, now);
	difference = clock->least[0] < clock->least[1] ? clock->least[0] : clock->least[1];
	return min(gpu + difference, now);
}

/* ---- a collective ---- */

/* In a ring, that sends have nothing to send mostly is so because nothing was received. */
static enum held_by held_by(const struct split *split)
{
	const unsigned int *ops = split->ops;

	if (!split->begun)
		return split->handed_over ? HELD_BY_QUEUE : HELD_BY_LAUNCH;
	if (split->through)
		return HELD_BY_NOBODY;
	if (ops[OP_RECV_PEER] && !ops[OP_SEND_PEER] && !ops[OP_SEND_WIRE])
		return HELD_BY_PEER;
	if (ops[OP_SEND_PEER])
		return HELD_BY_CREDIT;
	if (ops[OP_SEND_WIRE])
		return HELD_BY_WIRE;
	if (ops[OP_RECV_FLUSH])
		return HELD_BY_FLUSH;
	return ops[OP_UNPOSTED] ? HELD_BY_HOST : HELD_BY_GPU;
}

static void charge(struct split *split, uint64_t until)
{
	split->ns[held_by(split)] += less(until, split->since);
	if (until > split->since)
		split->since = until;
}

/* What the thread does not see because it is off its CPU is the host's, whatever went on. */
static void charge_proxy(struct split *split, uint64_t until, uint64_t now)
{
	const struct proxy_clock *proxy = split_proxy(now);
	uint64_t off = split->proxy == proxy ? proxy->off - split->off : 0;

	if (split->begun) {
		off = min(off, less(until, split->since));
		split->ns[HELD_BY_HOST] += off;
		split->since += off;
	}
	charge(split, until);
	split->proxy = proxy;
	split->off = proxy->off;
}

void split_begin(struct split *split, uint64_t now)
{
	memset(split, 0, sizeof(*split));
	split->since = now;
}

void split_handed_over(struct split *split, uint64_t now)
{
	if (!split->begun)
		charge(split, now);
	split->handed_over = true;
}

/* Between @at and @now the thread has not looked; until now it had nothing to look for. */
void split_on_gpu(struct split *split, uint64_t at, uint64_t now)
{
	const struct proxy_clock *proxy = split_proxy(now);

	if (split->begun)
		return;
	charge(split, at);
	split->begun = true;
	split->on_gpu = at;
	if (split->proxy != proxy)
		split->off = proxy->off;
	split->proxy = proxy;
	charge_proxy(split, now, now);
}

void split_through(struct split *split, uint64_t at, uint64_t now)
{
	charge_proxy(split, at, now);
	split->through = true;
}

void split_end(struct split *split, uint64_t now)
{
	charge(split, now);
}

/* ---- its operations ---- */

static enum op_state state_of(const struct split_op *op)
{
	if (op->nr)
		return op->step[op->first];
	return op->left ? OP_UNPOSTED : OP_DONE;
}

static void add_wait(struct waits *waits, int rank, uint64_t ns)
{
	unsigned int i = 0;

	while (i < waits->nr && waits->by[i].rank != rank)
		i++;
	if (i == SPLIT_RANKS) {
		waits->more = true;
		return;
	}
	waits->nr += i == waits->nr;
	waits->by[i].rank = rank;
	waits->by[i].ns += ns;
}

/* Before it ran on the GPU nobody was waited for. */
static void note_wait(struct split *split, struct split_op *op, enum op_state was, uint64_t now)
{
	uint64_t ns = less(now, op->since > split->on_gpu ? op->since : split->on_gpu);

	if (!split->begun)
		return;
	if (was == OP_RECV_PEER)
		add_wait(&split->peer, op->peer, ns);
	else if (was == OP_SEND_PEER)
		add_wait(&split->credit, op->peer, ns);
}

/* The operation was in @was until now. Most callbacks are of steps that are not the oldest: they need no clock. */
static void moved(struct split *split, struct split_op *op, enum op_state was)
{
	enum op_state state = state_of(op);
	uint64_t now;

	if (state == was)
		return;
	now = split_now();
	charge_proxy(split, now, now);
	note_wait(split, op, was, now);
	split->ops[was]--;
	split->ops[state]++;
	op->since = now;
}

void split_op_begin(struct split *split, struct split_op *op, int peer, unsigned int steps)
{
	const uint64_t now = split_now();

	memset(op, 0, sizeof(*op));
	op->peer = peer;
	op->left = steps;
	op->since = now;
	charge_proxy(split, now, now);
	split->has_ops = true;
	split->ops[state_of(op)]++;
}

/* NCCL begins a step anew each time that it cannot post it. */
void split_step_begin(struct split *split, struct split_op *op, unsigned int step)
{
	enum op_state was = state_of(op);

	if (!op->nr)
		op->first = step % SPLIT_STEPS;
	else if (op->nr == SPLIT_STEPS || (step - op->first) % SPLIT_STEPS != op->nr)
		return;
	op->step[step % SPLIT_STEPS] = OP_UNPOSTED;
	op->nr++;
	moved(split, op, was);
}

static bool is_posted(const struct split_op *op, unsigned int step)
{
	return (step - op->first) % SPLIT_STEPS < op->nr;
}

void split_step_state(struct split *split, struct split_op *op, unsigned int step, enum op_state state)
{
	enum op_state was = state_of(op);

	if (!is_posted(op, step))
		return;
	op->step[step % SPLIT_STEPS] = state;
	moved(split, op, was);
}

void split_step_end(struct split *split, struct split_op *op, unsigned int step)
{
	enum op_state was = state_of(op);

	if (!is_posted(op, step))
		return;
	op->step[step % SPLIT_STEPS] = OP_DONE;
	while (op->nr && op->step[op->first] == OP_DONE) {
		op->first = (op->first + 1) % SPLIT_STEPS;
		op->nr--;
		op->left -= !!op->left;
	}
	moved(split, op, was);
}

void split_op_end(struct split *split, struct split_op *op)
{
	enum op_state was = state_of(op);

	op->nr = op->left = 0;
	moved(split, op, was);
	split->ops[OP_DONE]--;
}

/* ---- the line ---- */

static const char *const key[HELD_BY_COUNT] = {
	[HELD_BY_LAUNCH] = "launch",
	[HELD_BY_QUEUE] = "queued",
	[HELD_BY_PEER] = "peer",
	[HELD_BY_CREDIT] = "credit",
	[HELD_BY_WIRE] = "wire",
	[HELD_BY_FLUSH] = "flush",
	[HELD_BY_GPU] = "gpu",
	[HELD_BY_HOST] = "host",
	[HELD_BY_NOBODY] = "late",
};

/* Without operations of the network nobody knows what the kernel waits for inside the node. */
static const char *key_of(const struct split *split, enum held_by by)
{
	return by == HELD_BY_GPU && !split->has_ops ? "kernel" : key[by];
}

static const struct waited_for *longest(const struct waits *waits)
{
	const struct waited_for *most = NULL;

	for (unsigned int i = 0; i < waits->nr && !waits->more; i++) {
		if (!most || waits->by[i].ns > most->ns)
			most = &waits->by[i];
	}
	return most;
}

static const struct waited_for *rank_of(const struct split *split, enum held_by by)
{
	if (by == HELD_BY_PEER)
		return longest(&split->peer);
	return by == HELD_BY_CREDIT ? longest(&split->credit) : NULL;
}

char *split_text(char *buf, const struct split *split)
{
	size_t at = 0;

	*buf = '\0';
	for (enum held_by by = 0; by < HELD_BY_COUNT; by++) {
		const struct waited_for *rank = rank_of(split, by);

		if (!split->ns[by])
			continue;
		at += snprintf(buf + at, SPLIT_TEXT - at, " %s=%" PRIu64, key_of(split, by), split->ns[by]);
		if (rank)
			at += snprintf(buf + at, SPLIT_TEXT - at, ":%d", rank->rank);
	}
	return buf;
}
