// SPDX-License-Identifier: GPL-2.0
/* inflight.c - the tables' code */
#include "impl.h"

/* Multiplicative hash (linux/hash.h): pointers and counters both spread over the top bits. */
static struct kstall_bucket *kstall_bucket(struct kstall_inflight *t,
					   struct kstall_bucket *buckets, u64 key)
{
	return &buckets[(key * GOLDEN_RATIO_64) >> t->shift];
}

/*
 * Locks the bucket of @key. Return: false if the table is not there, or if only what is in it is
 * asked for, and that is nothing. Whoever knows that a record was inserted sees it here.
 */
static __always_inline bool kstall_inflight_lock(struct kstall_inflight *t, u64 key,
						 struct kstall_slot *slot, bool filled)
{
	/* Pairs with the release in kstall_inflight_alloc(). */
	struct kstall_bucket *buckets = smp_load_acquire(&t->buckets);

	if (!buckets)
		return false;
	slot->bucket = kstall_bucket(t, buckets, key);
	if (filled && !READ_ONCE(slot->bucket->head))
		return false;
	raw_spin_lock_irqsave(&slot->bucket->lock, slot->flags);
	__release(&slot->bucket->lock);	/* for sparse, see kstall_inflight_unlock() */
	return true;
}

/* The link that points to @key's node, or the terminating one. Bucket locked. */
static u32 *kstall_inflight_link(struct kstall_inflight *t, struct kstall_bucket *b, u64 key)
{
	u32 *link = &b->head;

	while (*link && kstall_node(t, *link)->key != key)
		link = &kstall_node(t, *link)->next;
	return link;
}

/* Moves up to a batch from the depot to this CPU. Interrupts off. */
static void kstall_magazine_fill(struct kstall_inflight *t, struct kstall_magazine *mag)
{
	raw_spin_lock(&t->depot_lock);
	while (t->depot && mag->nr < KSTALL_BATCH) {
		mag->idx[mag->nr++] = t->depot;
		t->depot = kstall_node(t, t->depot)->next;
		t->depot_nr--;
	}
	t->depot_low = min(t->depot_low, t->depot_nr);
	raw_spin_unlock(&t->depot_lock);
}

/* Moves a batch from this CPU back to the depot. Interrupts off. */
static void kstall_magazine_spill(struct kstall_inflight *t, struct kstall_magazine *mag)
{
	raw_spin_lock(&t->depot_lock);
	while (mag->nr > KSTALL_BATCH) {
		u32 idx = mag->idx[--mag->nr];

		kstall_node(t, idx)->next = t->depot;
		t->depot = idx;
		t->depot_nr++;
	}
	raw_spin_unlock(&t->depot_lock);
}

/* Return: a free node's index, 0 if there is none. Interrupts off. */
static u32 kstall_node_get(struct kstall_inflight *t)
{
	struct kstall_magazine *mag = this_cpu_ptr(t->mag);

	if (unlikely(!mag->nr))
		kstall_magazine_fill(t, mag);
	if (unlikely(!mag->nr)) {
		mag->dropped++;
		mag->dropped_ns = kstall_now();
		return 0;
	}
	mag->inserted++;
	return mag->idx[--mag->nr];
}

static void kstall_node_put(struct kstall_inflight *t, u32 idx)
{
	struct kstall_magazine *mag = this_cpu_ptr(t->mag);

	if (unlikely(mag->nr == ARRAY_SIZE(mag->idx)))
		kstall_magazine_spill(t, mag);
	/* For kstall_inflight_peek(), should it stray to here. */
	WRITE_ONCE(kstall_node(t, idx)->key, 0);
	mag->idx[mag->nr++] = idx;
	mag->removed++;
}

/**
 * kstall_inflight_find_or_insert() - the record of @key, a new and zeroed one if there is none
 * @t: table
 * @key: its key
 * @now: kstall_now(), a new record's birth for ageing
 * @slot: filled on success; pass it to kstall_inflight_unlock()
 * @found: it was there before
 *
 * Context: any but NMI. On success interrupts are off until the unlock.
 * Return: false if the table is full (counted as dropped) or not allocated.
 */
bool kstall_inflight_find_or_insert(struct kstall_inflight *t, u64 key, u64 now,
				    struct kstall_slot *slot, bool *found)
{
	struct kstall_node *node;
	u32 *link, idx;

	if (!kstall_inflight_lock(t, key, slot, false))
		return false;
	link = kstall_inflight_link(t, slot->bucket, key);
	idx = *link;
	*found = idx;
	if (!idx) {
		idx = kstall_node_get(t);
		if (!idx) {
			kstall_inflight_unlock(slot);
			return false;
		}
		node = kstall_node(t, idx);
		node->next = 0;
		node->key = key;
		node->born_ns = now;
		if (!t->raw)
			memset(node->rec, 0, t->rec_size);
		/* Pairs with the acquires in kstall_inflight_peek(). */
		smp_store_release(link, idx);
	}
	slot->rec = kstall_node(t, idx)->rec;
	return true;
}

