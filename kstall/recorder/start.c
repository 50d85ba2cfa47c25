// SPDX-License-Identifier: GPL-2.0
/*
 * Starting: what the last boot left is saved first, since the kernel neither keeps two boots apart
 * in a ring nor always clears the old one's (tracefs does when an event is enabled, unless the
 * kernel lies where it lay; trace_array_set_clr_event(), which recorder=1 uses, never does).
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "recorder/recorder.h"
#include "trace/tracing.h"

static void put(struct ks_ring *ring, const char *file, const char *text)
{
	if (tracefs_instance_file_write(ring->in, file, text) < 0)
		ks_warn("%s: %s: %s", ring->name, file, strerror(errno));
}

/* ---- what the last boot left ---- */

/* What the kernel could not use of it; that it could is reported for each CPU, too. */
static void note_log(void *priv, const char *line)
{
	if (!strstr(line, "is from previous boot") || strstr(line, "discarded"))
		ks_about_add(priv, "note", "the kernel said at boot: %s", line);
}

/* Was something recorded in this boot before we came? It would be mixed with the last boot's. */
static void note_mixed(struct ks_about *about, struct ks_ring *ring)
{
	if (ks_ring_file_is(ring, "tracing_on", "1") && !ks_ring_file_is(ring, "events/enable", "0"))
		ks_about_add(about, "note",
			     "%s: events were on before this copy was made, so that events of this boot may be among them (trace_instance=%s^traceoff@... prevents it)",
			     ring->name, ring->name);
}

/* What a ring still has of the last boot; false: that cannot be read. */
static bool left_in(const struct ks_ring *ring, u64 *nr)
{
	struct ks_ring_stats s = { 0 };
	bool good = !ring->last || ks_ring_stats(ring->in, &s);

	*nr = s.entries;
	return good;
}

static u64 left(const struct ks_rings *r)
{
	u64 sum = 0, nr;

	for (int i = 0; i < r->nr; i++) {
		if (!left_in(&r->ring[i], &nr))
			ks_die("%s: what the last boot left cannot be counted: %s", r->ring[i].name,
			       strerror(errno));
		sum += nr;
	}
	return sum;
}

static void describe(struct ks_about *about, struct ks_rings *r, const struct ks_armed *armed,
		     bool known, u64 entries)
{
	ks_about_add(about, "kind", "last-boot");
	ks_about_add(about, "boot", "%s", known ? armed->boot : "unknown");
	ks_about_add(about, "found_by", "%s", ks_boot_id());
	ks_about_add(about, "kernel", "%s", known ? armed->kernel : "unknown");
	ks_about_add(about, "real_ns", "%lld", known ? (long long)armed->real_ns : 0LL);
	ks_about_add(about, "modules", "%s", known ? armed->modules : "");
	if (!known)
		ks_about_add(about, "refused",
			     "the formats of the boot that recorded these %llu events were not kept (kstall recorder start had not run in it, or its file is damaged)",
			     (unsigned long long)entries);
	else if (!entries)
		ks_about_add(about, "refused",
			     "nothing is left of that boot's rings: the memory was cleared or moved (power off, firmware, KASLR, another kernel or command line)");
	for (int i = 0; i < r->nr; i++) {
		if (r->ring[i].last)
			note_mixed(about, &r->ring[i]);
	}
	ks_kernel_log("ring buffer", note_log, about);
}

/* Copies that this boot has made of the last one's: more than one if a process was killed. */
static bool have_copy(const char *dir)
{
	char **list = ks_copies(dir, "last-boot-"), end[16];
	bool have = false;

	ks_fmt(end, sizeof(end), "-%.8s.dat", ks_boot_id());
	for (char **p = list; *p; p++)
		have |= !!strstr(*p, end);
	ks_copies_free(list);
	return have;
}

