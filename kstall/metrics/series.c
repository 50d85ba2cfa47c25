// SPDX-License-Identifier: GPL-2.0
/*
 * Which workloads have a series, in a file: the kernel counts on when kstall metrics is killed, so the next one must count the same
 * under the same names. A line is "series EVENT DEVICE CAUSE" or "histogram EVENT", between tabs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"

static void take_line(struct ks_tally *t, char *line)
{
	const char *kind = strsep(&line, "\t"), *event = strsep(&line, "\t");
	const char *dev = strsep(&line, "\t"), *cause = line;

	for (size_t i = 0; event && i < ks_nr_metric_events; i++) {
		if (strcmp(ks_metric_events[i].name, event))
			continue;
		if (!strcmp(kind, "series") && cause)
			ks_tally_group(t, i, dev, cause);
		else if (!strcmp(kind, "histogram"))
			ks_tally_histogram(t, i);
	}
}

void ks_series_load(struct ks_tally *t, const char *path)
{
	char *text = ks_file_read(path), *at = text, *line;

	if (!text && errno != ENOENT)
		ks_die("%s is not read: %s", path, strerror(errno));
	while ((line = strsep(&at, "\n")))
		take_line(t, line);
	free(text);
	t->changed = false;
}

bool ks_series_save(struct ks_tally *t, const char *path)
{
	char *text;
	size_t len;
	FILE *f;

	if (!t->changed)
		return true;
	f = open_memstream(&text, &len);
	if (!f)
		ks_die("out of memory");
	for (size_t i = 0; i < t->nr_groups; i++) {
		const struct ks_group *g = &t->group[i];

		fprintf(f, "series\t%s\t%s\t%s\n", g->event->name, g->dev, g->cause);
	}
	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		if (t->event[i].histogram)
			fprintf(f, "histogram\t%s\n", ks_metric_events[i].name);
	}
	if (fclose(f))
		ks_die("out of memory");
	t->changed = !ks_file_replace(path, text, len);
	free(text);
	return !t->changed;
}
