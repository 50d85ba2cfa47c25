/* SPDX-License-Identifier: GPL-2.0 */
/* kstall_test_unit.h - tests of tables and folding that need no hooks; part of main.c */

#include <linux/bitmap.h>
#include <linux/kthread.h>
#include <linux/smp.h>

#include <kstall/impl/impl.h>

struct ut {
	struct seq_file *m;
	unsigned int nr;
};

static void ut_check(struct ut *ut, bool good, const char *what)
{
	seq_printf(ut->m, "%sok %u - %s\n", good ? "" : "not ", ++ut->nr, what);
}

#define ut_eq(_ut, _got, _want, _what)					\
do {									\
	u64 __got = (_got), __want = (_want);				\
									\
	ut_check(_ut, __got == __want, _what);				\
	if (__got != __want)						\
		seq_printf((_ut)->m, "# got %llu, want %llu\n", __got, __want); \
} while (0)

/* ---- a table and its calls as probes make them: with preemption disabled ---- */

struct ut_rec {
	u64 a;
	u64 b;
};

static bool ut_insert(struct kstall_inflight *t, u64 key, u64 value)
{
	struct kstall_slot slot;
	struct ut_rec *rec;
	bool good;

	preempt_disable();
	good = kstall_inflight_insert(t, key, kstall_now(), &slot);
	if (good) {
		rec = slot.rec;
		good = !rec->a && !rec->b;	/* a record begins zeroed */
		rec->a = value;
		rec->b = ~value;
		kstall_inflight_unlock(&slot);
	}
	preempt_enable();
	return good;
}

/* Is there a record of @key, and is it what was put there? */
static bool ut_take(struct kstall_inflight *t, u64 key, u64 value)
{
	struct ut_rec rec = {};
	bool found;

	preempt_disable();
	found = kstall_inflight_take(t, key, &rec);
	preempt_enable();
	return found && rec.a == value && rec.b == ~value;
}

static bool ut_add(struct kstall_inflight *t, u64 key)
{
	struct kstall_slot slot;
	bool found;

	preempt_disable();
	found = kstall_inflight_find(t, key, &slot);
	if (found) {
		((struct ut_rec *)slot.rec)->a++;
		kstall_inflight_unlock(&slot);
	}
	preempt_enable();
	return found;
}

/* Every node of an idle table is in exactly one place, and the counters know how many are where. */
static bool ut_intact(struct kstall_inflight *t)
{
	unsigned long *seen = bitmap_zalloc(t->nr_nodes + 1, GFP_KERNEL);
	u32 i, b, idx, depot = 0, used = 0, twice = 0, all = 0;
	int cpu;

	if (!seen)
		return false;
	for (idx = t->depot; idx && depot <= t->nr_nodes; idx = kstall_node(t, idx)->next, depot++)
		twice += test_and_set_bit(idx, seen);
	for_each_possible_cpu(cpu) {
		struct kstall_magazine *mag = per_cpu_ptr(t->mag, cpu);

		for (i = 0; i < mag->nr; i++)
			twice += test_and_set_bit(mag->idx[i], seen);
	}
	for (b = 0; b < kstall_nr_buckets(t); b++) {
		for (idx = t->buckets[b].head; idx && used <= t->nr_nodes;
		     idx = kstall_node(t, idx)->next, used++)
			twice += test_and_set_bit(idx, seen);
	}
	all = bitmap_weight(seen, t->nr_nodes + 1);
	bitmap_free(seen);
	return !twice && all == t->nr_nodes && depot == t->depot_nr &&
	       used == kstall_inflight_in_use(t);
}

#define UT_TABLE(_name, _capacity, ...)					\
	struct kstall_inflight _name = {				\
		.name = #_name, .capacity = (_capacity),		\
		.rec_size = sizeof(struct ut_rec), __VA_ARGS__		\
	}

/* ---- one after the other ---- */

