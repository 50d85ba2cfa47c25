// SPDX-License-Identifier: GPL-2.0
/* A recording in trace-cmd's format, through trace-cmd's library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "trace/decode.h"
#include "trace/source.h"
#include "trace/unseen.h"

/* The library exports them, but no header of it that is installed has them. */
const char *tracecmd_get_trace_clock(struct tracecmd_input *handle);
const char *tracecmd_get_uname(struct tracecmd_input *handle);

struct cpu_stream {
	struct ks_stream s;
	struct tracecmd_input *handle;
	struct tep_record *record;
	u64 offset;		/* of the record in the file */
	int cpu;
	bool own;
};

struct buffer {
	const char *name;
	struct tracecmd_input *handle;
};

struct ks_file {
	const char *name, *clock;
	struct tracecmd_input *handle;
	struct buffer *buffers;
	int nr_buffers;
	struct cpu_stream *streams;
	int nr_streams;
	struct ks_decoder *decoder;
	struct ks_merge merge;
	u64 started, shown;	/* our own time, for the progress line */
};

static bool next_record(struct ks_stream *s, struct ks_record *r)
{
	struct cpu_stream *cs = (struct cpu_stream *)s;

	if (cs->record)
		tracecmd_free_record(cs->record);
	cs->record = tracecmd_read_data(cs->handle, cs->cpu);
	if (!cs->record)
		return false;
	/* In a damaged page the library may find one without length, and that for ever. */
	if (cs->record->offset <= cs->offset)
		ks_die("the recording is damaged: CPU %d's records do not go on", cs->cpu);
	cs->offset = cs->record->offset;
	r->ts = cs->record->ts;
	r->cpu = cs->cpu;
	r->own = cs->own;
	r->data = cs->record->data;
	r->size = cs->record->size > 0 ? cs->record->size : 0;
	/* Negative: some, it is not known how many. */
	r->missed = cs->record->missed_events < 0 ? 1 : (u64)cs->record->missed_events;
	return true;
}

