/* SPDX-License-Identifier: GPL-2.0 */
/* NCCL's side of the profiler interface, so that a mistake in the plugin's is seen; what nccl.c and nccl_cases.c share. */
#ifndef _NCCL_H
#define _NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GROUP		1
#define COLL		2
#define P2P		4
#define PROXY_OP	8
#define PROXY_STEP	16
#define PROXY_CTRL	32
#define KERNEL_CH	64
#define COLL_API	512
#define P2P_API		1024

#define SEND_GPU_WAIT	8
#define SEND_WAIT	9
#define RECV_WAIT	10
#define RECV_FLUSH_WAIT	11
#define RECV_GPU_WAIT	12
#define OP_IN_PROGRESS	19
#define SEND_PEER_WAIT	20
#define KERNEL_CH_STOP	22

struct descr {
	uint64_t type;
	void *parent;
	int rank;
	union {
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
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool graph;
		} call;
		struct {
			const char *func;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t channels;
			void *group;
		} p2p;
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			void *stream;
			bool graph;
		} p2p_call;
		struct {
			pid_t pid;
			uint8_t channel;
			int peer, steps, chunk, is_send;
		} op;
		struct {
			int step;
		} step;
		struct {
			uint8_t id;
			uint64_t timer;
		} channel;
	};
};

union state {
	size_t size;
	uint64_t timer;
};

/* What NCCL has of a plugin, whatever the version. */
struct plugin {
	int (*start)(void *context, void **handle, struct descr *d);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, union state *args);
	int (*finalize)(void *context);
};

extern struct plugin plugin;
extern bool is_v4;

void die(const char *what);
void load(const char *version);
void unload(void);

/* Returns the events that the plugin asks for. */
int init_comm(void **context, uint64_t hash, int rank);

void *start_group(void *context);
void *start_call(void *context, bool graph);
void *start_coll(void *context, const char *func, uint64_t seq, int channels, void *call, void *group);
void *start_p2p_call(void *context);
void *start_p2p(void *context, const char *func, int peer, int channels, void *call, void *group);
void *start_channel(void *context, void *coll, int channel);
void stop_channel(void *handle);
void *start_op(void *context, void *coll, int rank, int peer, int steps);
void *start_step(void *context, void *op, int step);
void state(void *handle, int state);
void stop(void *handle);

/* for @ns of this thread's time on its CPU */
void spin(uint64_t ns);

int play_case(const char *name, int n);

#endif /* _NCCL_H */
