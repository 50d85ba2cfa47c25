// SPDX-License-Identifier: GPL-2.0
/* Lines of the recorder itself, which trace/notes.c writes: what no event says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

static void recorded(struct ks_engine *e, struct ks_thread *t, s32 tgid)
{
	e->has_tasks = true;
	t->tgid = tgid;
	t->recorded = true;
}

bool ks_names_threads(const struct ks_event *ev)
{
	static const char words[] = "kstall threads ";

	return ev->own && ev->type->fn == ks_on_print && !strncmp(KS_STR(ev, print, buf), words, sizeof(words) - 1);
}

/* "TGID TID TID ...": the job's threads, before the first event. */
static void note_threads(struct ks_engine *e, const char *text)
{
	char *end;
	s32 tgid = strtol(text, &end, 10), tid;

	while ((tid = strtol(text = end, &end, 10)) > 0 && end != text) {
		struct ks_thread *t = ks_thread_get(e, tid);

		recorded(e, t, tgid);
		t->named = true;
	}
	e->has_names = true;
}

/*
 * All that live have been noted. What was named and had ended before the first event, unseen, has left its number to
 * somebody else.
 */
static void note_all(struct ks_engine *e)
{
	struct ks_thread *t;

	ks_for_each_thread(e, t) {
		if (!t->named || t->gone || t->syscall == KS_EXITING)
			continue;
		ks_steps_drop(e, t);
		t->recorded = t->in_job = false;
	}
}

/* What the recorder says of a thread: it exists, and what it does if no event has said so yet. */
static void note_task(struct ks_engine *e, const char *text)
{
	struct ks_thread *t;
	int tid, tgid, nr, n = 0;
	char state, comm[64];

	if (sscanf(text, "%d %d %c %d %n", &tid, &tgid, &state, &nr, &n) < 4 || tid <= 0)
		return;
	t = ks_thread_get(e, tid);
	/* What comes between the names and the first event is not named, and its events until now were not the job's. */
	if (e->has_names && !t->recorded)
		t->since = t->ready = e->now;
	recorded(e, t, tgid);
	t->named = false;
	if (n && !t->comm[0])
		ks_printable(t->comm, sizeof(t->comm),
			     ks_fmt(comm, sizeof(comm), "%.*s", (int)strcspn(text + n, "\n"), text + n));
	if (t->state == KS_UNKNOWN) {
		t->state = state == 'R' ? KS_ON_CPU : KS_BLOCKED;
		t->guessed = state == 'R';
		t->uninterruptible = state == 'D';
		t->syscall = state != 'R' && nr >= 0 ? ks_syscall_of(e, nr) : KS_NO_CALL;
	}
	ks_thread_follow(e, t);
}

void ks_engine_unseen(struct ks_engine *e, const char *layer, const char *event, const char *why)
{
	struct ks_unseen *u;

	if (e->nr_unseen >= 256)
		return;
	e->unseen = ks_grow(e->unseen, &e->room_unseen, e->nr_unseen + 1, sizeof(*u));
	u = &e->unseen[e->nr_unseen++];
	ks_printable(u->layer, sizeof(u->layer), layer);
	ks_printable(u->event, sizeof(u->event), event);
	ks_printable(u->why, sizeof(u->why), why);
}

static void note_unseen(struct ks_engine *e, const char *text)
{
	char layer[32], event[64], why[160];

	if (sscanf(text, "%31s %63s %159[^\n]", layer, event, why) == 3)
		ks_engine_unseen(e, layer, event, why);
}

void ks_note_feed(struct ks_engine *e, s32 pid, const char *word, const char *text)
{
	if (!e->teller)
		e->teller = pid;
	if (e->teller != pid)
		return;
	if (!strcmp(word, "probe"))
		e->marks_by_probe = true;
	else if (!strcmp(word, "threads"))
		note_threads(e, text);
	else if (!strcmp(word, "task"))
		note_task(e, text);
	else if (!strcmp(word, "tasks"))
		note_all(e);
	else if (!strcmp(word, "fd"))
		ks_call_note(e, text);
	else if (!strcmp(word, "disk"))
		ks_disk_note(e, text);
	else if (!strcmp(word, "port"))
		ks_port_note(e, text);
	else if (!strcmp(word, "unseen"))
		note_unseen(e, text);
}