static void ut_basics(struct ut *ut)
{
	UT_TABLE(t, 64);

	ut_check(ut, !ut_insert(&t, 1, 1) && !ut_add(&t, 1) && !ut_take(&t, 1, 1),
		 "table: not allocated, every call does nothing");
	if (kstall_inflight_alloc(&t)) {
		ut_check(ut, false, "table: allocated");
		return;
	}
	ut_check(ut, ut_insert(&t, 7, 70) && ut_insert(&t, 0, 1) && ut_insert(&t, U64_MAX, 2),
		 "table: insert, any key");
	ut_check(ut, ut_add(&t, 0) && !ut_add(&t, 8), "table: find what is there and no more");
	ut_check(ut, ut_insert(&t, 7, 71) && kstall_inflight_in_use(&t) == 3,
		 "table: the same key again overwrites, zeroed");
	ut_check(ut, ut_take(&t, 7, 71) && !ut_take(&t, 7, 71) && !ut_add(&t, 7),
		 "table: take removes");
	ut_check(ut, ut_take(&t, U64_MAX, 2) && ut_intact(&t), "table: the others are untouched");
	preempt_disable();
	kstall_inflight_unmatched(&t);
	preempt_enable();
	ut_eq(ut, kstall_inflight_counts(&t).unmatched, 1, "table: unmatched ends are counted");
	kstall_inflight_free(&t);
	ut_eq(ut, kstall_inflight_counts(&t).unmatched, 1, "table: freed, they stay counted");
	ut_check(ut, !t.bytes && !ut_insert(&t, 1, 1) && !ut_take(&t, 0, 1),
		 "table: freed, every call does nothing");
}

/* In hardirq context of another CPU: leaves as many nodes there as a CPU can hold back. */
static void ut_hold_back(void *data)
{
	struct kstall_inflight *t = data;
	u64 i;

	for (i = 0; i < 2 * KSTALL_BATCH; i++)
		ut_insert(t, (u64)1 << 32 | i, i);
	for (i = 0; i < 2 * KSTALL_BATCH; i++)
		ut_take(t, (u64)1 << 32 | i, i);
}

static u32 ut_fill(struct kstall_inflight *t)
{
	u32 n = 0;

	while (n <= t->nr_nodes && ut_insert(t, n, 3 * n))
		n++;
	return n;
}

static void ut_full(struct ut *ut)
{
	UT_TABLE(t, 100);
	u32 i, n, good = 0;
	u64 dropped, ns, before = kstall_now();
	int cpu;

	if (kstall_inflight_alloc(&t)) {
		ut_check(ut, false, "full: allocated");
		return;
	}
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, ut_hold_back, &t, 1);
	n = ut_fill(&t);
	ut_check(ut, n >= 100 && n <= t.nr_nodes, "full: holds its capacity, other CPUs or not");
	for (i = 0; i < 10; i++)
		ut_insert(&t, n + 1 + i, 0);
	/* The task may have moved to a CPU that still had some: then fewer were refused. */
	ut_eq(ut, kstall_percpu_sum(t.mag, dropped) + kstall_inflight_in_use(&t), n + 11,
	      "full: what it has no room for is refused and counted");
	ut_check(ut, ut_insert(&t, 5, 15), "full: a known key still has its place");
	for (i = 0; i < n; i++)
		good += ut_take(&t, i, 3 * i);
	ut_eq(ut, good, n, "full: what it holds is unharmed");
	for (i = 0; i < 10; i++)
		ut_take(&t, n + 1 + i, 0);
	ut_check(ut, !kstall_inflight_in_use(&t) && ut_intact(&t), "full: emptied, none is lost");
	ut_check(ut, ut_fill(&t) >= 100, "full: holds its capacity again");
	dropped = kstall_inflight_counts(&t).dropped;
	ns = kstall_inflight_counts(&t).last_loss_ns;
	ut_check(ut, ns >= before && ns <= kstall_now(), "full: when it last refused one is known");
	kstall_inflight_free(&t);
	ut_check(ut, dropped && kstall_inflight_counts(&t).dropped == dropped &&
		 kstall_inflight_counts(&t).last_loss_ns == ns,
		 "full: freed, what it refused stays counted");
	if (kstall_inflight_alloc(&t)) {
		ut_check(ut, false, "full: allocated again");
		return;
	}
	ut_check(ut, ut_fill(&t) >= 100 &&
		 kstall_inflight_counts(&t).dropped >= dropped + 1 &&
		 kstall_inflight_counts(&t).high_water == t.nr_nodes,
		 "full: allocated again, it counts on");
	kstall_inflight_free(&t);
}

