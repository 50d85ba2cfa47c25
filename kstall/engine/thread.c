// SPDX-License-Identifier: GPL-2.0
/* A thread's state, from the scheduler's events, as a list of segments. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

/* Beyond this the older half is added up although intervals may still come. */
#define MAX_SEGS 16384

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
	t->syscall = -1;
	t->since = t->ready = e->begin;
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
	strncpy(t->comm, comm, KS_COMM - 1);
	ks_printable(t->comm);
}

/* From now on it is one of the job's. */
void ks_thread_join(struct ks_engine *e, struct ks_thread *t)
{
	if (t->in_job)
		return;
	t->in_job = true;
	ks_steps_join(e, t);
}

/* Is its time to be kept? Without a list of the job's tasks, everybody's is. */
static bool followed(struct ks_engine *e, struct ks_thread *t)
{
	if (!t->tid)
		return false;
	if (!t->in_job && !e->has_tasks && in_scope(e, t))
		ks_thread_join(e, t);
	return t->in_job;
}

static u32 left_over(const struct ks_seg *s)
{
	const char *name = s->syscall >= 0 ? ks_syscall_name(s->syscall) : "";

	return ks_intern(name);
}

/* Layer of what nothing was carved into. */
static void name_rest(struct ks_seg *s)
{
	if (s->call.layer && (KS_HELD & 1 << s->what.state)) {
		s->what.layer = s->call.layer;
		s->what.phase = s->call.phase;
		s->what.culprit = s->call.culprit;
		return;
	}
	switch (s->what.state) {
	case KS_ON_CPU:
		s->what.layer = s->syscall < 0 ? KS_USER : KS_KERNEL;
		s->what.phase = left_over(s);
		break;
	case KS_CPU_WAIT:
		s->what.layer = KS_CPU;
		break;
	case KS_QUOTA:
		s->what.layer = KS_QUOTA_LAYER;
		break;
	case KS_ABSENT:
		s->what.layer = KS_ABSENT_LAYER;
		break;
	default:
		s->what.state = KS_BLOCKED;
		s->what.layer = ks_syscall_sleeps(s->syscall) ? KS_SLEEP : KS_UNEXPLAINED;
		s->what.phase = left_over(s);
	}
}

static void push(struct ks_engine *e, struct ks_thread *t, u64 end)
{
	struct ks_seg *s;

	if (end <= t->since)
		return;
	if (!t->steps && !(e->segment && t->in_job)) {
		/* nobody asks for it */
		t->since = t->ready = end;
		t->first = false;
		return;
	}
	if (t->nr >= MAX_SEGS)
		ks_thread_fold(e, t, t->seg[MAX_SEGS / 2].begin);
	t->seg = ks_grow(t->seg, &t->room, t->nr + 1, sizeof(*t->seg));
	s = &t->seg[t->nr++];
	memset(s, 0, sizeof(*s));
	s->begin = t->since;
	s->end = end;
	s->what.state = t->state;
	s->what.culprit = t->state == KS_CPU_WAIT ? t->instead : 0;
	s->syscall = t->syscall;
	s->call = t->call;
	s->uninterruptible = t->uninterruptible;
	s->first = t->first;
	t->since = end;
	t->first = false;
}

/* The thread is in @state from @ts on. The same state closes the segment and begins a new one. */
void ks_thread_enter(struct ks_engine *e, struct ks_thread *t, u64 ts, enum ks_state state)
{
	push(e, t, ts);
	t->first = t->first || t->state != state;
	t->state = state;
}

/* Nothing more comes for what was before @until: it goes to the steps. */
void ks_thread_fold(struct ks_engine *e, struct ks_thread *t, u64 until)
{
	size_t n = 0;

	ks_resolve(e, t, until);
	for (; n < t->nr && t->seg[n].end <= until; n++) {
		if (t->seg[n].what.layer == KS_NONE)
			name_rest(&t->seg[n]);
		ks_steps_add(e, t, &t->seg[n]);
		if (t->seg[n].done && !t->seg[n].flow)
			t->seg[n].flow = t->seg[n].done->flow;
		if (e->segment)
			e->segment(e, t, &t->seg[n]);
		free(t->seg[n].done);
	}
	if (n) {
		t->ready = t->seg[n - 1].end;
		t->nr -= n;
		memmove(t->seg, t->seg + n, t->nr * sizeof(*t->seg));
	}
	if (!t->nr && t->since <= until)
		t->ready = t->since;
	ks_steps_ready(e, t);
}

