// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"

static u64 length(const struct ks_step *s)
{
	return s->end - s->begin;
}

static void add_total(struct ks_report *r, const struct ks_step *s)
{
	if (r->count < KS_LENGTHS)
		r->lengths = ks_grow(r->lengths, &r->room_lengths, r->count + 1, sizeof(*r->lengths));
	r->lengths[r->count++ % KS_LENGTHS] = length(s);
	r->exact += !s->lost;
	r->duration += length(s);
	for (size_t i = 0; i < s->parts.nr; i++) {
		struct ks_part p = s->parts.part[i];

		/* Ranks are few, and the one that was waited for most is the answer. */
		if (p.what.layer != KS_NCCL)
			p.what.culprit = (struct ks_culprit){ 0 };
		ks_via_any(&p.what);
		ks_parts_add(&r->total, p.what, p.ns, p.count);
	}
}

void ks_report_step(struct ks_engine *e, struct ks_step *s)
{
	struct ks_report *r = e->priv;
	size_t least = 0;

	add_total(r, s);
	if (!r->keep || r->nr < r->keep) {
		r->steps = ks_grow(r->steps, &r->room, r->nr + 1, sizeof(*r->steps));
		r->steps[r->nr++] = s;
		return;
	}
	for (size_t i = 1; i < r->nr; i++) {
		if (length(r->steps[i]) < length(r->steps[least]))
			least = i;
	}
	if (length(s) > length(r->steps[least])) {
		struct ks_step *old = r->steps[least];

		r->steps[least] = s;
		s = old;
	}
	ks_step_free(s);
}

static int by_begin(const void *a, const void *b)
{
	const struct ks_step *x = *(struct ks_step *const *)a, *y = *(struct ks_step *const *)b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->serial < y->serial ? -1 : 1;
}

static int by_length(const void *a, const void *b)
{
	const struct ks_step *x = *(struct ks_step *const *)a, *y = *(struct ks_step *const *)b;

	if (length(x) != length(y))
		return length(x) > length(y) ? -1 : 1;
	return by_begin(a, b);
}

void ks_report_sort(struct ks_report *r, bool by_time)
{
	if (r->nr)
		qsort(r->steps, r->nr, sizeof(*r->steps), by_time ? by_begin : by_length);
}

void ks_report_reset(struct ks_report *r)
{
	for (size_t i = 0; i < r->nr; i++)
		ks_step_free(r->steps[i]);
	ks_parts_free(&r->total);
	free(r->steps);
	free(r->lengths);
	r->steps = NULL;
	r->lengths = NULL;
	r->nr = r->room = r->room_lengths = 0;
	r->count = r->exact = r->duration = 0;
}

u64 ks_report_median(const struct ks_report *r)
{
	return ks_median(r->lengths, min_u64(r->count, KS_LENGTHS));
}

const struct ks_part *ks_worst(const struct ks_parts *summary)
{
	for (size_t i = 0; i < summary->nr; i++) {
		if (ks_part_is_stall(&summary->part[i].what))
			return &summary->part[i];
	}
	return NULL;
}
