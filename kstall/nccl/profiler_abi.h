/* SPDX-License-Identifier: GPL-2.0 */
/*
 * profiler_abi.h - what this plugin needs of NCCL's profiler plugin interface
 *
 * The layout that NCCL 2.30.7 publishes in plugins/profiler/example/nccl/profiler_v4.h to
 * profiler_v6.h and describes in plugins/profiler/README.md, declared anew. NCCL looks for
 * ncclProfiler_v6, then v5, v4 and older ones; RCCL of the same base does, too. As far as this plugin
 * looks into a descriptor the three versions agree, but for the type: 8 bits in v4, 64 since v5.
 */
#ifndef _PROFILER_ABI_H
#define _PROFILER_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ncclResult_t */
#define NCCL_SUCCESS		0

/* Event types, bits of the activation mask */
#define NCCL_PROFILE_GROUP	(1 << 0)	/* a plan: what NCCL launches as one kernel */
#define NCCL_PROFILE_COLL	(1 << 1)
#define NCCL_PROFILE_P2P	(1 << 2)	/* a send or a receive */
#define NCCL_PROFILE_PROXY_OP	(1 << 3)	/* what goes over the network, for a channel and a peer */
#define NCCL_PROFILE_PROXY_STEP	(1 << 4)	/* a chunk of it */
#define NCCL_PROFILE_KERNEL_CH	(1 << 6)
#define NCCL_PROFILE_COLL_CALL	(1 << 9)	/* since v5, and whether it is asked for or not */
#define NCCL_PROFILE_P2P_CALL	(1 << 10)	/* the same */

/* States of a step and of a channel. */
#define NCCL_SEND_GPU_WAIT	8
#define NCCL_SEND_WAIT		9
#define NCCL_RECV_WAIT		10
#define NCCL_RECV_FLUSH_WAIT	11
#define NCCL_RECV_GPU_WAIT	12
#define NCCL_SEND_PEER_WAIT	20
#define NCCL_KERNEL_CH_STOP	22

/* ncclDebugLogger_t and three of its constants */
typedef void (*nccl_log_t)(int level, unsigned long subsystems, const char *file, int line,
			   const char *fmt, ...);
#define NCCL_LOG_WARN		2
#define NCCL_LOG_INFO		3
#define NCCL_INIT		1UL

/* A collective: the beginning of the union's member "coll" */
struct nccl_coll {
	uint64_t seq;
	const char *func;
	const void *send;
	void *recv;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels, warps;
	const char *algorithm, *protocol;
	void *group;		/* since v5; in v4 that is the event's parent */
};

/* The program's call, "collApi": what of it is looked at */
struct nccl_call {
	const char *func;
	size_t count;
	const char *datatype;
	int root;
	void *stream;
	bool graph;		/* captured now, run later */
};

/* "p2pApi" */
struct nccl_p2p_call {
	const char *func;
	size_t count;
	const char *datatype;
	void *stream;
	bool graph;
};

/* "p2p" since v5: v4 has no number of channels in it */
struct nccl_p2p {
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
	void *group;
};

/* proxyOp */
struct nccl_op {
	pid_t pid;		/* of the process whose collective it is: PXN has another one's proxy thread do it */
	uint8_t channel;
	int peer;
	int steps;
	int chunk;
	int is_send;
};

/* kernelCh */
struct nccl_channel {
	uint8_t channel;
	uint64_t timer;		/* of the GPU */
};

/* ncclProfilerEventDescr_v4_t to v6_t, the beginning; of v4's type only the first byte is set */
struct nccl_event {
	union {
		uint8_t type_v4;
		uint64_t type;
	};
	void *parent;
	int rank;
	union {
		struct nccl_coll coll;
		struct nccl_call call;
		struct nccl_p2p p2p;
		struct nccl_p2p_call p2p_call;
		struct nccl_op op;
		int step;		/* proxyStep */
		struct nccl_channel kernel;
		void *align;
	};
};

/* ncclProfilerEventStateArgs_v4_t to v6_t */
union nccl_state {
	size_t size;		/* of a step */
	uint64_t timer;		/* of the GPU, for NCCL_KERNEL_CH_STOP */
};

#define NCCL_PROFILER_COMMON							\
	int (*start)(void *context, void **handle, const struct nccl_event *event);	\
	int (*stop)(void *handle);						\
	int (*state)(void *handle, int state, const union nccl_state *args);	\
	int (*finalize)(void *context)

/* ncclProfiler_v4_t */
struct nccl_profiler_v4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *comm_name, uint64_t comm,
		    int nodes, int ranks, int rank, nccl_log_t log);
	NCCL_PROFILER_COMMON;
};

/* ncclProfiler_v5_t and v6_t */
struct nccl_profiler_v5 {
	const char *name;
	int (*init)(void **context, uint64_t comm, int *mask, const char *comm_name,
		    int nodes, int ranks, int rank, nccl_log_t log);
	NCCL_PROFILER_COMMON;
};

_Static_assert(offsetof(struct nccl_event, parent) == 8, "LP64");
_Static_assert(offsetof(struct nccl_event, coll.channels) == 80, "as NCCL's compiler lays it out");
_Static_assert(offsetof(struct nccl_event, coll.group) == 104, "the same");
_Static_assert(offsetof(struct nccl_event, call.graph) == 64, "the same");
_Static_assert(offsetof(struct nccl_event, p2p.group) == 64, "the same");
_Static_assert(offsetof(struct nccl_event, p2p_call.graph) == 56, "the same");
_Static_assert(offsetof(struct nccl_event, op.is_send) == 44, "the same");
_Static_assert(offsetof(struct nccl_event, kernel.timer) == 32, "the same");

#endif /* _PROFILER_ABI_H */
