// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/<module>/status; include/kstall/impl/status.c describes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"

/* The value of " KEY=" in a line. */
static const char *value(const char *line, const char *key)
{
	char want[64];
	const char *at = strstr(line, ks_fmt(want, sizeof(want), " %s=", key));

	return at ? at + strlen(want) : NULL;
}

static u64 number(const char *line, const char *key)
{
	const char *v = value(line, key);

	return v ? strtoull(v, NULL, 10) : 0;
}

static void module_line(const char *line, struct ks_module_status *st)
{
	const char *v = value(line, "version");
	char raw[128];

	st->loaded = true;
	if (v)
		ks_printable(st->version, sizeof(st->version),
			     ks_fmt(raw, sizeof(raw), "%.*s", (int)strcspn(v, " "), v));
}

/* The layers of which a reach line says that there is nothing to see; each module's own words. */
static const char *silent_layers(const char *line)
{
	static const struct { const char *words, *layers; } says[] = {
		{ "reach translated devices: 0 of", " iommu " },
		{ "reach no RDMA device", " rdma mr_reg odp " },
		{ "reach no driver uses gpu_sched", " gpu_queue gpu_submit gpu_hang " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(says); i++) {
		if (!strncmp(line, says[i].words, strlen(says[i].words)))
			return says[i].layers;
	}
	return NULL;
}

bool ks_status_silent(const struct ks_module_status *st, const char *layer)
{
	char word[64];

	return st->silent && strstr(st->silent, ks_fmt(word, sizeof(word), " %s ", layer));
}

static void parse_line(const char *line, struct ks_module_status *st)
{
	if (!strncmp(line, "module ", 7)) {
		module_line(line, st);
	} else if (!strncmp(line, "hook ", 5)) {
		st->lost[KS_MISSED] += number(line, "missed");
		st->lost[KS_RECURSED] += number(line, "recursed");
	} else if (!strncmp(line, "table ", 6)) {
		st->lost[KS_DROPPED] += number(line, "dropped");
		st->lost[KS_EVICTED] += number(line, "evicted");
	} else if (!strncmp(line, "event ", 6)) {
		st->suppressed += number(line, "suppressed");
	} else if (silent_layers(line)) {
		st->silent = silent_layers(line);
	}
}

void ks_status_parse(const char *text, struct ks_module_status *st)
{
	char line[512];

	while (text && *text) {
		size_t len = strcspn(text, "\n");

		ks_fmt(line, sizeof(line), "%.*s", (int)min_u64(len, sizeof(line) - 1), text);
		parse_line(line, st);
		text += len + (text[len] == '\n');
	}
}

const char *ks_status_event(const char *text, const char *event)
{
	static const char *const states[] = { "armed", "idle", "waiting", "absent", "failed" };
	char start[96];
	const char *at;

	at = text ? strstr(text, ks_fmt(start, sizeof(start), "\nevent %s ", event)) : NULL;
	at = at ? strstr(at + 1, " state=") : NULL;
	for (size_t i = 0; at && i < ARRAY_SIZE(states); i++) {
		if (!strncmp(at + 7, states[i], strlen(states[i])))
			return states[i];
	}
	return NULL;
}
