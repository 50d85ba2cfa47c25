// SPDX-License-Identifier: GPL-2.0
/* A thread's state, from the scheduler's events, as a list of segments. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "engine/engine.h"

/* Beyond this the older half is added up although intervals may still come. */
#define MAX_SEGS 16384
#define MAX_SEGS_WITHOUT_STEPS 1024	/* of a thread that only may have ended another's sleep */
#define MAX_SEGS_WITHOUT_CALLS 64	/* ... and that may be one of the kernel */
#define MAX_ROUNDS 64

static struct ks_thread **bucket(struct ks_engine *e, s32 tid)
{
	return &e->threads[(u32)tid * 2654435761u >> 18 & (KS_THREAD_BUCKETS - 1)];
}

struct ks_thread *ks_thread_find(struct ks_engine *e, s32 tid)
{
	struct ks_thread *t = *bucket(e, tid);

	while (t && t->tid != tid)
		t = t->next;
	return t;
}

struct ks_thread *ks_thread_get(struct ks_engine *e, s32 tid)
{
	struct ks_thread *t = ks_thread_find(e, tid), **b = bucket(e, tid);

	if (t)
		return t;
	t = ks_alloc(sizeof(*t));
	t->tid = t->tgid = tid;
	t->syscall = KS_NO_CALL;
	t->since = t->ready = e->begin;
	t->last_step = &t->steps;
	t->last_ended = &t->ended;
	t->next = *b;
	*b = t;
	e->nr_threads++;
	return t;
}

static bool in_scope(const struct ks_engine *e, const struct ks_thread *t)
{
	if (!e->scope.nr_pids && !e->scope.comm)
		return true;
	for (size_t i = 0; i < e->scope.nr_pids; i++) {
		if (e->scope.pids[i] == t->tgid || e->scope.pids[i] == t->tid)
			return true;
	}
	return e->scope.comm && !strcmp(e->scope.comm, t->comm);
}

static void set_comm(struct ks_thread *t, const char *comm)
{
	ks_printable(t->comm, sizeof(t->comm), comm);
}

/* From now on it is one of the job's. */
void ks_thread_join(struct ks_engine *e, struct ks_thread *t)
{
	if (t->in_job)
		return;
	t->in_job = true;
	ks_steps_join(e, t);
}

bool ks_thread_follow(struct ks_engine *e, struct ks_thread *t)
{
	if (!t->tid)
		return false;
	if (!t->in_job && (!e->has_tasks || t->recorded) && in_scope(e, t))
		ks_thread_join(e, t);
	return t->in_job;
}

struct ks_thread *ks_thread_of(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t;

	if (ev->pid <= 0 || KS_IN_IRQ(ev->flags))
		return NULL;
	t = ks_thread_get(e, ev->pid);
	return ks_thread_follow(e, t) ? t : NULL;
}

/* For a step of its own, for a picture, or because another's step may wait for it. */
static bool is_asked_for(const struct ks_engine *e, const struct ks_thread *t)
{
	return t->in_job && (t->steps || e->segment || e->nr_steps);
}

static size_t most_segs(const struct ks_engine *e, const struct ks_thread *t)
{
	if (t->steps || e->segment)
		return MAX_SEGS;
	return t->user || t->recorded ? MAX_SEGS_WITHOUT_STEPS : MAX_SEGS_WITHOUT_CALLS;
}

static void forget(struct ks_thread *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->seg[i].done);
	t->nr = 0;
}

static void push(struct ks_engine *e, struct ks_thread *t, u64 end)
{
	struct ks_seg *s;

	if (end <= t->since)
		return;
	if (!is_asked_for(e, t)) {
		forget(t);
		t->since = t->ready = end;
		t->last = (struct ks_what){ 0 };
		return;
	}
	if (t->nr >= most_segs(e, t))
		ks_thread_fold(e, t, t->seg[t->nr / 2].begin, true);
	ks_gpu_check(e, t);
	t->seg = ks_grow(t->seg, &t->room, t->nr + 1, sizeof(*t->seg));
	s = &t->seg[t->nr++];
	memset(s, 0, sizeof(*s));
	s->begin = t->since;
	s->end = end;
	s->what.state = t->state;
	if (t->state == KS_CPU_WAIT)
		s->what.culprit = t->instead;
	s->syscall = t->syscall;
	s->call = t->call;
	s->gpu = t->gpu.what;
	s->since = t->gpu_since;
	s->uninterruptible = t->uninterruptible;
	t->since = end;
	if (t->state == KS_BLOCKED)
		t->slept = end;
}