/**
 * kstall_inflight_insert() - a new record, zeroed and locked
 * @t: table
 * @key: not in use by another live object; an older record under it is overwritten
 * @now: kstall_now(), the record's birth for ageing
 * @slot: filled on success; pass it to kstall_inflight_unlock()
 *
 * Context: any but NMI. On success interrupts are off until the unlock.
 * Return: false if the table is full (counted as dropped) or not allocated.
 */
bool kstall_inflight_insert(struct kstall_inflight *t, u64 key, u64 now, struct kstall_slot *slot)
{
	bool found;

	if (!kstall_inflight_find_or_insert(t, key, now, slot, &found))
		return false;
	if (found) {
		container_of(slot->rec, struct kstall_node, rec)->born_ns = now;
		if (!t->raw)
			memset(slot->rec, 0, t->rec_size);
	}
	return true;
}

/**
 * kstall_inflight_find() - the live record of @key, locked
 * @t: table
 * @key: its key
 * @slot: filled on success; pass it to kstall_inflight_unlock()
 *
 * Context: any but NMI. On success interrupts are off until the unlock.
 * Return: false if there is none.
 */
bool kstall_inflight_find(struct kstall_inflight *t, u64 key, struct kstall_slot *slot)
{
	u32 idx;

	if (!kstall_inflight_lock(t, key, slot, true))
		return false;
	idx = *kstall_inflight_link(t, slot->bucket, key);
	if (!idx) {
		kstall_inflight_unlock(slot);
		return false;
	}
	slot->rec = kstall_node(t, idx)->rec;
	return true;
}

/* Not inline: each peek would pay for the slot on its stack. */
static noinline void *kstall_inflight_peek_locked(struct kstall_inflight *t, u64 key)
{
	struct kstall_slot slot;

	if (!kstall_inflight_find(t, key, &slot))
		return NULL;
	kstall_inflight_unlock(&slot);
	return slot.rec;
}

/**
 * kstall_inflight_peek() - the record of @key, for its only user
 * @t: table
 * @key: its key, which nobody else inserts, finds or takes meanwhile, as it is the caller's own
 *
 * No lock is taken: the caller's node stays where it is, the others of its bucket may go to
 * another one, or free, while they are passed. A search that strays is made again with the lock. A
 * record that is evicted meanwhile may be another one's when it is written to: an event may be
 * wrong in its details, nothing worse.
 *
 * Context: any but NMI, preemption disabled; the record is valid as long as it is.
 * Return: NULL if there is none.
 */
void *kstall_inflight_peek(struct kstall_inflight *t, u64 key)
{
	/* Pairs with the release in kstall_inflight_alloc(). */
	struct kstall_bucket *buckets = smp_load_acquire(&t->buckets);
	u32 idx, steps = 8;

	if (!buckets)
		return NULL;
	/* Pairs with the release in kstall_inflight_find_or_insert(). */
	idx = smp_load_acquire(&kstall_bucket(t, buckets, key)->head);
	while (idx && steps--) {
		struct kstall_node *node = kstall_node(t, idx);

		if (READ_ONCE(node->key) == key)
			return node->rec;
		/* Pairs with the release that links a node: its key and record are there. */
		idx = smp_load_acquire(&node->next);
	}
	return kstall_inflight_peek_locked(t, key);
}

/**
 * kstall_inflight_take() - remove a record
 * @t: table
 * @key: its key
 * @rec: rec_size bytes, gets a copy
 *
 * Context: any but NMI.
 * Return: false if there is none.
 */
bool kstall_inflight_take(struct kstall_inflight *t, u64 key, void *rec)
{
	struct kstall_slot slot;
	u32 *link, idx;

	if (!kstall_inflight_lock(t, key, &slot, true))
		return false;
	link = kstall_inflight_link(t, slot.bucket, key);
	idx = *link;
	if (idx) {
		struct kstall_node *node = kstall_node(t, idx);

		*link = node->next;
		memcpy(rec, node->rec, t->rec_size);
		kstall_node_put(t, idx);
	}
	kstall_inflight_unlock(&slot);
	return idx;
}

/**
 * kstall_inflight_detach() - remove a record and keep it for now
 * @t: table
 * @key: its key
 *
 * Spares the copy that kstall_inflight_take() makes.
 *
 * Context: any but NMI, preemption disabled until kstall_inflight_put() has been called.
 * Return: NULL if there is none.
 */