static void ut_insert_born(struct kstall_inflight *t, u64 key, u64 born)
{
	struct kstall_slot slot;

	preempt_disable();
	if (kstall_inflight_insert(t, key, born, &slot))
		kstall_inflight_unlock(&slot);
	preempt_enable();
}

static bool ut_is_even(const void *rec)
{
	return !(container_of(rec, struct kstall_node, rec[0])->key & 1);
}

static void ut_age(struct ut *ut)
{
	UT_TABLE(t, 64, .max_age_ns = 1);
	u64 key, before;

	if (kstall_inflight_alloc(&t)) {
		ut_check(ut, false, "age: allocated");
		return;
	}
	before = kstall_now();
	for (key = 0; key < 40; key++)
		ut_insert_born(&t, key, key);
	kstall_inflight_age(&t);
	ut_eq(ut, kstall_inflight_in_use(&t), 40, "age: with room left nothing is evicted");
	for (; key < 50; key++)
		ut_insert_born(&t, key, U64_MAX);
	t.max_age_ns = 0;
	kstall_inflight_age(&t);
	ut_eq(ut, kstall_inflight_in_use(&t), 50, "age: without an age nothing is evicted");
	t.max_age_ns = 1;
	kstall_inflight_age(&t);
	ut_check(ut, kstall_inflight_in_use(&t) == 10 && ut_add(&t, 40) && ut_add(&t, 49),
		 "age: running full, the old go and the young stay");
	ut_eq(ut, t.evicted, 40, "age: evictions are counted");
	ut_check(ut, t.last_loss_ns >= before && t.last_loss_ns <= kstall_now(),
		 "age: when the last was evicted is known");
	ut_eq(ut, t.evicted_oldest_ns, t.last_loss_ns, "age: and how old the oldest was");
	ut_check(ut, ut_intact(&t), "age: no node is lost");
	for (key = 100; key < 140; key++)
		ut_insert_born(&t, key, before);
	t.max_age_ns = kstall_now() / 2;
	t.aged_ns = 0;
	kstall_inflight_age(&t);
	ut_check(ut, kstall_inflight_in_use(&t) == 50 && t.aged_ns >= before,
		 "age: full of young records, it has been searched");
	ut_insert_born(&t, 200, 1);
	kstall_inflight_age(&t);
	ut_check(ut, ut_add(&t, 200), "age: and is not at once again");
	t.aged_ns -= t.max_age_ns / 16 + 1;
	kstall_inflight_age(&t);
	ut_check(ut, !ut_add(&t, 200) && kstall_inflight_in_use(&t) == 50,
		 "age: but some time after");
	t.gone = ut_is_even;
	t.max_age_ns = 1;
	t.aged_ns = 0;
	kstall_inflight_age(&t);
	ut_eq(ut, t.evicted, 61, "age: of those whose owner is known, only whose has ended");
	kstall_inflight_free(&t);
	ut_eq(ut, t.evicted, 61, "age: freed, they stay counted");
}

