// SPDX-License-Identifier: GPL-2.0
/* fold.c - what fold.h declares, and the worker's part of it */
#include "impl.h"

/* After a record was inserted. */
static void kstall_fold_note(struct kstall_fold *fold)
{
	/* Pairs with the xchg() in kstall_fold_sweep(): it sees the record, or we what it wrote. */
	smp_mb();
	if (!READ_ONCE(fold->any))
		WRITE_ONCE(fold->any, true);
}

/**
 * kstall_fold_hit() - something happened
 * @fold: table
 * @key: the record's
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
		kstall_fold_note(fold);
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
 * @key: the record's
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
	if (!found)
		kstall_fold_note(fold);
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
void kstall_fold_sweep(struct kstall_fold *fold, u64 now)
{
	u64 rec[KSTALL_FOLD_MAX_REC / sizeof(u64)];
	u64 born_ns;
	u32 b;

	/* An insertion after this sets it again. */
	if (!fold->table.buckets || !xchg(&fold->any, false))
		return;
	for (b = 0; b < kstall_nr_buckets(&fold->table); b++) {
		while (kstall_inflight_take_if(&fold->table, b, kstall_fold_due, now, &born_ns,
					       rec))
			kstall_fold_emit(fold, rec);
		cond_resched();
	}
	if (kstall_inflight_in_use(&fold->table))
		kstall_fold_note(fold);
}
