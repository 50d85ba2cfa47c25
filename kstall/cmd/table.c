// SPDX-License-Identifier: GPL-2.0
/* One screen for a person. */
#include <string.h>

#include "cmd/report.h"

#define MOST_PARTS 8		/* of all steps */
#define STEP_PARTS 4

static void print_part(FILE *out, const struct ks_part *p, u64 whole, bool exact)
{
	char name[96], time[32], share[16] = "";

	if (exact && whole)
		ks_fmt(share, sizeof(share), "%.1f %%", 100.0 * p->ns / whole);
	fprintf(out, "  %10s %8s  %-9s %-28s", ks_time(time, p->ns), share,
		ks_state_name[p->what.state], ks_part_name(name, &p->what));
	if (p->what.culprit)
		fprintf(out, " %s", ks_string(p->what.culprit));
	fputc('\n', out);
}

static void print_parts(FILE *out, const struct ks_parts *parts, u64 whole, bool exact, size_t most)
{
	struct ks_parts sum;
	char time[32];
	u64 rest = 0;

	ks_parts_summary(parts, &sum);
	for (size_t i = 0; i < sum.nr; i++) {
		if (i < most)
			print_part(out, &sum.part[i], whole, exact);
		else
			rest += sum.part[i].ns;
	}
	if (rest)
		fprintf(out, "  %10s %8s  in %zu smaller parts\n", ks_time(time, rest), "",
			sum.nr - most);
	ks_parts_free(&sum);
}

static void print_step(FILE *out, const struct ks_step *s)
{
	char time[32];

	fprintf(out, "\n%s %s of %s/%d: %s", s->kind, s->id, s->comm, s->tid,
		ks_time(time, s->end - s->begin));
	if (s->attributes[0])
		fprintf(out, " (%s)", s->attributes);
	if (s->lost)
		fprintf(out, ", inexact: %llu events lost", (unsigned long long)s->lost);
	fputc('\n', out);
	print_parts(out, &s->parts, s->end - s->begin, !s->lost, STEP_PARTS);
}

void ks_print_line(FILE *out, const struct ks_step *s)
{
	char time[32], of[32], name[96];
	const struct ks_part *worst;
	struct ks_parts sum;

	ks_parts_summary(&s->parts, &sum);
	worst = ks_worst(&sum);
	fprintf(out, "%s %s of %s/%d: %s", s->kind, s->id, s->comm, s->tid,
		ks_time(time, s->end - s->begin));
	if (worst)
		fprintf(out, ", %s %s %s", ks_time(of, worst->ns), ks_part_name(name, &worst->what),
			ks_string(worst->what.culprit));
	fprintf(out, "%s\n", s->lost ? ", inexact" : "");
	fflush(out);
	ks_parts_free(&sum);
}

static void print_unseen(FILE *out, const struct ks_engine *e)
{
	for (size_t i = 0; i < e->nr_unseen; i++) {
		const struct ks_unseen *u = &e->unseen[i];
		bool again = i && !strcmp(u->why, e->unseen[i - 1].why) &&
			     !strcmp(u->layer, e->unseen[i - 1].layer);

		if (again)
			continue;
		fprintf(out, "%s%s: %s", i ? "; " : "\nnot seen: ", u->layer, u->why);
	}
	if (e->nr_unseen)
		fputc('\n', out);
}

static void print_cost(FILE *out, const struct ks_report *r, const struct ks_engine *e)
{
	double span = (e->now - e->begin) / 1e9;

	fprintf(out, "%llu events", (unsigned long long)e->events);
	if (span > 0)
		fprintf(out, ", %.0f a second", e->events / span);
	fprintf(out, ", %llu lost", (unsigned long long)e->lost);
	if (!r->source && r->seconds > 0)
		fprintf(out, "; kstall took %.1f %% of a CPU", 100 * r->cpu_seconds / r->seconds);
	if (r->bad)
		fprintf(out, "; %llu records do not fit their format", (unsigned long long)r->bad);
	if (e->unmatched)
		fprintf(out, "; %llu markers without their other half",
			(unsigned long long)e->unmatched);
	fputc('\n', out);
}

void ks_print_table(FILE *out, const struct ks_report *r, const struct ks_engine *e)
{
	char time[32], mean[32];

	if (!r->count) {
		fprintf(out, "No step has ended (steps by %s).\n", r->steps_by);
	} else {
		fprintf(out, "%llu steps by %s%s: %s, on average %s", (unsigned long long)r->count,
			r->steps_by, r->inferred ? " (inferred)" : "", ks_time(time, r->duration),
			ks_time(mean, r->duration / r->count));
		if (r->exact < r->count)
			fprintf(out, "; %llu are inexact",
				(unsigned long long)(r->count - r->exact));
		fputc('\n', out);
		print_parts(out, &r->total, r->duration, r->exact == r->count, MOST_PARTS);
	}
	for (size_t i = 0; i < r->nr; i++)
		print_step(out, r->steps[i]);
	print_unseen(out, e);
	print_cost(out, r, e);
}