static void ut_delta(struct ut *ut)
{
	u64 clamped = kstall_percpu_sum(kstall.clamped, value);
	u64 forward, back;

	preempt_disable();
	forward = kstall_delta(100, 58);
	back = kstall_delta(58, 100);
	preempt_enable();
	ut_check(ut, forward == 42 && !back, "delta: a difference, never negative");
	ut_check(ut, kstall_percpu_sum(kstall.clamped, value) > clamped, "delta: and counted");
}

/* ---- folding ---- */

static struct {
	atomic64_t sum;
	atomic64_t nr;
	u64 first, last;
} ut_emitted;

static void ut_fold_emit(const struct kstall_folded *folded)
{
	atomic64_add(folded->count, &ut_emitted.sum);
	atomic64_inc(&ut_emitted.nr);
	ut_emitted.first = folded->first_ns;
	ut_emitted.last = folded->last_ns;
}

#define UT_FOLD(_name, _capacity)					\
	struct kstall_fold _name = {					\
		.table = { .name = #_name, .capacity = (_capacity),	\
			   .rec_size = sizeof(struct kstall_folded) },	\
		.emit = ut_fold_emit,					\
	}

/* Return: 1 if the caller was told to emit now, as it then would. */
static u64 ut_hit(struct kstall_fold *fold, u64 key, u64 now)
{
	struct kstall_slot slot;
	bool folded;

	preempt_disable();
	folded = kstall_fold_hit(fold, key, now, &slot);
	if (folded)
		kstall_inflight_unlock(&slot);
	preempt_enable();
	return !folded;
}

static u64 ut_summaries(u64 *nr)
{
	*nr = atomic64_xchg(&ut_emitted.nr, 0);
	return atomic64_xchg(&ut_emitted.sum, 0);
}

static void ut_fold(struct ut *ut)
{
	UT_FOLD(f, 64);
	u64 i, nr, sum, told = 0, t0 = NSEC_PER_SEC;

	if (kstall_inflight_alloc(&f.table)) {
		ut_check(ut, false, "fold: allocated");
		return;
	}
	ut_summaries(&nr);
	ut_eq(ut, ut_hit(&f, 1, t0), 1, "fold: the first is emitted at once");
	for (i = 1; i <= 41; i++)
		told += ut_hit(&f, 1, t0 + i);
	ut_eq(ut, told, 0, "fold: what follows is folded");
	ut_eq(ut, ut_hit(&f, 2, t0), 1, "fold: another key is another storm");
	kstall_fold_sweep(&f, t0 + 40 + KSTALL_FOLD_QUIET_NS);
	sum = ut_summaries(&nr);
	ut_check(ut, !sum && !nr, "fold: no summary before 100 ms of quiet, none of a single one");
	kstall_fold_sweep(&f, t0 + 41 + KSTALL_FOLD_QUIET_NS);
	sum = ut_summaries(&nr);
	ut_check(ut, sum == 41 && nr == 1 && ut_emitted.first == t0 + 1 &&
		 ut_emitted.last == t0 + 41, "fold: then one summary: count, first, last");
	told = ut_hit(&f, 1, t0) + ut_hit(&f, 1, t0);
	kstall_fold_end(&f, 1);
	sum = ut_summaries(&nr);
	ut_check(ut, told == 1 && sum == 1 && nr == 1, "fold: the object's end ends its storm");
	kstall_fold_end(&f, 1);
	ut_hit(&f, 3, t0);
	ut_hit(&f, 3, t0 + NSEC_PER_SEC);
	kstall_fold_sweep(&f, U64_MAX);
	sum = ut_summaries(&nr);
	ut_check(ut, sum == 1 && nr == 1, "fold: disabling ends all storms, each once");
	for (i = 0, told = 0; i < 300; i++)
		told += ut_hit(&f, 4, t0 + i * KSTALL_FOLD_QUIET_NS / 2);
	kstall_fold_sweep(&f, t0 + KSTALL_FOLD_LONG_NS - 1);
	told += ut_summaries(&nr) << 32;
	ut_eq(ut, told, 1, "fold: a storm that goes on is not summed up before a second");
	kstall_fold_sweep(&f, t0 + KSTALL_FOLD_LONG_NS);
	sum = ut_summaries(&nr);
	ut_check(ut, sum == 299 && nr == 1, "fold: but then");
	told = 0;
	for (i = 0; i < 1000; i++)
		told += ut_hit(&f, i, t0) + ut_hit(&f, i, t0);
	kstall_fold_sweep(&f, U64_MAX);
	ut_eq(ut, told + ut_summaries(&nr), 2000, "fold: table full, none is lost");
	kstall_inflight_free(&f.table);
}

