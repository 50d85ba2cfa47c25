// SPDX-License-Identifier: GPL-2.0
/* The engine with text on standard input; prints JSON. For tests. */
#include <stdio.h>
#include <string.h>

#include "cmd/report.h"
#include "trace/source.h"

static struct ks_engine e;

int main(int argc, char **argv)
{
	struct ks_report r = { .source = "text", .steps_by = "marker" };
	static char line[8192];

	e.by = KS_BY_MARKER;
	if (argc > 1 && !strcmp(argv[1], "all"))
		e.by = KS_BY_ALL;
	if (argc > 1 && !strncmp(argv[1], "every=", 6)) {
		e.by = KS_BY_EVERY;
		e.every = ks_parse_time(argv[1] + 6);
	}
	e.step_done = ks_report_step;
	e.priv = &r;
	while (fgets(line, sizeof(line), stdin)) {
		char copy[80];

		ks_fmt(copy, sizeof(copy), "%s", line);
		if (!ks_text_line(&e, line))
			ks_die("not understood: %s", copy);
	}
	ks_engine_finish(&e, 0);
	ks_report_sort(&r, true);
	if (argc > 2 && !strcmp(argv[2], "table"))
		ks_print_table(stdout, &r, &e);
	else
		ks_print_json(stdout, &r, &e);
	ks_report_reset(&r);
	ks_engine_free(&e);
	return 0;
}
