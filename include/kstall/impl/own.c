// SPDX-License-Identifier: GPL-2.0
/* own.c - what only workers do with the tables of own.h */
#include "impl.h"

/* Counts a record there was no room for. Context: preemption disabled. */
void kstall_own_drop(struct kstall_own *own)
{
	this_cpu_inc(own->table.mag->dropped);
	this_cpu_write(own->table.mag->dropped_ns, kstall_now());
}

u32 kstall_own_in_use(struct kstall_inflight *t)
{
	u32 i, n = 0;

	for (i = 0; i < t->nr_nodes; i++)
		n += !!READ_ONCE(kstall_own_nth(t, i)->key);
	t->high_water = max(t->high_water, n);
	return n;
}

/*
 * Evicts what is so old that its return must have been missed. Should it be under way all the
 * same, and its owner at it this very moment, then the owner and whoever claims the slot next
 * write one record: an event may be wrong in its details, nothing worse.
 */
void kstall_own_age(struct kstall_inflight *t)
{
	u64 now = kstall_now();
	u32 i;

	if (now < t->aged_ns + t->max_age_ns / 4)
		return;
	t->aged_ns = now;
	for (i = 0; i < t->nr_nodes; i++) {
		struct kstall_own_slot *slot = kstall_own_nth(t, i);
		/* Before the birth: that of a slot which changes hands meanwhile is 0 or new. */
		u64 key = smp_load_acquire(&slot->key);
		u64 born = READ_ONCE(slot->born_ns);

		if (!key || !born || born + t->max_age_ns > now ||
		    cmpxchg(&slot->key, key, 0) != key)
			continue;
		kstall_inflight_evicted(t, now - born, now);
	}
}

/* Worker context. Return: 0 or -ENOMEM, the table then is not there. */
int kstall_own_alloc(struct kstall_inflight *t)
{
	void *slots;

	t->capacity = roundup_pow_of_two(max(t->capacity, 8 * num_possible_cpus()));
	t->nr_nodes = t->capacity;
	t->depot_low = t->nr_nodes;
	t->shift = 64 - ilog2(t->capacity);
	t->stride = ALIGN(sizeof(struct kstall_own_slot) + t->rec_size, SMP_CACHE_BYTES);
	t->aged_ns = kstall_now();
	t->mag = alloc_percpu_gfp(struct kstall_magazine, GFP_KERNEL | __GFP_NOWARN);
	slots = kvzalloc((size_t)t->capacity * t->stride, GFP_KERNEL | __GFP_NOWARN);
	if (!t->mag || !slots) {
		kstall_inflight_release(t, slots);
		return -ENOMEM;
	}
	t->bytes = (size_t)t->capacity * t->stride +
		   num_possible_cpus() * sizeof(struct kstall_magazine);
	/* Pairs with the acquire in kstall_own_claim() and kstall_own_find(). */
	smp_store_release(&t->buckets, slots);
	return 0;
}
