/* SPDX-License-Identifier: GPL-2.0 */
/* One table of options. The parser, --help, the completion and the lists in the manual pages are made of it. */
#ifndef KSTALL_OPTIONS_H
#define KSTALL_OPTIONS_H

#include <stdio.h>

#include "cmd/command.h"
#include "engine/engine.h"
#include "trace/target.h"

struct ks_options {
	struct ks_target target;
	enum ks_steps_by by;
	const char *step;	/* as given */
	bool unasked;		/* steps that nobody has chosen */
	u64 every, time, since;
	const char *input, *output;
	size_t slowest, snapshot;
	bool json, help, version;
	const char *textfile, *listen, *jobs, *fleet;
	const char *config, *module;
};

struct ks_option {
	u32 of;			/* commands */
	char letter;		/* 0: none */
	const char *name, *arg;	/* arg NULL: it has none */
	const char *initial;	/* what it is unless given, NULL: nothing */
	void (*set)(struct ks_options *o, const struct ks_option *opt, const char *arg);
	size_t field;		/* of struct ks_options, if @set sets just that */
	const char *what;
};

/* The table; the last one has no name. */
extern const struct ks_option ks_option_table[];

/* Returns the arguments that are no options, ending in NULL. What is wrong ends the program with 2. */
char **ks_options(struct ks_options *o, const struct ks_command *c, int argc, char **argv);

/* "kstall why: ... (see kstall why --help)", exit status 2. Not before ks_options() was called. */
void ks_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* help.c. The last two are for the completion and for scripts/option-lists. */
void ks_help(FILE *out, const struct ks_command *c);
void ks_print_words(const struct ks_command *c);
void ks_print_man(const struct ks_command *c);

/* The steps the engine is to look for, as the user would say it. */
void ks_steps_text(const struct ks_options *o, char *buf, size_t size);

#endif
