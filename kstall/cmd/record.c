// SPDX-License-Identifier: GPL-2.0
/* kstall record: what why needs, kept in a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "engine/event.h"
#include "recorder/recorder.h"
#include "trace/datfile.h"
#include "trace/gpulib.h"
#include "trace/ports.h"
#include "trace/session.h"

#define PAGE 4096
#define PAGES 64
#define MISSED (1ULL << 31)	/* in the second word of a page: events are missing before it */

struct cpu {
	struct tracefs_cpu *t;
	u8 *first, *last;	/* pages that the full disk had no room for */
	u64 left_out;		/* pages between them */
};

struct recording {
	struct ks_session s;
	struct cpu *cpu[KS_BUFFERS];
	struct ks_dat_cpu *pages[KS_BUFFERS];
	const char *output;
	FILE *f;
	int reserve;
	bool full, more_formats;
};

static int temporary(const char *output)
{
	int fd = ks_output_temporary();

	if (fd < 0)
		ks_die("%s: %s", output, strerror(errno));
	return fd;
}

/* What a full disk must still have room for: the formats and tables, and of each CPU two pages, twice. */
static void reserve_room(struct recording *r)
{
	int err;

	r->reserve = temporary(r->output);
	err = posix_fallocate(r->reserve, 0, (4 << 20) + (off_t)r->s.cpus * KS_BUFFERS * 5 * PAGE);
	if (err)
		ks_die("%s: %s", r->output, strerror(err));
}

static void open_cpus(struct recording *r)
{
	for (int b = 0; b < KS_BUFFERS; b++) {
		r->cpu[b] = ks_alloc(r->s.cpus * sizeof(*r->cpu[b]));
		r->pages[b] = ks_alloc(r->s.cpus * sizeof(*r->pages[b]));
		for (int c = 0; c < r->s.cpus; c++) {
			r->cpu[b][c].t = tracefs_cpu_open(r->s.buffer[b], c, true);
			if (!r->cpu[b][c].t && errno != ENOENT)	/* of a CPU that cannot be there */
				ks_die("the buffer of CPU %d: %s", c, strerror(errno));
			r->pages[b][c].spool = true;
			if (r->cpu[b][c].t)
				r->pages[b][c].fd = temporary(r->output);
		}
	}
}

static void close_cpus(struct recording *r)
{
	for (int b = 0; b < KS_BUFFERS; b++) {
		for (int c = 0; c < r->s.cpus; c++)
			tracefs_cpu_close(r->cpu[b][c].t);
	}
}

/*
 * Of the pages that there is no room for the first and the last are kept. The last says that events are missing
 * since the one before it; without the first, that may be since the recording began, on a CPU with few events.
 */
static void leave_out(struct cpu *cpu, const u8 *buf, size_t n)
{
	for (const u8 *page = buf; page < buf + n; page += PAGE) {
		u8 **kept = cpu->first ? &cpu->last : &cpu->first;

		if (*kept)
			cpu->left_out++;
		else
			*kept = ks_alloc(PAGE);
		memcpy(*kept, page, PAGE);
	}
}

/* Events that come now would only be left out. */
static void end_here(struct recording *r)
{
	if (r->full)
		return;
	r->full = true;
	ks_warn("%s: %s: the recording ends here", r->output, strerror(errno));
	for (int b = 0; b < KS_BUFFERS; b++)
		tracefs_trace_off(r->s.buffer[b]);
}

/* Returns how much of it there is room for, in whole pages. */
static size_t put(struct recording *r, struct ks_dat_cpu *pages, const u8 *buf, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t w = pwrite(pages->fd, buf + done, n - done, pages->bytes + done);

		if (w >= 0 || errno == EINTR) {
			done += w > 0 ? w : 0;
			continue;
		}
		if (errno != ENOSPC && errno != EDQUOT)
			ks_die("%s: %s", r->output, strerror(errno));
		end_here(r);
		done -= done % PAGE;
		break;
	}
	pages->bytes += done;
	return done;
}

typedef int (*take_fn)(struct tracefs_cpu *t, void *page);

/* Whole pages while it goes on: what is not full is not taken yet. */
static int take_whole(struct tracefs_cpu *t, void *page)
{
	return tracefs_cpu_buffered_read(t, page, true);
}

static u64 drain_cpu(struct recording *r, int b, int c, take_fn take)
{
	static u8 buf[PAGES * PAGE];
	struct cpu *cpu = &r->cpu[b][c];
	u64 bytes = 0;
	size_t n, done;

	do {
		for (n = 0; n < sizeof(buf) && ks_buffer_read(c, take(cpu->t, buf + n)); n += PAGE)
			;
		done = r->full ? 0 : put(r, &r->pages[b][c], buf, n);
		leave_out(cpu, buf + done, n - done);
		bytes += n;
	} while (n == sizeof(buf));
	return bytes;
}