/* ---- all at once: a kthread on each CPU, and interrupts that it sends to the next ---- */

#define UT_ROUNDS	20000
#define UT_SHARED	16	/* keys that everybody finds and adds to */
#define UT_BEHIND	32	/* own records that a kthread keeps */
#define UT_LANE		64	/* records under way from a kthread to the interrupt */

struct ut_lane {
	struct kstall_inflight *t;
	struct kstall_fold *fold;
	int cpu;
	int irq_cpu;
	call_single_data_t csd;
	struct completion done;
	u64 produced;		/* by the kthread; released when it is in the table */
	u64 consumed;		/* by the interrupt; released when it is out of it */
	u64 adds, irq_adds;
	u64 told, irq_told;	/* fold: told to emit now */
	u64 hits, irq_hits;
	u64 errors, irq_errors;
};

static struct ut_lane *ut_lanes;

static u64 ut_key(const struct ut_lane *lane, u64 kind, u64 i)
{
	return kind << 56 | (u64)lane->cpu << 32 | i;
}

/* The interrupt comes at any moment; one that is on its way already does for two. */
static void ut_interrupt(struct ut_lane *lane)
{
	smp_call_function_single_async(lane->irq_cpu, &lane->csd);
}

static void ut_table_irq(void *data)
{
	struct ut_lane *lane = data;
	u64 until = smp_load_acquire(&lane->produced);	/* by ut_table_thread() */
	u64 own = ut_key(lane, 3, 0);

	while (lane->consumed < until) {
		u64 i = lane->consumed;

		lane->irq_errors += !ut_take(lane->t, ut_key(lane, 2, i), i);
		lane->irq_adds += ut_add(lane->t, i % UT_SHARED);
		smp_store_release(&lane->consumed, i + 1);	/* to ut_table_thread() */
	}
	lane->irq_errors += !ut_insert(lane->t, own, 5) || !ut_take(lane->t, own, 5);
}

static int ut_table_thread(void *data)
{
	struct ut_lane *lane = data;
	u64 i;

	for (i = 0; i < UT_ROUNDS + UT_BEHIND; i++) {
		if (i >= UT_BEHIND)
			lane->errors += !ut_take(lane->t, ut_key(lane, 1, i - UT_BEHIND), i);
		if (i >= UT_ROUNDS)
			continue;
		lane->errors += !ut_insert(lane->t, ut_key(lane, 1, i), i + UT_BEHIND);
		lane->errors += !ut_insert(lane->t, ut_key(lane, 2, i), i);
		smp_store_release(&lane->produced, i + 1);	/* to ut_table_irq() */
		lane->adds += ut_add(lane->t, i % UT_SHARED);
		ut_interrupt(lane);
		/* by ut_table_irq() */
		while (i + 1 - smp_load_acquire(&lane->consumed) >= UT_LANE) {
			ut_interrupt(lane);
			cond_resched();
		}
	}
	/* by ut_table_irq() */
	while (smp_load_acquire(&lane->consumed) < UT_ROUNDS) {
		ut_interrupt(lane);
		cond_resched();
	}
	complete(&lane->done);
	return 0;
}