static void clear_last(struct ks_rings *r)
{
	for (int i = 0; i < r->nr; i++) {
		if (r->ring[i].last && tracefs_instance_file_clear(r->ring[i].in, "trace") < 0)
			ks_warn("%s: not cleared: %s", r->ring[i].name, strerror(errno));
	}
}

void ks_rec_keep_last_boot(const struct ks_rec_config *c, struct ks_rings *r)
{
	struct ks_about about = { NULL };
	struct ks_armed armed, now;
	bool known = ks_armed_read(&armed, c->dir);
	u64 entries = left(r);
	char name[160], when[32];
	time_t t = time(NULL);
	bool all = true;

	if (known && !strcmp(armed.boot, ks_boot_id())) {
		ks_armed_free(&armed);
		return;
	}
	if (entries || (known && armed.kept && !have_copy(c->dir))) {
		/* this boot's formats would name the wrong events, be it to trace-cmd */
		ks_armed_now(&now, c, r, false);
		describe(&about, r, &armed, known, entries);
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime(&t));
		ks_fmt(name, sizeof(name), "last-boot-%s-%.8s.dat", when, ks_boot_id());
		all = ks_copy_make(c->dir, name, r, true, known ? &armed : &now, &about);
		ks_copies_limit(c->dir, "last-boot-", c->keep, name);
		ks_armed_free(&now);
	}
	if (!all)
		ks_die("what the last boot left and could not be copied stays in its ring");
	clear_last(r);
	ks_armed_free(&armed);
}

/* ---- this boot ---- */

static void prepare(struct ks_ring *ring, const struct ks_rec_config *c)
{
	char set[16];

	/* each of these clears the ring */
	if (!ks_ring_file_is(ring, "trace_clock",
			     ks_fmt(set, sizeof(set), "[%s]", ks_ring_clock(ring))))
		put(ring, "trace_clock", ks_ring_clock(ring));
	if (!ring->kept && tracefs_instance_get_buffer_size(ring->in, 0) !=
			   (ssize_t)ks_rec_ring_kib(c) &&
	    tracefs_instance_set_buffer_size(ring->in, ks_rec_ring_kib(c), -1))
		ks_warn("%s: %llu KiB a CPU are not to be had: %s", ring->name,
			(unsigned long long)ks_rec_ring_kib(c), strerror(errno));
}

static bool is_on(struct ks_ring *ring, const struct ks_rec_event *e)
{
	char path[256];

	return ring && ks_ring_file_is(ring, ks_rec_event_file(path, sizeof(path), e, "enable"), "1");
}

/* The kernel filters: what is short costs its hook, and no record. */
static void set_filter(struct ks_ring *ring, const struct ks_rec_event *e)
{
	char path[256], text[512] = "0";

	if (e->when == KS_REC_ABOVE)
		ks_fmt(text, sizeof(text), "%s > %llu", e->field, (unsigned long long)e->ns);
	if (e->when == KS_REC_IF)
		ks_fmt(text, sizeof(text), "%s", e->filter);
	if (tracefs_instance_file_write(ring->in, ks_rec_event_file(path, sizeof(path), e, "filter"),
					text) < 0 && strcmp(text, "0"))
		ks_die("%s:%s: the kernel does not take the filter \"%s\"", e->system, e->name, text);
}

static void set_event(struct ks_rings *r, const struct ks_rec_event *e)
{
	char path[256], name[40];
	struct ks_ring *ring = ks_rings_find(r, ks_ring_name(name, sizeof(name), e));
	/* recorder=1 has it already; twice would be twice in what is shown */
	bool want = e->when != KS_REC_OFF && !is_on(ks_rings_find(r, KS_REC_OWN), e);

	if (ks_rec_is_absent_driver(e->system))
		return;
	if (want && !ring)
		ks_warn("%s:%s is not recorded: there are %d rings, no more", e->system, e->name,
			r->nr);
	for (int i = 0; i < r->nr; i++) {
		bool here = want && &r->ring[i] == ring;

		if (!strcmp(r->ring[i].name, KS_REC_OWN) ||
		    !tracefs_file_exists(r->ring[i].in, ks_rec_event_file(path, sizeof(path), e, "enable")))
			continue;
		if (here)
			set_filter(ring, e);
		if (here == is_on(&r->ring[i], e))
			continue;
		if (tracefs_instance_file_write(r->ring[i].in,
						ks_rec_event_file(path, sizeof(path), e, "enable"),
						here ? "1" : "0") < 0)
			ks_warn("%s:%s cannot be recorded here: %s", e->system, e->name,
				strerror(errno));
	}
}

