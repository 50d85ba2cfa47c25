// SPDX-License-Identifier: GPL-2.0
/* Steps: where they begin and end, and when they are complete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

/* An ended step whose thread does nothing that would close it is given out after so long. */
#define OVERDUE (2 * NSEC)

#define MAX_EMPTY (1 << 20)	/* windows without an event, as a damaged time would make without end */

static struct ks_step *step_begin(struct ks_engine *e, struct ks_thread *t, const char *kind,
				  const char *id, u64 begin)
{
	struct ks_step *s = ks_alloc(sizeof(*s)), **end = &t->steps;
	struct ks_what absent = { .state = KS_ABSENT, .layer = KS_ABSENT_LAYER };

	if (begin >= t->since)
		ks_thread_enter(e, t, begin, t->state);
	ks_fmt(s->id, sizeof(s->id), "%s", id);
	ks_fmt(s->kind, sizeof(s->kind), "%s", kind);
	memcpy(s->comm, t->comm, sizeof(s->comm));
	s->begin = begin;
	s->serial = e->serial++;
	s->pid = t->tgid;
	s->tid = t->tid;
	s->lost = begin < e->lost_until ? e->lost_there : 0;
	if (begin < t->ready)
		ks_parts_add(&s->parts, absent, t->ready - begin, 1);
	while (*end)
		end = &(*end)->next;
	*end = s;
	t->first = true;
	return s;
}

static void step_end(struct ks_engine *e, struct ks_thread *t, struct ks_step *s, u64 end)
{
	ks_thread_enter(e, t, end, t->state);
	s->end = end;
	s->ended = true;
	if (!s->comm[0])
		memcpy(s->comm, t->comm, sizeof(s->comm));
}

void ks_step_free(struct ks_step *s)
{
	ks_parts_free(&s->parts);
	free(s);
}

void ks_steps_add(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *seg)
{
	(void)e;
	for (struct ks_step *s = t->steps; s; s = s->next) {
		u64 begin = max_u64(s->begin, seg->begin);
		u64 end = s->ended ? min_u64(s->end, seg->end) : seg->end;

		if (begin < end)
			ks_parts_add(&s->parts, seg->what, end - begin, seg->first);
	}
}

/* The promise: the parts are the step. */
static void check(const struct ks_step *s)
{
	u64 sum = 0;

	for (size_t i = 0; i < s->parts.nr; i++)
		sum += s->parts.part[i].ns;
	if (sum != s->end - s->begin)
		ks_die("step %s of %s/%d: its parts sum to %llu ns, it took %llu ns: a bug in kstall",
		       s->id, s->comm, s->tid, (unsigned long long)sum,
		       (unsigned long long)(s->end - s->begin));
}

/* Give out the steps of which nothing is missing any more. */
void ks_steps_ready(struct ks_engine *e, struct ks_thread *t)
{
	struct ks_step **p = &t->steps, *s;

	while ((s = *p)) {
		if (!s->ended || s->end > t->ready) {
			p = &s->next;
			continue;
		}
		*p = s->next;
		check(s);
		e->step_done(e, s);
	}
}

void ks_steps_drop(struct ks_engine *e, struct ks_thread *t)
{
	struct ks_step *s;

	while ((s = t->steps)) {
		t->steps = s->next;
		e->unmatched += !s->ended && e->by != KS_BY_EVERY;
		ks_step_free(s);
	}
}

#define for_each_thread(e, t) \
	for (size_t b_ = 0; b_ < KS_THREAD_BUCKETS; b_++) \
		for (struct ks_thread *t = (e)->threads[b_]; t; t = t->next)

void ks_steps_overdue(struct ks_engine *e)
{
	for_each_thread(e, t) {
		u64 until = 0;

		for (struct ks_step *s = t->steps; s; s = s->next) {
			if (s->ended && s->end + OVERDUE < e->now)
				until = max_u64(until, s->end);
		}
		if (until)
			ks_thread_fold(e, t, until);
	}
}

