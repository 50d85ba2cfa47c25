/* SPDX-License-Identifier: GPL-2.0 */
/* Where time can go: a state of the thread, the layer that held it, and what that did. */
#ifndef KSTALL_PART_H
#define KSTALL_PART_H

#include "base/util.h"

enum ks_state {
	KS_UNKNOWN,		/* no event of the thread yet */
	KS_ON_CPU,
	KS_CPU_WAIT,
	KS_QUOTA,
	KS_BLOCKED,
	KS_ABSENT,
	KS_NR_STATES
};

#define KS_HELD ((1 << KS_ON_CPU) | (1 << KS_BLOCKED))	/* what an interval is carved into */
#define KS_ASLEEP (1 << KS_BLOCKED)

enum ks_layer {
	KS_NONE,		/* not said yet: what is left becomes one of the next seven, or a call's */
	KS_USER,
	KS_KERNEL,
	KS_UNEXPLAINED,
	KS_SLEEP,
	KS_CPU,
	KS_QUOTA_LAYER,
	KS_ABSENT_LAYER,
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
	KS_NR_LAYERS
};

extern const char *const ks_state_name[KS_NR_STATES];
extern const char *const ks_layer_name[KS_NR_LAYERS];

/* @phase and @culprit are interned strings. */
struct ks_what {
	u8 state;
	u8 layer;
	u16 pad;
	u32 phase;
	u32 culprit;
};

struct ks_part {
	struct ks_what what;
	u64 ns;
	u64 count;
};

/* What a step adds up. Bounded: beyond KS_MAX_PARTS the culprit is no longer told apart. */
#define KS_MAX_PARTS 512

struct ks_parts {
	struct ks_part *part;
	size_t nr, room;
	u64 sum;
};

void ks_parts_add(struct ks_parts *p, struct ks_what what, u64 ns, u64 count);
void ks_parts_free(struct ks_parts *p);

/*
 * The same by state, layer and phase, the largest first; each has the culprit that has the
 * largest share of it.
 */
void ks_parts_summary(const struct ks_parts *p, struct ks_parts *out);

/* Is it something a step can be slow by: neither the program's code nor what it asked for. */
bool ks_part_is_stall(const struct ks_what *what);

/* "layer: phase"; @buf has 96 bytes. */
char *ks_part_name(char *buf, const struct ks_what *what);

#endif
