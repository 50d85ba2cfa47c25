/* SPDX-License-Identifier: GPL-2.0 */
/* NCCL's side of the profiler interface, so that a mistake in the plugin's is seen; what nccl.c and nccl_cases.c share. */
#ifndef _NCCL_H
#define _NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUP		1
#define COLL		2
#define PROXY_OP	8
#define KERNEL_CH	64
#define COLL_API	512
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
			uint8_t id;
			uint64_t timer;
		} channel;
	};
};

/* What NCCL has of a plugin, whatever the version. */
struct plugin {
	int (*start)(void *context, void **handle, struct descr *d);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, void *args);
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
void *start_channel(void *context, void *coll, int channel);
void stop_channel(void *handle);
void stop(void *handle);

int play_case(const char *name, int n);

#endif /* _NCCL_H */
