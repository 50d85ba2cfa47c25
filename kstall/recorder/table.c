// SPDX-License-Identifier: GPL-2.0
/*
 * What is recorded unless the configuration file says otherwise. Errors always; the rest when it
 * took long. A filter saves the record, not the hook: of events that hook a path taken often only
 * those are on that show an error, or a stall that nothing else shows. At what each runs is
 * the last column, which `kstall recorder events` prints and Documentation/recorder.md has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/recorder.h"

#define MS 1000000ULL

/* Of all rings together, unless the configuration file says otherwise; of one CPU's part of one. */
#define MOST_KIB (64ULL << 10)
#define PART_OF_MEMORY 512
#define LEAST_KIB 8		/* the kernel's, too */

/* The parts of events.def for the recorder. */
#define EVENT(system, event, duration, part) ROW(system, event, duration, part)
#define ROW(system, event, duration, ...) __VA_OPT__(ROW_(system, event, duration, __VA_ARGS__))
#define ROW_(sys, event, duration, ...) \
	{ .system = #sys, .name = #event, .field = sizeof(#duration) > 1 ? #duration : NULL, __VA_ARGS__ },
#define RECORD(when, hooks, ...) WHEN_##when, .cost = hooks, ##__VA_ARGS__
#define WHEN_ALWAYS .when = KS_REC_ALWAYS
#define WHEN_ABOVE_1MS .when = KS_REC_ABOVE, .ns = MS
#define WHEN_OFF .when = KS_REC_OFF

static const struct ks_rec_event defaults[] = {
#include "events.def"
};

void ks_rec_table(struct ks_rec_config *c)
{
	memset(c, 0, sizeof(*c));
	c->events = memcpy(ks_alloc(sizeof(defaults)), defaults, sizeof(defaults));
	c->nr_events = ARRAY_SIZE(defaults);
	c->dir = KS_REC_DIR;
	c->keep = 16;
	c->every = 600 * NSEC;
}

bool ks_rec_in_table(const char *system)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		if (!strcmp(defaults[i].system, system))
			return true;
	}
	return false;
}

/* Each module's and the slow ones'. */
static u64 nr_rings(const struct ks_rec_config *c)
{
	const char *const *system = ks_rec_systems(c);
	u64 nr = 1;

	while (*system++)
		nr++;
	return nr;
}

/*
 * On a large node a little for each CPU, on a small one what a storm of a second needs; but all
 * together no more than a node can do without, be it of 1,000 CPUs. CPUs that there may be count,
 * or the rings would be resized, and cleared, when one comes.
 */
u64 ks_rec_ring_kib(const struct ks_rec_config *c)
{
	u64 cpus = max_u64(1, sysconf(_SC_NPROCESSORS_CONF));
	u64 memory = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 1024;
	u64 all = min_u64(MOST_KIB, memory / PART_OF_MEMORY);

	if (c->ring_kib)
		return c->ring_kib;
	return max_u64(LEAST_KIB, min_u64(all / nr_rings(c) / cpus, max_u64(64, 1024 / cpus)));
}

/* ---- the configuration file ---- */

struct place {
	const char *file;
	int line;
};

static void __attribute__((noreturn)) wrong(const struct place *p, const char *what,
					    const char *word)
{
	ks_die("%s:%d: %s%s", p->file, p->line, what, word);
}

/* Any other event of the kernel's may be named, too. */
static struct ks_rec_event *add_event(struct ks_rec_config *c, const struct place *p,
				      const char *name)
{
	const char *colon = strchr(name, ':');
	char *system;

	if (!colon || colon == name || !colon[1] || strchr(name, '/'))
		wrong(p, "no event: ", name);
	system = ks_strdup(name);
	system[colon - name] = '\0';
	c->events = reallocarray(c->events, c->nr_events + 1, sizeof(*c->events));
	if (!c->events)
		ks_die("out of memory");
	c->events[c->nr_events] = (struct ks_rec_event){ system, ks_strdup(colon + 1) };
	return &c->events[c->nr_events++];
}

static struct ks_rec_event *event(struct ks_rec_config *c, const struct place *p, const char *name)
{
	for (size_t i = 0; i < c->nr_events; i++) {
		struct ks_rec_event *e = &c->events[i];
		size_t n = strlen(e->system);

		if (!strncmp(name, e->system, n) && name[n] == ':' && !strcmp(name + n + 1, e->name))
			return e;
	}
	return add_event(c, p, name);
}

static void set_event(struct ks_rec_event *e, const struct place *p, char *value)
{
	e->filter = NULL;
	if (!strcmp(value, "off")) {
		e->when = KS_REC_OFF;
	} else if (!strcmp(value, "always")) {
		e->when = KS_REC_ALWAYS;
	} else if (!strncmp(value, "if ", 3)) {
		e->when = KS_REC_IF;
		e->filter = ks_strdup(value + 3);
	} else {
		e->when = KS_REC_ABOVE;
		e->ns = ks_parse_time(value);
		if (!e->ns)
			wrong(p, "neither off, always, a time nor if FILTER: ", value);
		if (!e->field)
			wrong(p, "this event has no duration: ", e->name);
	}
}

static u64 count(const struct place *p, const char *value)
{
	char *end;
	u64 v = strtoull(value, &end, 10);

	if (*end || !v || v > 1 << 20)
		wrong(p, "no number: ", value);
	return v;
}

static void set(struct ks_rec_config *c, const struct place *p, char *key, char *value)
{
	if (!strcmp(key, "dir")) {
		c->dir = ks_strdup(value);
	} else if (!strcmp(key, "ring_kib")) {
		c->ring_kib = count(p, value);
	} else if (!strcmp(key, "keep")) {
		c->keep = count(p, value);
	} else if (!strcmp(key, "every")) {
		c->every = ks_parse_time(value);
		if (!c->every)
			wrong(p, "no time: ", value);
	} else if (!strcmp(key, "trigger")) {
		event(c, p, value)->trigger = true;
	} else if (!strcmp(key, "no_trigger")) {
		event(c, p, value)->trigger = false;
	} else if (strchr(key, ':')) {
		set_event(event(c, p, key), p, value);
	} else {
		wrong(p, "no such setting: ", key);
	}
}

static void read_line(struct ks_rec_config *c, const struct place *p, char *line)
{
	char *key, *value, *end;

	line[strcspn(line, "#\n")] = '\0';
	key = line + strspn(line, " \t");
	if (!*key)
		return;
	value = key + strcspn(key, " \t");
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t=");
	for (end = value + strlen(value); end > value && strchr(" \t", end[-1]);)
		*--end = '\0';
	if (!*value)
		wrong(p, "no value of ", key);
	set(c, p, key, value);
}

void ks_rec_configure(struct ks_rec_config *c, const char *file)
{
	struct place p = { file ? file : KS_REC_CONF, 0 };
	FILE *f = fopen(p.file, "r");
	char *line = NULL;
	size_t size = 0;

	ks_rec_table(c);
	if (!f && !file && errno == ENOENT)
		return;
	if (!f)
		ks_die("%s: %s", p.file, strerror(errno));
	while (getline(&line, &size, f) > 0) {
		p.line++;
		read_line(c, &p, line);
	}
	free(line);
	fclose(f);
}
