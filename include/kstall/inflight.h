/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inflight.h - start records for pairs that begin and end in different places
 *
 * A chained hash of preallocated nodes: key (pointer or 64-bit id) -> record of fixed size.
 * Insert, find and take are O(1) and may be called in any context but NMI, hardirq included;
 * a bucket is protected by a raw spinlock with interrupts off, so they work on PREEMPT_RT.
 * Free nodes are kept per CPU and refilled in batches, so that a pair costs two locked
 * instructions (its bucket's, twice) and writes no line shared between CPUs but the bucket
 * and the node.
 *
 * Never emit an event between kstall_inflight_insert()/find() and kstall_inflight_unlock():
 * a BPF program may run inside it and come back here. Copy the record out first, as
 * kstall_inflight_take() does.
 *
 * Memory is allocated by the worker when the first event that names the table is enabled
 * and freed after the last; in between a hook that serves another event may find the table
 * not there: every call then does nothing.
 */
#ifndef _KSTALL_INFLIGHT_H
#define _KSTALL_INFLIGHT_H

#include <linux/hash.h>
#include <linux/spinlock.h>

#include <kstall/kstall.h>

#define KSTALL_BATCH	16

/* A start record; index 0 of the node array is the list terminator and never used. */
struct kstall_node {
	u32 next;
	u32 idx;	/* its own */
	u64 key;
	u64 born_ns;
	u8 rec[];
};

struct kstall_bucket {
	raw_spinlock_t lock;
	u32 head;
};

/*
 * Free nodes of one CPU, and its counters. Only its CPU writes it, with interrupts off. It goes
 * with the table; what it has counted is kept, see kstall_inflight_keep().
 */
struct kstall_magazine {
	u32 nr;
	u32 idx[2 * KSTALL_BATCH];
	u64 inserted;
	u64 removed;
	u64 dropped;
	u64 unmatched;
	u64 dropped_ns;
};

/**
 * struct kstall_inflight - a table
 * @name: its name in the status file
 * @capacity: records it holds without fail, at least 2
 * @rec_size: bytes of a record
 * @raw: a new record is not zeroed, but filled by the caller that inserts it
 * @max_age_ns: when the table is more than three quarters full, records older than this are
 *	evicted, and counted: their end was missed, or is still to come and then unmatched; 0:
 *	never, for what may be under way for any time, or goes with its owner
 * @gone: of records that live as long as an object of a task's: has that task ended? Only then
 *	are they evicted. Bucket locked; NULL: age is all that counts
 * @own: it is a &struct kstall_own, and not for the functions below
 * @failed: there was no memory for it, and the log says so
 * @dropped: records there was no room for, in former allocations
 * @unmatched: ends whose beginning was not seen, in former allocations
 * @evicted: records evicted since the module was loaded
 * @evicted_oldest_ns: age of the oldest of them
 * @last_loss_ns: when one was last evicted or, in a former allocation, dropped; 0: never
 * @high_water: most of the nodes that were out at a time, in former allocations
 * @buckets: NULL while not allocated
 * @shift: 64 - log2(number of buckets)
 * @nodes: all records, by index
 * @stride: bytes of a node
 * @nr_nodes: nodes, with what the CPUs' magazines may hold back
 * @mag: per-CPU free lists
 * @depot_lock: protects the common free list
 * @depot: first free node of it
 * @depot_nr: their number
 * @depot_low: the lowest it has been
 * @bytes: memory held
 * @aged_ns: when it was last looked for what is too old, 0: never
 */
struct kstall_inflight {
	const char *name;
	u32 capacity;
	u32 rec_size;
	bool raw;
	u64 max_age_ns;
	bool (*gone)(const void *rec);
	bool own;

	bool failed;
	u64 dropped;
	u64 unmatched;
	u64 evicted;
	u64 evicted_oldest_ns;
	u64 last_loss_ns;
	u32 high_water;

	struct kstall_bucket *buckets;
	u32 shift;
	void *nodes;
	u32 stride;
	u32 nr_nodes;
	struct kstall_magazine __percpu *mag;
	raw_spinlock_t depot_lock;
	u32 depot;
	u32 depot_nr;
	u32 depot_low;
	size_t bytes;
	u64 aged_ns;
};

/**
 * struct kstall_slot - a record held under its bucket's lock
 * @rec: the record
 * @bucket: locked, with interrupts off
 * @flags: interrupt state to restore
 */
struct kstall_slot {
	void *rec;
	struct kstall_bucket *bucket;
	unsigned long flags;
};

bool kstall_inflight_insert(struct kstall_inflight *t, u64 key, u64 now, struct kstall_slot *slot);
bool kstall_inflight_find(struct kstall_inflight *t, u64 key, struct kstall_slot *slot);
bool kstall_inflight_find_or_insert(struct kstall_inflight *t, u64 key, u64 now,
				    struct kstall_slot *slot, bool *found);
void *kstall_inflight_peek(struct kstall_inflight *t, u64 key);
bool kstall_inflight_take(struct kstall_inflight *t, u64 key, void *rec);
void *kstall_inflight_detach(struct kstall_inflight *t, u64 key);
void kstall_inflight_put(struct kstall_inflight *t, void *rec);
void kstall_inflight_erase(struct kstall_inflight *t, u64 key, struct kstall_slot *slot);
void kstall_inflight_unmatched(struct kstall_inflight *t);
u64 kstall_inflight_purge(struct kstall_inflight *t,
			  bool (*match)(const struct kstall_node *node, u64 arg), u64 arg);

/*
 * Lets go of a record that insert or find returned. sparse cannot follow a lock that is taken
 * on one of two outcomes: to it none is held in between.
 */
static inline void kstall_inflight_unlock(struct kstall_slot *slot)
{
	__acquire(&slot->bucket->lock);
	raw_spin_unlock_irqrestore(&slot->bucket->lock, slot->flags);
}

#endif /* _KSTALL_INFLIGHT_H */
