// SPDX-License-Identifier: GPL-2.0
/* One screen for a person. */
#include <string.h>

#include "cmd/report.h"

#define MOST_PARTS 8		/* of all steps */
#define STEP_PARTS 4
#define COUNTERS 4		/* of a port */
#define EVICTIONS 4		/* of a step */
#define MOST_COUNTERS 64	/* that drivers have */

void ks_print_heads(FILE *out)
{
	fprintf(out, "%-9s %-28s %s\n", "state", "name", "culprit");
}

void ks_print_what(FILE *out, const struct ks_what *what)
{
	char name[KS_TEXT], culprit[KS_TEXT];
	int pad = 28 - ks_columns(ks_part_name(name, what));

	fprintf(out, "%-9s %s", ks_state_name[what->state], name);
	if (what->culprit.form)
		fprintf(out, "%*s %s", pad > 0 ? pad : 0, "", ks_culprit_text(culprit, &what->culprit));
	fputc('\n', out);
}

static void print_part(FILE *out, const struct ks_part *p, u64 whole, bool exact)
{
	char time[32], share[16] = "";

	if (exact && whole)
		ks_fmt(share, sizeof(share), "%.1f %%", 100.0 * p->ns / whole);
	fprintf(out, "  %10s %8s  ", ks_time(time, p->ns), share);
	ks_print_what(out, &p->what);
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

/* What ran on the GPU is not known; the queues of that process did not. */
static void print_evictions(FILE *out, const struct ks_engine *e, const struct ks_step *s)
{
	char off[32], after[32];
	size_t nr = 0;

	for (size_t i = 0; i < ks_evictions(e); i++) {
		const struct ks_eviction *x = &e->evictions[i];
		u64 ns = ks_eviction_in(x, s->begin, s->end);

		if (ns && nr++ < EVICTIONS)
			fprintf(out, "  ! after %s: ROCm's queues of %s off for %s, evicted for %s\n",
				ks_time(after, max_u64(x->off, s->begin) - s->begin), ks_string(x->process),
				ks_time(off, ns), ks_string(x->by));
	}
	if (nr > EVICTIONS)
		fprintf(out, "  ! and %zu times more\n", nr - EVICTIONS);
}

/* "12 out_of_sequence, 3 np_cnp_sent and 2 more" */
static void print_counters(FILE *out, const struct ks_change *sum, size_t nr)
{
	for (size_t i = 0; i < nr && i < COUNTERS; i++)
		fprintf(out, "%s%llu %s", i ? ", " : "", (unsigned long long)sum[i].count, ks_string(sum[i].counter));
	if (nr > COUNTERS)
		fprintf(out, " and %zu more", nr - COUNTERS);
}

/* They are looked at once a second, so what they count need not have been in the step. */
static void print_changes(FILE *out, const struct ks_engine *e, const struct ks_step *s)
{
	struct ks_change sum[MOST_COUNTERS];
	char time[32];

	for (size_t i = 0; i < e->nr_ports; i++) {
		size_t nr = ks_changes_sum(e, e->ports[i], s->begin, s->end, sum, MOST_COUNTERS);
		u64 from = UINT64_MAX, to = 0;

		for (size_t j = 0; j < nr; j++) {
			from = min_u64(from, sum[j].from);
			to = max_u64(to, sum[j].to);
		}
		if (!nr)
			continue;
		fprintf(out, "  ! %s in the %s around it: ", ks_string(e->ports[i]), ks_time(time, to - from));
		print_counters(out, sum, nr);
		fputc('\n', out);
	}
}

static void print_ports(FILE *out, const struct ks_engine *e)
{
	struct ks_change sum[MOST_COUNTERS];

	for (size_t i = 0; i < e->nr_ports; i++) {
		size_t nr = ks_changes_sum(e, e->ports[i], 0, UINT64_MAX, sum, MOST_COUNTERS);

		fprintf(out, "%s%s: ", i ? "; " : "\nRDMA ports: ", ks_string(e->ports[i]));
		if (nr)
			print_counters(out, sum, nr);
		else
			fputs("nothing lost, repeated or slowed down", out);
	}
	if (e->nr_changes > ks_changes(e))
		fputs("; and more, later", out);
	if (e->nr_ports)
		fputc('\n', out);
}

static void print_step(FILE *out, const struct ks_engine *e, const struct ks_step *s)
{
	char time[32], text[KS_TEXT];

	fprintf(out, "\n%s %s of %s/%d: %s", s->kind, s->id, s->comm, s->tid,
		ks_time(time, s->end - s->begin));
	if (s->attributes[0])
		fprintf(out, " (%s)", s->attributes);
	if (s->lost)
		fprintf(out, ", inexact: %s lost", ks_count(text, s->lost, "event"));
	fputc('\n', out);
	for (const struct ks_fault *f = NULL; (f = ks_faults_next(e, f, s->begin, s->end));)
		fprintf(out, "  ! after %s: %s\n", ks_time(time, f->ts - s->begin), ks_fault_text(text, f));
	print_evictions(out, e, s);
	print_changes(out, e, s);
	print_parts(out, &s->parts, s->end - s->begin, !s->lost, STEP_PARTS);
}

void ks_print_line(FILE *out, const struct ks_step *s)
{
	char time[32], of[32], name[KS_TEXT], culprit[KS_TEXT];
	const struct ks_part *worst;
	struct ks_parts sum;

	ks_parts_summary(&s->parts, &sum);
	worst = ks_worst(&sum);
	fprintf(out, "%s %s of %s/%d: %s", s->kind, s->id, s->comm, s->tid,
		ks_time(time, s->end - s->begin));
	if (worst)
		fprintf(out, ", %s %s %s", ks_time(of, worst->ns), ks_part_name(name, &worst->what),
			ks_culprit_text(culprit, &worst->what.culprit));
	fprintf(out, "%s\n", s->lost ? ", inexact" : "");
	fflush(out);
	ks_parts_free(&sum);
}

static bool is_told(const struct ks_engine *e, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (!strcmp(e->unseen[i].why, e->unseen[j].why) && !strcmp(e->unseen[i].layer, e->unseen[j].layer))
			return true;
	}
	return false;
}