static void ut_fold_irq(void *data)
{
	struct ut_lane *lane = data;
	int i;

	for (i = 0; i < 3; i++)
		lane->irq_told += ut_hit(lane->fold, 1, kstall_now());
	lane->irq_hits += i;
}

static int ut_fold_thread(void *data)
{
	struct ut_lane *lane = data;
	u64 i;

	for (i = 0; i < UT_ROUNDS; i++) {
		lane->told += ut_hit(lane->fold, 1, kstall_now());
		if (i % 3 == 0)
			kstall_fold_end(lane->fold, 1);
		ut_interrupt(lane);
		if (i % 100 == 0)
			cond_resched();
	}
	lane->hits = i;
	complete(&lane->done);
	return 0;
}

static void ut_nothing(void *data) {}

/* Runs @fn on each CPU and @irq on the next, and waits; the lanes have the results. */
static bool ut_hammer(struct kstall_inflight *t, struct kstall_fold *fold,
		      int (*fn)(void *data), void (*irq)(void *data))
{
	struct ut_lane *lane;
	bool good = true;
	int cpu;

	ut_lanes = kcalloc(nr_cpu_ids, sizeof(*ut_lanes), GFP_KERNEL);
	if (!ut_lanes)
		return false;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct task_struct *task;

		lane = &ut_lanes[cpu];
		lane->t = t;
		lane->fold = fold;
		lane->cpu = cpu;
		lane->irq_cpu = cpumask_next(cpu, cpu_online_mask);
		if (lane->irq_cpu >= nr_cpu_ids)
			lane->irq_cpu = cpumask_first(cpu_online_mask);
		INIT_CSD(&lane->csd, irq, lane);
		init_completion(&lane->done);
		task = kthread_create(fn, lane, "kstall_ut/%d", cpu);
		if (IS_ERR(task)) {
			complete(&lane->done);
			good = false;
			continue;
		}
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	for_each_online_cpu(cpu)
		wait_for_completion(&ut_lanes[cpu].done);
	/* Behind the last interrupts in each CPU's queue. */
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, ut_nothing, NULL, 1);
	cpus_read_unlock();
	return good;
}

#define ut_lanes_sum(_member)						\
({									\
	u64 __lanes = 0;						\
	int __i;							\
									\
	for (__i = 0; __i < nr_cpu_ids; __i++)				\
		__lanes += ut_lanes[__i]._member;			\
	__lanes;							\
})

static void ut_hammer_table(struct ut *ut)
{
	/* The most that can be in it at a time, so that no insert may fail. */
	UT_TABLE(t, UT_SHARED + num_online_cpus() * (UT_BEHIND + UT_LANE + 2));
	struct ut_rec rec;
	u64 i, sum = 0;
	bool ran;

	if (kstall_inflight_alloc(&t)) {
		ut_check(ut, false, "hammer: allocated");
		return;
	}
	for (i = 0; i < UT_SHARED; i++)
		ut_insert(&t, i, 0);
	ran = ut_hammer(&t, NULL, ut_table_thread, ut_table_irq);
	ut_check(ut, ran, "hammer: a kthread and an interrupt on each CPU");
	if (ran) {
		ut_eq(ut, ut_lanes_sum(errors) + ut_lanes_sum(irq_errors), 0,
		      "hammer: each record is taken once, as it was put");
		ut_eq(ut, kstall_percpu_sum(t.mag, dropped), 0, "hammer: none is dropped");
		ut_eq(ut, kstall_inflight_in_use(&t), UT_SHARED, "hammer: none is left");
		ut_check(ut, ut_intact(&t), "hammer: no node is lost");
		for (i = 0; i < UT_SHARED; i++) {
			if (kstall_inflight_take(&t, i, &rec))
				sum += rec.a;
		}
		ut_check(ut, sum == 2 * UT_ROUNDS * (u64)num_online_cpus() &&
			 sum == ut_lanes_sum(adds) + ut_lanes_sum(irq_adds),
			 "hammer: no addition to a shared record is lost");
	}
	kfree(ut_lanes);
	kstall_inflight_free(&t);
}