static u64 drain(struct recording *r, take_fn take)
{
	u64 bytes = 0;

	for (int b = 0; b < KS_BUFFERS; b++) {
		for (int c = 0; c < r->s.cpus; c++) {
			if (r->cpu[b][c].t)
				bytes += drain_cpu(r, b, c, take);
		}
	}
	return bytes;
}

static void put_page(struct recording *r, struct ks_dat_cpu *pages, const u8 *page)
{
	if (page && put(r, pages, page, PAGE) != PAGE)
		ks_die("%s: %s", r->output, strerror(errno));
}

/* The pages that each CPU had when the disk was full, or steps that lack events would be called exact. */
static void put_last(struct recording *r)
{
	for (int b = 0; b < KS_BUFFERS; b++) {
		for (int c = 0; c < r->s.cpus; c++) {
			struct cpu *cpu = &r->cpu[b][c];

			if (cpu->left_out)
				((u64 *)cpu->last)[1] |= MISSED;
			put_page(r, &r->pages[b][c], cpu->first);
			put_page(r, &r->pages[b][c], cpu->last);
		}
	}
}

/* Overwritten, or still in the kernel after the last read. */
static bool count_lost(struct recording *r, u64 *sum)
{
	struct ks_ring_stats stats;

	*sum = 0;
	for (int b = 0; b < KS_BUFFERS; b++) {
		if (!ks_ring_stats(r->s.buffer[b], &stats)) {
			ks_warn("events may be lost, they cannot be counted: %s", strerror(errno));
			return false;
		}
		*sum += stats.lost + stats.entries;
	}
	return true;
}

static void write_output(struct recording *r)
{
	struct ks_dat_buffer buffers[KS_BUFFERS] = {
		[KS_ALL] = { "kstall_all", r->pages[KS_ALL] },
		[KS_JOB] = { "kstall_job", r->pages[KS_JOB] },
	};

	put_last(r);
	ks_dat_tasks(r->f, r->output);
	ks_dat_body(r->f, r->output, r->s.cpus, buffers, KS_BUFFERS);
	ks_output_close(r->f, r->output);
}

/* Once more from the beginning, with the events that have come since; they are gone with the session. */
static void write_more_formats(struct recording *r)
{
	if (!r->more_formats)
		return;
	rewind(r->f);
	ks_dat_head(r->f, r->output, ks_session_systems(&r->s) + 1);
}

static int finish(struct recording *r)
{
	char text[64];
	u64 missing;
	bool counted;
	int status;

	ks_session_stop(&r->s);
	drain(r, take_whole);
	drain(r, tracefs_cpu_flush);
	counted = count_lost(r, &missing);
	close_cpus(r);
	close(r->reserve);
	write_more_formats(r);
	ks_session_end(&r->s);
	write_output(r);
	if (missing)
		ks_warn("%s lost: steps in which that happened are inexact (-b makes the buffers larger)",
			ks_count(text, missing, "event"));
	status = ks_session_status(&r->s);
	return r->full || !counted ? 1 : status;
}

/* All that it needs is there before the command runs. */
static void prepare(struct recording *r, const struct ks_options *o)
{
	memset(r, 0, sizeof(*r));
	r->output = o->output;
	r->f = ks_output_open(o->output, 0600);
	/* the buffer, the temporary file, libtracefs' pipe */
	ks_session_prepare(&r->s, &o->target, 4);
	reserve_room(r);
	open_cpus(r);
	ks_dat_head(r->f, r->output, ks_session_systems(&r->s) + 1);
}

int ks_cmd_record(struct ks_options *o, char **args)
{
	struct recording r;
	u64 begin;

	if (*args)
		o->target.command = args;
	if (!o->target.command && !o->target.nr_pids && !o->target.cgroup && !o->target.comm)
		ks_usage("no job: -p PID, --cgroup PATH, --comm NAME or -- COMMAND");
	prepare(&r, o);
	ks_session_start(&r.s, &o->target);
	begin = ks_mono_ns();
	while (!r.full && !ks_interrupted && !ks_session_over(&r.s, &o->target)) {
		if (o->time && ks_mono_ns() - begin >= o->time)
			break;
		r.more_formats |= ks_gpu_look(&r.s);
		ks_ports_look(&r.s, false);
		if (drain(&r, take_whole) < 1 << 20)
			usleep(20000);
	}
	return finish(&r);
}