void *kstall_inflight_detach(struct kstall_inflight *t, u64 key)
{
	struct kstall_node *node = NULL;
	struct kstall_slot slot;
	u32 *link;

	if (!kstall_inflight_lock(t, key, &slot, true))
		return NULL;
	link = kstall_inflight_link(t, slot.bucket, key);
	if (*link) {
		node = kstall_node(t, *link);
		node->idx = *link;
		*link = node->next;
	}
	kstall_inflight_unlock(&slot);
	return node ? node->rec : NULL;
}

/* Frees a detached record. Its table is still there: preemption was never enabled. */
void kstall_inflight_put(struct kstall_inflight *t, void *rec)
{
	unsigned long flags;

	local_irq_save(flags);
	kstall_node_put(t, container_of(rec, struct kstall_node, rec[0])->idx);
	local_irq_restore(flags);
}

/**
 * kstall_inflight_erase() - remove a record and let go of it
 * @t: table
 * @key: its key
 * @slot: as insert or find filled it; no kstall_inflight_unlock() after this
 *
 * Context: any but NMI.
 */
void kstall_inflight_erase(struct kstall_inflight *t, u64 key, struct kstall_slot *slot)
{
	u32 *link = kstall_inflight_link(t, slot->bucket, key);
	u32 idx = *link;

	*link = kstall_node(t, idx)->next;
	kstall_node_put(t, idx);
	kstall_inflight_unlock(slot);
}

/* Counts an end whose beginning was not seen (begun before arming, evicted or dropped). */
void kstall_inflight_unmatched(struct kstall_inflight *t)
{
	/* Pairs with the release in kstall_inflight_alloc(). */
	if (smp_load_acquire(&t->buckets))
		this_cpu_inc(t->mag->unmatched);
}

u64 kstall_inflight_in_use(struct kstall_inflight *t)
{
	u64 removed;

	if (t->own)
		return kstall_own_in_use(t);
	/* In this order, so that what happens in between cannot make it negative. */
	removed = kstall_percpu_sum(t->mag, removed);
	return kstall_percpu_sum(t->mag, inserted) - removed;
}

/*
 * For workers: takes out one record of bucket @b that @match accepts and copies it to @rec
 * (if not NULL). Return: false when the bucket has no more such record.
 */
