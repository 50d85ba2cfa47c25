// SPDX-License-Identifier: GPL-2.0
/* The text that Prometheus reads: its own format, or OpenMetrics, which differ in little. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "metrics/metric.h"

struct page {
	FILE *out;
	bool openmetrics;
};

/* @name without _total, which OpenMetrics does not have in these lines. */
static void family(struct page *p, const char *name, const char *type, const char *help)
{
	const char *end = !strcmp(type, "counter") && !p->openmetrics ? "_total" : "";

	fprintf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end, type);
}

/* Names were made printable when they were read: no control, valid UTF-8. */
static void value_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', out);
		fputc(*s, out);
	}
}

/* A sample's name and labels: pairs of name and value, ended by NULL. */
static void sample(struct page *p, const char *name, ...)
{
	const char *label, *before = "{";
	va_list ap;

	fputs(name, p->out);
	va_start(ap, name);
	while ((label = va_arg(ap, const char *))) {
		fprintf(p->out, "%s%s=\"", before, label);
		value_text(p->out, va_arg(ap, const char *));
		fputc('"', p->out);
		before = ",";
	}
	va_end(ap);
	fputs(*before == ',' ? "} " : " ", p->out);
}

static void number(struct page *p, u64 v)
{
	fprintf(p->out, "%llu\n", (unsigned long long)v);
}

/* Exact, which a double is not. */
static void seconds(struct page *p, u64 ns)
{
	fprintf(p->out, "%llu.%09llu\n", (unsigned long long)(ns / NSEC),
		(unsigned long long)(ns % NSEC));
}

static void modules(struct page *p, const struct ks_tally *t)
{
	static const char *const why[KS_NR_LOST] = {
		[KS_MISSED] = "missed", [KS_RECURSED] = "recursed", [KS_DROPPED] = "dropped",
		[KS_EVICTED] = "evicted", [KS_TABLE_FULL] = "table_full",
	};
	const char *module[KS_MAX_MODULES];
	size_t nr = ks_metric_modules(module);

	family(p, "kstall_module_info", "gauge",
	       "A module of kstall that is loaded.");
	for (size_t i = 0; i < nr; i++) {
		if (!t->module[i].loaded)
			continue;
		sample(p, "kstall_module_info", "module", module[i], "version",
		       t->module[i].version, NULL);
		number(p, 1);
	}
	family(p, "kstall_lost_events", "counter",
	       "Events that are in no other metric, since the module was loaded.");
	for (size_t i = 0; i < nr; i++) {
		for (int w = 0; w < KS_NR_LOST && t->module[i].loaded; w++) {
			if (w == KS_TABLE_FULL && t->module[i].part)
				continue;
			sample(p, "kstall_lost_events_total", "module", module[i], "reason",
			       why[w], NULL);
			number(p, t->module[i].lost[w]);
		}
	}
	family(p, "kstall_suppressed_events", "counter",
	       "Events that were left out because they were shorter than a parameter of the module.");
	for (size_t i = 0; i < nr; i++) {
		if (!t->module[i].loaded)
			continue;
		sample(p, "kstall_suppressed_events_total", "module", module[i], NULL);
		number(p, t->module[i].suppressed);
	}
}

static void reach(struct page *p, const struct ks_tally *t)
{
	const char *layer[KS_MAX_METRIC_LAYERS];
	size_t nr = ks_metric_layers(layer);

	family(p, "kstall_reach", "gauge",
	       "Whether a layer can be seen here (armed) or why it cannot.");
	for (size_t i = 0; i < nr; i++) {
		sample(p, "kstall_reach", "layer", layer[i], "state", t->reach[i], NULL);
		number(p, 1);
	}
}

/* A module that has gone has no line. */
static const struct ks_group *nth(const struct ks_tally *t, size_t i)
{
	const struct ks_group *g = i < t->nr_groups ? &t->group[i] : &t->rest[i - t->nr_groups];

	return g->now ? g : NULL;
}

static void group_sample(struct page *p, const char *name, const struct ks_group *g)
{
	sample(p, name, "layer", g->layer, "event", g->event ? g->event->name : "other", "device",
	       g->event ? g->dev : "other", "cause", g->event ? g->cause : "other", NULL);
}