static void no_longer_suspended(struct ks_thread *t)
{
	if (!t->prev_throttled)
		return;
	ks_list_remove(t, next_throttled, prev_throttled);
	t->prev_throttled = NULL;
}

void ks_thread_enter(struct ks_engine *e, struct ks_thread *t, u64 ts, enum ks_state state)
{
	push(e, t, ts);
	t->state = state;
	if (state != KS_QUOTA)
		no_longer_suspended(t);
}

void ks_thread_fold(struct ks_engine *e, struct ks_thread *t, u64 until, bool all)
{
	size_t n = 0;

	if (t->folding)
		return;
	t->folding = true;
	e->folding++;
	for (; n < t->nr && t->seg[n].end <= until; n++) {
		if (!all && ks_must_wait(e, &t->seg[n]))
			break;
		ks_explain(e, t, &t->seg[n]);
		free(t->seg[n].done);
	}
	t->folding = false;
	e->folding--;
	if (n) {
		t->ready = t->seg[n - 1].end;
		t->nr -= n;
		memmove(t->seg, t->seg + n, t->nr * sizeof(*t->seg));
	}
	if (!t->nr && t->since <= until)
		t->ready = t->since;
	ks_steps_ready(e, t);
}

/* What it did until now is known at last, as far as it has not been added up. */
static void was(struct ks_thread *t, enum ks_state before, enum ks_state state)
{
	if (t->state != before)
		return;
	t->state = state;
	for (size_t i = t->nr; i-- > 0 && t->seg[i].what.state == before;)
		t->seg[i].what.state = state;
}

/* Does another thread of this process live, and may it have got its number by exec? */
static bool has_other_threads(const struct ks_engine *e, const struct ks_thread *t)
{
	const struct ks_thread *o;

	ks_for_each_thread(e, o) {
		if (o != t && o->tgid == t->tid && o->in_job && !o->gone && o->syscall != KS_EXITING)
			return true;
	}
	return false;
}

static void add_up(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	ks_thread_enter(e, t, ts, t->state);
	ks_thread_fold(e, t, ts, true);
}

/* The number belongs to another thread from now on. */
static void begin_anew(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	add_up(e, t, ts);
	ks_steps_end(e, t, ts);
	t->tgid = t->tid;
	t->gone = t->in_job = t->user = t->guessed = t->recorded = t->named = false;
	t->born = t->since = t->ready = ts;
	t->syscall = KS_NO_CALL;
	t->call = (struct ks_call){ 0 };
	t->call_begin = t->slept = t->throttle_rq = t->track = 0;
	t->state = KS_UNKNOWN;
	t->uninterruptible = 0;
	ks_spans_forget(t);
	ks_gpu_forget(t);
	t->comm[0] = '\0';
	ks_call_forget(e, t->tid);
}

/* A thread that calls exec has the number from now on. A window may have ended since the one before it was gone. */
static void goes_on(struct ks_engine *e, struct ks_thread *t)
{
	t->gone = false;
	if (t->in_job && !t->is_main)
		ks_steps_join(e, t);
}

/* A thread that was gone does something: the number is used again, and no event said so. */
static void revive(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	if (!t->gone)
		return;
	if (t->tid == t->tgid && has_other_threads(e, t)) {
		goes_on(e, t);
		ks_thread_enter(e, t, ts, KS_ON_CPU);
		return;
	}
	begin_anew(e, t, ts);
	ks_thread_follow(e, t);
}

/* It is on a CPU. If its switch-in is not in the recording, nobody knows since when it has run. */
static void is_on_cpu(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	revive(e, t, ts);
	t->guessed = false;
	was(t, KS_UNKNOWN, KS_ON_CPU);
	if (t->state != KS_ON_CPU && ts > t->since)
		ks_thread_enter(e, t, t->since, KS_UNKNOWN);
}

void ks_thread_runs(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	is_on_cpu(e, t, ts);
	ks_thread_enter(e, t, ts, KS_ON_CPU);
	t->uninterruptible = 0;
}

/* Returns whether any thread has time left that waits for another's. */
static bool fold_all(struct ks_engine *e, u64 end, bool all)
{
	struct ks_thread *t;
	bool left = false;

	ks_for_each_thread(e, t) {
		if (t->nr || t->steps)
			ks_thread_fold(e, t, end, all);
		left = left || t->nr;
	}
	return left;
}

/* Each round those that are complete free those that wait for them. */
void ks_threads_finish(struct ks_engine *e, u64 end)
{
	struct ks_thread *t;
	int round = 0;

	ks_for_each_thread(e, t) {
		if (t->steps || t->nr || (t->in_job && e->segment))
			ks_thread_enter(e, t, end, t->state);
		if (e->by == KS_BY_ALL)
			ks_steps_close(e, t, end);
	}
	while (fold_all(e, end, false) && round < MAX_ROUNDS)
		round++;
	fold_all(e, end, true);
	while (e->with_steps)
		ks_steps_drop(e, e->with_steps);
}

