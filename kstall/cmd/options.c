// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"

static const char *command;

void ks_usage(const char *fmt, ...)
{
	char text[512], plain[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "kstall %s: %s (see kstall %s --help)\n", command,
		ks_printable(plain, sizeof(plain), text), command);
	exit(2);
}

static void __attribute__((noreturn)) wrong(const struct ks_option *opt, const char *arg, const char *want)
{
	ks_usage("--%s %s: not %s", opt->name, arg, want);
}

static void set_text(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	*(const char **)((char *)o + opt->field) = arg;
}

static void set_flag(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	(void)arg;
	*(bool *)((char *)o + opt->field) = true;
}

/* One leaves out what the other one adds to. */
static void set_cuda(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	set_flag(o, opt, arg);
	if (o->target.no_cuda && o->target.cuda_launch)
		ks_usage("--no-cuda and --cuda-launch exclude each other");
}

static void set_number(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	char *end;
	u64 v = strtoull(arg, &end, 10);

	if (*end || !v || v > 1 << 30)
		wrong(opt, arg, "a number from 1 to 1073741824");
	*(size_t *)((char *)o + opt->field) = v;
}

static void set_time(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	u64 ns = ks_parse_time(arg);

	if (!ns)
		wrong(opt, arg, "a time, such as 200ms, 1.5s or 5m");
	*(u64 *)((char *)o + opt->field) = ns;
}

static void set_every(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	set_time(o, opt, arg);
	o->by = KS_BY_EVERY;
	o->target.symbol = NULL;
}

static void add_pids(struct ks_options *o, const struct ks_option *opt, const char *arg)
{
	struct ks_target *t = &o->target;
	char *list = ks_strdup(arg);

	for (char *p = strtok(list, ","); p; p = strtok(NULL, ",")) {
		char *end;
		long pid = strtol(p, &end, 10);

		if (*end || pid <= 0 || pid > 1 << 22)
			wrong(opt, p, "the number of a process");
		t->pids = ks_grow(t->pids, &t->room_pids, t->nr_pids + 1, sizeof(*t->pids));
		t->pids[t->nr_pids++] = pid;
	}
	free(list);
}

static void set_step(struct ks_options *o, const struct ks_option *opt, const char *arg)
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
		wrong(opt, arg, "marker, nccl, uprobe:BINARY:SYMBOL or all");
	o->by = KS_BY_CALL;
	o->target.binary = ks_strdup(arg + 7);
	o->target.symbol = strrchr(o->target.binary, ':');
	if (!o->target.symbol || !o->target.symbol[1])
		wrong(opt, arg, "uprobe:BINARY:SYMBOL");
	*o->target.symbol++ = '\0';
}

#define TEXT(f) set_text, offsetof(struct ks_options, f)
#define FLAG(f) set_flag, offsetof(struct ks_options, f)
#define CUDA(f) set_cuda, offsetof(struct ks_options, f)
#define NUMBER(f) set_number, offsetof(struct ks_options, f)
#define TIME(f) set_time, offsetof(struct ks_options, f)
#define EVERY set_every, offsetof(struct ks_options, every)

