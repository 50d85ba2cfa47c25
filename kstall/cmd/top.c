// SPDX-License-Identifier: GPL-2.0
/* kstall top --fleet: which node is slow, as Prometheus's rules have it, on a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/report.h"
#include "metrics/promapi.h"

static const char *const labels[] = {
	"instance", "workload", "layer", "event", "device", "cause",
};

static double one(struct ks_prom *p, const char *query)
{
	struct ks_answer *a = ks_prom_ask(p, query);
	double v = ks_answer_size(a) ? ks_answer_value(a, 0) : 0;

	ks_answer_free(a);
	return v;
}

static void print_line(const struct ks_answer *a, size_t i)
{
	static const int widths[ARRAY_SIZE(labels)] = { 24, 20, 14, 24, 16 };
	char text[128];
	int rest = 0;	/* of the column before */

	printf("%8.3f", ks_answer_value(a, i));
	for (size_t l = 0; l < ARRAY_SIZE(labels); l++) {
		const char *label = ks_answer_label(a, i, labels[l]);

		/* What others gave it must not steer the terminal. */
		ks_printable(text, sizeof(text), *label ? label : "-");
		printf("%*s  %s", rest > 0 ? rest : 0, "", text);
		rest = widths[l] - ks_columns(text);
	}
	putchar('\n');
}

static void print_json(const struct ks_answer *a, double nodes, double silent)
{
	printf("{\n  \"kstall\": \"top\", \"schema\": 1, ");
	printf("\"nodes\": %.0f, \"silent\": %.0f, \"stragglers\": [", nodes, silent);
	for (size_t i = 0; i < ks_answer_size(a); i++) {
		printf("%s\n    { \"seconds_per_second\": %.6f", i ? "," : "",
		       ks_answer_value(a, i));
		for (size_t l = 0; l < ARRAY_SIZE(labels); l++) {
			printf(", \"%s\": ", labels[l]);
			ks_json_string(stdout, ks_answer_label(a, i, labels[l]));
		}
		fputs(" }", stdout);
	}
	puts("\n  ]\n}");
}

static void print_table(const struct ks_answer *a, double nodes, double silent, size_t most)
{
	size_t nr = ks_answer_size(a);

	printf("%.0f nodes, %zu stragglers", nodes, nr);
	if (silent > 0)
		printf("; %.0f send nothing", silent);
	puts(nr ? ":\n" : ". No node is held up more than its peers.");
	if (nr)
		printf("%8s  %-24s  %-20s  %-14s  %-24s  %-16s  %s\n", "s/s more", "node", "job",
		       "layer", "event", "device", "cause");
	for (size_t i = 0; i < nr && i < most; i++)
		print_line(a, i);
	if (nr > most)
		printf("and %zu more\n", nr - most);
}

static void show(struct ks_prom *p, const struct ks_options *o, bool screen)
{
	double nodes = one(p, "count(count by (instance) (kstall_metrics_passes_total))");
	double silent = one(p, "count(ALERTS{alertname=\"KstallSilent\",alertstate=\"firing\"})");
	struct ks_answer *a;

	if (!nodes && !silent)
		ks_die("%s has no metrics of kstall", o->fleet);
	if (nodes && !one(p, "count(kstall:stall_seconds:rate5m)"))
		ks_die("%s does not have kstall-rules.yml, or not for long enough", o->fleet);
	a = ks_prom_ask(p, "sort_desc(kstall:straggler:culprit)");
	if (screen)
		fputs("\033[H\033[J", stdout);
	if (o->json)
		print_json(a, nodes, silent);
	else
		print_table(a, nodes, silent, o->slowest);
	fflush(stdout);
	ks_answer_free(a);
}

int ks_cmd_top(struct ks_options *o, char **args)
{
	bool screen = isatty(STDOUT_FILENO) && !o->json;
	struct ks_prom *p;

	(void)args;
	if (!o->fleet)
		ks_usage("--fleet URL is missing, of a Prometheus");
	p = ks_prom_open(o->fleet);
	do {
		show(p, o, screen);
		if (screen)
			usleep(o->every / 1000);
	} while (screen);
	ks_prom_close(p);
	return 0;
}