void ks_threads_free(struct ks_engine *e)
{
	for (size_t i = 0; i < KS_THREAD_BUCKETS; i++) {
		struct ks_thread *t = e->threads[i], *next;

		for (; t; t = next) {
			next = t->next;
			ks_steps_drop(e, t);
			forget(t);
			ks_parts_free(&t->sums);
			free(t->seg);
			free(t->recent);
			free(t);
		}
	}
}

/* sched_switch: prev_pid, prev_comm, prev_state, next_pid, next_comm */
#define STATES 0xff		/* above is a mark of preemption, whose bit depends on the kernel */
#define DEAD 0x30		/* EXIT_DEAD | EXIT_ZOMBIE */
#define DEAD_BEFORE_4_14 0x40	/* since then: parked */
#define UNINTERRUPTIBLE 0x02

static struct ks_culprit runner(s32 pid, const char *comm)
{
	return pid ? ks_task(comm, pid) : (struct ks_culprit){ 0 };
}

static void leave_for_good(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	ks_thread_enter(e, t, ts, KS_ABSENT);
	t->gone = true;
	t->throttle_rq = 0;
	t->syscall = KS_NO_CALL;
	t->call = (struct ks_call){ 0 };
	ks_gpu_forget(t);
	ks_thread_fold(e, t, ts, false);
}

static struct ks_thread **suspended_on(struct ks_engine *e, u64 rq)
{
	return &e->suspended[rq / 64 % KS_QUEUE_BUCKETS];
}

static void suspend(struct ks_engine *e, struct ks_thread *t)
{
	no_longer_suspended(t);
	ks_list_insert(suspended_on(e, t->throttle_rq), t, next_throttled, prev_throttled);
}

static void switch_out(struct ks_engine *e, const struct ks_event *ev, struct ks_thread *t)
{
	u64 state = KS_NUM(ev, sched_switch, prev_state) & STATES;
	bool suspended = t->throttle_rq && t->since <= ev->ts;
	bool exits = t->syscall == KS_EXITING;

	is_on_cpu(e, t, ev->ts);
	if (state & DEAD || (exits && state & DEAD_BEFORE_4_14)) {
		leave_for_good(e, t, ev->ts);
		return;
	}
	if (state) {
		ks_thread_enter(e, t, ev->ts, KS_BLOCKED);
		t->uninterruptible = !!(state & UNINTERRUPTIBLE);
		t->throttle_rq = 0;
		return;
	}
	ks_thread_enter(e, t, ev->ts, suspended ? KS_QUOTA : KS_CPU_WAIT);
	if (suspended)
		suspend(e, t);
	t->instead = runner(KS_NUM(ev, sched_switch, next_pid), KS_STR(ev, sched_switch, next_comm));
}

static void switch_in(struct ks_engine *e, const struct ks_event *ev, struct ks_thread *t)
{
	struct ks_culprit before = runner(KS_NUM(ev, sched_switch, prev_pid), KS_STR(ev, sched_switch, prev_comm));

	revive(e, t, ev->ts);
	if (t->guessed)
		was(t, KS_ON_CPU, KS_CPU_WAIT);
	t->guessed = false;
	if (t->state == KS_CPU_WAIT && before.form)
		t->instead = before;
	if (t->state == KS_BLOCKED)
		t->next_sleep.layer = KS_NONE;
	t->throttle_rq = 0;
	ks_thread_enter(e, t, ev->ts, KS_ON_CPU);
	t->uninterruptible = 0;
}

/* A name that is used again is the new thread's. */
static void name(struct ks_engine *e, struct ks_thread *t, const struct ks_event *ev, const char *comm)
{
	if (t->tid)
		revive(e, t, ev->ts);
	set_comm(t, comm);
}

void ks_on_switch(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *prev = ks_thread_get(e, KS_NUM(ev, sched_switch, prev_pid));
	struct ks_thread *next = ks_thread_get(e, KS_NUM(ev, sched_switch, next_pid));

	name(e, prev, ev, KS_STR(ev, sched_switch, prev_comm));
	name(e, next, ev, KS_STR(ev, sched_switch, next_comm));
	if (ks_thread_follow(e, prev))
		switch_out(e, ev, prev);
	if (ks_thread_follow(e, next))
		switch_in(e, ev, next);
}

