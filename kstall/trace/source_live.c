// SPDX-License-Identifier: GPL-2.0
/*
 * The ring buffers of a session, CPU by CPU. A pass takes what is not younger than its own begin:
 * whatever is that old can be read from every CPU by then, so the order is right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kbuffer.h>

#include "trace/decode.h"
#include "trace/live.h"
#include "trace/tracing.h"
#include "trace/unseen.h"

#define SETTLE 1000000ULL	/* an event is written that much after its time at the latest */

struct cpu_stream {
	struct ks_stream s;
	struct tracefs_cpu *tcpu;
	struct kbuffer *kbuf;
	void *page;
	int cpu;
	bool loaded;
};

struct ks_live {
	struct tep_handle *tep;
	struct ks_decoder *decoder;
	struct ks_merge merge;
	struct cpu_stream *streams;
	int nr;
};

static bool load(struct cpu_stream *cs)
{
	if (!ks_buffer_read(cs->cpu, tracefs_cpu_read(cs->tcpu, cs->page, true)))
		return false;
	cs->loaded = !kbuffer_load_subbuffer(cs->kbuf, cs->page);
	return cs->loaded;
}

static bool next_record(struct ks_stream *s, struct ks_record *r)
{
	struct cpu_stream *cs = (struct cpu_stream *)s;
	unsigned long long ts;
	bool fresh = false;
	void *data = cs->loaded ? kbuffer_next_event(cs->kbuf, &ts) : NULL;

	while (!data) {
		int missed;

		if (!load(cs))
			return false;
		fresh = true;
		data = kbuffer_read_event(cs->kbuf, &ts);
		missed = kbuffer_missed_events(cs->kbuf);
		r->missed = missed < 0 ? 1 : missed;
	}
	if (!fresh)
		r->missed = 0;
	r->ts = ts;
	r->cpu = cs->cpu;
	r->own = true;
	r->data = data;
	r->size = kbuffer_event_size(cs->kbuf);
	return true;
}

static void add(struct ks_live *l, struct ks_session *s, int b, int cpu)
{
	struct cpu_stream *cs = &l->streams[l->nr];

	cs->tcpu = tracefs_cpu_open(s->buffer[b], cpu, true);
	if (!cs->tcpu && errno == ENOENT)	/* of a CPU that cannot be there */
		return;
	if (!cs->tcpu)
		ks_die("the buffer of CPU %d: %s", cpu, strerror(errno));
	cs->s.next = next_record;
	cs->s.order = l->nr;
	cs->cpu = cpu;
	cs->page = ks_alloc(tracefs_cpu_read_size(cs->tcpu));
	cs->kbuf = kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
				 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? KBUFFER_ENDIAN_LITTLE :
				 KBUFFER_ENDIAN_BIG);
	if (!cs->kbuf)
		ks_die("out of memory");
	l->nr++;
}

struct ks_live *ks_live_open(struct ks_session *s)
{
	struct ks_live *l = ks_alloc(sizeof(*l));

	l->tep = ks_formats(ks_session_systems(s));
	l->decoder = ks_decoder_new(l->tep, s->group);
	l->streams = ks_alloc(KS_BUFFERS * s->cpus * sizeof(*l->streams));
	for (int b = 0; b < KS_BUFFERS; b++) {
		for (int cpu = 0; cpu < s->cpus; cpu++)
			add(l, s, b, cpu);
	}
	return l;
}

void ks_live_formats(struct ks_live *l, struct ks_session *s)
{
	char **events = tracefs_system_events(NULL, s->group);

	for (int i = 0; events && events[i]; i++) {
		if (!ks_formats_add(l->tep, s->group, events[i]))
			ks_die("the format of %s cannot be read", events[i]);
	}
	tracefs_list_free(events);
	ks_decoder_families(l->decoder);
}

static void on_lost(void *priv, u64 from, u64 to, u64 nr)
{
	ks_engine_lost(priv, from, to, nr);
}

/* It has just run. A thread that has gone since has no name, and is not looked up again at each event. */
static const char *comm_in_proc(struct ks_engine *e, s32 tid)
{
	static char comm[64];
	static s32 gone;
	char path[64];
	FILE *f;

	(void)e;
	if (tid == gone)
		return "";
	f = fopen(ks_fmt(path, sizeof(path), "/proc/%d/comm", tid), "r");
	if (!f || !fgets(comm, sizeof(comm), f)) {
		gone = tid;
		*comm = '\0';
	}
	if (f)
		fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	return comm;
}

void ks_live_pass(struct ks_live *l, struct ks_engine *e)
{
	u64 until = ks_mono_ns() - SETTLE;
	struct ks_record r;
	struct ks_event ev;

	if (!l->merge.lost)
		ks_unseen_fields(e, l->decoder);
	l->merge.lost = on_lost;
	l->merge.priv = e;
	e->comm_of = comm_in_proc;
	for (int i = 0; i < l->nr; i++)
		ks_merge_add(&l->merge, &l->streams[i].s);
	while (ks_merge_next(&l->merge, until, &r)) {
		if (ks_decode(l->decoder, &r, &ev))
			ks_engine_feed(e, &ev);
	}
}

u64 ks_live_bad(const struct ks_live *l)
{
	return ks_decoder_bad(l->decoder);
}

void ks_live_close(struct ks_live *l)
{
	for (int i = 0; i < l->nr; i++) {
		tracefs_cpu_close(l->streams[i].tcpu);
		kbuffer_free(l->streams[i].kbuf);
		free(l->streams[i].page);
	}
	ks_decoder_free(l->decoder);
	tep_free(l->tep);
	free(l->merge.heap);
	free(l->streams);
	free(l);
}
