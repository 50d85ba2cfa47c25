/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flight recorder: ring buffers of its own, always on. Each module's rare events have one, so
 * that none pushes another's out; what took longer than its threshold shares one more. What
 * modules record by themselves (recorder=1) is in "kstall".
 */
#ifndef KSTALL_RECORDER_H
#define KSTALL_RECORDER_H

#include <stdio.h>
#include <tracefs.h>

#include "base/util.h"

enum ks_rec_when { KS_REC_OFF, KS_REC_ALWAYS, KS_REC_ABOVE, KS_REC_IF };

/* table.c: an event and its default; the configuration file changes it. */
struct ks_rec_event {
	const char *system, *name;
	const char *field;	/* its duration in ns; NULL: it has none that could be a threshold */
	enum ks_rec_when when;
	u64 ns;			/* of KS_REC_ABOVE */
	const char *filter;	/* of KS_REC_IF */
	bool trigger;		/* it makes a copy of what was before it */
	const char *cost;	/* its hooks run at each of these; NULL: not known */
};

struct ks_rec_config {
	struct ks_rec_event *events;
	size_t nr_events;
	const char *dir;	/* of the copies */
	u64 ring_kib;		/* of a CPU's part of a ring; 0: by the CPUs and the memory that there are */
	u64 keep;		/* so many copies of a kind */
	u64 every;		/* a cause makes one copy in so many ns */
};

#define KS_REC_CONF "/etc/kstall/recorder.conf"
#define KS_REC_DIR "/var/lib/kstall/recorder"
#define KS_REC_RUN "/run/kstall-recorder"	/* a file a ring that was started in this boot and is kept across the next */
#define KS_REC_TRIGGERS "kstall-trigger"	/* the instance of watch */
#define KS_REC_OWN "kstall"		/* of modules loaded with recorder=1; ours only to read */

/* @file NULL: the usual one, if there is one. What is wrong with it ends the program. */
void ks_rec_configure(struct ks_rec_config *c, const char *file);
void ks_rec_table(struct ks_rec_config *c);

/* Does the table have events of this system, be they recorded or not? Then ks_rec_module() knows its module. */
bool ks_rec_in_table(const char *system);
u64 ks_rec_ring_kib(const struct ks_rec_config *c);

/* ---- rings ---- */

#define KS_MAX_RINGS 16

struct ks_ring {
	char name[40];
	struct tracefs_instance *in;
	bool kept;		/* in memory that a reboot leaves alone */
	bool last;		/* ... and not started in this boot: what it has is the last boot's */
};

struct ks_rings {
	struct ks_ring ring[KS_MAX_RINGS];
	int nr;
};

struct ks_ring_stats { u64 entries, lost; };

/* The ring of an event; "io_uring_trace" has "kstall-io_uring". */
char *ks_ring_name(char *buf, size_t size, const struct ks_rec_event *e);

void ks_rings_open(struct ks_rings *r, const struct ks_rec_config *c, bool create);
void ks_rings_close(struct ks_rings *r);
struct ks_ring *ks_rings_find(struct ks_rings *r, const char *name);
/* False: they cannot be read, and errno says why. */
bool ks_ring_stats(struct tracefs_instance *in, struct ks_ring_stats *s);
bool ks_ring_cpu_stats(struct tracefs_instance *in, int cpu, struct ks_ring_stats *add_to);

/* NULL: it is not there, or empty. That it cannot be read ends the program. */
char *ks_ring_text(struct tracefs_instance *in, const char *file);
bool ks_ring_file_is(struct ks_ring *r, const char *file, const char *value);

const char *ks_ring_clock(const struct ks_ring *ring);

/* What it has from now on is this boot's. */
void ks_ring_started(struct ks_ring *ring);

/* The records' boot, and what CLOCK_MONOTONIC is by the ring's clock. */
void ks_ring_mark(struct ks_ring *ring);

