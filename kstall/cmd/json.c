// SPDX-License-Identifier: GPL-2.0
/* The schema is in Documentation/why.md. */
#include <string.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "cmd/report.h"

static void key(FILE *out, const char *name, const char *value, const char *after)
{
	fprintf(out, "\"%s\": ", name);
	ks_json_string(out, value);
	fputs(after, out);
}

static void num(FILE *out, const char *name, u64 v, const char *after)
{
	fprintf(out, "\"%s\": %llu%s", name, (unsigned long long)v, after);
}

static void what(FILE *out, const struct ks_what *w)
{
	char name[KS_TEXT], via[KS_TEXT];

	key(out, "name", ks_part_name(name, w), ", ");
	key(out, "state", ks_state_name[w->state], ", ");
	key(out, "layer", ks_layer_name[w->layer], ", ");
	key(out, "phase", ks_string(w->phase), ", ");
	if (w->via.nr)
		key(out, "via", ks_via_text(via, &w->via), ", ");
}

static void parts(FILE *out, const struct ks_parts *sum, u64 whole, bool exact)
{
	char culprit[KS_TEXT];

	fputs("\"parts\": [", out);
	for (size_t i = 0; i < sum->nr; i++) {
		const struct ks_part *p = &sum->part[i];

		fputs(i ? ",\n    { " : "\n    { ", out);
		what(out, &p->what);
		num(out, "ns", p->ns, ", ");
		if (exact && whole)
			fprintf(out, "\"share\": %.6f, ", (double)p->ns / whole);
		num(out, "count", p->count, ", ");
		key(out, "culprit", ks_culprit_text(culprit, &p->what.culprit), " }");
	}
	fputs("]", out);
}

static void step(FILE *out, const struct ks_step *s)
{
	const struct ks_part *worst;
	char culprit[KS_TEXT];
	struct ks_parts sum;

	ks_parts_summary(&s->parts, &sum);
	worst = ks_worst(&sum);
	fputs("  { ", out);
	key(out, "id", s->id, ", ");
	key(out, "kind", s->kind, ", ");
	key(out, "attributes", s->attributes, ",\n    ");
	fprintf(out, "\"pid\": %d, \"tid\": %d, ", s->pid, s->tid);
	key(out, "comm", s->comm, ", ");
	num(out, "begin_ns", s->begin, ", ");
	num(out, "end_ns", s->end, ", ");
	num(out, "duration_ns", s->end - s->begin, ", ");
	fprintf(out, "\"exact\": %s, ", s->lost ? "false" : "true");
	num(out, "lost", s->lost, ",\n    ");
	parts(out, &sum, s->end - s->begin, !s->lost);
	if (worst) {
		fputs(",\n    \"culprit\": { ", out);
		what(out, &worst->what);
		num(out, "ns", worst->ns, ", ");
		key(out, "what", ks_culprit_text(culprit, &worst->what.culprit), " }");
	}
	fputs(" }", out);
	ks_parts_free(&sum);
}

static void unseen(FILE *out, const struct ks_engine *e)
{
	fputs(" \"unseen\": [", out);
	for (size_t i = 0; i < e->nr_unseen; i++) {
		fputs(i ? ",\n  { " : "\n  { ", out);
		key(out, "layer", e->unseen[i].layer, ", ");
		key(out, "event", e->unseen[i].event, ", ");
		key(out, "why", e->unseen[i].why, " }");
	}
	fputs("],\n", out);
}

static void faults(FILE *out, const struct ks_engine *e)
{
	const struct ks_fault *f = NULL;

	fputs(" \"faults\": [", out);
	for (const char *sep = "\n  { "; (f = ks_faults_next(e, f, 0, UINT64_MAX)); sep = ",\n  { ") {
		fputs(sep, out);
		num(out, "at_ns", f->ts, ", ");
		key(out, "kind", f->kind, ", ");
		key(out, "device", f->dev, ", ");
		num(out, "code", f->code, ", ");
		key(out, "action", f->action, ", ");
		key(out, "text", f->text, " }");
	}
	fputs("],\n", out);
}

