// SPDX-License-Identifier: GPL-2.0
/* The jobs on this node, from where the operator says. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/metric.h"

#define PATIENCE (5 * NSEC)	/* with a command */

/* What Kubernetes adds at random. */
static bool is_random(const char *word)
{
	return strlen(word) == 5 && strspn(word, "bcdfghjklmnpqrstvwxz2456789") == 5;
}

/* Up to 99999, as Kubernetes counts: a date and a number with zeros in front are of the job's name. */
static bool is_index(const char *word)
{
	size_t len = strlen(word);

	return len && len <= 5 && strspn(word, "0123456789") == len && (*word != '0' || len == 1);
}

/* In PyTorchJobs, TFJobs and MPIJobs; they train as the workers do, or have no device. */
static bool is_trainer(const char *word)
{
	static const char *const roles[] = { "master", "worker", "chief", "launcher" };

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (!strcmp(word, roles[i]))
			return true;
	}
	return false;
}

static bool drop_last(char *name, bool (*is)(const char *word))
{
	char *dash = strrchr(name, '-');

	if (!dash || !is(dash + 1))
		return false;
	*dash = '\0';
	return true;
}

/*
 * A pod's name without what its replicas differ in: NAME[-ROLE][-INDEX[-INDEX]][-RANDOM]. Two indices have a JobSet (the job's,
 * the pod's) and a LeaderWorkerSet.
 */
static void without_replica(char *name)
{
	drop_last(name, is_random);
	if (drop_last(name, is_index))
		drop_last(name, is_index);
	drop_last(name, is_trainer);
}

/* Nodes with the same workload are compared; a process that does not say its workload is known by the rest. */
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
	const struct ks_workload *x = a, *y = b;
	int order = strcmp(x->workload, y->workload);

	order = order ? order : strcmp(x->namespace, y->namespace);
	order = order ? order : strcmp(x->pod, y->pod);
	return order ? order : strcmp(x->slurm_job_id, y->slurm_job_id);
}

static int by_number(u64 x, u64 y)
{
	return (x > y) - (x < y);
}

/* The first is the one that is compared: with most devices, else the one that has run longest. */
static int by_rank(const void *a, const void *b)
{
	const struct ks_workload *x = a, *y = b;
	int order = by_number(y->gpus, x->gpus);

	order = order ? order : by_number(y->rdma, x->rdma);
	order = order ? order : by_number(x->since, y->since);
	return order ? order : by_name(x, y);
}

/* Pods of one workload, from @first up to @end, hold together what they hold, since the first of them began. */
static void share(struct ks_workload *first, struct ks_workload *end)
{
	struct ks_workload all = { .since = first->since };

	for (struct ks_workload *j = first; j < end; j++) {
		all.gpus += j->gpus;
		all.rdma += j->rdma;
		all.since = j->since < all.since ? j->since : all.since;
	}
	for (struct ks_workload *j = first; j < end; j++) {
		j->gpus = all.gpus;
		j->rdma = all.rdma;
		j->since = all.since;
	}
}

static void rank(struct ks_workloads *w)
{
	struct ks_workload *end = w->job + w->nr, *next;

	if (!w->nr)
		return;
	qsort(w->job, w->nr, sizeof(*w->job), by_name);
	for (struct ks_workload *j = w->job; j < end; j = next) {
		for (next = j + 1; next < end && !strcmp(next->workload, j->workload);)
			next++;
		share(j, next);
	}
	qsort(w->job, w->nr, sizeof(*w->job), by_rank);
}

void ks_workloads_add(struct ks_workloads *w, struct ks_workload *j)
{
	name_workload(j);
	if (!j->workload[0])
		return;
	for (size_t i = 0; i < w->nr; i++) {
		if (!by_name(&w->job[i], j))
			return;
	}
	w->job = ks_grow(w->job, &w->room, w->nr + 1, sizeof(*w->job));
	w->job[w->nr++] = *j;
}

void ks_workloads_fail(struct ks_workloads *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->known)
		return;
	w->known = false;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

char *ks_host_path(char *buf, size_t size, const char *path)
{
	const char *root = getenv("KSTALL_ROOT");

	return ks_fmt(buf, size, "%s%s", root ? root : "", path);
}

static int is_dir(const struct dirent *de)
{
	/* Not each file system says what an entry is. */
	return (de->d_type == DT_DIR || de->d_type == DT_UNKNOWN) && de->d_name[0] != '.';
}

