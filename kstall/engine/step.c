// SPDX-License-Identifier: GPL-2.0
/* Steps: where they begin and end, and when they are complete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "engine/engine.h"

/* Live, an ended step whose thread does nothing that would close it is given out after so long. */
#define OVERDUE (2 * NSEC)

#define MAX_EMPTY (1 << 20)	/* windows without an event, as a damaged time would make without end */
#define MAX_OPEN 65536		/* steps that markers have begun: a job must not fill our memory */
#define MAX_STEPS (1 << 21)	/* not given out */
#define REBASE (KS_MAX_PARTS / 4 * 3)	/* before the sums get so many parts that some are merged */

static const char proxy_kind[] = "proxy";

static bool has_windows(const struct ks_engine *e)
{
	return e->by == KS_BY_EVERY || e->by == KS_BY_ALL;
}

/* Open steps by their names, the last that has begun first. */
static u32 key_of(s32 id, const char *kind, const char *text)
{
	u32 h = 2166136261u ^ (u32)id * 2654435761u;

	for (const char *p = kind; *p; p++)
		h = (h ^ (u8)*p) * 16777619u;
	for (const char *p = text; *p; p++)
		h = (h ^ (u8)*p) * 16777619u;
	return (h ^ h >> 15) & (KS_STEP_BUCKETS - 1);
}

static void open_step(struct ks_engine *e, struct ks_thread *t, struct ks_step *s)
{
	struct ks_step **own = &e->own_step[key_of(s->tid, s->kind, s->id)];
	struct ks_step **any = &e->any_step[key_of(s->pid, s->kind, s->id)];

	ks_list_insert(&t->open, s, next_open, prev_open);
	ks_list_insert(own, s, next_own, prev_own);
	ks_list_insert(any, s, next_any, prev_any);
	e->nr_open++;
}

static void close_step(struct ks_engine *e, struct ks_step *s)
{
	ks_list_remove(s, next_open, prev_open);
	ks_list_remove(s, next_own, prev_own);
	ks_list_remove(s, next_any, prev_any);
	e->nr_open--;
}

static struct ks_step *find_own(struct ks_engine *e, const struct ks_thread *t, const char *kind,
				const char *id)
{
	struct ks_step *s = e->own_step[key_of(t->tid, kind, id)];

	while (s && (s->owner != t || strcmp(s->kind, kind) || strcmp(s->id, id)))
		s = s->next_own;
	return s;
}

/* The thread's own step of this name; if it has none, the one that another thread of its process began last. */
static struct ks_step *find_open(struct ks_engine *e, const struct ks_thread *t, const char *kind,
				 const char *id)
{
	struct ks_step *s = find_own(e, t, kind, id);

	if (s)
		return s;
	s = e->any_step[key_of(t->tgid, kind, id)];
	while (s && (s->pid != t->tgid || strcmp(s->kind, kind) || strcmp(s->id, id)))
		s = s->next_any;
	return s;
}

/* What was before the thread's time is known. */
static void add_before(struct ks_step *s, const struct ks_thread *t)
{
	struct ks_what absent = { .state = KS_ABSENT, .layer = KS_ABSENT_LAYER };
	struct ks_what unknown = { .state = KS_UNKNOWN, .layer = KS_UNKNOWN_LAYER };
	u64 born = min_u64(max_u64(s->begin, t->born), t->ready);

	if (born > s->begin)
		ks_parts_add(&s->parts, absent, born - s->begin, 1);
	if (t->ready > max_u64(born, s->begin))
		ks_parts_add(&s->parts, unknown, t->ready - max_u64(born, s->begin), 1);
}

/* To the end of its thread's lists. */
static void add_step(struct ks_engine *e, struct ks_step *s)
{
	struct ks_thread *t = s->owner;

	if (!t->steps)
		ks_list_insert(&e->with_steps, t, next_with, prev_with);
	s->next = NULL;
	s->prev = t->last_step;
	*t->last_step = s;
	t->last_step = &s->next;
	open_step(e, t, s);
	e->nr_steps++;
}

