/* SPDX-License-Identifier: GPL-2.0 */
/* A subcommand is a line in kstall.c, its options in options.c, and a file of its own. */
#ifndef KSTALL_COMMAND_H
#define KSTALL_COMMAND_H

#include <limits.h>

#include "base/util.h"

struct ks_options;

/* The subcommands that have an option. */
enum {
	KS_WHY = 1 << 0,
	KS_RECORD = 1 << 1,
	KS_DIFF = 1 << 2,
	KS_TIMELINE = 1 << 3,
	KS_METRICS = 1 << 4,
	KS_TOP = 1 << 5,
	KS_RECORDER = 1 << 6,
	KS_SHOW = 1 << 7,	/* of recorder, those that print events */
	KS_EVERY_COMMAND = ~0,
};

#define KS_ANY_ARGS INT_MAX

struct ks_command {
	const char *name;	/* as typed: "recorder show" */
	const char *args;	/* "GOOD BAD"; NULL: none */
	int least, most;	/* of them */
	u32 of;			/* KS_WHY... */
	bool starts;		/* the first argument is a command, whose options are its own */
	const char *what;
	int (*run)(struct ks_options *o, char **args);
	const struct ks_command *sub;	/* instead of run; ends in an empty one */
};

extern const struct ks_command ks_commands[], ks_recorder_commands[];

int ks_cmd_why(struct ks_options *o, char **args);
int ks_cmd_record(struct ks_options *o, char **args);
int ks_cmd_diff(struct ks_options *o, char **args);
int ks_cmd_timeline(struct ks_options *o, char **args);
int ks_cmd_metrics(struct ks_options *o, char **args);
int ks_cmd_top(struct ks_options *o, char **args);

#endif