void ks_each_dir(struct ks_workloads *w, const char *path, ks_dir_fn fn, void *priv)
{
	struct dirent **de;
	char below[4096];
	/* Its file is closed before @fn goes on below. */
	int nr = scandir(path, &de, is_dir, alphasort);

	if (nr < 0) {
		if (errno != ENOENT)
			ks_workloads_fail(w, "%s: %s", path, strerror(errno));
		return;
	}
	for (int i = 0; i < nr; i++) {
		fn(priv, ks_fmt(below, sizeof(below), "%s/%s", path, de[i]->d_name), de[i]->d_name);
		free(de[i]);
	}
	free(de);
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
	ks_workloads_add(w, &j);
}

static void add_text(struct ks_workloads *w, char *text)
{
	char *at;

	for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		add_line(w, line);
}

/* Until end of file, @room bytes or @until; 0 at end of file, -ETIMEDOUT if it does not come, or another negative errno. */
static int read_until(int fd, char *text, size_t room, u64 until)
{
	struct pollfd p = { fd, POLLIN };
	size_t len = 0;
	ssize_t n;
	u64 now;

	*text = '\0';
	while (len + 1 < room && (now = ks_mono_ns()) < until) {
		if (poll(&p, 1, (until - now) / 1000000 + 1) <= 0)
			return -ETIMEDOUT;
		n = read(fd, text + len, room - len - 1);
		if (n <= 0)
			return n ? -errno : 0;
		len += n;
		text[len] = '\0';
	}
	return -ETIMEDOUT;
}

static void from_file(struct ks_workloads *w, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[16384];
	int error;

	if (fd < 0) {
		ks_workloads_fail(w, "%s", strerror(errno));
		return;
	}
	error = read_until(fd, text, sizeof(text), ks_mono_ns() + PATIENCE);
	if (error)
		ks_workloads_fail(w, "%s", error == -ETIMEDOUT ? "it does not end, or has more than 16 KiB" : strerror(-error));
	close(fd);
	add_text(w, text);
}

/* A process that has closed its output need not be over. Not reaped yet: its group's number stays its own. */
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

/* Its exit status, after what it has written; -1: it did not end in time, or was killed. */
static int outcome(pid_t pid, int out, char *text, size_t room)
{
	u64 until = ks_mono_ns() + PATIENCE;
	bool all = !read_until(out, text, room, until) && ends_until(pid, until);
	int status = 0;

	setpgid(pid, pid);
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return all && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a process group of its own, of which nothing is left when it or its time is over. */
static void from_command(struct ks_workloads *w, const char *command)
{
	char text[16384];
	int out[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC)) {
		ks_workloads_fail(w, "%s", strerror(errno));
		return;
	}
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		dup2(out[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(out[1]);
	status = pid > 0 ? outcome(pid, out[0], text, sizeof(text)) : -1;
	close(out[0]);
	if (status < 0)
		ks_workloads_fail(w, "it does not end well within %d s and 16 KiB", (int)(PATIENCE / NSEC));
	else if (status)
		ks_workloads_fail(w, "it ends with status %d", status);
	else
		add_text(w, text);
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
	const char *namespaces = after(source, "kubernetes", "");

	if (namespaces)
		return !strchr(namespaces, '/');
	return !strcmp(source, "slurm") || after(source, "file", NULL) || after(source, "command", NULL);
}

bool ks_workloads_is_dir(const char *source)
{
	const char *path = after(source, "file", NULL);
	struct stat st;

	return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Once, and again when there is another reason. */
static void say(struct ks_workloads *w, const char *source)
{
	if (!strcmp(w->why, w->said))
		return;
	if (w->known)
		ks_warn("--jobs %s: it answers again", source);
	else
		ks_warn("--jobs %s: %s", source, w->why);
	strcpy(w->said, w->why);
}

void ks_workloads_read(struct ks_workloads *w, const char *source)
{
	const char *arg;

	w->nr = 0;
	w->known = true;
	w->why[0] = '\0';
	if (!strcmp(source, "slurm"))
		ks_slurm_read(w);
	else if ((arg = after(source, "kubernetes", "")))
		ks_pods_read(w, arg);
	else if ((arg = after(source, "file", NULL)))
		from_file(w, arg);
	else if ((arg = after(source, "command", NULL)))
		from_command(w, arg);
	rank(w);
	say(w, source);
}

void ks_workloads_free(struct ks_workloads *w)
{
	free(w->job);
}