/* An option that means something else for another command has a line for each. */
const struct ks_option ks_option_table[] = {
	{ KS_WHY, 'i', "input", "FILE", NULL, TEXT(input),
	  "read a recording of kstall record or of trace-cmd" },
	{ KS_RECORD, 'o', "output", "FILE", "trace.dat", TEXT(output),
	  "write the recording to FILE" },
	{ KS_TIMELINE, 'o', "output", "FILE", "out.pftrace", TEXT(output),
	  "write the trace to FILE" },
	{ KS_WHY | KS_RECORD | KS_DIFF | KS_TIMELINE, 'p', "pid", "PID[,...]", NULL, add_pids, 0,
	  "these processes, and what they start" },
	{ KS_WHY | KS_RECORD, 0, "cgroup", "PATH", NULL, TEXT(target.cgroup),
	  "the processes of this cgroup (v2) and below, and what they start" },
	{ KS_WHY | KS_RECORD | KS_DIFF | KS_TIMELINE, 0, "comm", "NAME", NULL, TEXT(target.comm),
	  "processes with this name, and what they start" },
	{ KS_WHY | KS_DIFF, 0, "step", "KIND", NULL, set_step, 0,
	  "what a step is: marker (what the program marks), nccl (a collective, marked by the profiler plugin for NCCL), uprobe:BINARY:SYMBOL (from one call of this function to the next by the same thread; inferred), or all (all the time of each process's first thread)" },
	{ KS_RECORD, 0, "step", "KIND", NULL, set_step, 0,
	  "what a step will be; only uprobe:BINARY:SYMBOL is needed here" },
	{ KS_WHY | KS_DIFF, 0, "every", "TIME", NULL, EVERY,
	  "steps are windows of this length of each process's first thread; inferred" },
	{ KS_METRICS, 0, "every", "TIME", "15s", EVERY,
	  "read the counters so often" },
	{ KS_TOP, 0, "every", "TIME", "15s", EVERY,
	  "on a terminal, ask so often" },
	{ KS_WHY | KS_RECORD, 0, "time", "TIME", NULL, TIME(time),
	  "end after so long" },
	{ KS_WHY, 'n', "slowest", "N", "3", NUMBER(slowest),
	  "show the N slowest steps" },
	{ KS_TOP, 'n', "slowest", "N", "20", NUMBER(slowest),
	  "show at most N lines" },
	{ KS_WHY, 0, "snapshot", "N", NULL, NUMBER(snapshot),
	  "have the flight recorder copy its rings when a step takes more than N times the median of the last 101 (five at least); live only, and the recorder must be started" },
	{ KS_WHY | KS_RECORD, 'b', "buffer", "KIB", NULL, NUMBER(target.buffer_kib),
	  "the size of a CPU's part of each of the two ring buffers (default: 8192 for the job's events and 4096 for everybody's, or less, which is said: at most 1 GiB and 1/64 of memory together)" },
	{ KS_WHY | KS_RECORD, 0, "as-root", NULL, NULL, FLAG(target.as_root),
	  "run COMMAND as root, not as the user who called sudo" },
	{ KS_WHY | KS_RECORD, 0, "no-cuda", NULL, NULL, CUDA(target.no_cuda),
	  "no probes on the functions of libcuda and libamdhip64" },
	{ KS_WHY | KS_RECORD, 0, "cuda-launch", NULL, NULL, CUDA(target.cuda_launch),
	  "probes on their functions that launch kernels, too: these are called thousands of times a second" },
	{ KS_WHY, 0, "json", NULL, NULL, FLAG(json),
	  "print all steps with all parts as one object, see why.md" },
	{ KS_DIFF, 0, "json", NULL, NULL, FLAG(json),
	  "print all parts as one object" },
	{ KS_TOP, 0, "json", NULL, NULL, FLAG(json),
	  "print one object, once" },
	{ KS_METRICS, 0, "textfile", "DIR", NULL, TEXT(textfile),
	  "write DIR/kstall.prom; DIR is that of node_exporter's --collector.textfile.directory" },
	{ KS_METRICS, 0, "listen", "ADDRESS:PORT", NULL, TEXT(listen),
	  "answer GET /metrics there, without encryption or password" },
	{ KS_METRICS, 0, "jobs", "SOURCE", NULL, TEXT(jobs),
	  "look for this node's jobs in slurm, kubernetes[:NAMESPACE,...], file:PATH or command:COMMAND" },
	{ KS_TOP, 0, "fleet", "URL", NULL, TEXT(fleet),
	  "the Prometheus to ask, such as http://prometheus:9090; a password is taken from ~/.netrc" },
	{ KS_RECORDER, 0, "config", "FILE", NULL, TEXT(config),
	  "the configuration (default: /etc/kstall/recorder.conf, if there is one)" },
	{ KS_SHOW, 0, "since", "TIME", NULL, TIME(since),
	  "show and last-boot: only the last TIME (10s, 5m); of a copy, before its last event" },
	{ KS_SHOW, 0, "module", "NAME", NULL, TEXT(module),
	  "show and last-boot: only events of aer, drm_sched, ib_cq, io_uring, iommu or mm_migrate" },
	{ KS_SHOW, 0, "json", NULL, NULL, FLAG(json),
	  "show and last-boot: an object a line: time, mono_ns, cpu, system, module, event, fields; or note" },
	{ KS_EVERY_COMMAND, 'h', "help", NULL, NULL, FLAG(help),
	  "print this" },
	{ KS_EVERY_COMMAND, 'V', "version", NULL, NULL, FLAG(version),
	  "print kstall's version" },
	{ }
};

