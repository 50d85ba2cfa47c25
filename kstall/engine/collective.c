// SPDX-License-Identifier: GPL-2.0
/*
 * What a collective was held by, as the profiler plugin for NCCL says at its end (kstall/nccl/split.h): these are its parts. The
 * plugin knows how long its proxy thread was off the CPU while there was something to send or receive; what that thread did then
 * is in its own time.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

static const char *const phases[] = {
	"launch", "queued", "peer", "credit", "wire", "flush", "gpu", "kernel", "host", "late",
};

struct ks_split {
	struct ks_parts parts;
	u64 host;
};

static const struct ks_form rank_form = { "rank {rank}", NULL, 0, { "rank" } };

static const char *phase_of(const char *key, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		if (strlen(phases[i]) == len && !memcmp(phases[i], key, len))
			return phases[i];
	}
	return NULL;
}

/* Digits and no sign; returns what is behind them, NULL if there are none or too many. */
static const char *number(const char *text, u64 *value)
{
	size_t len = strspn(text, "0123456789");

	if (!len || len > 18)
		return NULL;
	*value = strtoull(text, NULL, 10);
	return text + len;
}

/* "KEY=NS" or "KEY=NS:RANK"; returns what is behind it, NULL if it is no such word. */
static const char *add_phase(struct ks_split *split, const char *word, u64 *ns)
{
	const size_t len = strcspn(word, "=");
	const char *phase = word[len] ? phase_of(word, len) : NULL, *rest;
	struct ks_what what = { .state = KS_COLLECTIVE, .layer = KS_NCCL };
	u64 rank;

	rest = phase ? number(word + len + 1, ns) : NULL;
	if (rest && *rest == ':') {
		rest = number(rest + 1, &rank);
		what.culprit = (struct ks_culprit){ .form = &rank_form, .v = { rank } };
	}
	if (!rest || !strchr(" \t\r\n", *rest))
		return NULL;
	what.phase = ks_intern(phase);
	if (!strcmp(phase, "host"))
		split->host += *ns;
	else if (*ns)
		ks_parts_add(&split->parts, what, *ns, 1);
	return rest;
}

void ks_split_free(struct ks_split *split)
{
	if (split)
		ks_parts_free(&split->parts);
	free(split);
}

/* The plugin looks at the clock after it has said "begin" and before it says "end": what is left is its own time. */
struct ks_split *ks_split_parse(const char *text, u64 duration)
{
	struct ks_split *split = ks_alloc(sizeof(*split));
	u64 left = duration, ns;

	for (text += strspn(text, " \t"); text && *text && !strchr("\r\n", *text);) {
		text = add_phase(split, text, &ns);
		if (!text || ns > left) {
			ks_split_free(split);
			return NULL;
		}
		left -= ns;
		text += strspn(text, " \t");
	}
	split->host += left;
	return split;
}

static bool is_off_cpu(const struct ks_what *what)
{
	return what->state == KS_CPU_WAIT || what->state == KS_QUOTA || what->state == KS_BLOCKED;
}

/* "nccl: host ← python/4720: cpu" */
static struct ks_what through(const struct ks_what *what, const struct ks_step *proxy)
{
	struct ks_what w = *what;

	w.via = (struct ks_via){ .call = ks_intern("nccl: host"), .nr = what->via.nr + 1 };
	w.via.hop[0].comm = ks_intern(proxy->comm);
	w.via.hop[0].tid = proxy->tid;
	for (u32 i = 0; i < what->via.nr && i + 1 < KS_HOPS; i++)
		w.via.hop[i + 1] = what->via.hop[i];
	return w;
}

void ks_split_proxy(struct ks_split *split, const struct ks_step *proxy)
{
	struct ks_parts summary;

	ks_parts_summary(&proxy->parts, &summary);
	for (size_t i = 0; i < summary.nr; i++) {
		const struct ks_part *p = &summary.part[i];
		u64 ns = is_off_cpu(&p->what) ? min_u64(p->ns, split->host) : 0;

		if (ns)
			ks_parts_add(&split->parts, through(&p->what, proxy), ns, p->count);
		split->host -= ns;
	}
	ks_parts_free(&summary);
}

void ks_split_take(struct ks_split *split, struct ks_step *s)
{
	struct ks_what host = { .state = KS_COLLECTIVE, .layer = KS_NCCL, .phase = ks_intern("host") };
	const u32 launch = ks_intern("launch");

	if (split->host)
		ks_parts_add(&split->parts, host, split->host, 1);
	ks_parts_free(&s->parts);
	for (size_t i = 0; i < split->parts.nr; i++) {
		struct ks_part *p = &split->parts.part[i];

		if (p->what.state == KS_COLLECTIVE && p->what.phase == launch)
			p->what.culprit = ks_task(s->comm, s->tid);
		ks_parts_add(&s->parts, p->what, p->ns, p->count);
	}
}
