/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fold.h - storms folded into two events
 *
 * The first occurrence of something is emitted at once with count=1; what follows under the
 * same key is counted, and one summary is emitted (count, first and last time) 100 ms after
 * the last, when the object dies, or when the event is disabled. A storm that does not end is
 * summed up every second, so that one sees live that it goes on. The sum of all counts is the
 * number of occurrences.
 */
#ifndef _KSTALL_FOLD_H
#define _KSTALL_FOLD_H

#include <linux/build_bug.h>

#include <kstall/inflight.h>

#define KSTALL_FOLD_QUIET_NS	(100 * NSEC_PER_MSEC)
#define KSTALL_FOLD_LONG_NS	((u64)NSEC_PER_SEC)

/**
 * struct kstall_folded - head of every folded record
 * @count: occurrences not emitted yet
 * @first_ns: when the first of them happened
 * @last_ns: when the last happened
 */
struct kstall_folded {
	u64 count;
	u64 first_ns;
	u64 last_ns;
};

/**
 * struct kstall_fold - a folded event's table
 * @table: its records. List it in the module's tables
 * @emit: emits a summary from a copy of the record; process context, no lock held
 * @any: there may be records: without it no CPU is asked, ten times a second
 *
 * Defined by KSTALL_FOLD(), which checks the records' type.
 */
struct kstall_fold {
	struct kstall_inflight table;
	void (*emit)(const struct kstall_folded *folded);
	bool any;
};

/* Largest folded record: summaries are copied to the worker's stack. */
#define KSTALL_FOLD_MAX_REC	192

/* @_capacity records of type @_rec, which begins with its struct kstall_folded, folded. */
#define KSTALL_FOLD(_name, _capacity, _rec, _emit)			\
	{ .table = { .name = (_name), .capacity = (_capacity),		\
		     .rec_size = sizeof(_rec) +				\
				 BUILD_BUG_ON_ZERO(sizeof(_rec) > KSTALL_FOLD_MAX_REC) + \
				 BUILD_BUG_ON_ZERO(offsetof(_rec, folded)) }, \
	  .emit = (_emit) }

bool kstall_fold_hit(struct kstall_fold *fold, u64 key, u64 now, struct kstall_slot *slot);
bool kstall_fold_add(struct kstall_fold *fold, u64 key, u64 now, struct kstall_slot *slot);
void kstall_fold_end(struct kstall_fold *fold, u64 key);

#endif /* _KSTALL_FOLD_H */
