/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fold.h - storms folded into two events
 *
 * The first occurrence of something is emitted at once with count=1; what follows under the
 * same key is counted, and one summary is emitted (count, first and last time) 100 ms after
 * the last, when the object dies, or when the event is disabled. A storm that does not end is
 * summed up every 10 s, so that who watches live sees it go on. The sum of all counts is the
 * number of occurrences.
 */
#ifndef _KSTALL_FOLD_H
#define _KSTALL_FOLD_H

#include <kstall/inflight.h>

#define KSTALL_FOLD_QUIET_NS	(100 * NSEC_PER_MSEC)
#define KSTALL_FOLD_LONG_NS	(10 * (u64)NSEC_PER_SEC)

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
 * @table: its records; they begin with struct kstall_folded. List it in the module's tables
 * @emit: emits a summary from a copy of the record; process context, no lock held
 */
struct kstall_fold {
	struct kstall_inflight table;
	void (*emit)(const struct kstall_folded *folded);
};

/* Largest folded record: summaries are copied to the worker's stack. */
#define KSTALL_FOLD_MAX_REC	192

bool kstall_fold_hit(struct kstall_fold *fold, u64 key, u64 now, struct kstall_slot *slot);
bool kstall_fold_add(struct kstall_fold *fold, u64 key, u64 now, struct kstall_slot *slot);
void kstall_fold_end(struct kstall_fold *fold, u64 key);

#ifdef KSTALL_MAIN

/**
 * kstall_fold_hit() - something happened
 * @fold: table
 * @key: whose
 * @now: kstall_now()
 * @slot: filled if the occurrence was folded: @slot->rec may be written (identity and other
 *	fields of the summary), then kstall_inflight_unlock()
 *
 * Context: any but NMI.
 * Return: true if it was folded, false if the caller shall emit it now with count=1: it is
 * the first, or the table is full.
 */
bool kstall_fold_hit(struct kstall_fold *fold, u64 key, u64 now, struct kstall_slot *slot)
{
	struct kstall_folded *f;
	bool found;

	/* At once: whoever looks first and inserts later overwrites what others counted. */
	if (!kstall_inflight_find_or_insert(&fold->table, key, now, slot, &found))
		return false;
	f = slot->rec;
	if (!found) {
		f->last_ns = now;
		kstall_inflight_unlock(slot);
		return false;
	}
	if (!f->count++)
		f->first_ns = now;
	f->last_ns = now;
	return true;
}

/**
 * kstall_fold_add() - something happened that shall not be emitted by itself
 * @fold: table
 * @key: whose
 * @now: kstall_now()
 * @slot: filled on success, see kstall_fold_hit()
 *
 * As kstall_fold_hit(), but the first is folded too: for a caller that has a rate of its own up
 * to which it emits one by one.
 *
 * Context: any but NMI.
 * Return: false if the table is full and the caller shall emit it after all.
 */
bool kstall_fold_add(struct kstall_fold *fold, u64 key, u64 now, struct kstall_slot *slot)
{
	struct kstall_folded *f;
	bool found;

	if (!kstall_inflight_find_or_insert(&fold->table, key, now, slot, &found))
		return false;
	f = slot->rec;
	if (!f->count++)
		f->first_ns = now;
	f->last_ns = now;
	return true;
}

static void kstall_fold_emit(struct kstall_fold *fold, const void *rec)
{
	const struct kstall_folded *f = rec;

	if (f->count)
		fold->emit(f);
}

/**
 * kstall_fold_end() - the object is going: emit what is left of its storm
 * @fold: table
 * @key: the object
 *
 * Context: any in which the event may be emitted, no table lock held.
 */
void kstall_fold_end(struct kstall_fold *fold, u64 key)
{
	u64 rec[KSTALL_FOLD_MAX_REC / sizeof(u64)];

	if (kstall_inflight_take(&fold->table, key, rec))
		kstall_fold_emit(fold, rec);
}

static bool kstall_fold_due(const struct kstall_node *node, u64 now)
{
	const struct kstall_folded *f = (const void *)node->rec;

	return f->last_ns + KSTALL_FOLD_QUIET_NS <= now ||
	       node->born_ns + KSTALL_FOLD_LONG_NS <= now;
}

/* Emits the summaries that are due at @now; U64_MAX: all. May sleep. */
static void kstall_fold_sweep(struct kstall_fold *fold, u64 now)
{
	u64 rec[KSTALL_FOLD_MAX_REC / sizeof(u64)];
	u64 born_ns;
	u32 b;

	if (!fold->table.buckets || !kstall_inflight_in_use(&fold->table))
		return;
	for (b = 0; b < kstall_nr_buckets(&fold->table); b++) {
		while (kstall_inflight_take_if(&fold->table, b, kstall_fold_due, now, &born_ns,
					       rec))
			kstall_fold_emit(fold, rec);
		cond_resched();
	}
}
#endif /* KSTALL_MAIN */

#endif /* _KSTALL_FOLD_H */