/* ---- is it on? ---- */

struct ks_rec_state {
	u64 off;		/* which events are wanted, there, and not on; 0: none */
	u64 modules;		/* which modules are loaded: another number after each that comes or goes */
	s64 real_ns;		/* CLOCK_REALTIME is CLOCK_MONOTONIC and that: another one when the clock is set */
	bool stopped;		/* all rings are switched off: recorder stop */
};

/* @triggers: the instance of watch, whose events count, too */
void ks_rec_look(struct ks_rec_state *s, const struct ks_rec_config *c,
		 struct tracefs_instance *triggers);

/* "events/SYSTEM/EVENT/FILE" */
char *ks_rec_event_file(char *buf, size_t size, const struct ks_rec_event *e, const char *file);

/* ---- which boot, and its formats ---- */

struct ks_armed {
	char boot[40], kernel[128];
	s64 real_ns;		/* CLOCK_REALTIME is CLOCK_MONOTONIC and that */
	int cpus;
	bool kept;		/* a ring was in memory that a reboot leaves alone */
	char *modules;		/* "NAME VERSION, ..." */
	char *head;		/* of a trace.dat */
	size_t head_bytes;
};

const char *ks_boot_id(void);
s64 ks_real_ns(void);

/* The module that has events of this system: "io_uring_trace" has those of its own name, "aer_trace" those of "aer". */
char *ks_rec_module(char *buf, size_t size, const char *system);

/* Systems that kstall has events of, once each; ends in NULL. */
const char *const *ks_rec_systems(const struct ks_rec_config *c);

/* Is a module with events of this system loaded? */
bool ks_rec_has_system(const char *system);

/* Is it of a driver's own events that are not here? Then it has no ring: most nodes never have them. */
bool ks_rec_is_absent_driver(const char *system);

/* What this boot has; without @formats no event of a module's can be decoded with it. */
void ks_armed_now(struct ks_armed *a, const struct ks_rec_config *c, const struct ks_rings *r,
		  bool formats);
void ks_armed_write(const struct ks_armed *a, const char *dir);

/* Are formats of this boot in @dir? Without them no copy is made. */
bool ks_armed_is_now(const char *dir);

/* False: there is none, or it is damaged, and a message says so. That it cannot be read ends the program. */
bool ks_armed_read(struct ks_armed *a, const char *dir);
void ks_armed_free(struct ks_armed *a);

/* ---- copies ---- */

/* What a copy says of itself, "KEY VALUE" a line. */
struct ks_about {
	char *text;
	size_t size, room;
};

