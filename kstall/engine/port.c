// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of RDMA ports that say that something was lost, repeated or slowed down. They are the port's, not the job's, and a second
 * old: they stand beside a step and take none of its time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define MAX_PORTS	64
#define MAX_CHANGES	4096	/* the first so many */

/* False: there is no room for it. */
static bool add_port(struct ks_engine *e, u32 name)
{
	for (size_t i = 0; i < e->nr_ports; i++) {
		if (e->ports[i] == name)
			return true;
	}
	if (e->nr_ports == MAX_PORTS)
		return false;
	if (!e->ports)
		e->ports = ks_alloc(MAX_PORTS * sizeof(*e->ports));
	e->ports[e->nr_ports++] = name;
	return true;
}

static void add_change(struct ks_engine *e, u32 port, const char *counter, u64 ns, u64 count)
{
	char name[64];

	if (e->nr_changes++ >= MAX_CHANGES)
		return;
	if (!e->changes)
		e->changes = ks_alloc(MAX_CHANGES * sizeof(*e->changes));
	e->changes[e->nr_changes - 1] = (struct ks_change){
		.from = e->now - min_u64(ns, e->now), .to = e->now, .port = port,
		.counter = ks_intern(ks_printable(name, sizeof(name), counter)), .count = count,
	};
}

/* port: DEVICE/PORT NS COUNTER=COUNT ...: by so much they have grown in the last NS */
void ks_port_note(struct ks_engine *e, const char *text)
{
	char raw[80], name[80], counter[64];
	unsigned long long ns, count;
	int n = 0;
	u32 port;

	if (sscanf(text, "%79s %llu%n", raw, &ns, &n) < 2)
		return;
	port = ks_intern(ks_printable(name, sizeof(name), raw));
	if (!add_port(e, port))
		return;
	while (sscanf(text += n, " %63[^= \n]=%llu%n", counter, &count, &n) == 2)
		add_change(e, port, counter, ns, count);
}

size_t ks_changes(const struct ks_engine *e)
{
	return min_u64(e->nr_changes, MAX_CHANGES);
}

static bool overlaps(const struct ks_change *c, u64 begin, u64 end)
{
	return c->from <= end && c->to >= begin;
}

static void add_to(struct ks_change *sum, const struct ks_change *c)
{
	sum->from = min_u64(sum->from, c->from);
	sum->to = max_u64(sum->to, c->to);
	sum->count += c->count;
}

static int larger(const void *a, const void *b)
{
	const struct ks_change *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(ks_string(x->counter), ks_string(y->counter));
}

size_t ks_changes_sum(const struct ks_engine *e, u32 port, u64 begin, u64 end, struct ks_change *sum, size_t most)
{
	size_t nr = 0;

	for (size_t i = 0; i < ks_changes(e); i++) {
		const struct ks_change *c = &e->changes[i];
		size_t j = 0;

		if (c->port != port || !overlaps(c, begin, end))
			continue;
		while (j < nr && sum[j].counter != c->counter)
			j++;
		if (j < nr)
			add_to(&sum[j], c);
		else if (nr < most)
			sum[nr++] = *c;
	}
	qsort(sum, nr, sizeof(*sum), larger);
	return nr;
}
