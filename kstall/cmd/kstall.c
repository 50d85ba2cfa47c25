// SPDX-License-Identifier: GPL-2.0
/* kstall: where the kernel holds a job up. A subcommand is a line here and a file beside this one. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "cmd/command.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "why", ks_cmd_why, "which layer ate the step" },
	{ "record", ks_cmd_record, "keep what why needs" },
	{ "diff", ks_cmd_diff, "what the steps of one recording have more of than another's" },
	{ "recorder", ks_cmd_recorder, "what happened before a stall or a crash, kept while nobody watches" },
	{ "timeline", ks_cmd_timeline, "a recording for Perfetto's user interface" },
	{ "metrics", ks_cmd_metrics, "this node for Prometheus" },
#ifdef KSTALL_FLEET
	{ "top", ks_cmd_top, "which node of a fleet is slow" },
#endif
};

static int usage(FILE *out)
{
	fputs("usage: kstall COMMAND [OPTION ...]\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
	fputs("\nkstall-doctor(8) says what works on this machine.\n", out);
	return out == stdout ? 0 : 2;
}

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

int main(int argc, char **argv)
{
	open_standard_files();
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	ks_warn("no command %s", argv[1]);
	return usage(stderr);
}