static void ut_hammer_fold(struct ut *ut)
{
	UT_FOLD(f, 64);
	u64 nr, told, folded;
	bool ran;

	if (kstall_inflight_alloc(&f.table)) {
		ut_check(ut, false, "fold hammer: allocated");
		return;
	}
	ut_summaries(&nr);
	ran = ut_hammer(NULL, &f, ut_fold_thread, ut_fold_irq);
	ut_check(ut, ran, "fold hammer: a kthread and an interrupt on each CPU");
	if (ran) {
		kstall_fold_sweep(&f, U64_MAX);
		told = ut_lanes_sum(told) + ut_lanes_sum(irq_told);
		folded = ut_summaries(&nr);
		ut_check(ut, told && folded && ut_lanes_sum(irq_hits),
			 "fold hammer: there were storms, in interrupts too");
		ut_eq(ut, told + folded, ut_lanes_sum(hits) + ut_lanes_sum(irq_hits),
		      "fold hammer: the sum of counts is exact");
	}
	kfree(ut_lanes);
	kstall_inflight_free(&f.table);
}

static int ut_idle_thread(void *data)
{
	struct kstall_inflight *t = data;
	u64 i;

	for (i = 0; !kthread_should_stop(); i++) {
		ut_insert(t, i % 50, i);
		ut_add(t, (i + 7) % 50);
		ut_take(t, (i + 13) % 50, i);
		if (i % 100 == 0)
			cond_resched();
	}
	return 0;
}

/* What happens when an event is disabled whose hooks serve another one, too. */
static void ut_free_busy(struct ut *ut)
{
	UT_TABLE(t, 4096);
	struct task_struct *task[2];
	int i, intact = 0;

	for (i = 0; i < 2; i++)
		task[i] = kthread_run(ut_idle_thread, &t, "kstall_ut/%d", i);
	for (i = 0; i < 20; i++) {
		if (kstall_inflight_alloc(&t))
			break;
		usleep_range(500, 1000);
		kstall_inflight_free(&t);
		intact += !t.buckets && !t.nodes && !t.bytes;
	}
	for (i = 0; i < 2; i++) {
		if (!IS_ERR(task[i]))
			kthread_stop(task[i]);
	}
	ut_eq(ut, intact, 20, "free: while probes are at it, 20 times");
}

/* ---- records of a context's own ---- */

static void ut_own_basics(struct ut *ut, struct kstall_own *own)
{
	struct ut_rec *rec, *again, *found;

	preempt_disable();
	found = kstall_own_find(own);
	rec = kstall_own_claim(own, kstall_now());
	preempt_enable();
	ut_check(ut, !found && rec, "own: none, then a new one");
	if (!rec)
		return;
	preempt_disable();
	rec->a = 1;
	found = kstall_own_find(own);
	again = kstall_own_claim(own, kstall_now());
	preempt_enable();
	ut_check(ut, found == rec, "own: found again");
	ut_check(ut, again == rec, "own: what was never released is taken anew");
	ut_eq(ut, kstall_inflight_in_use(&own->table), 1, "own: one is in use");
	kstall_own_release(rec);
	preempt_disable();
	found = kstall_own_find(own);
	preempt_enable();
	ut_check(ut, !found && !kstall_inflight_in_use(&own->table), "own: released, it is gone");
}

/* All slots are others', which have been in them for @age_ns. */
static void ut_own_fill(struct kstall_own *own, u64 age_ns)
{
	u32 i;

	for (i = 0; i < own->table.nr_nodes; i++) {
		kstall_own_nth(&own->table, i)->born_ns = kstall_now() - age_ns;
		kstall_own_nth(&own->table, i)->key = 8 * (i + 1);
	}
	own->table.aged_ns = 0;
}

