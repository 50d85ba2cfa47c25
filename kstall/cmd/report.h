/* SPDX-License-Identifier: GPL-2.0 */
/* What the engine found, to be printed. */
#ifndef KSTALL_REPORT_H
#define KSTALL_REPORT_H

#include <stdio.h>

#include "engine/engine.h"

#define KS_LENGTHS 65536

struct ks_report {
	const char *source;	/* name of the file, or NULL: live */
	char steps_by[256];
	bool inferred;
	bool stream;		/* a line a step, as they come */
	size_t keep;		/* the slowest so many; 0: all */
	struct ks_step **steps;
	size_t nr, room;
	u64 count, exact, duration;
	u64 *lengths;		/* of the last KS_LENGTHS steps, for the median */
	size_t room_lengths;
	struct ks_parts total;	/* without culprits */
	double seconds, cpu_seconds;
	u64 bad;
};

/* As the engine's step_done, whose priv is the report. */
void ks_report_step(struct ks_engine *e, struct ks_step *s);
void ks_report_sort(struct ks_report *r, bool by_time);
void ks_report_reset(struct ks_report *r);

/* How long a step takes: half of the last KS_LENGTHS take longer. */
u64 ks_report_median(const struct ks_report *r);

/* The step's largest part that is a stall, with its culprit; NULL: there is none. */
const struct ks_part *ks_worst(const struct ks_parts *summary);

void ks_print_table(FILE *out, const struct ks_report *r, struct ks_engine *e);
/* "STATE NAME CULPRIT", in columns, and the line's end; and the columns' heads */
void ks_print_what(FILE *out, const struct ks_what *what);
void ks_print_heads(FILE *out);
void ks_print_line(FILE *out, const struct ks_step *s);
void ks_print_json(FILE *out, const struct ks_report *r, const struct ks_engine *e);

#endif