/* The thread's time is over: it exits, its number is used again, or the recording ends. */
void ks_thread_end(struct ks_engine *e, struct ks_thread *t, u64 ts)
{
	ks_thread_enter(e, t, ts, t->state);
	ks_thread_fold(e, t, ts);
}

void ks_threads_free(struct ks_engine *e)
{
	for (size_t i = 0; i < KS_THREAD_BUCKETS; i++) {
		struct ks_thread *t = e->threads[i], *next;

		for (; t; t = next) {
			next = t->next;
			ks_steps_drop(e, t);
			for (size_t j = 0; j < t->nr; j++)
				free(t->seg[j].done);
			free(t->seg);
			free(t->recent);
			free(t);
		}
	}
}

/* sched_switch: prev_pid, prev_comm, prev_state, next_pid, next_comm */
#define DEAD 0x30		/* EXIT_DEAD | EXIT_ZOMBIE */
#define PREEMPTED 0x100
#define UNINTERRUPTIBLE 0x02

static u32 runner(s32 pid, const char *comm)
{
	char buf[64];

	return pid ? ks_intern(ks_fmt(buf, sizeof(buf), "%s/%d", comm, pid)) : 0;
}

static void switch_out(struct ks_engine *e, const struct ks_event *ev, struct ks_thread *t)
{
	u64 state = ev->num[2] & ~(u64)PREEMPTED;
	bool suspended = t->throttle_rq && t->since <= ev->ts;

	if (t->dead)
		return;
	if (state) {
		ks_thread_enter(e, t, ev->ts, state & DEAD ? KS_ABSENT : KS_BLOCKED);
		t->uninterruptible = !!(state & UNINTERRUPTIBLE);
		t->throttle_rq = 0;
		return;
	}
	ks_thread_enter(e, t, ev->ts, suspended ? KS_QUOTA : KS_CPU_WAIT);
	t->instead = runner(ev->num[3], ev->str[4]);
}

static void switch_in(struct ks_engine *e, const struct ks_event *ev, struct ks_thread *t)
{
	u32 before = runner(ev->num[0], ev->str[1]);

	if (t->state == KS_CPU_WAIT && before)
		t->instead = before;
	t->throttle_rq = 0;
	ks_thread_enter(e, t, ev->ts, KS_ON_CPU);
	t->uninterruptible = 0;
}

void ks_on_switch(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *prev = ks_thread_get(e, ev->num[0]), *next = ks_thread_get(e, ev->num[3]);

	set_comm(prev, ev->str[1]);
	set_comm(next, ev->str[4]);
	if (followed(e, prev))
		switch_out(e, ev, prev);
	if (followed(e, next))
		switch_in(e, ev, next);
}

/* The sleep is over; what was done just before, here, has ended it. */
static void woken(struct ks_engine *e, const struct ks_event *ev, struct ks_thread *t)
{
	struct ks_done *done = ks_done_for(e, ev, t);

	ks_thread_enter(e, t, ev->ts, KS_CPU_WAIT);
	t->instead = 0;
	if (done && t->nr && t->seg[t->nr - 1].end == ev->ts && !t->seg[t->nr - 1].done)
		t->seg[t->nr - 1].done = done;
	else
		free(done);
}

/* sched_waking, sched_wakeup, sched_wakeup_new: pid, comm, target_cpu */
void ks_on_waking(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->num[0]);

	if (followed(e, t) && (t->state == KS_BLOCKED || t->state == KS_UNKNOWN))
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

/* task_newtask: pid, comm, clone_flags */
#define CLONE_THREAD 0x10000

