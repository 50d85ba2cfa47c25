// SPDX-License-Identifier: GPL-2.0
/*
 * Where a segment's time goes when nothing more can be carved into it. A sleep that no interval of
 * the thread explains is cut by what is known of its end: the phases of a request that ended it,
 * and, if a thread of the job ended it, what that thread did meanwhile. Only time that an event has
 * measured gets a name: what no phase and no piece covers stays unexplained.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

/* Of wakers' pieces, for one sleep: what is older stays unexplained. */
#define MAX_PICKED 65536
#define MAX_LOOKED_AT KS_LOG
#define MAX_DEPTH 8		/* wakers of wakers */
#define MAX_FOLDING 64		/* ... that are added up before */

/* If it had no name then, the one that it has got since. */
const char *ks_waker_comm(const struct ks_waker *waker)
{
	return *ks_string(waker->comm) ? ks_string(waker->comm) : waker->t->comm;
}

static u32 name_of_call(const struct ks_seg *s)
{
	return s->syscall >= 0 ? ks_intern(ks_syscall_name(s->syscall)) : 0;
}

static bool is_held_in(const struct ks_seg *s, const struct ks_call *call)
{
	return call->layer && (KS_HELD & 1 << s->what.state);
}

static const struct ks_form since_form = { "since {call}", NULL, 0, { "call" } };

static void name_held(struct ks_seg *s)
{
	if (s->since)
		s->what.culprit = (struct ks_culprit){ .form = &since_form, .strings = 1 << 0, .v = { s->since } };
	s->what.phase = name_of_call(s);
	if (s->syscall == KS_EXITING)
		s->what.layer = KS_EXIT;
	else if (s->what.state == KS_BLOCKED)
		s->what.layer = ks_syscall_sleeps(s->syscall) ? KS_SLEEP : KS_UNEXPLAINED;
	else
		s->what.layer = s->syscall < 0 ? KS_USER : KS_KERNEL;
}

static void name_by_call(struct ks_seg *s, const struct ks_call *call)
{
	s->what.layer = call->layer;
	s->what.phase = call->phase;
	s->what.culprit = ks_named(ks_string(call->culprit));
}

/* The layer of what nothing else explains. */
static void name_rest(struct ks_seg *s)
{
	static const u8 layers[KS_NR_STATES] = {
		[KS_UNKNOWN] = KS_UNKNOWN_LAYER,
		[KS_CPU_WAIT] = KS_CPU,
		[KS_QUOTA] = KS_QUOTA_LAYER,
		[KS_ABSENT] = KS_ABSENT_LAYER,
	};

	if (is_held_in(s, &s->call)) {
		name_by_call(s, &s->call);
	} else if (is_held_in(s, &s->gpu)) {
		name_by_call(s, &s->gpu);
	} else if (layers[s->what.state]) {
		s->what.layer = layers[s->what.state];
	} else {
		name_held(s);
	}
}

static struct ks_piece *piece(const struct ks_engine *e, u64 number)
{
	if (!number || e->logged - number >= KS_LOG)
		return NULL;
	return &e->log[number % KS_LOG];
}

/* For those whose sleep the thread ends. @waker: that has ended this one, to be followed if it is asked for. */
static void log_piece(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s, struct ks_waker waker)
{
	if (!t->user || !(e->nr_steps || e->segment))
		return;
	if (!e->log)
		e->log = ks_alloc(KS_LOG * sizeof(*e->log));
	e->logged++;
	e->log[e->logged % KS_LOG] = (struct ks_piece){
		.begin = s->begin, .end = s->end, .what = s->what, .waker = waker, .before = t->logged,
	};
	t->logged = e->logged;
}

static void add_up(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s)
{
	ks_steps_add(e, t, &s->what, s->begin, s->end);
	if (e->segment)
		e->segment(e, t, s);
}

