// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the node's RDMA ports, once a second: was the wire at fault? Reading them costs the node's firmware a command a port (mlx5),
 * so only what says of trouble is read, and nothing where there is no such device.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/notes.h"
#include "trace/ports.h"

#define CLASS	"/sys/class/infiniband"
#define NAME	64	/* IB_DEVICE_NAME_MAX */
#define MOST	64	/* ports: a node with virtual functions may have hundreds */
#define SHARE	200	/* of our time, at most one part for looking */

struct counter {
	char port[NAME + 8], name[NAME];
	u64 value;
	bool known;		/* a device may go */
};

struct ks_ports {
	struct counter *counter;
	size_t nr, room;
	size_t nr_ports, more;
	u64 looked, took;
};

/*
 * Each driver has names of its own (mlx5, EFA, bnxt_re, irdma, rxe; Documentation/ABI/stable/sysfs-class-infiniband). These are in
 * those of what was lost, repeated, refused or slowed down, and in none of those of traffic.
 */
static const char *const words[] = {
	"_err", "errors", "retr", "rnr", "nak", "timeout", "seq", "duplicate", "discard", "drop", "out_of_buffer", "exceeded", "cnp", "ecn",
	"slow_restart", "unresponsive", "impaired", "icrc", "link_downed",
};

static bool is_trouble(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasestr(name, words[i]))
			return true;
	}
	return false;
}

/* 0, or an errno. */
static int read_counter(struct counter *c, u64 *value)
{
	char path[sizeof(CLASS) + 3 * NAME], device[NAME + 8];
	unsigned long long v;
	int err = 0;
	FILE *f;

	ks_fmt(device, sizeof(device), "%s", c->port);
	*strchr(device, '/') = '\0';
	f = fopen(ks_fmt(path, sizeof(path), CLASS "/%s/ports/%s/hw_counters/%s", device, strchr(c->port, '/') + 1, c->name), "r");
	if (!f)
		return errno;
	errno = 0;
	if (fscanf(f, "%llu", &v) == 1)
		*value = v;
	else
		err = errno ? errno : EINVAL;
	fclose(f);
	return err;
}

static int is_shown(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* Each entry of @path, in order of their names. False, and errno: it cannot be read. */
static bool each(const char *path, void (*fn)(struct ks_session *s, const char *in, const char *name), struct ks_session *s,
		 const char *in)
{
	struct dirent **entry;
	int nr = scandir(path, &entry, is_shown, versionsort);

	if (nr < 0)
		return false;
	for (int i = 0; i < nr; i++) {
		fn(s, in, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	return true;
}

static void unread(struct ks_session *s, const char *what, int err)
{
	char text[200];

	ks_note(s, ks_fmt(text, sizeof(text), "kstall unseen ports hw_counters %.80s: %s\n", what, strerror(err)));
}

static void add_counter(struct ks_session *s, const char *port, const char *name)
{
	struct ks_ports *p = s->ports;
	struct counter *c;
	int err;

	if (!is_trouble(name) || strlen(name) >= NAME)
		return;
	p->counter = ks_grow(p->counter, &p->room, p->nr + 1, sizeof(*p->counter));
	c = &p->counter[p->nr];
	memset(c, 0, sizeof(*c));
	ks_fmt(c->port, sizeof(c->port), "%s", port);
	ks_fmt(c->name, sizeof(c->name), "%s", name);
	err = read_counter(c, &c->value);
	c->known = !err;
	if (err)
		unread(s, port, err);
	else
		p->nr++;
}

static void add_port(struct ks_session *s, const char *device, const char *name)
{
	char port[NAME + 8], path[sizeof(CLASS) + 3 * NAME], text[NAME + 32];

	if (s->ports->nr_ports == MOST || strlen(device) >= NAME || strlen(name) >= 8) {
		s->ports->more++;
		return;
	}
	ks_fmt(port, sizeof(port), "%s/%s", device, name);
	if (!each(ks_fmt(path, sizeof(path), CLASS "/%s/ports/%s/hw_counters", device, name), add_counter, s, port)) {
		unread(s, port, errno);
		return;
	}
	ks_note(s, ks_fmt(text, sizeof(text), "kstall port %s 0\n", port));
	s->ports->nr_ports++;
}

static void add_device(struct ks_session *s, const char *in, const char *name)
{
	char path[sizeof(CLASS) + 300];

	(void)in;
	if (!each(ks_fmt(path, sizeof(path), CLASS "/%s/ports", name), add_port, s, name))
		unread(s, name, errno);
}

void ks_ports_find(struct ks_session *s)
{
	char text[80];

	s->ports = ks_alloc(sizeof(*s->ports));
	if (!each(CLASS, add_device, s, "") && errno != ENOENT)
		unread(s, CLASS, errno);
	if (s->ports->more)
		ks_note(s, ks_fmt(text, sizeof(text), "kstall unseen ports hw_counters %zu more ports are not looked at\n", s->ports->more));
	s->ports->looked = ks_mono_ns();
}

/* What has grown since the last look; a counter that is less than it was belongs to a device that began anew. */
static u64 grown(struct counter *c)
{
	u64 value = 0, was = c->value;
	bool known = c->known;

	c->known = !read_counter(c, &value);
	c->value = value;
	return known && c->known && value > was ? value - was : 0;
}

/* All of a port, in as many lines as it takes; returns the first of the next. */
static size_t look_at(struct ks_session *s, size_t i, u64 ns)
{
	const char *port = s->ports->counter[i].port;
	char text[400];
	size_t begin = strlen(ks_fmt(text, sizeof(text), "kstall port %s %llu", port, (unsigned long long)ns)), at = begin;

	for (; i < s->ports->nr && !strcmp(s->ports->counter[i].port, port); i++) {
		u64 count = grown(&s->ports->counter[i]);

		if (!count)
			continue;
		if (at + NAME + 24 > sizeof(text)) {
			ks_note(s, text);
			at = begin;
		}
		at += snprintf(text + at, sizeof(text) - at, " %s=%llu", s->ports->counter[i].name, (unsigned long long)count);
	}
	if (at > begin)
		ks_note(s, text);
	return i;
}

void ks_ports_look(struct ks_session *s, bool last)
{
	u64 now = ks_mono_ns(), ns = s->ports ? now - s->ports->looked : 0;

	if (!ns || !s->ports->nr || (ns < max_u64(NSEC, s->ports->took * SHARE) && !last))
		return;
	/* When the disk is full, the recording has ended. */
	if (!tracefs_trace_is_on(s->buffer[KS_JOB]))
		return;
	s->ports->looked = now;
	for (size_t i = 0; i < s->ports->nr;)
		i = look_at(s, i, ns);
	s->ports->took = ks_mono_ns() - now;
}

void ks_ports_end(struct ks_session *s)
{
	if (s->ports)
		free(s->ports->counter);
	free(s->ports);
	s->ports = NULL;
}
