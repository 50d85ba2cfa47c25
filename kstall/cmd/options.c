// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"

static const struct option longs[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "cgroup", required_argument, NULL, 'g' },
	{ "comm", required_argument, NULL, 'c' },
	{ "step", required_argument, NULL, 's' },
	{ "every", required_argument, NULL, 'e' },
	{ "time", required_argument, NULL, 't' },
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "slowest", required_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "snapshot", required_argument, NULL, 'S' },
	{ "textfile", required_argument, NULL, 'T' },
	{ "listen", required_argument, NULL, 'L' },
	{ "jobs", required_argument, NULL, 'J' },
	{ "fleet", required_argument, NULL, 'F' },
	{ }
};

static void __attribute__((noreturn)) usage(const char *command, const char *what, const char *arg)
{
	fprintf(stderr, "kstall %s: %s%s (see man kstall-%s)\n", command, what, arg, command);
	exit(2);
}

static void add_pids(struct ks_options *o, const char *command, char *list)
{
	for (char *p = strtok(list, ","); p; p = strtok(NULL, ",")) {
		char *end;
		long pid = strtol(p, &end, 10);

		if (*end || pid <= 0 || pid > 1 << 22)
			usage(command, "no process: ", p);
		o->target.pids = ks_grow(o->target.pids, &o->target.room_pids, o->target.nr_pids + 1, sizeof(*o->target.pids));
		o->target.pids[o->target.nr_pids++] = pid;
	}
}

static void set_step(struct ks_options *o, const char *command, char *arg)
{
	static const struct { const char *name; enum ks_steps_by by; } kinds[] = {
		{ "marker", KS_BY_MARKER }, { "nccl", KS_BY_NCCL }, { "all", KS_BY_ALL },
	};

	o->step = arg;
	o->target.symbol = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(arg, kinds[i].name)) {
			o->by = kinds[i].by;
			return;
		}
	}
	if (strncmp(arg, "uprobe:", 7))
		usage(command, "no kind of step: ", arg);
	o->by = KS_BY_CALL;
	o->target.binary = ks_strdup(arg + 7);
	o->target.symbol = strrchr(o->target.binary, ':');
	if (!o->target.symbol || !o->target.symbol[1])
		usage(command, "--step uprobe: wants BINARY:SYMBOL, not ", arg);
	*o->target.symbol++ = '\0';
}

static u64 number(const char *command, const char *arg)
{
	char *end;
	u64 v = strtoull(arg, &end, 10);

	if (*end || !v || v > 1 << 30)
		usage(command, "no number: ", arg);
	return v;
}

static u64 duration(const char *command, const char *arg)
{
	u64 ns = ks_parse_time(arg);

	if (!ns)
		usage(command, "no time: ", arg);
	return ns;
}

static void set(struct ks_options *o, const char *command, int c)
{
	switch (c) {
	case 'p':
		add_pids(o, command, optarg);
		break;
	case 'g':
		o->target.cgroup = optarg;
		break;
	case 'c':
		o->target.comm = optarg;
		break;
	case 's':
		set_step(o, command, optarg);
		break;
	case 'e':
		o->every = duration(command, optarg);
		o->by = KS_BY_EVERY;
		o->target.symbol = NULL;
		break;
	case 't':
		o->time = duration(command, optarg);
		break;
	case 'i':
		o->input = optarg;
		break;
	case 'o':
		o->output = optarg;
		break;
	case 'b':
		o->target.buffer_kib = number(command, optarg);
		break;
	case 'n':
		o->slowest = number(command, optarg);
		break;
	case 'j':
		o->json = true;
		break;
	case 'S':
		o->snapshot = number(command, optarg);
		break;
	case 'T':
		o->textfile = optarg;
		break;
	case 'L':
		o->listen = optarg;
		break;
	case 'J':
		o->jobs = optarg;
		break;
	case 'F':
		o->fleet = optarg;
		break;
	}
}

int ks_options(struct ks_options *o, int argc, char **argv, const char *allowed)
{
	int c;

	while ((c = getopt_long(argc, argv, "+p:i:o:b:n:", longs, NULL)) != -1) {
		if (c == '?')
			exit(2);
		if (!strchr(allowed, c))
			usage(argv[0], "an option of another command: ", argv[optind - 1]);
		set(o, argv[0], c);
	}
	return optind;
}

void ks_steps_text(const struct ks_options *o, char *buf, size_t size)
{
	char time[32];

	if (o->by == KS_BY_EVERY)
		ks_fmt(buf, size, "every %s", ks_time(time, o->every));
	else
		ks_fmt(buf, size, "%s", o->step ? o->step : "marker");
}
