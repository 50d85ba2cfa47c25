/* SPDX-License-Identifier: GPL-2.0 */
/* Streams of records, each in order of time (a CPU's buffer), merged into one. */
#ifndef KSTALL_MERGE_H
#define KSTALL_MERGE_H

#include "base/util.h"

struct ks_record {
	u64 ts;
	int cpu;
	const void *data;
	u32 size;
	u64 missed;		/* records are missing before this one; 0: none */
	bool own;		/* from a buffer that only kstall reads */
};

struct ks_stream {
	/* The next record, or false: there is none (now). What it returned before may go. */
	bool (*next)(struct ks_stream *s, struct ks_record *r);
	u64 last;		/* time of the last record that was taken */
	int order;		/* of two records at the same time, that of the lower one comes first */
	struct ks_record head;
	bool has_head;
};

struct ks_merge {
	struct ks_stream **heap;
	size_t nr, room;
	/* records are missing between two times */
	void (*lost)(void *priv, u64 from, u64 to, u64 nr);
	void *priv;
};

/* Takes the stream in, if it has a record. */
void ks_merge_add(struct ks_merge *m, struct ks_stream *s);

/*
 * The oldest record, not later than @until. It is valid until the next call. A stream that has
 * run dry leaves and has to be added again.
 */
bool ks_merge_next(struct ks_merge *m, u64 until, struct ks_record *r);

#endif
