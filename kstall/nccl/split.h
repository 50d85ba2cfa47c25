/* SPDX-License-Identifier: GPL-2.0 */
/*
 * split.h - what a collective's time is spent with
 *
 * Each callback of NCCL says that the collective is in another state from then on; the time since the
 * last one is charged to what held it meanwhile. Nothing here locks: the caller has its communicator's lock.
 */
#ifndef _SPLIT_H
#define _SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What holds a collective. The first that is true does. */
enum held_by {
	HELD_BY_LAUNCH,		/* NCCL's call is not over, nothing has begun on the GPU */
	HELD_BY_QUEUE,		/* nothing has begun on the GPU: earlier work of the stream */
	HELD_BY_PEER,		/* data that another rank has not sent */
	HELD_BY_CREDIT,		/* a rank that is not ready to receive */
	HELD_BY_WIRE,		/* data is under way */
	HELD_BY_FLUSH,		/* received data is not visible to the GPU yet */
	HELD_BY_GPU,		/* it has all that it needs */
	HELD_BY_HOST,		/* the proxy thread: off its CPU, or it has not posted what is to be sent or received */
	HELD_BY_NOBODY,		/* it is through on the GPU, which the proxy thread has not seen */
	HELD_BY_COUNT
};

/* An operation of the network, by its oldest step that is not over. */
enum op_state {
	OP_UNPOSTED,		/* the proxy thread has not posted it */
	OP_SEND_GPU,
	OP_SEND_PEER,
	OP_SEND_WIRE,
	OP_RECV_PEER,
	OP_RECV_FLUSH,
	OP_RECV_GPU,
	OP_DONE,
	OP_STATES
};

#define SPLIT_STEPS	8	/* of an operation, at once: NCCL_STEPS */
#define SPLIT_RANKS	8	/* that a collective waits for */
#define SPLIT_TEXT	256	/* bytes of split_text() */

struct waited_for {
	int rank;
	uint64_t ns;
};

/* How long ranks had a collective's operations wait. */
struct waits {
	struct waited_for by[SPLIT_RANKS];
	unsigned int nr;
	bool more;		/* ranks than there is room for: nobody is named */
};

/* The thread that looks after the network, which polls while there is something to do. */
struct proxy_clock {
	uint64_t wall, ran;
	uint64_t off;		/* nanoseconds that it was not on a CPU */
};

/* The GPU's clock, on CLOCK_MONOTONIC. */
struct gpu_clock {
	uint64_t gpu, host;	/* a pair of long ago; 0: none */
	bool ticks_ns;		/* it has been seen to count nanoseconds */
	uint64_t window;
	int64_t least[2];	/* host less GPU: of this window, and of the one before */
};

struct split {
	uint64_t ns[HELD_BY_COUNT];
	uint64_t since;		/* all before it has been charged */
	uint64_t on_gpu;	/* since then */
	uint64_t off;		/* of @proxy, at @since */
	const struct proxy_clock *proxy;
	bool handed_over, begun, through;
	bool has_ops;
	unsigned int ops[OP_STATES];
	struct waits peer, credit;
};

struct split_op {
	int peer;
	unsigned int left;	/* steps that are not over */
	unsigned int first, nr;	/* the oldest that has been posted, and how many have */
	uint8_t step[SPLIT_STEPS];	/* enum op_state */
	uint64_t since;		/* in the state that it is in */
};

uint64_t split_now(void);

/* The calling thread's, up to @now. */
const struct proxy_clock *split_proxy(uint64_t now);

/* When something that @gpu's clock says was, as seen at @now. 0: the GPU does not say. */
uint64_t split_on_host(struct gpu_clock *clock, uint64_t gpu, uint64_t now);

void split_begin(struct split *split, uint64_t now);

/* NCCL's call is over. */
void split_handed_over(struct split *split, uint64_t now);

/* On the GPU since @at, which the calling thread has seen @now. */
void split_on_gpu(struct split *split, uint64_t at, uint64_t now);

/* Through on the GPU since @at. */
void split_through(struct split *split, uint64_t at, uint64_t now);

/* Everything until @now. */
void split_end(struct split *split, uint64_t now);

void split_op_begin(struct split *split, struct split_op *op, int peer, unsigned int steps);
void split_step_begin(struct split *split, struct split_op *op, unsigned int step);
void split_step_state(struct split *split, struct split_op *op, unsigned int step, enum op_state state);
void split_step_end(struct split *split, struct split_op *op, unsigned int step);
void split_op_end(struct split *split, struct split_op *op);

/* " launch=NS queued=NS peer=NS:RANK ...", without what is 0. Returns @buf, which has SPLIT_TEXT bytes. */
char *split_text(char *buf, const struct split *split);

#endif /* _SPLIT_H */