static void ut_own_full(struct ut *ut, struct kstall_own *own)
{
	struct kstall_inflight_counts c;
	void *rec;

	ut_own_fill(own, 0);
	kstall_inflight_age(&own->table);
	preempt_disable();
	rec = kstall_own_claim(own, kstall_now());
	preempt_enable();
	c = kstall_inflight_counts(&own->table);
	ut_check(ut, !rec && c.dropped == 1 && c.last_loss_ns, "own: full, a record is dropped");
	ut_eq(ut, own->table.evicted, 0, "own: nothing young is evicted");
	ut_own_fill(own, 2 * own->table.max_age_ns);
	kstall_inflight_age(&own->table);
	ut_eq(ut, own->table.evicted, own->table.nr_nodes, "own: what is too old is evicted");
	preempt_disable();
	rec = kstall_own_claim(own, kstall_now());
	preempt_enable();
	ut_check(ut, rec, "own: then there is room");
	if (rec)
		kstall_own_release(rec);
}

static struct kstall_own ut_own_table = KSTALL_OWN("own", 64, sizeof(struct ut_rec), NSEC_PER_SEC);
static atomic_t ut_own_wrong, ut_own_good;

static int ut_own_thread(void *data)
{
	struct ut_rec *rec;
	u64 i;

	for (i = 0; !kthread_should_stop(); i++) {
		preempt_disable();
		rec = kstall_own_claim(&ut_own_table, kstall_now());
		if (rec)
			rec->a = (unsigned long)&i + i;
		preempt_enable();
		if (i % 16 == 0)
			schedule();
		preempt_disable();
		rec = kstall_own_find(&ut_own_table);
		atomic_inc(rec && rec->a == (unsigned long)&i + i ? &ut_own_good : &ut_own_wrong);
		if (rec)
			kstall_own_release(rec);
		preempt_enable();
	}
	return 0;
}

static void ut_own_hammer(struct ut *ut)
{
	struct task_struct *task[4];
	int i;

	atomic_set(&ut_own_wrong, 0);
	atomic_set(&ut_own_good, 0);
	for (i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = kthread_run(ut_own_thread, NULL, "kstall_ut/%d", i);
	msleep(200);
	for (i = 0; i < ARRAY_SIZE(task); i++) {
		if (!IS_ERR(task[i]))
			kthread_stop(task[i]);
	}
	ut_check(ut, atomic_read(&ut_own_good) > 100, "own: four tasks at it");
	ut_eq(ut, atomic_read(&ut_own_wrong), 0, "own: each has its own record");
	ut_eq(ut, kstall_inflight_in_use(&ut_own_table.table), 0, "own: none is left");
}

static void ut_own(struct ut *ut)
{
	if (kstall_inflight_alloc(&ut_own_table.table)) {
		ut_check(ut, false, "own: allocated");
		return;
	}
	ut_own_basics(ut, &ut_own_table);
	ut_own_hammer(ut);
	ut_own_table.table.dropped = 0;
	ut_own_table.table.evicted = 0;
	ut_own_full(ut, &ut_own_table);
	kstall_inflight_free(&ut_own_table.table);
	preempt_disable();
	ut_check(ut, !kstall_own_claim(&ut_own_table, 1) && !kstall_own_find(&ut_own_table),
		 "own: without memory there is none");
	preempt_enable();
}

/* Reading the file unit runs them. */
static int kt_unit_show(struct seq_file *m, void *unused)
{
	struct ut ut = { .m = m };

	seq_puts(m, "KTAP version 1\n");
	ut_basics(&ut);
	ut_full(&ut);
	ut_age(&ut);
	ut_delta(&ut);
	ut_fold(&ut);
	ut_hammer_table(&ut);
	ut_hammer_fold(&ut);
	ut_free_busy(&ut);
	ut_own(&ut);
	seq_printf(m, "1..%u\n", ut.nr);
	return 0;
}
