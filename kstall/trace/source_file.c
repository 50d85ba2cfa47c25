// SPDX-License-Identifier: GPL-2.0
/* A recording in trace-cmd's format, through trace-cmd's library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "trace/decode.h"
#include "trace/source.h"

struct cpu_stream {
	struct ks_stream s;
	struct tracecmd_input *handle;
	struct tep_record *record;
	u64 offset;		/* of the record in the file */
	int cpu;
	bool own;
};

struct ks_file {
	struct tracecmd_input *handle;
	struct tracecmd_input **buffers;
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
		f->streams[f->nr_streams++] = (struct cpu_stream){
			.s.next = next_record, .handle = handle, .cpu = cpu, .own = own,
		};
	}
}

/* Is it one of those that kstall record writes? What others may write to tells nothing of the job. */
static bool is_own(struct tracecmd_input *handle, int buffer)
{
	const char *name = tracecmd_buffer_instance_name(handle, buffer);

	return name && !strncmp(name, "kstall_", 7);
}

struct ks_file *ks_file_open(const char *name)
{
	struct ks_file *f = ks_alloc(sizeof(*f));

	if (access(name, R_OK))
		ks_die("%s: %s", name, strerror(errno));
	tracecmd_set_loglevel(TEP_LOG_NONE);
	f->handle = tracecmd_open(name, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!f->handle)
		ks_die("%s: not a recording of trace-cmd, or damaged", name);
	f->decoder = ks_decoder_new(tracecmd_get_tep(f->handle), "kstall");
	f->nr_buffers = tracecmd_buffer_instances(f->handle);
	f->buffers = ks_alloc((f->nr_buffers > 0 ? f->nr_buffers : 0) * sizeof(*f->buffers));
	/* Instances first: of two events at the same time the cause is in these. */
	for (int i = 0; i < f->nr_buffers; i++) {
		f->buffers[i] = tracecmd_buffer_instance_handle(f->handle, i);
		if (!f->buffers[i])
			ks_die("%s: buffer %d is damaged", name, i);
		add_streams(f, f->buffers[i], is_own(f->handle, i));
	}
	add_streams(f, f->handle, false);
	return f;
}

static void on_lost(void *priv, u64 from, u64 to, u64 nr)
{
	ks_engine_lost(priv, from, to, nr);
}

/* A line for who waits at a terminal, from its second one on. */
static void progress(struct ks_file *f, const struct ks_engine *e)
{
	u64 now = ks_mono_ns();

	if (now - f->shown < NSEC || !isatty(STDERR_FILENO))
		return;
	f->shown = now;
	fprintf(stderr, "\r# reading: %.1f million events so far, %llu s ", e->events / 1e6,
		(unsigned long long)((now - f->started) / NSEC));
}

#define LOOK_EVERY 65536	/* events */

void ks_file_run(struct ks_file *f, struct ks_engine *e)
{
	struct ks_record r;
	struct ks_event ev;

	f->started = f->shown = ks_mono_ns();
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
		fputs("\r\033[K", stderr);
	ks_engine_finish(e, 0);
}

u64 ks_file_bad(const struct ks_file *f)
{
	return ks_decoder_bad(f->decoder);
}

void ks_file_close(struct ks_file *f)
{
	ks_decoder_free(f->decoder);
	for (int i = 0; i < f->nr_buffers; i++)
		tracecmd_close(f->buffers[i]);
	tracecmd_close(f->handle);
	free(f->buffers);
	free(f->streams);
	free(f->merge.heap);
	free(f);
}
