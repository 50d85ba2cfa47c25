// SPDX-License-Identifier: GPL-2.0
/* kstall diff: what the steps of one recording have more of than those of another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/json.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/report.h"

struct side {
	const char *name;
	struct ks_report r;
	u64 inexact;
	struct ks_parts parts;	/* of the exact steps, with culprits */
};

struct change {
	struct ks_what what;
	double ns;		/* a step */
};

static void add_step(struct ks_engine *e, struct ks_step *s)
{
	struct side *side = e->priv;

	if (s->lost) {
		side->inexact++;
	} else {
		side->r.count++;
		side->r.duration += s->end - s->begin;
		for (size_t i = 0; i < s->parts.nr; i++) {
			ks_via_any(&s->parts.part[i].what);
			ks_parts_add(&side->parts, s->parts.part[i].what, s->parts.part[i].ns,
				     s->parts.part[i].count);
		}
	}
	ks_step_free(s);
}

/* Returns whether there were markers. */
static bool read_side(struct side *side, const struct ks_options *o)
{
	struct ks_engine *e = ks_alloc(sizeof(*e));
	bool markers;

	ks_parts_free(&side->parts);
	*side = (struct side){ .name = side->name };
	e->step_done = add_step;
	e->priv = side;
	ks_recording_read(e, o, side->name);
	markers = e->markers;
	ks_engine_free(e);
	free(e);
	return markers;
}

/* Both with the same kind of steps, which the poorer one of them has. */
static void read_both(struct side *sides, struct ks_options *o)
{
	const struct side *poorer;
	bool markers;

	do {
		markers = read_side(&sides[0], o);
		markers &= read_side(&sides[1], o);
		poorer = &sides[sides[0].r.count + sides[0].inexact > sides[1].r.count + sides[1].inexact];
	} while (ks_recording_again(o, markers, poorer->r.count + poorer->inexact, poorer->name));
}

static double mean(const struct side *s, u64 ns)
{
	return s->r.count ? (double)ns / s->r.count : 0;
}

/* Returns how many; the caller frees them. */
static size_t changes(struct side *sides, struct change **list)
{
	struct change *c = NULL;
	size_t n = 0, room = 0;

	for (int i = 1; i >= 0; i--) {
		struct ks_parts sum;

		ks_parts_summary(&sides[i].parts, &sum);
		for (size_t p = 0; p < sum.nr; p++) {
			const struct ks_what *w = &sum.part[p].what;
			size_t j = 0;

			while (j < n && !ks_same_name(&c[j].what, w))
				j++;
			if (j == n) {
				c = ks_grow(c, &room, n + 1, sizeof(*c));
				c[n++] = (struct change){ *w, 0 };
			}
			c[j].ns += (i ? 1 : -1) * mean(&sides[i], sum.part[p].ns);
		}
		ks_parts_free(&sum);
	}
	*list = c;
	return n;
}

/* Of two that are equally large the order of the states and names decides. */
static int larger(const void *a, const void *b)
{
	const struct change *p = a, *q = b;
	double x = p->ns < 0 ? -p->ns : p->ns, y = q->ns < 0 ? -q->ns : q->ns;
	char name[2][KS_TEXT];

	if (x != y)
		return x < y ? 1 : -1;
	if (p->what.state != q->what.state)
		return p->what.state - q->what.state;
	return strcmp(ks_part_name(name[0], &p->what), ks_part_name(name[1], &q->what));
}

static char *signed_time(char *buf, double ns)
{
	char time[32];

	return ks_fmt(buf, 40, "%c%s", ns < 0 ? '-' : '+', ks_time(time, ns < 0 ? -ns : ns));
}

static void print_text(const struct side *sides, const struct change *c, size_t n, double whole)
{
	char a[40], b[40], steps[64], names[2][KS_TEXT];

	for (int i = 0; i < 2; i++)
		ks_printable(names[i], sizeof(names[i]), sides[i].name);
	printf("%s a step: %s (%s of %s)", signed_time(a, whole), ks_time(b, mean(&sides[1], sides[1].r.duration)),
	       ks_count(steps, sides[1].r.count, "step"), names[1]);
	printf(", before %s (%llu of %s)\n", ks_time(b, mean(&sides[0], sides[0].r.duration)),
	       (unsigned long long)sides[0].r.count, names[0]);
	for (int i = 0; i < 2; i++) {
		if (sides[i].inexact)
			printf("left out of %s: %s, inexact\n", names[i],
			       ks_count(steps, sides[i].inexact, "step"));
	}
	printf("  %12s  ", "change");
	ks_print_heads(stdout);
	for (size_t i = 0; i < n && i < 12; i++) {
		printf("  %12s  ", signed_time(a, c[i].ns));
		ks_print_what(stdout, &c[i].what);
	}
}

static void print_json(const struct side *sides, const struct change *c, size_t n, double whole)
{
	printf("{\"kstall\": \"diff\", \"schema\": 1, \"change_ns\": %.0f,\n", whole);
	for (int i = 0; i < 2; i++) {
		printf(" \"%s\": { \"name\": ", i ? "bad" : "good");
		ks_json_string(stdout, sides[i].name);
		printf(", \"steps\": %llu, \"inexact\": %llu, \"mean_ns\": %.0f },\n",
		       (unsigned long long)sides[i].r.count, (unsigned long long)sides[i].inexact,
		       mean(&sides[i], sides[i].r.duration));
	}
	fputs(" \"parts\": [", stdout);
	for (size_t i = 0; i < n; i++) {
		char name[KS_TEXT], culprit[KS_TEXT];

		fputs(i ? ",\n  { \"name\": " : "\n  { \"name\": ", stdout);
		ks_json_string(stdout, ks_part_name(name, &c[i].what));
		printf(", \"state\": \"%s\", \"layer\": \"%s\", \"change_ns\": %.0f, \"culprit\": ",
		       ks_state_name[c[i].what.state], ks_layer_name[c[i].what.layer], c[i].ns);
		ks_json_string(stdout, ks_culprit_text(culprit, &c[i].what.culprit));
		fputs(" }", stdout);
	}
	fputs("]}\n", stdout);
}

struct diff {
	struct ks_options o;
	struct side sides[2];
};

static int diff(void *arg)
{
	struct diff *d = arg;
	struct change *c;
	double whole;
	size_t n;

	read_both(d->sides, &d->o);
	for (int i = 0; i < 2; i++) {
		if (!d->sides[i].r.count)
			ks_die("%s has no exact step to compare", d->sides[i].name);
	}
	n = changes(d->sides, &c);
	if (n)
		qsort(c, n, sizeof(*c), larger);
	whole = mean(&d->sides[1], d->sides[1].r.duration) -
		mean(&d->sides[0], d->sides[0].r.duration);
	if (d->o.json)
		print_json(d->sides, c, n, whole);
	else
		print_text(d->sides, c, n, whole);
	free(c);
	return 0;
}

int ks_cmd_diff(struct ks_options *o, char **args)
{
	struct diff d = { *o, { { .name = args[0] }, { .name = args[1] } } };
	char names[512];

	return ks_in_child(ks_fmt(names, sizeof(names), "%s or %s", args[0], args[1]), diff, &d);
}
