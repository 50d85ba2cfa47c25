// SPDX-License-Identifier: GPL-2.0
/*
 * kstall metrics fed with files: metrics_test [--openmetrics] [--jobs SOURCE] [--series FILE] DIR...
 * A directory is a pass: SYSTEM.EVENT.hist as tracefs has it, MODULE.status as debugfs has it, kernel.log as /dev/kmsg has it. Who has a
 * series is in FILE, from one process to the next. Prints the page after the last pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"

static const char *dir;

static char *read_file(const char *name, int *error)
{
	char path[512], *text;

	text = ks_file_read(ks_fmt(path, sizeof(path), "%s/%s", dir, name));
	*error = text ? 0 : ks_read_error();
	return text;
}

static char *log_hist(struct ks_xid_log *l, const struct ks_metric_event *e, int *error)
{
	char *text = read_file("kernel.log", error), *save = NULL;
	struct ks_xid x;

	/* Each event asks; the lines are counted once. */
	if (!strcmp(e->name, "xid")) {
		for (char *p = text ? strtok_r(text, "\n", &save) : NULL; p; p = strtok_r(NULL, "\n", &save))
			ks_xid_log_line(l, p, &x);
	}
	free(text);
	return text ? ks_xid_log_hist(l, e) : NULL;
}

static char *hist(void *priv, const struct ks_metric_event *e, int *error)
{
	char name[192];

	if (e->by_line)
		return log_hist(priv, e, error);
	return read_file(ks_fmt(name, sizeof(name), "%s.%s.hist", e->system, e->name), error);
}

static char *status(void *priv, const char *module, int *error)
{
	char name[128];

	(void)priv;
	return read_file(ks_fmt(name, sizeof(name), "%s.status", module), error);
}

int main(int argc, char **argv)
{
	struct ks_metric_source s = { .hist = hist, .status = status, .tracing = true, .priv = ks_xid_log_new() };
	struct ks_tally *t = ks_alloc(sizeof(*t));
	struct ks_workloads w = { 0 };
	const char *jobs = NULL, *series = NULL;
	bool openmetrics = false;
	size_t len;
	char *text;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--openmetrics")) {
			openmetrics = true;
		} else if (!strcmp(argv[i], "--jobs") && i + 1 < argc) {
			jobs = argv[++i];
		} else if (!strcmp(argv[i], "--series") && i + 1 < argc) {
			series = argv[++i];
			ks_series_load(t, series);
		} else {
			dir = argv[i];
			ks_tally_pass(t, &s);
		}
	}
	if (series)
		ks_series_save(t, series);
	if (jobs)
		ks_workloads_read(&w, jobs);
	text = ks_expose(t, jobs ? &w : NULL, openmetrics, &len);
	fwrite(text, 1, len, stdout);
	free(text);
	ks_workloads_free(&w);
	ks_tally_free(t);
	free(t);
	free(s.priv);
	return 0;
}
