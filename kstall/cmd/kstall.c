// SPDX-License-Identifier: GPL-2.0
/* kstall: where the kernel holds a job up. A subcommand is a line here and a file beside this one. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options.h"

#ifndef KSTALL_FLEET
int ks_cmd_top(struct ks_options *o, char **args)
{
	(void)o;
	(void)args;
	ks_die("top: kstall was built without libcurl and json-c, which it needs");
}
#endif

#define STARTS "[--] [COMMAND [ARG ...]]"

const struct ks_command ks_commands[] = {
	{ "why", STARTS, 0, KS_ANY_ARGS, KS_WHY, true, "which layer ate the step", ks_cmd_why },
	{ "record", STARTS, 0, KS_ANY_ARGS, KS_RECORD, true, "keep what why needs", ks_cmd_record },
	{ "diff", "GOOD BAD", 2, 2, KS_DIFF, false, "what the steps of one recording have more of than another's", ks_cmd_diff },
	{ "recorder", NULL, 0, 0, 0, false, "what happened before a stall or a crash, kept while nobody watches", NULL,
	  ks_recorder_commands },
	{ "timeline", "RECORDING", 1, 1, KS_TIMELINE, false, "a recording for Perfetto's user interface", ks_cmd_timeline },
	{ "metrics", NULL, 0, 0, KS_METRICS, false, "this node for Prometheus", ks_cmd_metrics },
	{ "top", NULL, 0, 0, KS_TOP, false, "which node of a fleet is slow", ks_cmd_top },
	{ }
};

/* Else a file that is opened later would have the number of one of these, and be written to as such. */
static void open_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h") || !strcmp(arg, "help");
}

static bool is_version(const char *arg)
{
	return !strcmp(arg, "--version") || !strcmp(arg, "-V");
}

static int version(void)
{
	puts("kstall " KSTALL_VERSION);
	return 0;
}

static int help(FILE *out, const struct ks_command *c)
{
	ks_help(out, c);
	return out == stdout ? 0 : 2;
}

/* The command that @args begin with, NULL: none; @args is then behind what was found. */
static const struct ks_command *find(char ***args)
{
	const struct ks_command *list = ks_commands, *found = NULL;

	while (list && **args) {
		const struct ks_command *c = list;
		const char *last;

		for (; c->name; c++) {
			last = strrchr(c->name, ' ');
			if (!strcmp(**args, last ? last + 1 : c->name))
				break;
		}
		if (!c->name)
			break;
		found = c;
		list = c->sub;
		++*args;
	}
	return found;
}

/* kstall --options words|man [COMMAND ...] */
static int options(char **args)
{
	bool man = *args && !strcmp(*args, "man");
	const struct ks_command *c;

	args += !!*args;
	c = find(&args);
	if (man && c)
		ks_print_man(c);
	else
		ks_print_words(c);
	return 0;
}

/* @c: none, or one that has others below it. */
static int no_command(const struct ks_command *c, const char *arg)
{
	if (!arg)
		return help(stderr, c);
	if (is_help(arg))
		return help(stdout, c);
	if (is_version(arg))
		return version();
	ks_warn("no command %s%s%s (see kstall%s%s --help)", c ? c->name : "", c ? " " : "", arg, c ? " " : "",
		c ? c->name : "");
	return 2;
}

int main(int argc, char **argv)
{
	struct ks_options o = { 0 };
	const struct ks_command *c;
	char **args = argv + 1;

	open_standard_files();
	if (*args && !strcmp(*args, "--options"))
		return options(args + 1);
	if (*args && !strcmp(*args, "help") && args[1]) {
		args++;
		c = find(&args);
		return *args ? no_command(c, *args) : help(stdout, c);
	}
	c = find(&args);
	if (!c || c->sub)
		return no_command(c, *args);
	args = ks_options(&o, c, argc - (args - argv) + 1, args - 1);
	if (o.help)
		return help(stdout, c);
	if (o.version)
		return version();
	return c->run(&o, args);
}