static void give(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s)
{
	log_piece(e, t, s, (struct ks_waker){ NULL });
	add_up(e, t, s);
}

/* [@begin, @end] of @s, with the name that is left for it. */
static struct ks_seg rest_of(const struct ks_seg *s, u64 begin, u64 end)
{
	struct ks_seg rest = *s;

	rest.begin = begin;
	rest.end = end;
	rest.flow = 0;
	name_rest(&rest);
	if (s->waker.t && rest.what.layer == KS_UNEXPLAINED && *ks_waker_comm(&s->waker))
		rest.what.culprit = ks_task(ks_waker_comm(&s->waker), s->waker.t->tid);
	return rest;
}

/* "... ← COMM/TID": one waker more */
static struct ks_via via(struct ks_via v, const struct ks_waker *waker)
{
	if (v.nr < KS_HOPS) {
		v.hop[v.nr].comm = ks_intern(ks_waker_comm(waker));
		v.hop[v.nr].tid = waker->t->tid;
	}
	v.nr = min_u64(v.nr + 1, KS_HOPS + 1);
	return v;
}

/* The pieces of @waker that overlap [@begin, @end], the last first; at most @most. */
static size_t pick(struct ks_engine *e, u64 *picked, size_t most, const struct ks_waker *waker,
		   u64 begin, u64 end)
{
	u64 number = waker->t->logged;
	size_t nr = 0;

	begin = max_u64(begin, waker->born);	/* before, the number was another's */
	for (size_t i = 0; i < MAX_LOOKED_AT && nr < most; i++) {
		const struct ks_piece *p = piece(e, number);

		if (!p || p->end <= begin)
			break;
		if (p->begin < end)
			picked[nr++] = number;
		number = p->before;
	}
	return nr;
}

/* A sleep of @t that is being explained. */
struct path {
	struct ks_engine *e;
	struct ks_thread *t;
	struct ks_seg part;	/* what was given last */
	const struct ks_what *instead;	/* of what nothing has measured, in a call of the GPU's library; NULL: in none */
	size_t left;		/* pieces that may still be picked */
};

static bool is_measured(const struct ks_what *what)
{
	return what->layer > KS_EXIT;
}

static void give_part(struct path *path, u64 begin, u64 end, const struct ks_what *what)
{
	if (begin >= end)
		return;
	path->part.begin = begin;
	path->part.end = end;
	path->part.what = path->instead && (!is_measured(what) || !what->via.nr) ? *path->instead : *what;
	add_up(path->e, path->t, &path->part);
}

/* [@begin, @end], which @waker ended, by what @waker did; @rest names what it did nothing in. */
static void follow(struct path *path, const struct ks_waker *waker, u64 begin, u64 end,
		   const struct ks_what *rest, int depth)
{
	u64 *picked = path->e->picked + MAX_PICKED - path->left;
	size_t nr = pick(path->e, picked, path->left, waker, begin, end);

	path->left -= nr;
	while (nr-- > 0) {
		const struct ks_piece *p = &path->e->log[picked[nr] % KS_LOG];
		u64 from = max_u64(p->begin, begin), to = min_u64(p->end, end);
		struct ks_what what = p->what;

		if (from >= to || p->what.layer == KS_ABSENT_LAYER || p->what.layer == KS_UNKNOWN_LAYER)
			continue;
		give_part(path, begin, from, rest);
		what.state = KS_BLOCKED;
		what.via = via(rest->via, waker);
		if (p->waker.t && depth + 1 < MAX_DEPTH && path->left)
			follow(path, &p->waker, from, to, &what, depth + 1);
		else
			give_part(path, from, to, &what);
		begin = to;
	}
	give_part(path, begin, end, rest);
}

