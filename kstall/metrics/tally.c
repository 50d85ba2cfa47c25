// SPDX-License-Identifier: GPL-2.0
/*
 * A bounded number of series, whatever names turn up. A workload that has one keeps it, so none falls or jumps; of those that come
 * together the first by name get what there is (the kernel lists the rarest first).
 */
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"

/* 1 us, 33 us, 1 ms, 34 ms, 1.1 s */
const int ks_bounds[KS_NR_BOUNDS] = { 10, 15, 20, 25, 30 };

/* Says once of each that it has no series of its own; returns without room to remember it. */
static void fold(struct ks_tally *t, const char *event, const char *dev, const char *cause)
{
	char name[256];

	ks_fmt(name, sizeof(name), "%s %s %s", event, dev, cause);
	for (size_t i = 0; i < t->nr_folded; i++) {
		if (!strcmp(t->folded[i], name))
			return;
	}
	/* Each event's table in the kernel is bounded; so is this. */
	t->folded = ks_grow(t->folded, &t->room_folded, t->nr_folded + 1, sizeof(*t->folded));
	t->folded[t->nr_folded++] = ks_strdup(name);
}

static struct ks_group *rest_of(struct ks_tally *t, const char *layer)
{
	const char *layers[KS_MAX_METRIC_LAYERS];
	size_t nr = ks_metric_layers(layers), i = 0;

	while (i + 1 < nr && strcmp(layers[i], layer))
		i++;
	t->rest[i].layer = layers[i];
	return &t->rest[i];
}

struct ks_group *ks_tally_group(struct ks_tally *t, size_t event, const char *dev,
				const char *cause)
{
	const struct ks_metric_event *e = &ks_metric_events[event];
	struct ks_group *g;

	for (size_t i = 0; i < t->nr_groups; i++) {
		g = &t->group[i];
		if (g->event == e && !strcmp(g->dev, dev) && !strcmp(g->cause, cause))
			return g;
	}
	if (t->nr_groups == KS_MAX_GROUPS || t->event[event].groups == KS_GROUPS_AN_EVENT)
		return NULL;
	t->event[event].groups++;
	g = &t->group[t->nr_groups++];
	g->event = e;
	g->layer = e->layer;
	ks_fmt(g->dev, sizeof(g->dev), "%s", dev);
	ks_fmt(g->cause, sizeof(g->cause), "%s", cause);
	t->changed = true;
	return g;
}

bool ks_tally_histogram(struct ks_tally *t, size_t event)
{
	struct ks_event_tally *ev = &t->event[event];

	if (ev->histogram || t->nr_histograms == KS_MAX_HISTOGRAMS)
		return ev->histogram;
	t->nr_histograms++;
	ev->histogram = true;
	t->changed = true;
	return true;
}

static const char *cause_name(struct ks_tally *t, const char *cause)
{
	const char *name = NULL;
	char *end;
	u64 v = strtoull(cause, &end, 10);

	if (*cause && !*end && t->source->cause)
		name = t->source->cause(t->source->priv, &ks_metric_events[t->current], v);
	return name ? name : cause;
}

static void add_entry(void *priv, const struct ks_hist_entry *h)
{
	struct ks_tally *t = priv;
	struct ks_hist_entry *new;

	t->entry = ks_grow(t->entry, &t->room_entries, t->nr_entries + 1, sizeof(*t->entry));
	new = &t->entry[t->nr_entries++];
	*new = *h;
	ks_fmt(new->cause, sizeof(new->cause), "%s", cause_name(t, h->cause));
}

static int by_name(const void *a, const void *b)
{
	const struct ks_hist_entry *x = a, *y = b;
	int dev = strcmp(x->dev, y->dev);

	return dev ? dev : strcmp(x->cause, y->cause);
}

static void count_entry(struct ks_tally *t, const struct ks_hist_entry *h)
{
	const struct ks_metric_event *e = &ks_metric_events[t->current];
	struct ks_event_tally *ev = &t->event[t->current];
	struct ks_group *g = ks_tally_group(t, t->current, h->dev, h->cause);
	int b = 0;

	if (!g) {
		fold(t, e->name, h->dev, h->cause);
		g = rest_of(t, e->layer);
	}
	g->now = true;
	g->count += h->count;
	if (!e->ns)
		return;
	if (!e->nested) {
		g->has_ns = true;
		g->ns += h->ns;
	}
	while (b < KS_NR_BOUNDS && h->log2 > ks_bounds[b])
		b++;
	ev->bucket[b] += h->count;
	ev->ns += h->ns;
	if (!ks_tally_histogram(t, t->current))
		fold(t, e->name, "histogram", "");
}

static u64 count_event(struct ks_tally *t, size_t event, const char *text)
{
	u64 full;

	t->current = event;
	t->event[event].now = true;
	t->nr_entries = 0;
	full = ks_hist_parse(text, &ks_metric_events[event], add_entry, t);
	if (t->nr_entries)
		qsort(t->entry, t->nr_entries, sizeof(*t->entry), by_name);
	for (size_t i = 0; i < t->nr_entries; i++)
		count_entry(t, &t->entry[i]);
	return full;
}

