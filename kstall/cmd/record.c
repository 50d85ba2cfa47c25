// SPDX-License-Identifier: GPL-2.0
/* kstall record: what why needs, kept in a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options.h"
#include "engine/event.h"
#include "recorder/recorder.h"
#include "trace/datfile.h"
#include "trace/session.h"

struct recording {
	struct ks_session s;
	struct tracefs_cpu **tcpu[KS_BUFFERS];
	struct ks_dat_cpu *cpu[KS_BUFFERS];
};

/* The recording, under a name of its own until it is whole; NULL: a device is written in place. */
static char *unfinished;

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

/* Before anything is recorded: what is wrong with the name must not be found at the end. */
static FILE *open_output(const char *output)
{
	struct stat st;
	FILE *f;
	int fd;

	if (!stat(output, &st) && !S_ISREG(st.st_mode)) {
		f = fopen(output, "w");
	} else {
		size_t size = strlen(output) + sizeof(".XXXXXX");

		unfinished = ks_fmt(ks_alloc(size), size, "%s.XXXXXX", output);
		fd = mkostemp(unfinished, O_CLOEXEC);
		if (fd < 0)
			unfinished = NULL;
		atexit(remove_unfinished);
		f = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (!f)
		ks_die("%s: %s", output, strerror(errno));
	return f;
}

static void close_output(FILE *f, const char *output)
{
	char *path = realpath(output, NULL);	/* a link stays one */

	if (fclose(f) || (unfinished && rename(unfinished, path ? path : output)))
		ks_die("%s: %s", output, strerror(errno));
	unfinished = NULL;
	free(path);
}

/* Beside the file that it becomes, so that there is room; it has no name, so nothing stays. */
static int temporary(const char *output)
{
	char dir[4096];
	char *slash;
	int fd;

	ks_fmt(dir, sizeof(dir), "%s", output);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	else
		strcpy(dir, ".");
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		char name[4200];

		fd = mkostemp(ks_fmt(name, sizeof(name), "%s/.kstall.XXXXXX", dir), O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd < 0)
		ks_die("%s: %s", dir, strerror(errno));
	return fd;
}

static void open_cpus(struct recording *r, const char *output)
{
	for (int b = 0; b < KS_BUFFERS; b++) {
		r->tcpu[b] = ks_alloc(r->s.cpus * sizeof(*r->tcpu[b]));
		r->cpu[b] = ks_alloc(r->s.cpus * sizeof(*r->cpu[b]));
		for (int c = 0; c < r->s.cpus; c++) {
			r->tcpu[b][c] = tracefs_cpu_open(r->s.buffer[b], c, true);
			if (r->tcpu[b][c])
				r->cpu[b][c].fd = temporary(output);
			else if (errno != ENOENT)	/* of a CPU that cannot be there */
				ks_die("the buffer of CPU %d: %s", c, strerror(errno));
		}
	}
}

/* Whole pages while it goes on, what is left at the end. Returns bytes. */
static u64 drain(struct recording *r, const char *output, bool all)
{
	u64 bytes = 0;

	for (int b = 0; b < KS_BUFFERS; b++) {
		for (int c = 0; c < r->s.cpus; c++) {
			struct tracefs_cpu *t = r->tcpu[b][c];
			int fd = r->cpu[b][c].fd, n;

			errno = 0;
			while (t && (n = all ? tracefs_cpu_flush_write(t, fd)
					     : tracefs_cpu_write(t, fd, true)) > 0) {
				r->cpu[b][c].bytes += n;
				bytes += n;
			}
			if (t && n < 0 && errno && errno != EAGAIN && errno != EINTR)
				ks_die("%s: %s", output, strerror(errno));
		}
	}
	return bytes;
}

static const char *const *systems(const struct ks_session *s)
{
	static const char *list[16];
	int n = 0;

	for (size_t i = 0; i < ks_nr_types; i++) {
		const char *system = ks_session_system(s, &ks_types[i]);
		bool known = !strcmp(system, "ftrace");

		for (int j = 0; j < n; j++)
			known = known || !strcmp(list[j], system);
		if (!known && n < 15 && tracefs_event_file_exists(NULL, system, ks_types[i].name, "id"))
			list[n++] = system;
	}
	return list;
}

static u64 lost(struct recording *r)
{
	struct ks_ring_stats stats;
	u64 sum = 0;

	for (int b = 0; b < KS_BUFFERS; b++) {
		ks_ring_stats(r->s.buffer[b], &stats);
		sum += stats.lost;
	}
	return sum;
}

static void finish(struct recording *r, FILE *f, const char *output)
{
	struct ks_dat_buffer buffers[KS_BUFFERS] = {
		[KS_ALL] = {"kstall_all", r->cpu[KS_ALL]},
		[KS_JOB] = {"kstall_job", r->cpu[KS_JOB]},
	};
	u64 missing;

	ks_session_stop(&r->s);
	drain(r, output, false);
	drain(r, output, true);
	missing = lost(r);
	ks_dat_head(f, output, systems(&r->s));
	ks_dat_body(f, output, r->s.cpus, buffers, KS_BUFFERS);
	close_output(f, output);
	for (int b = 0; b < KS_BUFFERS; b++) {
		for (int c = 0; c < r->s.cpus; c++) {
			if (r->tcpu[b][c])
				tracefs_cpu_close(r->tcpu[b][c]);
		}
	}
	ks_session_end(&r->s);
	if (missing)
		ks_warn("%llu events lost: steps in which that happened are inexact (-b makes the buffers larger)",
			(unsigned long long)missing);
}

int ks_cmd_record(int argc, char **argv)
{
	struct ks_options o = { .output = "trace.dat" };
	struct recording r;
	int first = ks_options(&o, argc, argv, "pgcstob");
	u64 begin;
	FILE *f;

	if (first < argc)
		o.target.command = argv + first;
	if (!o.target.command && !o.target.nr_pids && !o.target.cgroup && !o.target.comm) {
		fputs("kstall record: of what? -p PID, --cgroup PATH, --comm NAME or -- COMMAND\n",
		      stderr);
		return 2;
	}
	f = open_output(o.output);
	memset(&r, 0, sizeof(r));
	/* the buffer, the temporary file, libtracefs' pipe */
	ks_session_prepare(&r.s, &o.target, 4);
	ks_session_start(&r.s, &o.target);
	open_cpus(&r, o.output);
	begin = ks_mono_ns();
	while (!ks_interrupted && !ks_session_over(&r.s, &o.target)) {
		if (o.time && ks_mono_ns() - begin >= o.time)
			break;
		if (drain(&r, o.output, false) < 1 << 20)
			usleep(20000);
	}
	finish(&r, f, o.output);
	return r.s.child_status;
}
