// SPDX-License-Identifier: GPL-2.0
/* The kernel's hist triggers: what is asked for, and what they say. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"

/* Room for that many different keys; the kernel allocates it at once. */
static unsigned int entries(const struct ks_metric_event *e)
{
	if (!e->ns)
		return 128;
	return e->dev ? 1024 : 512;
}

static void keys(char *buf, size_t size, const struct ks_metric_event *e)
{
	char ns[KS_LABEL];

	ks_fmt(ns, sizeof(ns), "%s.log2", e->ns);
	ks_fmt(buf, size, "hist:keys=%s%s%s%s%s", e->dev ? "dev" : "",
	       e->dev && e->cause ? "," : "", e->cause ? e->cause : "",
	       e->ns && (e->dev || e->cause) ? "," : "", e->ns ? ns : "");
}

/* Fields that are added up, each with @before. */
static char *sums(char *buf, size_t size, const char *before, const struct ks_metric_event *e)
{
	return ks_fmt(buf, size, "%s%s%s%s", e->ns ? before : "", e->ns ? e->ns : "",
		      e->count ? e->ns ? "," : before : "", e->count ? e->count : "");
}

char *ks_hist_trigger(char *buf, size_t size, const struct ks_metric_event *e)
{
	char what[192], vals[96];

	keys(what, sizeof(what), e);
	return ks_fmt(buf, size, "%s%s:size=%u", what, sums(vals, sizeof(vals), ":vals=", e),
		      entries(e));
}

bool ks_hist_is_set(const char *shown, const struct ks_metric_event *e)
{
	char what[192], vals[96], all[320];

	keys(what, sizeof(what), e);
	ks_fmt(all, sizeof(all), "%s:vals=hitcount%s:", what, sums(vals, sizeof(vals), ",", e));
	return strstr(shown, all);
}

/*
 * "NAME: VALUE" at @at, ended by " }" or the next key; what follows it, or NULL. The value is made printable here, before names
 * are compared: two that would look alike are one.
 */
static const char *take(const char *at, const char *name, const char *next, char *value)
{
	size_t len = strlen(name);
	char stop[80], raw[256];
	const char *end;

	while (*at == ' ' || *at == ',' || *at == '{')
		at++;
	if (strncmp(at, name, len) || at[len] != ':')
		return NULL;
	at += len + 1;
	at += strspn(at, " ");
	end = strstr(at, next ? ks_fmt(stop, sizeof(stop), ", %s: ", next) : " } ");
	if (!end)
		return NULL;
	len = min_u64(end - at, sizeof(raw) - 1);
	while (len && at[len - 1] == ' ')
		len--;
	ks_printable(value, KS_LABEL, ks_fmt(raw, sizeof(raw), "%.*s", (int)len, at));
	return end;
}

static bool number_after(const char *at, const char *name, u64 *v)
{
	char key[80];

	at = strstr(at, ks_fmt(key, sizeof(key), " %s: ", name));
	if (!at)
		return false;
	*v = strtoull(at + strlen(key), NULL, 10);
	return true;
}

static bool parse_line(const char *at, const struct ks_metric_event *e, struct ks_hist_entry *h)
{
	const char *log2 = e->ns;
	char value[KS_LABEL];

	memset(h, 0, sizeof(*h));
	h->log2 = -1;
	if (e->dev)
		at = take(at, "dev", e->cause ? e->cause : log2, h->dev);
	if (at && e->cause)
		at = take(at, e->cause, log2, h->cause);
	if (at && log2) {
		at = take(at, log2, NULL, value);
		h->log2 = at && !strncmp(value, "~ 2^", 4) ? atoi(value + 4) : -1;
		if (h->log2 < 0 || h->log2 > 64)
			return false;
	}
	return at && number_after(at, e->count ? e->count : "hitcount", &h->count) &&
	       (!e->ns || number_after(at, e->ns, &h->ns));
}

u64 ks_hist_parse(const char *text, const struct ks_metric_event *e,
		  void (*fn)(void *priv, const struct ks_hist_entry *entry), void *priv)
{
	struct ks_hist_entry h;
	u64 dropped = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		size_t len = strcspn(line += *line == '\n', "\n");
		char one[512];

		ks_fmt(one, sizeof(one), "%.*s", (int)min_u64(len, sizeof(one) - 1), line);
		if (one[0] == '{' && parse_line(one, e, &h))
			fn(priv, &h);
		else if (!strncmp(one, "    Dropped: ", 13))
			dropped = strtoull(one + 13, NULL, 10);
	}
	return dropped;
}