static void clear(struct ks_tally *t)
{
	for (size_t i = 0; i < t->nr_groups; i++) {
		t->group[i].now = false;
		t->group[i].count = t->group[i].ns = 0;
	}
	for (size_t i = 0; i < KS_MAX_METRIC_LAYERS; i++)
		memset(&t->rest[i], 0, sizeof(t->rest[i]));
	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		struct ks_event_tally *ev = &t->event[i];

		ev->now = false;
		ev->state = NULL;
		ev->ns = 0;
		memset(ev->bucket, 0, sizeof(ev->bucket));
	}
}

static void not_read(struct ks_tally *t, const char *what, int error)
{
	if (!t->unread++)
		ks_fmt(t->why, sizeof(t->why), "%s (%s)", what, strerror(error));
}

/* Once, and again when it is something else. */
static void tell_unread(struct ks_tally *t)
{
	char now[320] = "";

	if (t->unread == 1)
		ks_fmt(now, sizeof(now), "%s", t->why);
	else if (t->unread)
		ks_fmt(now, sizeof(now), "%s and %zu more", t->why, t->unread - 1);
	if (strcmp(now, t->said))
		ks_warn("%s%s", *now ? "cannot be read: " : "all counters are read again", now);
	ks_fmt(t->said, sizeof(t->said), "%s", now);
}

static char *hist_of(struct ks_tally *t, struct ks_metric_source *s, size_t event)
{
	const struct ks_metric_event *e = &ks_metric_events[event];
	int error = 0;
	char *text = s->tracing ? s->hist(s->priv, e, &error) : NULL;

	t->event[event].unread = error;
	if (error)
		not_read(t, e->name, error);
	return text;
}

/* Returns how many found no room in the kernel's tables. */
static u64 count_events(struct ks_tally *t, struct ks_metric_source *s, const char *module,
			struct ks_module_status *st)
{
	u64 full = 0;

	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		char *text;

		if (strcmp(ks_metric_events[i].module, module))
			continue;
		text = hist_of(t, s, i);
		st->part |= t->event[i].unread;
		if (!text)
			continue;
		full += count_event(t, i, text);
		free(text);
	}
	return full;
}

static const char *state_of(const struct ks_event_tally *ev, const struct ks_metric_event *e,
			    const struct ks_module_status *st, const char *text)
{
	const char *state = ks_status_event(text, e->name);

	if (ev->unread)
		return "unreadable";
	if (!state)
		return ev->now ? "armed" : "not_loaded";
	return !strcmp(state, "armed") && ks_status_silent(st, e->layer) ? "silent" : state;
}

/* The events first: setting the trigger is what arms them. */
static void read_module(struct ks_tally *t, struct ks_metric_source *s, const char *module,
			struct ks_module_status *st)
{
	char what[128], *text;
	int error = 0;
	u64 full;

	memset(st, 0, sizeof(*st));
	full = count_events(t, s, module, st);
	text = s->status(s->priv, module, &error);
	if (error)
		not_read(t, ks_fmt(what, sizeof(what), "the status of %s", module), error);
	ks_status_parse(text, st);
	st->lost[KS_TABLE_FULL] = full;
	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		const struct ks_metric_event *e = &ks_metric_events[i];

		if (!strcmp(e->module, module))
			t->event[i].state = state_of(&t->event[i], e, st, text);
	}
	free(text);
}

/* Of a layer's events: what all of them say, "partly" if some are seen and some are not, else that one cannot be read. */
static const char *reach_of(const struct ks_tally *t, const char *layer)
{
	const char *state = NULL;
	bool differ = false, seen = false, unread = false;

	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		const char *one = t->event[i].state;

		if (strcmp(ks_metric_events[i].layer, layer))
			continue;
		differ = differ || (state && strcmp(state, one));
		seen = seen || !strcmp(one, "armed");
		unread = unread || t->event[i].unread;
		state = one;
	}
	if (differ && seen)
		return "partly";
	return unread ? "unreadable" : state;
}

/* A sum that lacks one of its events would fall. */
static void leave_out_part_sums(struct ks_tally *t)
{
	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		if (t->event[i].unread)
			rest_of(t, ks_metric_events[i].layer)->now = false;
	}
}

void ks_tally_pass(struct ks_tally *t, struct ks_metric_source *s)
{
	const char *module[KS_MAX_MODULES], *layer[KS_MAX_METRIC_LAYERS];
	size_t modules = ks_metric_modules(module), layers = ks_metric_layers(layer);

	t->source = s;
	t->passes++;
	t->unread = 0;
	clear(t);
	for (size_t i = 0; i < modules; i++)
		read_module(t, s, module[i], &t->module[i]);
	leave_out_part_sums(t);
	tell_unread(t);
	for (size_t i = 0; i < layers; i++)
		t->reach[i] = s->tracing ? reach_of(t, layer[i]) : "no_tracing";
}

void ks_tally_free(struct ks_tally *t)
{
	for (size_t i = 0; i < t->nr_folded; i++)
		free(t->folded[i]);
	free(t->folded);
	free(t->entry);
}
