// SPDX-License-Identifier: GPL-2.0
/* The kernel's list of the job's threads: set_event_pid of the buffer KS_JOB. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/session.h"

struct tids {
	s32 *tid;		/* sorted */
	size_t nr, room;
};

static void add(struct tids *l, s32 tid)
{
	l->tid = ks_grow(l->tid, &l->room, l->nr + 1, sizeof(*l->tid));
	l->tid[l->nr++] = tid;
}

static void add_thread(void *priv, pid_t tid, pid_t tgid)
{
	(void)tgid;
	add(priv, tid);
}

static int by_number(const void *a, const void *b)
{
	s32 x = *(const s32 *)a, y = *(const s32 *)b;

	return (x > y) - (x < y);
}

static void sort(struct tids *l)
{
	if (l->nr)
		qsort(l->tid, l->nr, sizeof(*l->tid), by_number);
}

static void get_known(struct tids *l, struct tracefs_instance *in)
{
	char *text, *end;

	errno = 0;
	text = tracefs_instance_file_read(in, "set_event_pid", NULL);
	if (!text && errno)
		ks_die("set_event_pid: %s", strerror(errno));
	for (char *p = text; p && *p; p = end + strspn(end, "\n")) {
		add(l, strtol(p, &end, 10));
		if (end == p)
			ks_die("set_event_pid: not understood: %s", p);
	}
	free(text);
	sort(l);
}

/* Each write costs the kernel grace periods and an interrupt on all CPUs, however many pids it has. */
static void write_tids(struct tracefs_instance *in, const struct tids *l)
{
	size_t size = l->nr * sizeof("4194304") + 1, at = 0;
	char *text = ks_alloc(size);

	for (size_t i = 0; i < l->nr; i++)
		at += snprintf(text + at, size - at, "%d ", l->tid[i]);
	if (tracefs_instance_file_append(in, "set_event_pid", text) != (int)at)
		ks_die("set_event_pid: %s", strerror(errno));
	free(text);
}

static bool is_among(const struct tids *l, s32 tid)
{
	return l->nr && bsearch(&tid, l->tid, l->nr, sizeof(tid), by_number);
}

/* False: there were none that the kernel does not know. */
static bool tell_kernel(struct ks_session *s, const struct ks_target *target, bool first)
{
	struct tids job = { NULL }, known = { NULL }, missing = { NULL };

	ks_job_threads(target, s->child, add_thread, &job);
	if (!first)
		get_known(&known, s->buffer[KS_JOB]);
	sort(&job);
	for (size_t i = 0; i < job.nr; i++) {
		if (!is_among(&known, job.tid[i]))
			add(&missing, job.tid[i]);
	}
	if (missing.nr)
		write_tids(s->buffer[KS_JOB], &missing);
	free(job.tid);
	free(known.tid);
	free(missing.tid);
	return missing.nr;
}

bool ks_follow(struct ks_session *s, const struct ks_target *target)
{
	if (!tell_kernel(s, target, true))
		return false;
	if (tracefs_instance_file_write(s->buffer[KS_JOB], "options/event-fork", "1") < 0)
		ks_die("options/event-fork: %s", strerror(errno));
	/* What was born meanwhile. What the kernel knows, it follows by itself from now on. */
	while (tell_kernel(s, target, false))
		;
	return true;
}

/* /proc lists processes, without their threads. */
void ks_followed(struct ks_session *s, void (*fn)(void *priv, pid_t pid), void *priv)
{
	struct tids known = { NULL };
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	get_known(&known, s->buffer[KS_JOB]);
	while (dir && (entry = readdir(dir))) {
		if (isdigit((u8)entry->d_name[0]) && is_among(&known, atoi(entry->d_name)))
			fn(priv, atoi(entry->d_name));
	}
	if (dir)
		closedir(dir);
	free(known.tid);
}
