// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's own events say of a thread, with or without kstall's modules: what it begins and ends itself (waits for
 * locks, reclaim, compaction, migration), and the sleep that it announces.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

/* The thread that wrote the event, if it is one of the job's and not interrupted. */
static struct ks_thread *self(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_of(e, ev);

	if (t)
		ks_thread_runs(e, t, ev->ts);
	return t;
}

void ks_spans_forget(struct ks_thread *t)
{
	memset(t->span, 0, sizeof(t->span));
	t->next_sleep.layer = KS_NONE;
}

/* The first begin counts: a mutex says twice that it is waited for, when it spins and when it sleeps. */
static void begin(struct ks_thread *t, enum ks_span which, u64 ts, u64 value)
{
	struct ks_began *b = &t->span[which];

	t->next_sleep.layer = KS_NONE;
	if (!b->begin || b->value != value)
		*b = (struct ks_began){ .begin = ts, .value = value };
}

/* ---- memory ---- */

static struct ks_culprit culprit_of_migration(u64 reason)
{
	/* enum migrate_reason, as mm_migrate_pages prints it */
	static const char *const reasons[] = {
		"compaction", "memory_failure", "memory_hotplug", "syscall_or_cpuset", "mempolicy_mbind",
		"numa_misplaced", "contig_range", "longterm_pin", "demotion", "damon",
	};

	return ks_named(reason < ARRAY_SIZE(reasons) ? reasons[reason] : "");
}

/* Of a migration its reason; the others have no field, and 0. */
void ks_on_span_begin(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = self(e, ev);

	if (t)
		begin(t, ev->type->span, ev->ts, KS_NUM(ev, mm_migrate_pages_start, reason));
}

void ks_on_span_end(struct ks_engine *e, const struct ks_event *ev)
{
	const struct ks_type *type = ev->type;
	struct ks_thread *t = self(e, ev);
	struct ks_what what = { .layer = type->layer, .phase = ks_intern(type->phase ? type->phase : "") };
	u64 began = t ? t->span[type->span].begin : 0;

	if (!began)
		return;
	if (type->layer == KS_MIGRATION)
		what.culprit = culprit_of_migration(t->span[type->span].value);
	t->span[type->span].begin = 0;
	ks_carve(e, t, began, ev->ts, KS_MEASURED, what);
}

/* ---- locks ---- */

/* include/trace/events/lock.h */
enum { SPIN = 1, READ = 2, WRITE = 4, RT = 8, PERCPU = 16, MUTEX = 32 };

static const char *name_of_lock(u32 flags)
{
	if (flags & MUTEX)
		return "mutex";
	if (flags & RT)
		return "rtmutex";
	if (flags & PERCPU)
		return flags & WRITE ? "percpu rwsem, write" : "percpu rwsem, read";
	if (flags & WRITE)
		return "rwsem, write";
	return flags & READ ? "rwsem, read" : "semaphore";
}

/* Its pages are pinned under mmap_lock, for reading: that one is not NVIDIA's. */
static bool may_be_mmap_lock(const struct ks_thread *t, u32 flags)
{
	const char *phase = ks_string(t->call.phase);

	return flags & READ && (!strcmp(phase, "pin or alloc") || !strcmp(phase, "heap"));
}

/* An accelerator's lock, if it is waited for in an ioctl of its driver: not in mmap(), which waits for mmap_lock, too. */
static void name_lock(const struct ks_thread *t, u32 flags, struct ks_what *what)
{
	what->layer = KS_LOCK;
	what->phase = ks_intern(name_of_lock(flags));
	if (!t->call.layer || !ks_syscall_is(t->syscall, "ioctl") || may_be_mmap_lock(t, flags))
		return;
	what->layer = t->call.layer;
	what->phase = ks_intern(t->call.layer == KS_NVIDIA ? "RM lock" : "lock");
}