/* ---- what is written to the disk: each in a process of its own, which a full disk ends ---- */

struct start {
	const struct ks_rec_config *c;
	struct ks_rings rings;
};

static int save_last(void *arg)
{
	struct start *s = arg;

	ks_copies_finish(s->c->dir);
	ks_rec_keep_last_boot(s->c, &s->rings);
	return 0;
}

static int save_formats(void *arg)
{
	struct start *s = arg;
	struct ks_armed now;

	ks_armed_now(&now, s->c, &s->rings, true);
	ks_armed_write(&now, s->c->dir);
	ks_armed_free(&now);
	return 0;
}

/* What a crash left is worth more than a ring for what comes. */
static void leave_unsaved(struct ks_rings *r)
{
	int nr = 0;

	for (int i = 0; i < r->nr; i++) {
		struct ks_ring *ring = &r->ring[i];
		u64 left;

		if (left_in(ring, &left) && !left) {
			r->ring[nr++] = *ring;
			continue;
		}
		ks_warn("%s: has what the last boot left, which cannot be saved: nothing is recorded in it",
			ring->name);
		tracefs_instance_free(ring->in);
	}
	r->nr = nr;
}

static void record(struct start *s)
{
	for (size_t i = 0; i < s->c->nr_events; i++)
		set_event(&s->rings, &s->c->events[i]);
	for (int i = 0; i < s->rings.nr; i++) {
		struct ks_ring *ring = &s->rings.ring[i];

		ks_ring_started(ring);
		put(ring, "tracing_on", "1");
		ks_ring_mark(ring);
	}
}

bool ks_rec_start(const struct ks_rec_config *c)
{
	bool disk = ks_rec_lock_if(c->dir);
	struct start s = { c };

	ks_rings_open(&s.rings, c, true);
	disk = disk && !ks_in_child(c->dir, save_last, &s);
	if (!disk)
		leave_unsaved(&s.rings);
	for (int i = 0; i < s.rings.nr; i++)
		prepare(&s.rings.ring[i], c);
	disk = disk && !ks_in_child(c->dir, save_formats, &s);
	if (!disk)
		ks_warn("events are recorded, but no copies are made: %s cannot be written", c->dir);
	record(&s);
	ks_rings_close(&s.rings);
	ks_rec_unlock();
	return disk;
}

/* Those of a watch that was killed. One that runs has them open, and the kernel refuses. */
static void remove_triggers(void)
{
	struct tracefs_instance *in;

	if (!ks_tracefs_has("instances/" KS_REC_TRIGGERS))
		return;
	in = tracefs_instance_alloc(NULL, KS_REC_TRIGGERS);
	if (in)
		tracefs_instance_destroy(in);
	tracefs_instance_free(in);
}

/* What was recorded stays and can be read. */
void ks_rec_stop(const struct ks_rec_config *c)
{
	struct ks_rings r;

	ks_rec_lock_if(c->dir);
	remove_triggers();
	ks_rings_open(&r, c, false);
	for (int i = 0; i < r.nr; i++) {
		if (!strcmp(r.ring[i].name, KS_REC_OWN))
			continue;
		/* in this order, or watch sees events that are off and switches them on again */
		put(&r.ring[i], "tracing_on", "0");
		put(&r.ring[i], "events/enable", "0");
	}
	ks_rings_close(&r);
}