bool kstall_inflight_take_if(struct kstall_inflight *t, u32 b,
			     bool (*match)(const struct kstall_node *node, u64 arg),
			     u64 arg, u64 *born_ns, void *rec)
{
	struct kstall_bucket *bucket = &t->buckets[b];
	unsigned long flags;
	u32 *link, idx;

	if (!READ_ONCE(bucket->head))
		return false;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	link = &bucket->head;
	while (*link && !match(kstall_node(t, *link), arg))
		link = &kstall_node(t, *link)->next;
	idx = *link;
	if (idx) {
		struct kstall_node *node = kstall_node(t, idx);

		*link = node->next;
		*born_ns = node->born_ns;
		if (rec)
			memcpy(rec, node->rec, t->rec_size);
		kstall_node_put(t, idx);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return idx;
}

/**
 * kstall_inflight_purge() - remove all records that are not in flight any more
 * @t: table
 * @match: says whether a record is one, with its bucket locked
 * @arg: for it
 *
 * Context: kstall.tick() or kstall.update(); may sleep.
 * Return: how many they were.
 */
u64 kstall_inflight_purge(struct kstall_inflight *t,
			  bool (*match)(const struct kstall_node *node, u64 arg), u64 arg)
{
	u64 born_ns, n = 0;
	u32 b;

	if (!t->buckets || !kstall_inflight_in_use(t))
		return 0;
	for (b = 0; b < kstall_nr_buckets(t); b++) {
		while (kstall_inflight_take_if(t, b, match, arg, &born_ns, NULL))
			n++;
		cond_resched();
	}
	return n;
}

/* @table: its address, aged_ns being now. */
static bool kstall_is_lost(const struct kstall_node *node, u64 table)
{
	const struct kstall_inflight *t = (const void *)(unsigned long)table;

	return node->born_ns < t->aged_ns - t->max_age_ns && (!t->gone || t->gone(node->rec));
}

void kstall_inflight_evicted(struct kstall_inflight *t, u64 age_ns, u64 now)
{
	t->evicted++;
	t->evicted_oldest_ns = max(t->evicted_oldest_ns, age_ns);
	t->last_loss_ns = now;
}

/* Without asking each CPU: most of the time it is far from full. */
static bool kstall_inflight_runs_full(struct kstall_inflight *t)
{
	u32 limit = t->capacity / 4 * 3;

	return t->nr_nodes - READ_ONCE(t->depot_nr) >= limit &&
	       kstall_inflight_in_use(t) >= limit;
}

/*
 * Evicts records whose end has not come for long, if the table runs full. It may have been
 * missed; but the oldest may also be the stall that is looked for, so that where their owner
 * is known, the newest are refused instead. A table that stays full of what
 * is alive is not searched again at once. Worker context.
 */
void kstall_inflight_age(struct kstall_inflight *t)
{
	u64 born_ns, now = kstall_now();
	u32 b;

	if (t->buckets && t->own) {
		kstall_own_age(t);
		return;
	}
	if (!t->buckets || !t->max_age_ns || now < t->max_age_ns ||
	    now - t->aged_ns < t->max_age_ns / 16 || !kstall_inflight_runs_full(t))
		return;
	t->aged_ns = now;
	for (b = 0; b < kstall_nr_buckets(t); b++) {
		while (kstall_inflight_take_if(t, b, kstall_is_lost, (unsigned long)t, &born_ns,
					       NULL))
			kstall_inflight_evicted(t, now - born_ns, now);
		cond_resched();
	}
}

/* kstall.lock held. */
struct kstall_inflight_counts kstall_inflight_counts(const struct kstall_inflight *t)
{
	struct kstall_inflight_counts c = {
		.dropped = t->dropped,
		.unmatched = t->unmatched,
		.last_loss_ns = t->last_loss_ns,
		.high_water = t->high_water,
	};
	u64 dropped_ns;

	if (!t->mag)
		return c;
	c.dropped += kstall_percpu_sum(t->mag, dropped);
	c.unmatched += kstall_percpu_sum(t->mag, unmatched);
	/* Not inside max(): sparse has a limit to what macros expand to. */
	dropped_ns = kstall_percpu_max(t->mag, dropped_ns);
	c.last_loss_ns = max(c.last_loss_ns, dropped_ns);
	c.high_water = max(c.high_water, t->nr_nodes - t->depot_low);
	return c;
}

/* The magazines go, their counts stay. No probe uses the table any more. */
static void kstall_inflight_keep(struct kstall_inflight *t)
{
	struct kstall_inflight_counts c = kstall_inflight_counts(t);

	t->dropped = c.dropped;
	t->unmatched = c.unmatched;
	t->last_loss_ns = c.last_loss_ns;
	t->high_water = c.high_water;
}

void kstall_inflight_release(struct kstall_inflight *t, struct kstall_bucket *buckets)
{
	kvfree(buckets);
	kvfree(t->nodes);
	free_percpu(t->mag);
	t->nodes = NULL;
	t->mag = NULL;
	t->bytes = 0;
}

/* Worker context. Return: 0 or -ENOMEM, the table then is not there. */
int kstall_inflight_alloc(struct kstall_inflight *t)
{
	u32 i, nr_buckets = roundup_pow_of_two(t->capacity);
	struct kstall_bucket *buckets;

	if (t->own)
		return kstall_own_alloc(t);
	t->shift = 64 - ilog2(nr_buckets);
	t->stride = ALIGN(sizeof(struct kstall_node) + t->rec_size, sizeof(u64));
	t->nr_nodes = t->capacity + num_possible_cpus() * 2 * KSTALL_BATCH;
	/* Whoever enables the event gets the error, and the log one line, not a stack. */
	t->mag = alloc_percpu_gfp(struct kstall_magazine, GFP_KERNEL | __GFP_NOWARN);
	t->nodes = kvzalloc((size_t)(t->nr_nodes + 1) * t->stride, GFP_KERNEL | __GFP_NOWARN);
	buckets = kvcalloc(nr_buckets, sizeof(*buckets), GFP_KERNEL | __GFP_NOWARN);
	if (!t->mag || !t->nodes || !buckets) {
		kstall_inflight_release(t, buckets);
		return -ENOMEM;
	}
	for (i = 0; i < nr_buckets; i++)
		raw_spin_lock_init(&buckets[i].lock);
	raw_spin_lock_init(&t->depot_lock);
	t->depot = 0;
	for (i = t->nr_nodes; i; i--) {
		kstall_node(t, i)->next = t->depot;
		t->depot = i;
	}
	t->aged_ns = 0;
	t->depot_nr = t->nr_nodes;
	t->depot_low = t->nr_nodes;
	t->bytes = (size_t)(t->nr_nodes + 1) * t->stride + nr_buckets * sizeof(*buckets) +
		   num_possible_cpus() * sizeof(struct kstall_magazine);
	/* Pairs with the acquire in kstall_inflight_lock(). */
	smp_store_release(&t->buckets, buckets);
	return 0;
}

/*
 * Worker context. Probes of hooks that serve other events may still be looking: they run with
 * preemption disabled, so a grace period gets rid of them.
 */
void kstall_inflight_free(struct kstall_inflight *t)
{
	struct kstall_bucket *buckets = t->buckets;

	if (!buckets)
		return;
	WRITE_ONCE(t->buckets, NULL);
	synchronize_rcu();
	kstall_inflight_keep(t);
	kstall_inflight_release(t, buckets);
}