/* getopt's lists of what the command has. A long option's value is its index in the table, above all letters. */
#define LONG 256

struct lists {
	struct option longs[ARRAY_SIZE(ks_option_table) + 1];
	char shorts[2 * ARRAY_SIZE(ks_option_table) + 3];
};

static void make_lists(struct lists *l, const struct ks_command *c)
{
	char *s = l->shorts;
	size_t n = 0;

	if (c->starts)
		*s++ = '+';
	*s++ = ':';
	for (const struct ks_option *opt = ks_option_table; opt->name; opt++) {
		if (!(opt->of & c->of))
			continue;
		l->longs[n++] = (struct option){ opt->name, opt->arg ? required_argument : no_argument, NULL,
						 LONG + (opt - ks_option_table) };
		if (opt->letter)
			*s++ = opt->letter;
		if (opt->letter && opt->arg)
			*s++ = ':';
	}
}

static const struct ks_option *find(const struct ks_command *c, int value)
{
	if (value >= LONG)
		return &ks_option_table[value - LONG];
	for (const struct ks_option *opt = ks_option_table; opt->name; opt++) {
		if ((opt->of & c->of) && opt->letter == value)
			return opt;
	}
	return NULL;
}

static void __attribute__((noreturn)) refuse(const struct ks_command *c, int what, const char *given)
{
	const struct ks_option *opt = optopt ? find(c, optopt) : NULL;

	if (what == ':')
		ks_usage("--%s wants %s", opt->name, opt->arg);
	if (opt)
		ks_usage("--%s takes no value", opt->name);
	if (optopt)
		ks_usage("unknown option -%c", optopt);
	ks_usage("unknown option %.*s", (int)strcspn(given, "="), given);
}

static void check_args(const struct ks_command *c, int nr)
{
	if (nr >= c->least && nr <= c->most)
		return;
	if (c->args)
		ks_usage("it takes %s", c->args);
	ks_usage("it takes no argument");
}

char **ks_options(struct ks_options *o, const struct ks_command *c, int argc, char **argv)
{
	struct lists l = { 0 };
	int value;

	command = c->name;
	make_lists(&l, c);
	for (const struct ks_option *opt = ks_option_table; opt->name; opt++) {
		if ((opt->of & c->of) && opt->initial)
			opt->set(o, opt, opt->initial);
	}
	opterr = 0;
	while ((value = getopt_long(argc, argv, l.shorts, l.longs, NULL)) != -1) {
		const struct ks_option *opt = find(c, value);

		if (value == '?' || value == ':')
			refuse(c, value, argv[optind - 1]);
		opt->set(o, opt, optarg);
	}
	if (!o->help && !o->version)
		check_args(c, argc - optind);
	return argv + optind;
}

void ks_steps_text(const struct ks_options *o, char *buf, size_t size)
{
	char time[32];

	if (o->by == KS_BY_EVERY)
		ks_fmt(buf, size, "every %s", ks_time(time, o->every));
	else
		ks_fmt(buf, size, "%s", o->step ? o->step : "marker");
}