static void port(FILE *out, const struct ks_engine *e, u32 name)
{
	const char *sep = "\n      { ";

	key(out, "port", ks_string(name), ", \"changes\": [");
	for (size_t i = 0; i < ks_changes(e); i++) {
		const struct ks_change *c = &e->changes[i];

		if (c->port != name)
			continue;
		fputs(sep, out);
		key(out, "counter", ks_string(c->counter), ", ");
		num(out, "from_ns", c->from, ", ");
		num(out, "to_ns", c->to, ", ");
		num(out, "count", c->count, " }");
		sep = ",\n      { ";
	}
	fputs("] }", out);
}

static void ports(FILE *out, const struct ks_engine *e)
{
	fputs(" \"ports\": [", out);
	for (size_t i = 0; i < e->nr_ports; i++) {
		fputs(i ? ",\n  { " : "\n  { ", out);
		port(out, e, e->ports[i]);
	}
	fputs("],\n", out);
}

static void evictions(FILE *out, const struct ks_engine *e)
{
	fputs(" \"evictions\": [", out);
	for (size_t i = 0; i < ks_evictions(e); i++) {
		const struct ks_eviction *x = &e->evictions[i];

		fputs(i ? ",\n  { " : "\n  { ", out);
		key(out, "process", ks_string(x->process), ", ");
		num(out, "asked_ns", x->asked, ", ");
		num(out, "off_ns", x->off, ", ");
		num(out, "on_ns", x->on, ", ");
		key(out, "by", ks_string(x->by), " }");
	}
	fputs("],\n", out);
}

static void total(FILE *out, const struct ks_report *r)
{
	struct ks_parts sum;

	ks_parts_summary(&r->total, &sum);
	fputs(" \"total\": { ", out);
	num(out, "steps", r->count, ", ");
	num(out, "exact", r->exact, ", ");
	num(out, "duration_ns", r->duration, ", ");
	num(out, "median_ns", ks_report_median(r), ",\n    ");
	parts(out, &sum, r->duration, r->exact == r->count);
	fputs(" },\n", out);
	ks_parts_free(&sum);
}

void ks_print_json(FILE *out, const struct ks_report *r, const struct ks_engine *e)
{
	double span = (e->now - e->begin) / 1e9;

	fputs("{\"kstall\": \"why\", \"schema\": 1,\n \"source\": { ", out);
	key(out, "kind", r->source ? "file" : "live", ", ");
	key(out, "name", r->source ? r->source : "", ", ");
	num(out, "begin_ns", e->begin, ", ");
	num(out, "end_ns", e->now, " },\n ");
	key(out, "steps_by", r->steps_by, ", ");
	fprintf(out, "\"inferred\": %s,\n \"steps\": [\n", r->inferred ? "true" : "false");
	for (size_t i = 0; i < r->nr; i++) {
		fputs(i ? ",\n" : "", out);
		step(out, r->steps[i]);
	}
	fputs("],\n", out);
	total(out, r);
	fputs(" \"markers\": { ", out);
	num(out, "unmatched", e->unmatched, ", ");
	num(out, "refused", e->refused, ", ");
	num(out, "unended", e->unended, " },\n");
	faults(out, e);
	evictions(out, e);
	ports(out, e);
	unseen(out, e);
	fputs(" \"cost\": { ", out);
	num(out, "events", e->events, ", ");
	fprintf(out, "\"events_per_s\": %.0f, \"cpu_share\": %.6f, ",
		span > 0 ? e->events / span : 0, r->seconds > 0 ? r->cpu_seconds / r->seconds : 0);
	num(out, "bad", r->bad, ", ");
	num(out, "late", e->late, ", ");
	num(out, "lost", e->lost, " }}\n");
}
