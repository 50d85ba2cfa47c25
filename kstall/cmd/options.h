/* SPDX-License-Identifier: GPL-2.0 */
/* What the subcommands have in common: which job, which steps. */
#ifndef KSTALL_OPTIONS_H
#define KSTALL_OPTIONS_H

#include "engine/engine.h"
#include "trace/target.h"

struct ks_options {
	struct ks_target target;
	enum ks_steps_by by;
	const char *step;	/* as given */
	bool unasked;		/* steps that nobody has chosen */
	u64 every, time;
	const char *input, *output;
	size_t slowest, snapshot;
	bool json;
	const char *textfile, *listen, *jobs, *fleet;
};

/*
 * @allowed: a letter an option, of "pgcsetiobnjSTLJF". Returns the index of the first argument that
 * is no option; what is wrong ends the program with 2.
 */
int ks_options(struct ks_options *o, int argc, char **argv, const char *allowed);

/* The steps the engine is to look for, as the user would say it. */
void ks_steps_text(const struct ks_options *o, char *buf, size_t size);

#endif