static void print_unseen(FILE *out, const struct ks_engine *e)
{
	for (size_t i = 0; i < e->nr_unseen; i++) {
		const struct ks_unseen *u = &e->unseen[i];

		if (is_told(e, i))
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
	if (e->refused)
		fprintf(out, "; %llu markers refused: no ID of up to 47 characters, too many open steps, or times that no collective has",
			(unsigned long long)e->refused);
	if (e->unended)
		fprintf(out, "; %llu collectives are missing: NCCL has not reported their end",
			(unsigned long long)e->unended);
	if (e->late)
		fprintf(out, "; %llu events too late for their step", (unsigned long long)e->late);
	fputc('\n', out);
}

struct waiting {
	FILE *out;
	const struct ks_engine *e;
};

static void print_waiting(void *priv, const struct ks_thread *t, size_t nr)
{
	const struct waiting *w = priv;
	char time[32];

	fprintf(w->out, "\nstill waiting: %s/%d, in %s for %s; %zu of its steps have ended meanwhile\n",
		t->comm, t->tid,
		t->syscall >= 0 ? ks_syscall_name(t->syscall) : ks_state_name[t->state],
		ks_time(time, w->e->now - max_u64(t->call_begin, w->e->begin)), nr);
}

static void print_total(FILE *out, const struct ks_report *r)
{
	char time[32], mean[32], median[32], steps[64];

	fprintf(out, "%s by %s%s: %s, mean %s, median %s", ks_count(steps, r->count, "step"), r->steps_by,
		r->inferred ? " (inferred)" : "", ks_time(time, r->duration), ks_time(mean, r->duration / r->count),
		ks_time(median, ks_report_median(r)));
	if (r->count > KS_LENGTHS)
		fprintf(out, " of the last %u", KS_LENGTHS);
	if (r->exact < r->count)
		fprintf(out, "; %llu inexact", (unsigned long long)(r->count - r->exact));
	fprintf(out, "\n  %10s %8s  ", "time", "share");
	ks_print_heads(out);
	print_parts(out, &r->total, r->duration, r->exact == r->count, MOST_PARTS);
}

void ks_print_table(FILE *out, const struct ks_report *r, struct ks_engine *e)
{

	if (r->count)
		print_total(out, r);
	else
		fprintf(out, "No step has ended (steps by %s).\n", r->steps_by);
	for (size_t i = 0; i < r->nr; i++)
		print_step(out, e, r->steps[i]);
	ks_steps_waiting(e, print_waiting, &(struct waiting){ out, e });
	if (e->nr_faults)
		fprintf(out, "\n%zu Xids or SXids while kstall looked\n", e->nr_faults);
	if (e->nr_evictions)
		fprintf(out, "\n%zu times ROCm's queues of a process were evicted while kstall looked\n", e->nr_evictions);
	print_ports(out, e);
	print_unseen(out, e);
	print_cost(out, r, e);
}