static struct ks_step *step_begin(struct ks_engine *e, struct ks_thread *t, const char *kind,
				  const char *id, u64 begin)
{
	struct ks_step *s = ks_alloc(sizeof(*s));

	if (e->nr_steps >= MAX_STEPS)
		ks_die("more than %d steps wait for their thread: the time of --every is too short",
		       MAX_STEPS);
	ks_fmt(s->id, sizeof(s->id), "%s", id);
	s->kind = kind;
	s->attributes = "";
	memcpy(s->comm, t->comm, sizeof(s->comm));
	s->begin = begin;
	s->serial = e->serial++;
	s->owner = t;
	s->pid = t->tgid;
	s->tid = t->tid;
	s->lost = begin < e->lost_until ? e->lost_there : 0;
	add_before(s, t);
	add_step(e, s);
	if (!t->to_begin)
		t->to_begin = s;
	return s;
}

static void step_end(struct ks_engine *e, struct ks_step *s, u64 end)
{
	struct ks_thread *t = s->owner;

	close_step(e, s);
	s->end = end;
	s->ended = true;
	if (!s->comm[0] || has_windows(e))
		memcpy(s->comm, t->comm, sizeof(s->comm));
	*t->last_ended = s;
	t->last_ended = &s->next_ended;
}

void ks_step_free(struct ks_step *s)
{
	if (*s->attributes)
		free(s->attributes);
	ks_split_free(s->split);
	ks_parts_free(&s->parts);
	free(s->before);
	free(s);
}

/* Out of its thread's lists. */
static void remove_step(struct ks_engine *e, struct ks_step *s)
{
	struct ks_thread *t = s->owner;

	if (!s->ended)
		close_step(e, s);
	if (t->to_begin == s)
		t->to_begin = s->next;
	if (t->fresh == s)
		t->fresh = s->next != t->to_begin ? s->next : NULL;
	if (t->last_step == &s->next)
		t->last_step = s->prev;
	ks_list_remove(s, next, prev);
	t->nr_running -= s->begun;
	e->nr_steps--;
	if (!t->steps)
		ks_list_remove(t, next_with, prev_with);
}

/* What the thread has added up since the step began becomes the step's. */
static void take_sums(struct ks_step *s, const struct ks_parts *sums)
{
	for (size_t i = 0; i < sums->nr; i++) {
		u64 ns = sums->part[i].ns, count = sums->part[i].count;

		if (i < s->nr_before) {
			ns -= s->before[2 * i];
			count -= s->before[2 * i + 1];
		}
		if (ns)
			ks_parts_add(&s->parts, sums->part[i].what, ns, count);
	}
	free(s->before);
	s->before = NULL;
	s->nr_before = 0;
}

