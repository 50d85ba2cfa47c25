// SPDX-License-Identifier: GPL-2.0
/* The jobs on this node, from where the operator says: never more than KS_MAX_WORKLOADS. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/metric.h"

#define PATIENCE (5 * NSEC)	/* with a command */
#define DEPTH 8			/* of cgroups that are looked through */

/* A pod's name without what its replicas differ in: an index, or what Kubernetes adds at random. */
static void without_replica(char *name)
{
	char *dash;

	while ((dash = strrchr(name, '-'))) {
		bool index = dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1);
		bool random = strlen(dash + 1) == 5 &&
			      strspn(dash + 1, "bcdfghjklmnpqrstvwxz2456789") == 5;

		if (!index && !random)
			return;
		*dash = '\0';
	}
}

/* Nodes with the same workload are compared; who does not say it is known by the rest. */
static void name_workload(struct ks_workload *j)
{
	char pod[KS_WORKLOAD], name[2 * KS_WORKLOAD];

	if (j->workload[0])
		return;
	if (j->slurm_job_id[0]) {
		ks_fmt(name, sizeof(name), "slurm/%s", j->slurm_job_id);
	} else if (j->pod[0]) {
		without_replica(strcpy(pod, j->pod));
		ks_fmt(name, sizeof(name), "%s/%s", j->namespace, pod);
	} else {
		return;
	}
	ks_printable(j->workload, KS_WORKLOAD, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ks_workload *)a)->workload,
		      ((const struct ks_workload *)b)->workload);
}

static void add(struct ks_workloads *w, struct ks_workload *j)
{
	name_workload(j);
	if (!j->workload[0])
		return;
	for (size_t i = 0; i < w->nr; i++) {
		if (!memcmp(&w->job[i], j, sizeof(*j)))
			return;
	}
	if (w->nr == KS_MAX_WORKLOADS)
		w->left_out++;
	else
		w->job[w->nr++] = *j;
}

/* "slurm_job_id=17 namespace=ml pod=trainer-3", a line a job; other words are not taken. */
static void add_line(struct ks_workloads *w, char *line)
{
	struct ks_workload j = { 0 };
	const struct { const char *key; char *to; } keys[] = {
		{ "workload=", j.workload }, { "slurm_job_id=", j.slurm_job_id }, { "pod=", j.pod },
		{ "namespace=", j.namespace },
	};
	char *at;

	for (char *word = strtok_r(line, " \t\r", &at); word; word = strtok_r(NULL, " \t\r", &at)) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			size_t len = strlen(keys[i].key);

			if (!strncmp(word, keys[i].key, len))
				ks_printable(keys[i].to, KS_WORKLOAD, word + len);
		}
	}
	add(w, &j);
}

static void add_text(struct ks_workloads *w, char *text)
{
	char *at;

	for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		add_line(w, line);
}

/* Until end of file, @room bytes or @until; true at end of file. */
static bool read_until(int fd, char *text, size_t room, u64 until)
{
	struct pollfd p = { fd, POLLIN };
	u64 now;
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len + 1 < room && (now = ks_mono_ns()) < until) {
		n = -1;
		if (poll(&p, 1, (until - now) / 1000000 + 1) > 0)
			n = read(fd, text + len, room - len - 1);
		len += n > 0 ? n : 0;
	}
	text[len] = '\0';
	return n == 0;
}

static void from_file(struct ks_workloads *w, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[16384];

	if (fd < 0)
		return;
	w->known = read_until(fd, text, sizeof(text), ks_mono_ns() + PATIENCE);
	close(fd);
	add_text(w, text);
}

/* Who has closed its output need not be over. Not reaped yet: its group's number stays its own. */
static bool ends_until(pid_t pid, u64 until)
{
	siginfo_t si = { 0 };

	while (!waitid(P_PID, pid, &si, WEXITED | WNOHANG | WNOWAIT) && !si.si_pid) {
		if (ks_mono_ns() >= until)
			return false;
		usleep(1000);
	}
	return true;
}

/* In a process group of its own, of which nothing is left when it or its time is over. */
static void from_command(struct ks_workloads *w, const char *command)
{
	char text[16384];
	int out[2], status = 0;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		dup2(out[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(out[1]);
	if (pid > 0) {
		u64 until = ks_mono_ns() + PATIENCE;
		bool all = read_until(out[0], text, sizeof(text), until) && ends_until(pid, until);

		setpgid(pid, pid);
		kill(-pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		w->known = all && WIFEXITED(status) && !WEXITSTATUS(status);
		if (w->known)
			add_text(w, text);
	}
	close(out[0]);
}

static void slurm_dir(struct ks_workloads *w, const char *name)
{
	struct ks_workload j = { 0 };
	const char *id = name + strlen("job_");

	if (strncmp(name, "job_", 4) || !*id || strspn(id, "0123456789") != strlen(id))
		return;
	ks_fmt(j.slurm_job_id, KS_WORKLOAD, "%s", id);
	add(w, &j);
}

/* …/slurmstepd.scope/job_17/step_0; what is below a job is its own. */
static bool from_cgroups(struct ks_workloads *w, const char *path, int depth)
{
	DIR *d = depth < DEPTH ? opendir(path) : NULL;
	struct dirent *de;
	char below[4096];

	if (!d)
		return false;
	while ((de = readdir(d))) {
		if (de->d_type != DT_DIR || de->d_name[0] == '.')
			continue;
		slurm_dir(w, de->d_name);
		if (strncmp(de->d_name, "job_", 4))
			from_cgroups(w, ks_fmt(below, sizeof(below), "%s/%s", path, de->d_name),
				     depth + 1);
	}
	closedir(d);
	return true;
}

/* kubelet has a directory NAMESPACE_POD_UID of each pod on the node. */
static bool from_pods(struct ks_workloads *w, const char *path)
{
	DIR *d = opendir(path);
	struct dirent *de;

	if (!d)
		return false;
	while ((de = readdir(d))) {
		struct ks_workload j = { 0 };

		if (sscanf(de->d_name, "%127[^_]_%127[^_]_", j.namespace, j.pod) == 2 &&
		    strcmp(j.namespace, "kube-system"))
			add(w, &j);
	}
	closedir(d);
	return true;
}

static const char *after(const char *source, const char *kind, const char *otherwise)
{
	size_t len = strlen(kind);

	if (strncmp(source, kind, len))
		return NULL;
	if (!source[len])
		return otherwise;
	return source[len] == ':' && source[len + 1] ? source + len + 1 : NULL;
}

bool ks_workloads_valid(const char *source)
{
	return after(source, "slurm", "") || after(source, "kubernetes", "") ||
	       after(source, "file", NULL) || after(source, "command", NULL);
}

void ks_workloads_read(struct ks_workloads *w, const char *source)
{
	const char *arg;

	memset(w, 0, sizeof(*w));
	if ((arg = after(source, "slurm", "/sys/fs/cgroup")))
		w->known = from_cgroups(w, arg, 0);
	else if ((arg = after(source, "kubernetes", "/var/log/pods")))
		w->known = from_pods(w, arg);
	else if ((arg = after(source, "file", NULL)))
		from_file(w, arg);
	else if ((arg = after(source, "command", NULL)))
		from_command(w, arg);
	qsort(w->job, w->nr, sizeof(*w->job), by_name);
}
