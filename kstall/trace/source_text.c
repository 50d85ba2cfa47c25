// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/source.h"

/* text=, buf= and msg= take the rest of the line. NAME[N] is the field NAME_N, as events.def has it. */
static bool field(struct ks_event *ev, char **rest)
{
	char *word = *rest, *value = strchr(word, '='), *element;
	size_t len;

	if (!value)
		return false;
	*value++ = '\0';
	element = strchr(word, '[');
	if (element) {
		*element = '_';
		element[strcspn(element, "]")] = '\0';
	}
	len = strcspn(value, strcmp(word, "text") && strcmp(word, "buf") && strcmp(word, "msg") ? " \n" : "\n");
	*rest = value + len + (value[len] != '\0');
	value[len] = '\0';
	for (int i = 0; i < KS_MAX_FIELDS && ev->type->fields[i]; i++) {
		char *end;

		if (strcmp(ev->type->fields[i], word))
			continue;
		ev->num[i] = strtoull(value, &end, 0);
		if (*end || end == value)
			ev->str[i] = value;
	}
	return true;
}

bool ks_text_line(struct ks_engine *e, char *line)
{
	struct ks_event ev = { .own = true };
	unsigned long long ts, to, nr;
	char system[32], name[64];
	int n = 0;

	if (*line == '#' || *line == '\n' || !*line)
		return true;
	if (sscanf(line, "lost %llu %llu %llu", &ts, &to, &nr) == 3) {
		ks_engine_lost(e, ts, to, nr);
		return true;
	}
	if (sscanf(line, "%llu %d %d %x %31[^:]:%63s %n", &ts, &ev.cpu, &ev.pid, &ev.flags, system,
		   name, &n) < 6)
		return false;
	ev.ts = ts;
	ev.type = ks_type_find(system, name);
	for (int i = 0; i < KS_MAX_FIELDS; i++)
		ev.str[i] = ks_no_text;
	if (!ev.type)
		return false;
	for (char *rest = line + n; n && *rest;) {
		if (!field(&ev, &rest))
			return false;
	}
	ks_engine_feed(e, &ev);
	return true;
}