/* It was switched to and from where nobody looked: its events have its number only. */
static struct ks_thread *named_waker(struct ks_engine *e, s32 tid, struct ks_thread *waker)
{
	const char *comm = e->comm_of ? e->comm_of(e, tid) : "";

	if (!*comm)
		return waker;
	waker = waker ? waker : ks_thread_get(e, tid);
	set_comm(waker, comm);
	return waker;
}

/* Which thread has ended a sleep; not an interrupt, which came when that thread ran. */
static struct ks_thread *waker_of(struct ks_engine *e, const struct ks_event *ev,
				  const struct ks_thread *t)
{
	struct ks_thread *waker;

	if (KS_IN_IRQ(ev->flags) || ev->pid <= 0 || ev->pid == t->tid)
		return NULL;
	waker = ks_thread_find(e, ev->pid);
	return waker && waker->comm[0] ? waker : named_waker(e, ev->pid, waker);
}

static struct ks_waker as_it_is(struct ks_thread *t)
{
	if (!t)
		return (struct ks_waker){ NULL };
	return (struct ks_waker){ .t = t, .comm = ks_intern(t->comm), .followed = t->in_job && t->user, .born = t->born };
}

/* The sleep is over; what was done just before, here, has ended it. */
static void woken(struct ks_engine *e, const struct ks_event *ev, struct ks_thread *t)
{
	struct ks_done *done = ks_done_for(e, ev, t);
	struct ks_seg *s;

	ks_thread_enter(e, t, ev->ts, KS_CPU_WAIT);
	t->instead = (struct ks_culprit){ 0 };
	s = t->nr ? &t->seg[t->nr - 1] : NULL;
	if (!s || s->end != ev->ts || s->what.state != KS_BLOCKED) {
		free(done);
		return;
	}
	s->waker = as_it_is(waker_of(e, ev, t));
	if (s->done)
		free(done);
	else
		s->done = done;
	ks_announced_sleep(e, t);
}

KS_SAME_FIELD(sched_waking, sched_wakeup, pid);
KS_SAME_FIELD(sched_waking, sched_wakeup_new, pid);

void ks_on_waking(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, KS_NUM(ev, sched_waking, pid));
	struct ks_thread *writer = ev->pid > 0 ? ks_thread_find(e, ev->pid) : NULL;

	if (writer && writer->in_job && writer->state != KS_ON_CPU)
		ks_thread_runs(e, writer, ev->ts);
	if (ks_thread_follow(e, t) && (t->state == KS_BLOCKED || t->state == KS_UNKNOWN))
		woken(e, ev, t);
}

/*
 * A thread that is woken up while it is on its way to sleep is "waking" before it is switched
 * away; this one comes after.
 */
void ks_on_wakeup(struct ks_engine *e, const struct ks_event *ev)
{
	ks_on_waking(e, ev);
}

/* A thread's first one. Without task_newtask, which comes just before, it says that the thread is born: of which process, nobody knows. */
void ks_on_wakeup_new(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, KS_NUM(ev, sched_wakeup_new, pid));
	bool born = t->born && t->born == t->since && t->state == KS_CPU_WAIT;

	if (!born && !e->has_tasks) {
		begin_anew(e, t, ev->ts);
		t->state = KS_CPU_WAIT;
	}
	ks_on_wakeup(e, ev);
}

#define CLONE_THREAD 0x10000

void ks_on_newtask(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *parent = ks_thread_get(e, ev->pid);
	struct ks_thread *t = ks_thread_get(e, KS_NUM(ev, task_newtask, pid));

	if (ks_thread_follow(e, parent))
		ks_thread_runs(e, parent, ev->ts);
	begin_anew(e, t, ev->ts);
	if (KS_NUM(ev, task_newtask, clone_flags) & CLONE_THREAD)
		t->tgid = parent->tgid;
	/* Only a thread of the job can have been recorded before the recorder has said which are. */
	t->recorded = parent->recorded || !e->has_tasks;
	set_comm(t, KS_STR(ev, task_newtask, comm));
	t->state = KS_CPU_WAIT;
	if (parent->in_job)
		ks_thread_join(e, t);
}

/* The thread that calls exec becomes the leader. */
void ks_on_exec(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, KS_NUM(ev, sched_process_exec, pid));
	struct ks_thread *old = ks_thread_find(e, KS_NUM(ev, sched_process_exec, old_pid));

	goes_on(e, t);
	if (old && old != t) {
		if (old->in_job)
			ks_thread_join(e, t);
		t->syscall = old->syscall;
		t->call_begin = old->call_begin;
		add_up(e, old, ev->ts);
		add_up(e, t, ev->ts);
		ks_steps_take_over(e, t, old);
		leave_for_good(e, old, ev->ts);
	}
	ks_call_forget(e, t->tgid);
	if (ks_thread_follow(e, t))
		ks_thread_enter(e, t, ev->ts, KS_ON_CPU);
	ks_gpu_forget(t);
}