void ks_about_add(struct ks_about *a, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The value of the first (@from NULL) or the next line of that key, until '\n'; NULL: none. */
const char *ks_about_find(const char *text, const char *key);
char *ks_about_get(char *buf, size_t size, const char *text, const char *key);

/* Ends the program if others than root, and the caller, may change what is in it. */
void ks_rec_check_dir(const char *dir);

/* What is in the recorder's directory, for O_RDONLY or to be written; no links are followed. */
FILE *ks_rec_fopen(const char *path, int flags);

/*
 * One process at a time; with the same check. False: @dir is not there and cannot be made, and
 * a message says so.
 */
bool ks_rec_lock_if(const char *dir);
void ks_rec_lock(const char *dir);
void ks_rec_unlock(void);
void ks_rec_mkdir(const char *dir);

/* Names in it are on the disk when this returns. */
void ks_sync_dir(const char *dir);

/*
 * Moves what the rings have to @dir/@name, a trace.dat; it is there as a whole or not at all, and
 * what a killed process had taken is not lost: ks_copies_finish() goes on. False: a CPU's part could
 * not be read; a message says so, here and in the copy; what is not in the copy is still in the ring.
 */
bool ks_copy_make(const char *dir, const char *name, const struct ks_rings *r, bool last_only,
		  const struct ks_armed *armed, struct ks_about *about);
void ks_copies_finish(const char *dir);

/* Names in @dir that begin with @prefix, the oldest first. Ends in NULL. */
char **ks_copies(const char *dir, const char *prefix);
void ks_copies_free(char **list);
/* The oldest go, but not @made: where the clock was set back it looks like the oldest. */
void ks_copies_limit(const char *dir, const char *prefix, u64 keep, const char *made);
char *ks_copy_about(const char *file);

/* Ends the program if the recorder has not been started in this boot. */
void ks_rec_require(const struct ks_rec_config *c, struct ks_armed *armed);

/*
 * A copy of what was until now, "snapshot-TIME-CAUSE.dat". False: there was one not long ago.
 * @path: PATH_MAX for its name, or NULL.
 */
bool ks_rec_snapshot(const struct ks_rec_config *c, const char *cause, bool always, char *path);

/* ---- printing ---- */

struct ks_line {
	u64 ts;			/* CLOCK_MONOTONIC of its boot */
	size_t nr;		/* of two at the same time the one that was read first comes first */
	int cpu, ring;
	char *system, *event, *text;
	char *fields;		/* in JSON, if it is asked for; NULL: the text does not separate them */
};

struct ks_lines {
	struct ks_line *line;
	size_t nr, room;
	bool json;		/* fields are wanted */
	u64 unknown, bad;	/* records of no event whose format is known; that do not fit it */
	u64 unread, others;	/* lines of a ring that are none, or of events that nobody here asked for */
	u64 unclear;		/* in JSON with their text: fields that cannot be separated */
	char *foreign;		/* another boot than the formats' that has records here */
	char *notes;
	size_t notes_room;
};

/* @record NULL: all that there is, is the text. */
void ks_lines_add(struct ks_lines *l, u64 ts, int cpu, struct tep_event *te,
		  struct tep_record *record, const char *text);
void ks_lines_note(struct ks_lines *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool ks_lines_file(struct ks_lines *l, const char *file);
void ks_lines_live(struct ks_lines *l, const struct ks_rec_config *c, struct ks_rings *r);

/* text.c: what the kernel prints before an event's text. */
struct ks_frame {
	u64 ts;
	int cpu;
	char *event, *text;	/* in the line */
};

/* False: it is no event's. Whatever the task is called, it is taken for nothing else. */
bool ks_frame_find(struct ks_frame *f, char *line);

/* fields.c: the inside of a JSON object; false: the fields cannot be separated. */
bool ks_fields_json(FILE *out, struct tep_event *te, struct tep_record *record, const char *text);

/* show.c: is it the line that ks_ring_mark() writes? By which @offset to CLOCK_MONOTONIC. */
bool ks_read_mark(const char *text, u64 ts, char *boot, s64 *offset);
void ks_lines_to_mono(struct ks_lines *l, size_t first, int ring, s64 offset);

struct ks_print {
	u64 since;		/* ns before @until; 0: all */
	u64 until;		/* 0: the last event */
	const char *module;
	bool json;
	s64 real_ns;
};

void ks_lines_print(struct ks_lines *l, const struct ks_print *p);
void ks_lines_free(struct ks_lines *l);

/* ---- subcommands with a file of their own ---- */

/* False: it records, but nothing can be written to the disk, and a message says so. */
bool ks_rec_start(const struct ks_rec_config *c);
void ks_rec_stop(const struct ks_rec_config *c);
void ks_rec_keep_last_boot(const struct ks_rec_config *c, struct ks_rings *r);
int ks_rec_status(const struct ks_rec_config *c);
void ks_rec_print_events(const struct ks_rec_config *c);
int ks_rec_setup_crash(const struct ks_rec_config *c);
int ks_rec_watch(const struct ks_rec_config *c);

/* Lines of the kernel's log that have @what; each to @fn. */
void ks_kernel_log(const char *what, void (*fn)(void *priv, const char *line), void *priv);

#endif