/* A sleep that a thread of the job ended. */
static void give_by_waker(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s, u64 begin,
			  u64 end)
{
	struct ks_seg whole = rest_of(s, begin, end);
	struct path path = { .e = e, .t = t, .part = whole, .left = MAX_PICKED };
	struct ks_what rest = whole.what;

	log_piece(e, t, &whole, s->waker);
	if (!t->steps && !e->segment) {
		t->last = whole.what;
		return;
	}
	if (!e->picked)
		e->picked = ks_alloc(MAX_PICKED * sizeof(*e->picked));
	rest.via.call = name_of_call(s);
	if (s->gpu.layer)
		path.instead = &whole.what;
	follow(&path, &s->waker, begin, end, &rest, 0);
}

/* Of the one that lives it may be known by now that it makes system calls. */
static bool is_followed(const struct ks_waker *waker)
{
	const struct ks_thread *t = waker->t;

	return t && (t->born == waker->born ? t->in_job && t->user : waker->followed);
}

/* Not where the call itself says what it waits for. */
static bool is_on_the_path(const struct ks_seg *s)
{
	return is_followed(&s->waker) && !s->call.layer && !ks_syscall_sleeps(s->syscall) && s->syscall != KS_EXITING;
}

static void give_unrequested(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s,
			     u64 begin, u64 end)
{
	struct ks_seg rest;

	if (begin >= end)
		return;
	if (is_on_the_path(s)) {
		give_by_waker(e, t, s, begin, end);
		return;
	}
	rest = rest_of(s, begin, end);
	give(e, t, &rest);
}

/* Which phase is at @at, and until when nothing changes; the first of several wins. */
static const struct ks_phase *phase_at(const struct ks_done *d, u64 at, u64 *until)
{
	const struct ks_phase *found = NULL;

	for (u8 i = 0; i < d->nr; i++) {
		const struct ks_phase *p = &d->phase[i];

		if (p->begin > at)
			*until = min_u64(*until, p->begin);
		else if (p->end > at)
			*until = min_u64(*until, p->end);
		if (!found && p->begin <= at && p->end > at)
			found = p;
	}
	return found;
}

/* A sleep that a request ended: by the phases of that. */
static void give_by_request(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s)
{
	const struct ks_done *d = s->done;
	u64 at = s->begin, unrequested = s->begin;
	struct ks_seg part = *s;

	part.what = (struct ks_what){ .state = KS_BLOCKED, .layer = d->layer };
	while (at < s->end) {
		u64 until = s->end;
		const struct ks_phase *p = phase_at(d, at, &until);

		if (p) {
			give_unrequested(e, t, s, unrequested, at);
			part.begin = at;
			part.end = unrequested = until;
			part.what.phase = p->name;
			part.what.culprit = p->culprit;
			give(e, t, &part);
		}
		at = until;
	}
	give_unrequested(e, t, s, unrequested, s->end);
}

static bool is_unnamed_sleep(const struct ks_seg *s)
{
	return !s->what.layer && s->what.state == KS_BLOCKED;
}

void ks_explain(struct ks_engine *e, struct ks_thread *t, struct ks_seg *s)
{
	if (s->done && !s->flow)
		s->flow = s->done->flow;
	if (is_unnamed_sleep(s) && s->done && !s->done->others) {
		give_by_request(e, t, s);
	} else if (is_unnamed_sleep(s)) {
		give_unrequested(e, t, s, s->begin, s->end);
	} else {
		if (!s->what.layer)
			name_rest(s);
		give(e, t, s);
	}
}

/*
 * The thread that ended this sleep has not been added up so far. It may have ended, or be idle, since its own sleep had to wait
 * when it made its last system call: nobody else would do it.
 */
bool ks_must_wait(struct ks_engine *e, const struct ks_seg *s)
{
	struct ks_thread *w = s->waker.t;

	if (!is_unnamed_sleep(s) || !is_on_the_path(s))
		return false;
	if (w->ready < s->end && e->folding < MAX_FOLDING)
		ks_thread_fold(e, w, w->gone ? w->since : w->call_begin, false);
	return w->ready < s->end;
}
