// SPDX-License-Identifier: GPL-2.0
/* Lines of the recorder itself, "kstall WORD ...", in the buffer KS_JOB: what no event says. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "trace/notes.h"

struct ks_name {
	pid_t tid, tgid;
};

void ks_note(struct ks_session *s, const char *text)
{
	if (tracefs_instance_file_append(s->buffer[KS_JOB], "trace_marker", text) < 0)
		ks_die("trace_marker: %s", strerror(errno));
}

static void add_name(void *priv, pid_t tid, pid_t tgid)
{
	struct ks_session *s = priv;

	s->name = ks_grow(s->name, &s->room_name, s->nr_name + 1, sizeof(*s->name));
	s->name[s->nr_name++] = (struct ks_name){ tid, tgid };
}

static int by_tid(const void *a, const void *b)
{
	pid_t x = ((const struct ks_name *)a)->tid, y = ((const struct ks_name *)b)->tid;

	return (x > y) - (x < y);
}

/* Several threads a line: a line each would be a write for each of ten thousand. */
static void write_names(struct ks_session *s)
{
	char text[240];

	for (size_t i = 0; i < s->nr_name;) {
		pid_t tgid = s->name[i].tgid;
		size_t len = snprintf(text, sizeof(text), "kstall threads %d", tgid);

		while (i < s->nr_name && s->name[i].tgid == tgid && len + sizeof(" 4194304") <= sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, " %d", s->name[i++].tid);
		ks_note(s, text);
	}
}

void ks_note_names(struct ks_session *s, const struct ks_target *target)
{
	ks_job_threads(target, s->child, add_name, s);
	write_names(s);
	qsort(s->name, s->nr_name, sizeof(*s->name), by_tid);
}

static bool is_named(const struct ks_session *s, pid_t tid)
{
	struct ks_name key = { .tid = tid };

	return s->nr_name && bsearch(&key, s->name, s->nr_name, sizeof(key), by_tid);
}

/* A thread that has gone has none. Of others one line says, once, that what they did before is not known. */
static void not_read(const char *path)
{
	static bool said;

	if (errno == ENOENT || errno == ESRCH || said)
		return;
	ks_warn("%s: %s", path, strerror(errno));
	said = true;
}

static bool read_proc(char *buf, size_t size, pid_t tid, pid_t tgid, const char *file)
{
	char path[64];
	int fd = open(ks_fmt(path, sizeof(path), "/proc/%d/task/%d/%s", tgid, tid, file), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (n < 0)
		not_read(path);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* What it does, for the time until its first event. */
static void note_state(struct ks_session *s, pid_t tid, pid_t tgid)
{
	char stat[512], call[64], text[160], *comm, *end;

	if (!read_proc(stat, sizeof(stat), tid, tgid, "stat"))
		return;
	comm = strchr(stat, '(');
	end = strrchr(stat, ')');
	if (!comm || !end || strlen(end) < 3)
		return;
	*end = '\0';
	if (!read_proc(call, sizeof(call), tid, tgid, "syscall") || sscanf(call, "%15s", call) != 1 || *call == 'r')
		strcpy(call, "-1");
	ks_note(s, ks_fmt(text, sizeof(text), "kstall task %d %d %c %s %s\n", tid, tgid, end[2], call, comm + 1));
}

static void note_unnamed(void *priv, pid_t tid, pid_t tgid)
{
	struct ks_session *s = priv;

	if (!is_named(s, tid))
		note_state(s, tid, tgid);
}

/* Files whose calls have names, opened before we came; what opens later is seen. */
static void note_files(void *priv, pid_t tid, pid_t tgid)
{
	char path[64], link[300], to[128], text[200];
	struct dirent *entry;
	DIR *dir;

	if (tid != tgid)
		return;
	dir = opendir(ks_fmt(path, sizeof(path), "/proc/%d/fd", tgid));
	if (!dir)
		not_read(path);
	while (dir && (entry = readdir(dir))) {
		ssize_t n = readlink(ks_fmt(link, sizeof(link), "%s/%s", path, entry->d_name), to,
				     sizeof(to) - 1);

		to[n > 0 ? n : 0] = '\0';
		if (ks_call_layer(to))
			ks_note(priv, ks_fmt(text, sizeof(text), "kstall fd %d %s %s\n", tgid,
					     entry->d_name, to));
	}
	if (dir)
		closedir(dir);
}

/* The kernel's events have numbers of disks. */
static void note_disks(struct ks_session *s)
{
	char path[300], number[32], text[128];
	struct dirent *entry;
	DIR *dir = opendir("/sys/block");

	if (!dir)
		not_read("/sys/block");
	while (dir && (entry = readdir(dir))) {
		FILE *f = fopen(ks_fmt(path, sizeof(path), "/sys/block/%s/dev", entry->d_name), "r");

		if (!f)
			not_read(path);
		if (f && fscanf(f, "%31s", number) == 1)
			ks_note(s, ks_fmt(text, sizeof(text), "kstall disk %s %.63s\n", number, entry->d_name));
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

/*
 * Threads that were named are looked up by number: while threads end, a list of /proc/PID/task can leave out some that live
 * (first_tid() in fs/proc/base.c).
 */
void ks_note_states(struct ks_session *s, const struct ks_target *target)
{
	for (size_t i = 0; i < s->nr_name; i++)
		note_state(s, s->name[i].tid, s->name[i].tgid);
	ks_job_threads(target, s->child, note_unnamed, s);
	ks_note(s, "kstall tasks\n");
	free(s->name);
	s->name = NULL;
	s->nr_name = s->room_name = 0;
	ks_job_threads(target, s->child, note_files, s);
	note_disks(s);
}