static void groups(struct page *p, const struct ks_tally *t)
{
	size_t nr = t->nr_groups + KS_MAX_METRIC_LAYERS;
	const struct ks_group *g;

	family(p, "kstall_events", "counter",
	       "Events of kstall, by device and cause.");
	for (size_t i = 0; i < nr; i++) {
		g = nth(t, i);
		if (g) {
			group_sample(p, "kstall_events_total", g);
			number(p, g->count);
		}
	}
	family(p, "kstall_stall_seconds", "counter",
	       "Time that tasks and requests were held up, by layer, device and cause.");
	for (size_t i = 0; i < nr; i++) {
		g = nth(t, i);
		if (g && g->has_ns) {
			group_sample(p, "kstall_stall_seconds_total", g);
			seconds(p, g->ns);
		}
	}
}

static void bucket(struct page *p, const char *name, const char *le, u64 v)
{
	fprintf(p->out, "%s_bucket{le=\"%s\"} %llu\n", name, le, (unsigned long long)v);
}

static void histogram(struct page *p, const struct ks_metric_event *e,
		      const struct ks_event_tally *ev)
{
	char name[96], help[160], le[32];
	u64 sum = 0;

	ks_fmt(name, sizeof(name), "kstall_%s_seconds", e->name);
	family(p, name, "histogram", ks_fmt(help, sizeof(help), "Duration of %s.", e->what));
	for (int b = 0; b < KS_NR_BOUNDS; b++) {
		u64 ns = 1ULL << ks_bounds[b];

		sum += ev->bucket[b];
		ks_fmt(le, sizeof(le), "%llu.%09llu", (unsigned long long)(ns / NSEC),
		       (unsigned long long)(ns % NSEC));
		bucket(p, name, le, sum);
	}
	sum += ev->bucket[KS_NR_BOUNDS];
	bucket(p, name, "+Inf", sum);
	fprintf(p->out, "%s_sum ", name);
	seconds(p, ev->ns);
	fprintf(p->out, "%s_count ", name);
	number(p, sum);
}

static void workloads(struct page *p, const struct ks_workloads *w)
{
	if (!w)
		return;
	family(p, "kstall_job_info", "gauge", "A job on this node.");
	for (size_t i = 0; i < w->nr && i < KS_MAX_WORKLOADS; i++) {
		const struct ks_workload *j = &w->job[i];
		char slot[4];

		sample(p, "kstall_job_info", "slot", ks_fmt(slot, sizeof(slot), "%d", (int)i),
		       "workload", j->workload, "slurm_job_id", j->slurm_job_id, "pod", j->pod,
		       "namespace", j->namespace, NULL);
		number(p, 1);
	}
	family(p, "kstall_job_source_up", "gauge",
	       "Whether the source of jobs has answered and was understood.");
	sample(p, "kstall_job_source_up", NULL);
	number(p, w->known);
	family(p, "kstall_jobs_left_out", "gauge",
	       "Jobs on this node without a kstall_job_info.");
	sample(p, "kstall_jobs_left_out", NULL);
	number(p, w->nr > KS_MAX_WORKLOADS ? w->nr - KS_MAX_WORKLOADS : 0);
}

static void self(struct page *p, const struct ks_tally *t)
{
	struct rusage u;

	family(p, "kstall_folded_series", "counter",
	       "Devices and causes that are counted as other, and histograms left out, since kstall metrics was started.");
	sample(p, "kstall_folded_series_total", NULL);
	number(p, t->nr_folded);
	family(p, "kstall_metrics_passes", "counter",
	       "Times that kstall metrics has read its counters.");
	sample(p, "kstall_metrics_passes_total", NULL);
	number(p, t->passes);
	getrusage(RUSAGE_SELF, &u);
	family(p, "kstall_metrics_cpu_seconds", "counter",
	       "CPU time of kstall metrics itself.");
	sample(p, "kstall_metrics_cpu_seconds_total", NULL);
	seconds(p, (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC +
		   (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000);
}

char *ks_expose(const struct ks_tally *t, const struct ks_workloads *w, bool openmetrics,
		size_t *len)
{
	struct page p = { .openmetrics = openmetrics };
	char *text = NULL;

	p.out = open_memstream(&text, len);
	if (!p.out)
		ks_die("out of memory");
	modules(&p, t);
	reach(&p, t);
	groups(&p, t);
	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		if (t->event[i].histogram && t->event[i].now)
			histogram(&p, &ks_metric_events[i], &t->event[i]);
	}
	workloads(&p, w);
	self(&p, t);
	if (openmetrics)
		fputs("# EOF\n", p.out);
	if (fclose(p.out))
		ks_die("out of memory");
	return text;
}