static void begin_sums(struct ks_thread *t, struct ks_step *s)
{
	s->begun = true;
	t->nr_running++;
	if (!t->fresh)
		t->fresh = s;
	s->nr_before = t->sums.nr;
	s->before = t->sums.nr ? ks_alloc(2 * t->sums.nr * sizeof(*s->before)) : NULL;
	for (size_t i = 0; i < t->sums.nr; i++) {
		s->before[2 * i] = t->sums.part[i].ns;
		s->before[2 * i + 1] = t->sums.part[i].count;
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

/* It was seen before the recorder said which threads are recorded. */
static bool is_of_another_job(const struct ks_engine *e, const struct ks_thread *t)
{
	return e->has_tasks && !t->recorded;
}

static void done(struct ks_engine *e, struct ks_step *s)
{
	if (s->split) {
		ks_split_take(s->split, s);
		check(s);
	}
	e->step_done(e, s);
}

/* Of the proxy thread's time all is known that there is; @seen: it is of use. */
static void proxy_done(struct ks_engine *e, struct ks_step *proxy, bool seen)
{
	struct ks_step *s = proxy->collective;

	if (s && s->split && seen)
		ks_split_proxy(s->split, proxy);
	if (s)
		s->proxy = NULL;
	if (s && s->waits)
		done(e, s);
	ks_step_free(proxy);
}

/* A step that is in no list and nobody gets. */
static void drop(struct ks_engine *e, struct ks_step *s)
{
	if (s->kind == proxy_kind) {
		proxy_done(e, s, false);
		return;
	}
	if (s->proxy)
		s->proxy->collective = NULL;
	ks_step_free(s);
}

static void give_out(struct ks_engine *e, struct ks_thread *t, struct ks_step *s)
{
	const bool other = is_of_another_job(e, t);

	t->ended = s->next_ended;
	if (!t->ended)
		t->last_ended = &t->ended;
	take_sums(s, &t->sums);
	t->given = max_u64(t->given, s->end);
	remove_step(e, s);
	check(s);
	if (s->kind == proxy_kind)
		proxy_done(e, s, !other);
	else if (other)
		drop(e, s);
	else if (s->proxy)
		s->waits = true;
	else
		done(e, s);
}

static void end_due(struct ks_engine *e, struct ks_thread *t, u64 at)
{
	while (t->ended && t->ended->begun && t->ended->end <= at)
		give_out(e, t, t->ended);
}

/* Steps begin and end where the sums have come to. */
static void reach(struct ks_engine *e, struct ks_thread *t, u64 at)
{
	end_due(e, t, at);
	while (t->to_begin && t->to_begin->begin <= at) {
		if (!t->nr_running)
			ks_parts_free(&t->sums);
		begin_sums(t, t->to_begin);
		t->to_begin = t->to_begin->next;
	}
	end_due(e, t, at);
}

/* With as many parts as there may be, all is given to the steps, and the sums begin anew. */
static void rebase(struct ks_thread *t)
{
	if (t->sums.nr < REBASE)
		return;
	for (struct ks_step *s = t->steps; s && s->begun; s = s->next)
		take_sums(s, &t->sums);
	ks_parts_free(&t->sums);
}

/* In each step in which it goes on from before it counts as one that begins there. */
static void begin_with(struct ks_thread *t, const struct ks_what *what, u64 count)
{
	for (struct ks_step *s = t->fresh; s && s != t->to_begin && !count; s = s->next)
		ks_parts_add(&s->parts, *what, 0, 1);
	t->fresh = NULL;
}

void ks_steps_add(struct ks_engine *e, struct ks_thread *t, const struct ks_what *what, u64 begin, u64 end)
{
	u64 count = !ks_same_part(&t->last, what);

	while (begin < end) {
		u64 to = end;

		reach(e, t, begin);
		if (t->to_begin)
			to = min_u64(to, t->to_begin->begin);
		if (t->ended)
			to = min_u64(to, t->ended->end);
		if (t->nr_running) {
			rebase(t);
			begin_with(t, what, count);
			ks_parts_add(&t->sums, *what, to - begin, count);
			count = 0;
		}
		begin = to;
	}
	reach(e, t, end);
	t->last = *what;
}

void ks_steps_ready(struct ks_engine *e, struct ks_thread *t)
{
	reach(e, t, t->ready);
}

void ks_steps_drop(struct ks_engine *e, struct ks_thread *t)
{
	struct ks_step *s;

	while ((s = t->steps)) {
		e->unmatched += !s->ended && !has_windows(e) && s->kind != proxy_kind;
		remove_step(e, s);
		drop(e, s);
	}
	t->ended = NULL;
	t->last_ended = &t->ended;
}

/* What has been added up stays; the rest is what @t does. */
static void take_over(struct ks_engine *e, struct ks_step *s, struct ks_thread *t)
{
	take_sums(s, &s->owner->sums);
	remove_step(e, s);
	s->owner = t;
	s->tid = t->tid;
	add_step(e, s);
	begin_sums(t, s);
}

void ks_steps_take_over(struct ks_engine *e, struct ks_thread *t, struct ks_thread *from)
{
	struct ks_step *next;

	for (struct ks_step *s = from->open; s; s = next) {
		next = s->next_open;
		if (s->begun)
			take_over(e, s, t);
	}
}

void ks_steps_close(struct ks_engine *e, struct ks_thread *t, u64 end)
{
	while (t->open)
		step_end(e, t->open, end);
}

void ks_steps_end(struct ks_engine *e, struct ks_thread *t, u64 end)
{
	if (has_windows(e))
		ks_steps_close(e, t, end);
	ks_steps_ready(e, t);
	ks_steps_drop(e, t);
}

static bool is_overdue(const struct ks_engine *e, const struct ks_step *s)
{
	return s && s->end + OVERDUE < e->now;
}

/* Is the thread in what it did when the step ended? */
static bool still_there(const struct ks_thread *t, const struct ks_step *s)
{
	if (t->syscall != KS_NO_CALL)
		return t->call_begin <= s->end;
	return t->state == KS_BLOCKED && t->since <= s->end;
}

/* Live: if the thread does nothing that says so, the events of its last sleep have come by now. */
static void give_overdue(struct ks_engine *e, struct ks_thread *t)
{
	u64 until = 0;

	for (struct ks_step *s = t->ended; is_overdue(e, s) && !still_there(t, s); s = s->next_ended)
		until = s->end;
	if (!until || t->slept + OVERDUE > e->now)
		return;
	ks_thread_enter(e, t, max_u64(until, t->since), t->state);
	ks_thread_fold(e, t, until, true);
}

void ks_steps_overdue(struct ks_engine *e)
{
	struct ks_thread *next;

	for (struct ks_thread *t = e->with_steps; t; t = next) {
		next = t->next_with;
		give_overdue(e, t);
	}
}

void ks_steps_waiting(struct ks_engine *e, void (*fn)(void *priv, const struct ks_thread *t, size_t nr),
		      void *priv)
{
	for (struct ks_thread *t = e->with_steps; t; t = t->next_with) {
		size_t nr = 0;

		if (!is_overdue(e, t->ended))
			continue;
		for (struct ks_step *s = t->ended; s && still_there(t, s); s = s->next_ended)
			nr++;
		if (nr)
			fn(priv, t, nr);
	}
}

void ks_steps_lost(struct ks_engine *e, u64 from, u64 to, u64 nr)
{
	for (struct ks_thread *t = e->with_steps; t; t = t->next_with) {
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

	if (t->tid != t->tgid || !has_windows(e))
		return;
	if (!t->is_main) {
		t->is_main = true;
		t->next_main = e->mains;
		e->mains = t;
	}
	window_id(e, id);
	step_begin(e, t, "window", id, e->window);
}

/* A thread of another process may have got the number of one that has ended. */
static bool is_process(const struct ks_thread *t)
{
	return t->in_job && !t->gone && t->tid == t->tgid;
}

/* The next window of every process that has not ended. */
static void next_window(struct ks_engine *e)
{
	struct ks_thread **p = &e->mains, *t;
	char id[32];

	e->window += e->every;
	window_id(e, id);
	while ((t = *p)) {
		if (t->open)
			step_end(e, t->open, e->window);
		if (is_process(t)) {
			step_begin(e, t, "window", id, e->window);
			p = &t->next_main;
			continue;
		}
		t->is_main = false;
		*p = t->next_main;
		if (e->window > t->since)
			ks_thread_enter(e, t, e->window, t->state);
		ks_thread_fold(e, t, e->window, false);
	}
}

void ks_step_windows(struct ks_engine *e, u64 ts)
{
	if (e->by != KS_BY_EVERY)
		return;
	if ((ts - e->window) / e->every > MAX_EMPTY)
		ks_die("between two events are %llu windows of --every: a damaged recording, or too short a time",
		       (unsigned long long)((ts - e->window) / e->every));
	while (ts - e->window >= e->every)
		next_window(e);
}

/*
 * The collective's owner, if that is not the writer: another thread of NCCL or CUDA has announced it. In another PID
 * namespace the number says nothing.
 */
static struct ks_thread *caller(struct ks_engine *e, struct ks_thread *writer, const char *attributes)
{
	const char *tid = strstr(attributes, " tid=");
	struct ks_thread *t = tid ? ks_thread_find(e, atoi(tid + 5)) : NULL;

	if (!t || t->tgid != writer->tgid || t->gone || !ks_thread_follow(e, t))
		return NULL;
	return t;
}

static void mark_begin(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id,
		       const char *attributes)
{
	char raw[160], plain[160];
	struct ks_thread *owner;
	struct ks_step *s;

	ks_fmt(raw, sizeof(raw), "%.*s", (int)strcspn(attributes, "\r\n"), attributes);
	if (!strcmp(kind, "nccl") && strstr(raw, " tid=")) {
		owner = caller(e, t, raw);
		if (!owner && !strstr(raw, " owner=inferred"))
			ks_fmt(raw + strlen(raw), sizeof(raw) - strlen(raw), " owner=inferred");
		t = owner ? owner : t;
	}
	if (find_own(e, t, kind, id)) {
		e->unmatched++;
		return;
	}
	if (e->nr_open >= MAX_OPEN) {
		e->refused++;
		return;
	}
	s = step_begin(e, t, kind, id, e->now);
	ks_printable(plain, sizeof(plain), raw);
	if (*plain)
		s->attributes = ks_strdup(plain);
}

static void mark_end(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id,
		     const char *attributes)
{
	struct ks_step *s = find_open(e, t, kind, id);

	if (!s) {
		e->unmatched++;
		return;
	}
	if (strcspn(attributes, "\r\n")) {
		s->split = ks_split_parse(attributes, e->now - s->begin);
		e->refused += !s->split;
	}
	if (s->proxy)
		step_end(e, s->proxy, e->now);
	step_end(e, s, e->now);
}

/* A collective has begun on the GPU; NCCL's proxy thread has written that. */
static void mark_gpu(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id)
{
	struct ks_step *s = find_open(e, t, kind, id);

	if (!s) {
		e->unmatched++;
		return;
	}
	if (s->proxy || e->nr_open >= MAX_OPEN)
		return;
	s->proxy = step_begin(e, t, proxy_kind, id, e->now);
	s->proxy->collective = s;
}

/* Nobody knows when it ended. */
static void mark_lost(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id)
{
	struct ks_step *s = find_open(e, t, kind, id);

	if (!s) {
		e->unmatched++;
		return;
	}
	if (s->proxy)
		step_end(e, s->proxy, e->now);
	remove_step(e, s);
	drop(e, s);
	e->unended++;
}

/* A line without begin and end: the thread's last step is over, the next begins. */
static void mark_next(struct ks_engine *e, struct ks_thread *t, const char *kind, const char *id)
{
	if (t->open)
		step_end(e, t->open, e->now);
	mark_begin(e, t, kind, id, "");
}

struct mark {
	const char *kind;
	char id[48], what[8];
	const char *attributes;
};

/*
 * "ID", "ID end", "ID begin ATTRIBUTES", of a collective also "ID gpu", "ID end ATTRIBUTES" and "ID lost"; false: it is no such
 * line. A probe fetches memory up to a NUL, so behind the line may be anything.
 */
static bool parse_mark(struct mark *m, const char *kind, const char *text)
{
	const size_t end = strcspn(text, "\r\n"), len = strcspn(text, " \t\r\n");
	size_t at = len + strspn(text + len, " \t"), word = strcspn(text + at, " \t\r\n");
	char raw[sizeof(m->id)];

	if (!len || len >= sizeof(m->id) || word >= sizeof(m->what))
		return false;
	m->kind = strcmp(kind, "nccl") ? "step" : "nccl";
	ks_fmt(raw, sizeof(raw), "%.*s", (int)len, text);
	ks_printable(m->id, sizeof(m->id), raw);
	ks_fmt(m->what, sizeof(m->what), "%.*s", (int)word, text + at);
	at += word;
	at += strspn(text + at, " \t");
	m->attributes = text + at;
	if (!strcmp(m->what, "begin"))
		return true;
	if (!strcmp(m->kind, "nccl") && !strcmp(m->what, "end"))
		return true;
	if (!strcmp(m->kind, "nccl") && (!strcmp(m->what, "lost") || !strcmp(m->what, "gpu")))
		return at == end;
	return at == end && (!strcmp(m->what, "end") || (!word && !strcmp(m->kind, "step")));
}

static bool is_wanted(const struct ks_engine *e, const char *kind)
{
	if (e->by == KS_BY_NCCL)
		return !strcmp(kind, "nccl");
	return !strcmp(kind, "step");
}

static void marker(struct ks_engine *e, s32 tid, const char *kind, const char *text)
{
	struct ks_thread *t = ks_thread_get(e, tid);
	struct mark m;

	if (!is_wanted(e, kind) || !ks_thread_follow(e, t))
		return;
	if (!parse_mark(&m, kind, text)) {
		e->refused++;
		return;
	}
	e->markers = true;
	if (e->by != KS_BY_AUTO && e->by != KS_BY_MARKER && e->by != KS_BY_NCCL)
		return;
	ks_thread_runs(e, t, e->now);
	if (!strcmp(m.what, "begin"))
		mark_begin(e, t, m.kind, m.id, m.attributes);
	else if (!strcmp(m.what, "end"))
		mark_end(e, t, m.kind, m.id, m.attributes);
	else if (!strcmp(m.what, "gpu"))
		mark_gpu(e, t, m.kind, m.id);
	else if (!strcmp(m.what, "lost"))
		mark_lost(e, t, m.kind, m.id);
	else
		mark_next(e, t, m.kind, m.id);
}

/* The word after "kstall"; NULL: it is no line for us. */
static const char *after_word(const char *text, char *word)
{
	int n = 0;

	if (sscanf(text, "kstall %15s %n", word, &n) < 1 || !n)
		return NULL;
	return text + n;
}

static bool is_marker(const char *word)
{
	return !strcmp(word, "step") || !strcmp(word, "nccl");
}

/* A marker that a probe has seen is not read a second time where it was written to. */
void ks_on_print(struct ks_engine *e, const struct ks_event *ev)
{
	char word[16];
	const char *rest = after_word(KS_STR(ev, print, buf), word);

	if (!rest)
		return;
	if (!is_marker(word) && ev->own)
		ks_note_feed(e, ev->pid, word, rest);
	else if (is_marker(word) && !e->marks_by_probe)
		marker(e, ev->pid, word, rest);
}

KS_SAME_FIELD(step, step_null, text);

/* The text is written to whatever file. */
void ks_on_mark(struct ks_engine *e, const struct ks_event *ev)
{
	char word[16];
	const char *rest = after_word(KS_STR(ev, step, text), word);

	if (rest && is_marker(word))
		marker(e, ev->pid, word, rest);
}

/* From one call of the function to the next. */
void ks_on_call(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_get(e, ev->pid);
	char id[32];

	if (!ks_thread_follow(e, t))
		return;
	e->calls = true;
	if (e->by != KS_BY_CALL)
		return;
	ks_thread_runs(e, t, ev->ts);
	mark_next(e, t, "call", ks_fmt(id, sizeof(id), "%llu", (unsigned long long)t->last_call++));
}