void ks_steps_lost(struct ks_engine *e, u64 from, u64 to, u64 nr)
{
	for_each_thread(e, t) {
		for (struct ks_step *s = t->steps; s; s = s->next) {
			if (s->begin < to && (!s->ended || s->end > from))
				s->lost += nr;
		}
	}
}

/* Windows of --every, of each process's first thread; and the whole, which is one window. */
static void window_id(const struct ks_engine *e, char *id)
{
	if (e->by == KS_BY_ALL)
		strcpy(id, "all");
	else
		ks_fmt(id, 32, "%llu", (unsigned long long)((e->window - e->begin) / e->every));
}

void ks_steps_join(struct ks_engine *e, struct ks_thread *t)
{
	char id[32];

	if (t->tid != t->tgid || (e->by != KS_BY_EVERY && e->by != KS_BY_ALL))
		return;
	window_id(e, id);
	step_begin(e, t, "window", id, e->window);
}

void ks_step_windows(struct ks_engine *e, u64 ts)
{
	char id[32];

	if (e->by != KS_BY_EVERY)
		return;
	if ((ts - e->window) / e->every > MAX_EMPTY)
		ks_die("between two events are %llu windows of --every: a damaged recording, or too short a time",
		       (unsigned long long)((ts - e->window) / e->every));
	while (ts - e->window >= e->every) {
		e->window += e->every;
		window_id(e, id);
		for_each_thread(e, t) {
			if (!t->in_job || t->tid != t->tgid)
				continue;
			for (struct ks_step *s = t->steps; s; s = s->next) {
				if (!s->ended)
					step_end(e, t, s, e->window);
			}
			if (t->dead)
				ks_thread_fold(e, t, e->window);
			else
				step_begin(e, t, "window", id, e->window);
		}
	}
}

static struct ks_step *find_in(struct ks_thread *t, const char *kind, const char *id)
{
	struct ks_step *s = t->steps;

	while (s && (s->ended || strcmp(s->kind, kind) || (id && strcmp(s->id, id))))
		s = s->next;
	return s;
}

/* The open step of @t's process with this name, and whose it is. */
static struct ks_step *find_open(struct ks_engine *e, struct ks_thread *t, const char *kind,
				 const char *id, struct ks_thread **owner)
{
	struct ks_step *s = find_in(t, kind, id);

	*owner = t;
	if (s)
		return s;
	for_each_thread(e, other) {
		if (other->tgid != t->tgid || !other->steps)
			continue;
		*owner = other;
		s = find_in(other, kind, id);
		if (s)
			return s;
	}
	return NULL;
}

static void mark_begin(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id,
		       const char *attributes)
{
	struct ks_thread *owner;
	struct ks_step *s;

	if (find_open(e, t, kind, id, &owner)) {
		e->unmatched++;
		return;
	}
	s = step_begin(e, t, kind, id, e->now);
	ks_fmt(s->attributes, sizeof(s->attributes), "%s", attributes);
	s->attributes[strcspn(s->attributes, "\r\n")] = '\0';
}

static void mark_end(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id)
{
	struct ks_thread *owner;
	struct ks_step *s = find_open(e, t, kind, id, &owner);

	if (s)
		step_end(e, owner, s, e->now);
	else
		e->unmatched++;
}

/* A line without begin and end: the thread's last step is over, the next begins. */
static void mark_next(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id)
{
	struct ks_step *s = find_in(t, kind, NULL);

	if (s)
		step_end(e, t, s, e->now);
	mark_begin(e, t, kind, id, "");
}