void ks_on_newtask(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *parent = ks_thread_get(e, ev->pid);
	struct ks_thread *t = ks_thread_find(e, ev->num[0]);

	if (t) {
		/* its number belonged to another */
		ks_thread_end(e, t, ev->ts);
		ks_steps_drop(e, t);
		t->dead = false;
	} else {
		t = ks_thread_get(e, ev->num[0]);
	}
	t->tgid = ev->num[2] & CLONE_THREAD ? parent->tgid : t->tid;
	t->in_job = false;
	set_comm(t, ev->str[1]);
	t->born = t->since = t->ready = ev->ts;
	t->syscall = -1;
	t->call = (struct ks_call){ 0 };
	if (t->tgid == t->tid)
		ks_call_forget(e, t->tgid);
	t->state = KS_CPU_WAIT;
	t->uninterruptible = 0;
	if (followed(e, parent))
		ks_thread_join(e, t);
}

/* sched_process_exec: filename, pid, old_pid. The thread that calls exec becomes the leader. */
void ks_on_exec(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->num[1]);
	struct ks_thread *old = ks_thread_find(e, ev->num[2]);

	if (old && old != t) {
		ks_thread_end(e, old, ev->ts);
		if (old->in_job)
			ks_thread_join(e, t);
		old->dead = true;
	}
	t->dead = false;
	ks_call_forget(e, t->tgid);
	if (followed(e, t))
		ks_thread_enter(e, t, ev->ts, KS_ON_CPU);
}

/* sched_process_exit: pid */
void ks_on_exit(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_find(e, ev->num[0]);

	if (!t || !followed(e, t))
		return;
	ks_thread_end(e, t, ev->ts);
	t->state = KS_ABSENT;
	t->syscall = -1;
	t->call = (struct ks_call){ 0 };
	t->dead = true;
}

/* sys_enter: id, args */
void ks_on_sys_enter(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->pid);

	if (!followed(e, t) || t->dead)
		return;
	ks_thread_enter(e, t, ev->ts, KS_ON_CPU);
	ks_thread_fold(e, t, ev->ts);
	t->syscall = ev->num[0] < 32768 ? (s16)ev->num[0] : -1;
	ks_call_enter(e, t, ev);
	t->call_begin = ev->ts;
	t->first = true;
}

void ks_on_sys_exit(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->pid);

	if (!followed(e, t) || t->dead)
		return;
	/* It may have begun before the recording: then this says what it was. */
	if (t->syscall < 0 && ev->num[0] < 32768)
		t->syscall = ev->num[0];
	ks_thread_enter(e, t, ev->ts, KS_ON_CPU);
	t->syscall = -1;
	t->call = (struct ks_call){ 0 };
	t->first = true;
}

static void suspend(struct ks_engine *e, s32 tid, u64 rq)
{
	struct ks_thread *t = ks_thread_find(e, tid);

	if (t && followed(e, t) && t->state == KS_ON_CPU)
		t->throttle_rq = rq;
}

/*
 * throttle: rq. Whose runtime ran out is the thread that is current, and it is switched away
 * although it could run.
 */
void ks_on_throttle(struct ks_engine *e, const struct ks_event *ev)
{
	suspend(e, ev->pid, ev->num[0]);
}

/* throttle_rq: rq, throttled; of anybody */
void ks_on_throttle_rq(struct ks_engine *e, const struct ks_event *ev)
{
	if (!ev->num[1])
		return;
	if (e->nr_throttled == KS_THROTTLED)
		memmove(e->throttled, e->throttled + 1,
			--e->nr_throttled * sizeof(*e->throttled));
	e->throttled[e->nr_throttled++] = (struct ks_throttled){ ev->num[0], ev->cpu };
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
 * throttle_self: the thread suspends itself (throttle_cfs_rq_work()); unless its queue has got
 * runtime again meanwhile, then it goes on, and may be switched away for others later.
 */
void ks_on_throttle_self(struct ks_engine *e, const struct ks_event *ev)
{
	u64 rq = throttled_here(e, ev->cpu);

	if (rq)
		suspend(e, ev->pid, rq);
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
	no_longer_throttled(e, ev->num[0]);
	for (size_t i = 0; i < KS_THREAD_BUCKETS; i++) {
		for (struct ks_thread *t = e->threads[i]; t; t = t->next) {
			if (t->state != KS_QUOTA || t->throttle_rq != ev->num[0])
				continue;
			ks_thread_enter(e, t, ev->ts, KS_CPU_WAIT);
			t->throttle_rq = 0;
		}
	}
}