/* Each sleep since @began by the task that ended it; the rest by the task that ended the last one: it gave the lock. */
static void carve_wait(struct ks_engine *e, struct ks_thread *t, u64 began, struct ks_what what)
{
	ks_thread_enter(e, t, e->now, t->state);
	for (size_t i = 0; i < t->nr; i++) {
		const struct ks_seg s = t->seg[i];

		if (s.end <= began || s.what.layer || s.what.state != KS_BLOCKED)
			continue;
		what.culprit = s.waker.t ? ks_task(ks_waker_comm(&s.waker), s.waker.t->tid) : (struct ks_culprit){ 0 };
		ks_carve(e, t, max_u64(s.begin, began), s.end, KS_ASLEEP, what);
	}
	ks_carve(e, t, began, e->now, KS_HELD, what);
}

/* A thread that only spins has interrupts or preemption off: that is on_cpu, and not recorded. */
void ks_on_contention_begin(struct ks_engine *e, const struct ks_event *ev)
{
	u32 flags = KS_NUM(ev, contention_begin, flags);
	struct ks_thread *t;

	if (flags & SPIN && !(flags & MUTEX))
		return;
	t = self(e, ev);
	if (!t)
		return;
	begin(t, KS_SPAN_LOCK, ev->ts, KS_NUM(ev, contention_begin, lock_addr));
	t->lock_flags = flags;
}

/* Of all kinds of locks. */
void ks_on_contention_end(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_find(e, ev->pid);
	struct ks_began wait = t ? t->span[KS_SPAN_LOCK] : (struct ks_began){ 0 };
	struct ks_what what = { 0 };

	if (!wait.begin || wait.value != KS_NUM(ev, contention_end, lock_addr) || !self(e, ev))
		return;
	t->span[KS_SPAN_LOCK].begin = 0;
	name_lock(t, t->lock_flags, &what);
	carve_wait(e, t, wait.begin, what);
}

/* ---- sleeps that are announced ---- */

static void announce(struct ks_engine *e, const struct ks_event *ev, enum ks_layer layer, const char *phase,
		     struct ks_culprit culprit)
{
	struct ks_thread *t = self(e, ev);

	if (t)
		t->next_sleep = (struct ks_what){ .layer = layer, .phase = ks_intern(phase), .culprit = culprit };
}

static const struct ks_form disk_form = { "disk {name}", NULL, 0, { "name" } };
static const struct ks_form inode_form = { "inode {ino} of {disk}", "{n} inodes of {disk}", 1 << 0, { "disk", "ino" } };

/* The disk that a bdi is called after. */
static u32 name_of_bdi(const struct ks_engine *e, const char *bdi)
{
	unsigned int major, minor;

	return sscanf(bdi, "%u:%u", &major, &minor) == 2 ? ks_disk_name(e, major << 20 | minor) : ks_intern(bdi);
}

/* Before each sleep for a page that is being written; name is the bdi's. */
void ks_on_folio_wait(struct ks_engine *e, const struct ks_event *ev)
{
	announce(e, ev, KS_WRITEBACK, "wait", (struct ks_culprit){
		.form = &inode_form, .strings = 1 << 0,
		.v = { name_of_bdi(e, KS_STR(ev, folio_wait_writeback, name)), KS_NUM(ev, folio_wait_writeback, ino) },
	});
}

/* Before the sleep, if there is a pause. */
void ks_on_balance(struct ks_engine *e, const struct ks_event *ev)
{
	if ((s64)KS_NUM(ev, balance_dirty_pages, pause) <= 0)
		return;
	announce(e, ev, KS_DIRTY_THROTTLE, "", (struct ks_culprit){
		.form = &disk_form, .strings = 1 << 0, .v = { name_of_bdi(e, KS_STR(ev, balance_dirty_pages, bdi)) },
	});
}

/*
 * A sleep of the thread has ended just now. What it was announced for sleeps uninterruptibly; a page that was written before it
 * slept makes it sleep for something else, which takes a race of some ns.
 */
void ks_announced_sleep(struct ks_engine *e, struct ks_thread *t)
{
	struct ks_what what = t->next_sleep;
	u64 begin = e->now;

	t->next_sleep.layer = KS_NONE;
	if (!what.layer || !t->uninterruptible)
		return;
	for (size_t i = t->nr; i-- > 0 && t->seg[i].what.state == KS_BLOCKED;)
		begin = t->seg[i].begin;
	if (what.layer == KS_WRITEBACK)
		ks_carve_requests(e, t, begin, KS_WRITEBACK);
	ks_carve(e, t, begin, e->now, KS_ASLEEP, what);
}
