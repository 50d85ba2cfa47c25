// SPDX-License-Identifier: GPL-2.0
/* Which threads the job has, from /proc and the cgroup's files. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/session.h"

typedef void (*thread_fn)(void *priv, pid_t tid, pid_t tgid);

/* A process that has gone meanwhile is not there; any other reason would make it one that is not traced. */
static void check_gone(const char *path)
{
	if (errno != ENOENT && errno != ESRCH)
		ks_die("%s: %s", path, strerror(errno));
}

static void threads_of(pid_t tgid, thread_fn fn, void *priv)
{
	struct dirent *entry;
	char path[64];
	DIR *dir = opendir(ks_fmt(path, sizeof(path), "/proc/%d/task", tgid));

	if (!dir) {
		check_gone(path);
		return;
	}
	while ((entry = readdir(dir))) {
		if (isdigit((u8)entry->d_name[0]))
			fn(priv, atoi(entry->d_name), tgid);
	}
	closedir(dir);
}

static bool has_comm(pid_t pid, const char *comm)
{
	char path[64], name[64] = "";
	FILE *f = fopen(ks_fmt(path, sizeof(path), "/proc/%d/comm", pid), "r");

	if (!f) {
		check_gone(path);
		return false;
	}
	if (fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
	return !strcmp(name, comm);
}

static void by_comm(const char *comm, thread_fn fn, void *priv)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (!dir)
		ks_die("/proc: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		if (isdigit((u8)entry->d_name[0]) && has_comm(atoi(entry->d_name), comm))
			threads_of(atoi(entry->d_name), fn, priv);
	}
	closedir(dir);
}

static thread_fn cgroup_fn;
static void *cgroup_priv;

static int procs_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	FILE *f;
	int pid;

	(void)st;
	if (type != FTW_F || strcmp(path + ftw->base, "cgroup.procs"))
		return 0;
	f = fopen(path, "r");
	if (!f) {
		check_gone(path);
		return 0;
	}
	while (fscanf(f, "%d", &pid) == 1)
		threads_of(pid, cgroup_fn, cgroup_priv);
	fclose(f);
	return 0;
}

static void by_cgroup(const char *path, thread_fn fn, void *priv)
{
	char full[4096];
	int failed;

	cgroup_fn = fn;
	cgroup_priv = priv;
	failed = nftw(path, procs_file, 16, FTW_PHYS);
	if (failed && errno == ENOENT)
		failed = nftw(ks_fmt(full, sizeof(full), "/sys/fs/cgroup/%s", path), procs_file, 16, FTW_PHYS);
	if (failed)
		ks_die("%s: %s", path, strerror(errno));
}

void ks_job_threads(const struct ks_target *target, pid_t child, thread_fn fn, void *priv)
{
	if (child)
		threads_of(child, fn, priv);
	for (size_t i = 0; i < target->nr_pids; i++)
		threads_of(target->pids[i], fn, priv);
	if (target->comm)
		by_comm(target->comm, fn, priv);
	if (target->cgroup)
		by_cgroup(target->cgroup, fn, priv);
}
