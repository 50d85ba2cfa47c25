// SPDX-License-Identifier: GPL-2.0
/*
 * The engine with text on standard input; prints JSON. For tests.
 *	engine_test [marker | nccl | all | every=TIME] [json | table] [pid=PID] [live] [unusual=N] [cost=S,S]
 * live: a step is given out when it is overdue, and the table is printed before everything is over.
 * cost=S,S: seconds that kstall listened live, and what it took of a CPU meanwhile.
 * unusual=N: prints the IDs of the steps instead that take more than N times as long as usual.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/report.h"
#include "cmd/usual.h"
#include "trace/source.h"

static struct ks_engine e;
static struct ks_report r = { .source = "text", .steps_by = "marker" };
static s32 pid;
static struct ks_usual usual;
static size_t times;

static void judge(struct ks_engine *unused, struct ks_step *s)
{
	(void)unused;
	if (ks_is_unusual(&usual, s->end - s->begin, times))
		puts(s->id);
	ks_step_free(s);
}

static void option(const char *arg)
{
	if (!strcmp(arg, "all"))
		e.by = KS_BY_ALL;
	else if (!strcmp(arg, "nccl"))
		e.by = KS_BY_NCCL;
	else if (!strncmp(arg, "every=", 6) && (e.every = ks_parse_time(arg + 6)))
		e.by = KS_BY_EVERY;
	else if (!strncmp(arg, "pid=", 4) && sscanf(arg + 4, "%d", &pid) == 1)
		e.scope = (struct ks_scope){ .pids = &pid, .nr_pids = 1 };
	else if (!strcmp(arg, "live"))
		e.live = true;
	else if (sscanf(arg, "cost=%lf,%lf", &r.seconds, &r.cpu_seconds) == 2)
		r.source = NULL;
	else if (sscanf(arg, "unusual=%zu", &times) == 1)
		e.step_done = judge;
	else if (strcmp(arg, "marker") && strcmp(arg, "json") && strcmp(arg, "table"))
		ks_die("no option: %s", arg);
}

int main(int argc, char **argv)
{
	static char line[8192];

	e.by = KS_BY_MARKER;
	e.step_done = ks_report_step;
	for (int i = 1; i < argc; i++)
		option(argv[i]);
	e.priv = &r;
	while (fgets(line, sizeof(line), stdin)) {
		char copy[80];

		ks_fmt(copy, sizeof(copy), "%s", line);
		if (!ks_text_line(&e, line))
			ks_die("not understood: %s", copy);
	}
	if (!e.live)
		ks_engine_finish(&e, 0);
	ks_report_sort(&r, true);
	if (argc > 2 && !strcmp(argv[2], "table"))
		ks_print_table(stdout, &r, &e);
	else if (!times)
		ks_print_json(stdout, &r, &e);
	ks_report_reset(&r);
	ks_engine_free(&e);
	return 0;
}
