// SPDX-License-Identifier: GPL-2.0
/*
 * Events that are still in a ring, as the kernel prints them, since a ring's pages can only be read
 * by taking them out: "   comm-12  [001] d..1.    12.345678: event: text". A task may have any name,
 * of 15 bytes: too few for all that stands between it and the event, blanks included.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/recorder.h"
#include "trace/tracing.h"

#define MAX_NAME 15

/*
 * Of "-12  [001] d..1.    12.345678: event: text" each part; false: that does not begin here,
 * or ends so soon that all of it may be a task's name.
 */
static bool read_frame(struct ks_frame *f, char *at)
{
	unsigned long long sec, usec;
	int n = 0;

	if (sscanf(at, "-%*u [%d] %*[A-Za-z.#0-9] %llu.%6llu: %n", &f->cpu, &sec, &usec, &n) != 3 ||
	    n <= MAX_NAME)
		return false;
	f->ts = sec * NSEC + usec * 1000;
	f->event = at + n;
	f->text = strstr(f->event, ": ");
	if (!f->text)
		return false;
	*f->text = '\0';
	f->text += 2;
	return true;
}

bool ks_frame_find(struct ks_frame *f, char *line)
{
	for (char *at = line; (at = strstr(at, "-")); at++) {
		if (isdigit((u8)at[1]) && read_frame(f, at))
			return true;
	}
	return false;
}

struct reading {
	struct ks_lines *lines;
	const struct ks_rec_config *c;
	struct tep_handle *tep;
	s64 offset;		/* of the ring's clock to CLOCK_MONOTONIC */
};

/* NULL: it is not one of ours. */
static struct tep_event *find_event(const struct reading *r, const char *name)
{
	const struct ks_rec_event *e = r->c->events, *end = e + r->c->nr_events;
	struct tep_event *te;

	while (e < end && strcmp(e->name, name))
		e++;
	if (e == end)
		return NULL;
	te = tep_find_event_by_name(r->tep, e->system, name);
	if (!te)
		ks_die("%s:%s: its format cannot be read", e->system, name);
	return te;
}

/*
 * Besides events there are a head, and which CPU's part begins or has lost something; but what is
 * behind a new line in a task's name may begin like these.
 */
static void one_line(struct reading *r, char *line)
{
	struct tep_event *te;
	struct ks_frame f;
	char boot[40];

	if (!ks_frame_find(&f, line)) {
		r->lines->unread += *line != '#' && strncmp(line, "CPU:", 4) && line[strspn(line, " ")];
		return;
	}
	if (!strcmp(f.event, "tracing_mark_write") && ks_read_mark(f.text, f.ts, boot, &r->offset))
		return;
	te = find_event(r, f.event);
	if (te)
		ks_lines_add(r->lines, f.ts, f.cpu, te, NULL, f.text);
	else
		r->lines->others++;
}

/* Formats are of what is there now: a ring has none of a module that has gone. */
void ks_lines_live(struct ks_lines *l, const struct ks_rec_config *c, struct ks_rings *rings)
{
	struct reading r = { l, c, ks_formats(ks_rec_systems(c)) };

	for (int i = 0; i < rings->nr; i++) {
		char *text = ks_ring_text(rings->ring[i].in, "trace"), *save = NULL;
		size_t first = l->nr;

		r.offset = 0;
		for (char *p = text ? strtok_r(text, "\n", &save) : NULL; p;
		     p = strtok_r(NULL, "\n", &save))
			one_line(&r, p);
		ks_lines_to_mono(l, first, 0, r.offset);
		free(text);
	}
	tep_free(r.tep);
}