static void add_streams(struct ks_file *f, struct tracecmd_input *handle, bool own)
{
	int cpus = tep_get_cpus(tracecmd_get_tep(handle));

	f->streams = reallocarray(f->streams, f->nr_streams + cpus, sizeof(*f->streams));
	if (!f->streams)
		ks_die("out of memory");
	for (int cpu = 0; cpu < cpus; cpu++) {
		f->streams[f->nr_streams] = (struct cpu_stream){
			.s = { .next = next_record, .order = f->nr_streams },
			.handle = handle,
			.cpu = cpu,
			.own = own,
		};
		f->nr_streams++;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct buffer *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Is it one that kstall record writes? What others may write to says nothing of the job. */
static bool is_own(const struct buffer *b)
{
	return !strncmp(b->name, "kstall_", 7);
}

/*
 * Of two events at the same time the cause comes first: instances before the top buffer, where nobody's are, and of kstall's two
 * "kstall_all" before "kstall_job", where the wake-ups are.
 */
static void open_buffers(struct ks_file *f)
{
	f->nr_buffers = tracecmd_buffer_instances(f->handle);
	f->buffers = ks_alloc((f->nr_buffers > 0 ? f->nr_buffers : 0) * sizeof(*f->buffers));
	for (int i = 0; i < f->nr_buffers; i++) {
		const char *name = tracecmd_buffer_instance_name(f->handle, i);

		f->buffers[i] = (struct buffer){ name ? name : "", tracecmd_buffer_instance_handle(f->handle, i) };
		if (!f->buffers[i].handle)
			ks_die("%s: buffer %d is damaged", f->name, i);
	}
	if (f->nr_buffers > 0)
		qsort(f->buffers, f->nr_buffers, sizeof(*f->buffers), by_name);
	for (int i = 0; i < f->nr_buffers; i++)
		add_streams(f, f->buffers[i].handle, is_own(&f->buffers[i]));
	add_streams(f, f->handle, false);
}

/* What counts nanoseconds; the library makes them of tsc2nsec. NULL: it is not said, then it is the kernel's first one. */
static void check_clock(struct ks_file *f)
{
	static const char *const clocks[] = { "mono", "local", "global", "perf", "mono_raw", "boot", "tai", "tsc2nsec" };
	const char *clock = tracecmd_get_trace_clock(f->handle);

	f->clock = clock ? clock : "local";
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (!strcmp(f->clock, clocks[i]))
			return;
	}
	ks_die("%s: its clock is %s, which does not count nanoseconds; trace-cmd record -C mono does", f->name, f->clock);
}

/* Where system calls have other numbers than here: a machine's name, or how it differs. NULL: they are the same. */
static const char *foreign_machine(struct ks_file *f)
{
	struct tep_handle *tep = tracecmd_get_tep(f->handle);
	const char *text = tracecmd_get_uname(f->handle), *machine = text ? strrchr(text, ' ') : NULL;
	struct utsname here;

	uname(&here);
	if (machine)
		return strcmp(machine + 1, here.machine) ? machine + 1 : NULL;
	if (tep_is_file_bigendian(tep) != tep_is_local_bigendian(tep))
		return "a machine of another byte order";
	return tep_get_long_size(tep) != sizeof(long) ? "a machine of another word length" : NULL;
}

struct ks_file *ks_file_open(const char *name)
{
	struct ks_file *f = ks_alloc(sizeof(*f));

	if (access(name, R_OK))
		ks_die("%s: %s", name, strerror(errno));
	ks_silence_libraries();
	f->handle = tracecmd_open(name, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!f->handle)
		ks_die("%s: not a recording of trace-cmd, or damaged", name);
	f->name = name;
	f->decoder = ks_decoder_new(tracecmd_get_tep(f->handle), "kstall");
	check_clock(f);
	open_buffers(f);
	return f;
}

static void on_lost(void *priv, u64 from, u64 to, u64 nr)
{
	ks_engine_lost(priv, from, to, nr);
}

/* A line for a person at a terminal, once a second has passed. */
static void progress(struct ks_file *f, const struct ks_engine *e)
{
	u64 now = ks_mono_ns();

	if (now - f->shown < NSEC || !isatty(fileno(ks_errors())))
		return;
	f->shown = now;
	fprintf(ks_errors(), "\r# reading: %.1f million events so far, %llu s ", e->events / 1e6,
		(unsigned long long)((now - f->started) / NSEC));
}

/* Without the scheduler's events all time would be that of the last state. */
static void check(const struct ks_file *f, const struct ks_engine *e)
{
	const struct ks_type *type = ks_type_find("sched", "sched_switch");
	const char *lacks = ks_decoder_lacks(f->decoder, type);

	if (!e->events)
		ks_die("%s: kstall knows none of its events", f->name);
	if (lacks)
		ks_die("%s: its sched_switch has no field %s", f->name, lacks);
	if (!ks_decoder_seen(f->decoder, type) && !e->has_tasks)
		ks_die("%s: no sched_switch in it; trace-cmd record -C mono -e sched -e task -e raw_syscalls has what it takes",
		       f->name);
}

static void note_unseen(const struct ks_file *f, struct ks_engine *e, const char *foreign)
{
	char why[160];

	ks_unseen_fields(e, f->decoder);
	if (foreign)
		ks_engine_unseen(e, "kernel", "sys_enter",
				 ks_fmt(why, sizeof(why), "recorded on %s: system calls have numbers here, no names",
					foreign));
	if (e->other_clock)
		ks_unseen_phases(e, f->decoder, f->clock);
	/* kstall record has written down itself what it could not see */
	if (!e->has_tasks)
		ks_unseen_events(e, f->decoder);
}

/* As the kernel knew it when the recording ended. */
static const char *saved_comm(struct ks_engine *e, s32 tid)
{
	const char *comm = tep_data_comm_from_pid(e->namer, tid);

	return comm && *comm != '<' ? comm : "";
}

#define LOOK_EVERY 65536	/* events */

void ks_file_run(struct ks_file *f, struct ks_engine *e)
{
	const char *foreign = foreign_machine(f);
	struct ks_record r;
	struct ks_event ev;

	f->started = f->shown = ks_mono_ns();
	e->other_clock = strcmp(f->clock, "mono") != 0;
	e->foreign_calls = !!foreign;
	e->comm_of = saved_comm;
	e->namer = tracecmd_get_tep(f->handle);
	f->merge.lost = on_lost;
	f->merge.priv = e;
	for (int i = 0; i < f->nr_streams; i++)
		ks_merge_add(&f->merge, &f->streams[i].s);
	while (ks_merge_next(&f->merge, UINT64_MAX, &r)) {
		if (!ks_decode(f->decoder, &r, &ev))
			continue;
		ks_engine_feed(e, &ev);
		if (!(e->events % LOOK_EVERY))
			progress(f, e);
	}
	if (f->shown != f->started)
		fputs("\r\033[K", ks_errors());
	ks_engine_finish(e, 0);
	check(f, e);
	note_unseen(f, e, foreign);
}

u64 ks_file_bad(const struct ks_file *f)
{
	return ks_decoder_bad(f->decoder);
}

void ks_file_close(struct ks_file *f)
{
	ks_decoder_free(f->decoder);
	for (int i = 0; i < f->nr_buffers; i++)
		tracecmd_close(f->buffers[i].handle);
	tracecmd_close(f->handle);
	free(f->buffers);
	free(f->streams);
	free(f->merge.heap);
	free(f);
}
