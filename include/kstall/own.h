/* SPDX-License-Identifier: GPL-2.0 */
/*
 * own.h - what a context knows of the call it is in: records that no other context looks up
 *
 * A call's probes, and those of what it calls, run one after the other in one context: a task, or
 * an interrupt of a level on top of it. A record that only they want needs no lock: it is in an
 * array of cache lines, open addressed by the context, claimed by one cmpxchg and from then on
 * read, written and released by its context alone.
 *
 * A record is looked for in KSTALL_OWN_PROBES places; if all are others', it is dropped and
 * counted. One whose call's return was missed is found again by its context's next claim, or is
 * evicted by age, and counted: it is older than max_age_ns, which no call may be.
 *
 * It is one of the module's tables (inflight.h): allocated, freed and shown as they are, but
 * high_water is the most that were seen in use at a look.
 */
#ifndef _KSTALL_OWN_H
#define _KSTALL_OWN_H

#include <linux/sched.h>

#include <kstall/inflight.h>

#define KSTALL_OWN_PROBES	8

/**
 * struct kstall_own - a table of such records
 * @table: as others are; see KSTALL_OWN()
 */
struct kstall_own {
	struct kstall_inflight table;
};

/* @_capacity records at least, or 8 a CPU, of @_size bytes; no call takes @_max_age_ns. */
#define KSTALL_OWN(_name, _capacity, _size, _max_age_ns)		\
	{ .table = { .name = (_name), .capacity = (_capacity), .rec_size = (_size), \
		     .max_age_ns = (_max_age_ns), .own = true } }

/* @born_ns is 0 while the slot is free, or not quite its new owner's yet. */
struct kstall_own_slot {
	u64 key;
	u64 born_ns;
	u8 rec[];
};

/* Tasks are aligned: the lowest bits are of the interrupts on top of them. */
static inline u64 kstall_own_key(void)
{
	return (unsigned long)current | kstall_level();
}

static __always_inline struct kstall_own_slot *
kstall_own_slot(const struct kstall_inflight *t, void *slots, u64 key, unsigned int probe)
{
	u32 i = ((key * GOLDEN_RATIO_64) >> t->shift) + probe;

	return slots + (size_t)(i & (t->nr_nodes - 1)) * t->stride;
}

void kstall_own_drop(struct kstall_own *own);

/**
 * kstall_own_claim() - a new record of this context, to be filled at once
 * @own: table
 * @now: kstall_now(), its birth
 *
 * What this context had before is a call whose return was missed: it is overwritten.
 *
 * Context: any, preemption disabled; the record is valid as long as it is.
 * Return: NULL if there is no room (counted as dropped) or the table is not allocated.
 */
static __always_inline void *kstall_own_claim(struct kstall_own *own, u64 now)
{
	struct kstall_inflight *t = &own->table;
	/* Pairs with the release in kstall_own_alloc(). */
	void *slots = smp_load_acquire(&t->buckets);
	struct kstall_own_slot *slot;
	u64 key = kstall_own_key();
	unsigned int i;
	u64 has;

	if (unlikely(!slots))
		return NULL;
	for (i = 0; i < KSTALL_OWN_PROBES; i++) {
		slot = kstall_own_slot(t, slots, key, i);
		has = READ_ONCE(slot->key);
		if (has == key || (!has && !cmpxchg(&slot->key, 0, key))) {
			WRITE_ONCE(slot->born_ns, now);
			return slot->rec;
		}
	}
	kstall_own_drop(own);
	return NULL;
}

/**
 * kstall_own_find() - the record of this context
 * @own: table
 *
 * Context: any, preemption disabled; the record is valid as long as it is.
 * Return: NULL if there is none.
 */
static __always_inline void *kstall_own_find(struct kstall_own *own)
{
	struct kstall_inflight *t = &own->table;
	/* Pairs with the release in kstall_own_alloc(). */
	void *slots = smp_load_acquire(&t->buckets);
	struct kstall_own_slot *slot;
	u64 key = kstall_own_key();
	unsigned int i;

	if (unlikely(!slots))
		return NULL;
	for (i = 0; i < KSTALL_OWN_PROBES; i++) {
		slot = kstall_own_slot(t, slots, key, i);
		if (READ_ONCE(slot->key) == key)
			return slot->rec;
	}
	return NULL;
}

/**
 * kstall_own_release() - the call ends
 * @rec: this context's record, as found; not to be touched after this
 *
 * Context: as kstall_own_find(), without enabling preemption in between.
 */
static __always_inline void kstall_own_release(void *rec)
{
	struct kstall_own_slot *slot = container_of(rec, struct kstall_own_slot, rec[0]);

	WRITE_ONCE(slot->born_ns, 0);
	/* Whoever claims it next has all of the above behind it. */
	smp_store_release(&slot->key, 0);
}

#endif /* _KSTALL_OWN_H */