/* What it still has to do, like closing its files, may take long. */
void ks_on_exit(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, KS_NUM(ev, sched_process_exit, pid));

	if (!ks_thread_follow(e, t))
		return;
	ks_thread_runs(e, t, ev->ts);
	ks_thread_fold(e, t, ev->ts, false);
	t->syscall = KS_EXITING;
	t->call = (struct ks_call){ 0 };
	ks_gpu_forget(t);
	t->call_begin = ev->ts;
}

void ks_on_sys_enter(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->pid);

	t->user = true;
	if (!ks_thread_follow(e, t))
		return;
	/* What exits makes no system calls: its last switch was missed. */
	t->gone = t->gone || t->syscall == KS_EXITING;
	ks_thread_runs(e, t, ev->ts);
	t->user = true;		/* the thread that has the number now */
	ks_thread_fold(e, t, ev->ts, false);
	ks_spans_forget(t);
	t->syscall = ks_syscall_of(e, KS_NUM(ev, sys_enter, id));
	ks_call_enter(e, t, ev);
	t->call_begin = ev->ts;
}

void ks_on_sys_exit(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->pid);
	bool first = !t->user;

	t->user = true;
	if (!ks_thread_follow(e, t))
		return;
	/* It may have begun before the recording: then this says what it was. Later ones without sys_enter were in user mode, too. */
	if (t->syscall == KS_NO_CALL && first)
		t->syscall = ks_syscall_of(e, KS_NUM(ev, sys_exit, id));
	ks_thread_runs(e, t, ev->ts);
	ks_spans_forget(t);
	t->syscall = KS_NO_CALL;
	t->call = (struct ks_call){ 0 };
	t->gpu_since = 0;
}

static void throttled(struct ks_engine *e, s32 tid, u64 rq)
{
	struct ks_thread *t = ks_thread_find(e, tid);

	if (t && ks_thread_follow(e, t) && t->state == KS_ON_CPU)
		t->throttle_rq = rq;
}

/*
 * The thread that has used up its runtime is the current one, and it is switched away
 * although it could run.
 */
void ks_on_throttle(struct ks_engine *e, const struct ks_event *ev)
{
	throttled(e, ev->pid, KS_NUM(ev, throttle, rq));
}

/* Of anybody. */
void ks_on_throttle_rq(struct ks_engine *e, const struct ks_event *ev)
{
	if (!KS_NUM(ev, throttle_rq, throttled))
		return;
	if (e->nr_throttled == KS_THROTTLED)
		memmove(e->throttled, e->throttled + 1,
			--e->nr_throttled * sizeof(*e->throttled));
	e->throttled[e->nr_throttled++] = (struct ks_throttled){ KS_NUM(ev, throttle_rq, rq), ev->cpu };
}

/* The queue that was throttled last, on this CPU if any was: another CPU may have done it. */
static u64 throttled_here(const struct ks_engine *e, int cpu)
{
	for (size_t i = e->nr_throttled; i-- > 0;) {
		if (e->throttled[i].cpu == cpu)
			return e->throttled[i].rq;
	}
	return e->nr_throttled ? e->throttled[e->nr_throttled - 1].rq : 0;
}

/*
 * The thread suspends itself (throttle_cfs_rq_work()); unless its queue has got
 * runtime again meanwhile, then it goes on, and may be switched away for others later.
 */
void ks_on_throttle_self(struct ks_engine *e, const struct ks_event *ev)
{
	u64 rq = throttled_here(e, ev->cpu);

	if (rq)
		throttled(e, ev->pid, rq);
}

static void no_longer_throttled(struct ks_engine *e, u64 rq)
{
	size_t n = 0;

	for (size_t i = 0; i < e->nr_throttled; i++) {
		if (e->throttled[i].rq != rq)
			e->throttled[n++] = e->throttled[i];
	}
	e->nr_throttled = n;
}

void ks_on_unthrottle(struct ks_engine *e, const struct ks_event *ev)
{
	u64 rq = KS_NUM(ev, unthrottle, rq);
	struct ks_thread *t = *suspended_on(e, rq), *next;

	no_longer_throttled(e, rq);
	for (; t; t = next) {
		next = t->next_throttled;
		if (t->throttle_rq != rq)
			continue;
		ks_thread_enter(e, t, ev->ts, KS_CPU_WAIT);
		t->throttle_rq = 0;
	}
}
