/* SPDX-License-Identifier: GPL-2.0 */
/* Where time can go: a state of the thread, the layer that held it, and what that did. */
#ifndef KSTALL_PART_H
#define KSTALL_PART_H

#include "base/util.h"

enum ks_state {
	KS_UNKNOWN,		/* no event has said what the thread does */
	KS_ON_CPU,
	KS_CPU_WAIT,
	KS_QUOTA,
	KS_BLOCKED,
	KS_ABSENT,
	KS_COLLECTIVE,		/* no thread's time, but a collective's */
	KS_NR_STATES
};

#define KS_HELD ((1 << KS_ON_CPU) | (1 << KS_BLOCKED))	/* what an interval is carved into */
#define KS_ASLEEP (1 << KS_BLOCKED)
#define KS_MEASURED (KS_HELD | 1 << KS_UNKNOWN)	/* ... that the thread itself has measured, whatever else is known */

enum ks_layer {
	KS_NONE,		/* not said yet: what is left becomes one of the next nine, or a call's */
	KS_USER,
	KS_KERNEL,
	KS_UNEXPLAINED,
	KS_SLEEP,
	KS_EXIT,
	KS_CPU,
	KS_QUOTA_LAYER,
	KS_ABSENT_LAYER,
	KS_UNKNOWN_LAYER,
	KS_FENCE,
	KS_GPU_SUBMIT,
	KS_TTM,
	KS_IO_URING,
	KS_IO_URING_SQ,
	KS_DISK,
	KS_WRITEBACK,
	KS_DIRTY_THROTTLE,
	KS_NOTIFIER,
	KS_MIGRATION,
	KS_COMPACTION,
	KS_HUGE_PAGE,
	KS_PIN,
	KS_TLB,
	KS_DMA_MAP,
	KS_IOMMU,
	KS_RDMA,
	KS_MR_REG,
	KS_ODP,
	KS_NVIDIA,
	KS_UVM,
	KS_KFD,
	KS_UVERBS,
	KS_LOCK,
	KS_RECLAIM,
	KS_GPU_WAIT,
	KS_COPY,
	KS_GPU_MEM,
	KS_GPU_LOAD,
	KS_GPU_GRAPH,
	KS_GPU_LAUNCH,
	KS_GPU_INIT,
	KS_NCCL,
	KS_NR_LAYERS
};

extern const char *const ks_state_name[KS_NR_STATES];
extern const char *const ks_layer_name[KS_NR_LAYERS];

#define KS_VALUES 5

/* How culprits of a kind are called: "{dev}" is the value of that name, "{n}" how many culprits there are. */
struct ks_form {
	const char *one;
	const char *many;	/* of several that have the shared values in common; NULL: they have no name */
	u8 shared;		/* bit N: value N is one that they have in common */
	const char *value[KS_VALUES];	/* their names */
};

/*
 * What a time was spent with, as numbers: a name is made when a step is printed, or each fence would
 * leave one behind.
 */
struct ks_culprit {
	const struct ks_form *form;	/* NULL: there is none */
	u32 many;		/* 0: one; else so many, of which only the shared values are there */
	u32 strings;		/* bit N: value N is an interned string */
	u64 v[KS_VALUES];
};

#define KS_HOPS 3

/* The sleep was ended by a thread of the same job: by which, and by which that one's was. */
struct ks_via {
	u32 call;		/* in which the sleep was, interned */
	u32 nr;			/* of hops; 0: not so; more than KS_HOPS: the last are left out */
	struct {
		u32 comm;
		s32 tid;	/* 0: any of this name */
	} hop[KS_HOPS];
};

/* @phase is an interned string. */
struct ks_what {
	u8 state;
	u8 layer;
	u16 pad;
	u32 phase;
	struct ks_via via;
	struct ks_culprit culprit;
};

struct ks_part {
	struct ks_what what;
	u64 ns;
	u64 count;		/* how often it began: the thread's time before that was another part */
};

/*
 * What a step adds up. Bounded: from KS_MAX_PARTS on culprits are named by what they have in common,
 * then no longer, then phases neither.
 */
#define KS_MAX_PARTS 512

struct ks_parts {
	struct ks_part *part;
	size_t nr, room;
	u16 *slot;		/* of many parts: where each is */
};

void ks_parts_add(struct ks_parts *p, struct ks_what what, u64 ns, u64 count);
void ks_parts_free(struct ks_parts *p);

/*
 * The same by state, layer, phase and via, the largest first; each has the culprit that has the
 * largest share of it.
 */
void ks_parts_summary(const struct ks_parts *p, struct ks_parts *out);

/* State, layer, phase and via: what has the same name. */
bool ks_same_name(const struct ks_what *a, const struct ks_what *b);

/* ... and the same culprit */
bool ks_same_part(const struct ks_what *a, const struct ks_what *b);

/* Without numbers of threads: what can be compared with another recording. */
void ks_via_any(struct ks_what *what);

/* Is it something a step can be slow by: neither the program's code nor what it asked for, nor a collective's own work. */
bool ks_part_is_stall(const struct ks_what *what);

#define KS_TEXT 256		/* bytes that the texts below have room for */

/* "layer: phase", "call ← comm/tid: layer: phase" */
char *ks_part_name(char *buf, const struct ks_what *what);

/* "call ← comm/tid"; "" if there is none */
char *ks_via_text(char *buf, const struct ks_via *via);

/* "" if there is none. */
char *ks_culprit_text(char *buf, const struct ks_culprit *c);

struct ks_culprit ks_named(const char *name);
struct ks_culprit ks_task(const char *comm, s32 tid);

#endif