static void marker(struct ks_engine *e, s32 tid, const char *kind, const char *text)
{
	struct ks_thread *t = ks_thread_get(e, tid);
	char id[48] = "", what[8] = "";
	int n = 0;

	if (sscanf(text, "%47s%n %7s%n", id, &n, what, &n) < 1)
		return;
	if (strcmp(kind, e->by == KS_BY_NCCL ? "nccl" : "step"))
		return;
	e->markers = true;
	if (e->by != KS_BY_AUTO && e->by != KS_BY_MARKER && e->by != KS_BY_NCCL)
		return;
	if (!t->in_job && e->has_tasks)
		return;
	ks_thread_join(e, t);
	ks_thread_enter(e, t, e->now, t->state == KS_UNKNOWN ? KS_ON_CPU : t->state);
	if (!strcmp(what, "begin"))
		mark_begin(e, t, kind, id, text[n] == ' ' ? text + n + 1 : text + n);
	else if (!strcmp(what, "end"))
		mark_end(e, t, kind, id);
	else
		mark_next(e, t, kind, id);
}

/* What the recorder says of a thread: it exists, and what it does if no event has said so yet. */
static void note_task(struct ks_engine *e, const char *text)
{
	struct ks_thread *t;
	int tid, tgid, nr, n = 0;
	char state;

	if (sscanf(text, "%d %d %c %d %n", &tid, &tgid, &state, &nr, &n) < 4 || tid <= 0)
		return;
	e->has_tasks = true;
	t = ks_thread_get(e, tid);
	t->tgid = tgid;
	if (n && !t->comm[0])
		ks_fmt(t->comm, sizeof(t->comm), "%.*s", (int)strcspn(text + n, "\n"), text + n);
	if (t->state == KS_UNKNOWN) {
		t->since = t->ready = e->begin;
		t->state = state == 'R' ? KS_ON_CPU : KS_BLOCKED;
		t->uninterruptible = state == 'D';
		t->syscall = state != 'R' && nr >= 0 && nr < 32768 ? nr : -1;
	}
	if (!e->scope.nr_pids && !e->scope.comm)
		ks_thread_join(e, t);
	for (size_t i = 0; i < e->scope.nr_pids; i++) {
		if (e->scope.pids[i] == tgid || e->scope.pids[i] == tid)
			ks_thread_join(e, t);
	}
	if (e->scope.comm && !strcmp(e->scope.comm, t->comm))
		ks_thread_join(e, t);
}

static void note_unseen(struct ks_engine *e, const char *text)
{
	struct ks_unseen u = { "", "", "" };

	if (sscanf(text, "%31s %63s %159[^\n]", u.layer, u.event, u.why) < 3 || e->nr_unseen >= 256)
		return;
	e->unseen = ks_grow(e->unseen, &e->room_unseen, e->nr_unseen + 1, sizeof(u));
	e->unseen[e->nr_unseen++] = u;
}

/* A line that a probe has seen is not read a second time where it was written to. */
static void line(struct ks_engine *e, s32 tid, const char *text, bool probe)
{
	char word[16];
	int n = 0;

	if (sscanf(text, "kstall %15s %n", word, &n) < 1 || !n)
		return;
	if (!strcmp(word, "step") || !strcmp(word, "nccl")) {
		if (probe || !e->marks_by_probe)
			marker(e, tid, word, text + n);
	} else if (!strcmp(word, "probe")) {
		e->marks_by_probe = true;
	}
	if (!strcmp(word, "task"))
		note_task(e, text + n);
	else if (!strcmp(word, "fd"))
		ks_call_note(e, text + n);
	else if (!strcmp(word, "unseen"))
		note_unseen(e, text + n);
}

/* print: buf */
void ks_on_print(struct ks_engine *e, const struct ks_event *ev)
{
	line(e, ev->pid, ev->str[0], false);
}

/* step: text, as it is written to whatever file */
void ks_on_mark(struct ks_engine *e, const struct ks_event *ev)
{
	line(e, ev->pid, ev->str[0], true);
}

/* call: from one call of the function to the next */
void ks_on_call(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->pid);
	char id[32];

	e->calls = true;
	if (e->by != KS_BY_CALL || (!t->in_job && e->has_tasks))
		return;
	ks_thread_join(e, t);
	ks_thread_enter(e, t, ev->ts, t->state == KS_UNKNOWN ? KS_ON_CPU : t->state);
	mark_next(e, t, "call", ks_fmt(id, sizeof(id), "%llu", (unsigned long long)t->last_call++));
}
