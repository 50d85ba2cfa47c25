// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "trace/probe.h"
#include "trace/session.h"

/* Those of libtracefs, of the guardian, of /proc; the standard ones. */
#define FILES_ELSE 24

volatile int ks_interrupted;

/* What is left of it when the program ends early: events that nobody reads would slow the node. */
static struct ks_session *unended;

static void end_at_exit(void)
{
	if (unended) {
		ks_guard_close_others();
		ks_session_end(unended);
	}
}

static void interrupted(int sig)
{
	(void)sig;
	ks_interrupted = 1;
}

static struct rlimit files;	/* what the command gets back */

/* What grows with the CPUs must not end at a limit that is there for select(). */
static void allow_files(size_t wanted)
{
	struct rlimit all;

	if (getrlimit(RLIMIT_NOFILE, &files))
		ks_die("getrlimit: %s", strerror(errno));
	all = files;
	all.rlim_cur = all.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &all) && all.rlim_cur >= wanted)
		return;
	ks_die("%zu open files are needed for %ld CPUs, and the limit is %llu (ulimit -Hn)", wanted,
	       sysconf(_SC_NPROCESSORS_CONF), (unsigned long long)all.rlim_cur);
}

/* The command waits until its pid is known to the kernel, so that nothing of it is missed. */
static void start_child(struct ks_session *s, char **command)
{
	char c, *marker = tracefs_instance_get_file(s->buffer[KS_JOB], "trace_marker");
	int go[2];

	if (pipe2(go, O_CLOEXEC))
		ks_die("pipe: %s", strerror(errno));
	fflush(stdout);
	s->child = fork();
	if (s->child < 0)
		ks_die("fork: %s", strerror(errno));
	if (s->child) {
		close(go[0]);
		tracefs_put_tracing_file(marker);
		s->go = go[1];
		return;
	}
	close(go[1]);
	/* For who wants to write a marker where nobody else reads. */
	setenv("KSTALL_MARKER", marker, 1);
	setrlimit(RLIMIT_NOFILE, &files);
	if (read(go[0], &c, 1) == 1) {
		execvp(command[0], command);
		ks_warn("%s: %s", command[0], strerror(errno));
	}
	_exit(127);
}

static void make_buffer(struct ks_session *s, int b, size_t kib)
{
	struct tracefs_instance *in;
	char name[KS_NAME];

	in = tracefs_instance_create(ks_buffer_name(name, s->id, b));
	if (!in)
		ks_die("no buffer %s: %s", name, strerror(errno));
	s->buffer[b] = in;
	/* Not before, or what the size costs would be allocated twice. */
	if (tracefs_instance_set_buffer_size(in, kib, -1))
		ks_warn("buffers of %zu KiB are not to be had: %s", kib, strerror(errno));
	if (tracefs_instance_file_write(in, "trace_clock", "mono") < 0)
		ks_die("trace_clock: %s", strerror(errno));
}

const char *ks_session_system(const struct ks_session *s, const struct ks_type *t)
{
	return strcmp(t->system, "kstall") ? t->system : s->group;
}

/* Where another's time is looked for, and where only the job's own. */
static int buffer_of(const struct ks_type *t)
{
	if (!strcmp(t->name, "unthrottle") || !strcmp(t->name, "throttle_rq"))
		return KS_ALL;
	return t->fields[1] && !strcmp(t->fields[1], "tgid") ? KS_ALL : KS_JOB;
}

static void enable(struct ks_session *s)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		const struct ks_type *t = &ks_types[i];
		const char *system = ks_session_system(s, t);

		if (strcmp(system, "ftrace") && tracefs_event_file_exists(NULL, system, t->name, "enable"))
			tracefs_event_enable(s->buffer[buffer_of(t)], system, t->name);
	}
}

static void follow(void *priv, pid_t tid, pid_t tgid)
{
	struct ks_session *s = priv;
	char text[32];

	(void)tgid;
	tracefs_instance_file_append(s->buffer[KS_JOB], "set_event_pid",
				     ks_fmt(text, sizeof(text), "%d ", tid));
}

/* Into our own buffer, so that it goes where the events go. */
static void note(struct ks_session *s, const char *text)
{
	tracefs_instance_file_append(s->buffer[KS_JOB], "trace_marker", text);
}

static bool read_proc(char *buf, size_t size, pid_t tid, const char *file)
{
	char path[64];
	int fd = open(ks_fmt(path, sizeof(path), "/proc/%d/%s", tid, file), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* What it does, for the time until its first event. */
static void tell(void *priv, pid_t tid, pid_t tgid)
{
	char stat[512], call[64], text[160], *comm, *end;

	if (!read_proc(stat, sizeof(stat), tid, "stat"))
		return;
	comm = strchr(stat, '(');
	end = strrchr(stat, ')');
	if (!comm || !end || strlen(end) < 3)
		return;
	*end = '\0';
	if (!read_proc(call, sizeof(call), tid, "syscall") || sscanf(call, "%15s", call) != 1 ||
	    *call == 'r')
		strcpy(call, "-1");
	note(priv, ks_fmt(text, sizeof(text), "kstall task %d %d %c %s %s\n", tid, tgid, end[2],
			  call, comm + 1));
}

/* Why a probe that the kernel has taken does not fire. */
static const char *why_deaf(void)
{
	int ftrace = 1;
	FILE *f = fopen("/proc/sys/kernel/ftrace_enabled", "r");

	if (f) {
		if (fscanf(f, "%d", &ftrace) != 1)
			ftrace = 1;
		fclose(f);
	}
	return ftrace ? "see /sys/kernel/debug/kprobes/enabled" : "kernel.ftrace_enabled is 0";
}

/* The pid of a line of the file trace, "  COMM-PID   [CPU] ...", of which COMM may have anything in it. */
static int pid_of_line(const char *line)
{
	const char *cpu = strstr(line, " ["), *p = cpu;

	while (p && p > line && p[-1] != '-')
		p--;
	return p && p > line ? atoi(p) : -1;
}

/*
 * A line of our own, followed from end to end: it arrives, under the pid that we think we have, and
 * the probe on markers sees it. Else what is recorded would be another's, or nothing.
 */
static void check(struct ks_session *s)
{
	static const char text[] = "kstall probe";
	bool arrives = false, probe = false;
	char *all, *save;

	if (ks_probes_see_markers())
		tracefs_event_enable(s->buffer[KS_JOB], s->group, "step");
	note(s, text);
	all = tracefs_instance_file_read(s->buffer[KS_JOB], "trace", NULL);
	for (char *line = all ? strtok_r(all, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (*line == '#' || !strstr(line, text))
			continue;
		if (strstr(line, " step: "))
			probe |= pid_of_line(line) == getpid();
		else if (pid_of_line(line) == getpid())
			arrives = true;
		else
			ks_die("the kernel's tracing calls process %d what is %d here: run it in the host's PID namespace (--pid=host)",
			       pid_of_line(line), getpid());
	}
	free(all);
	if (!arrives)
		ks_die("a marker that was written to trace_marker does not arrive: tracing does not work here");
	if (ks_probes_see_markers() && !probe)
		ks_die("the kernel takes a kprobe on markers, and it does not fire: %s", why_deaf());
	tracefs_instance_file_clear(s->buffer[KS_JOB], "trace");
}

/* Files whose calls have names, opened before we came; what opens later is seen. */
static void tell_files(void *priv, pid_t tid, pid_t tgid)
{
	char path[64], link[300], to[128], text[200];
	struct dirent *entry;
	DIR *dir;

	if (tid != tgid)
		return;
	dir = opendir(ks_fmt(path, sizeof(path), "/proc/%d/fd", tgid));
	while (dir && (entry = readdir(dir))) {
		ssize_t n = readlink(ks_fmt(link, sizeof(link), "%s/%s", path, entry->d_name), to,
				     sizeof(to) - 1);

		to[n > 0 ? n : 0] = '\0';
		if (ks_call_layer(to))
			note(priv, ks_fmt(text, sizeof(text), "kstall fd %d %s %s\n", tgid,
					  entry->d_name, to));
	}
	if (dir)
		closedir(dir);
}

static void count(void *priv, pid_t tid, pid_t tgid)
{
	(void)tid;
	(void)tgid;
	++*(int *)priv;
}

static void tell_unseen(void *priv, const char *layer, const char *event, const char *why)
{
	char text[320];

	note(priv, ks_fmt(text, sizeof(text), "kstall unseen %s %s %s\n", layer, event, why));
}

void ks_session_prepare(struct ks_session *s, const struct ks_target *target, int files_a_cpu)
{
	size_t kib = target->buffer_kib ? target->buffer_kib : 8192;

	memset(s, 0, sizeof(*s));
	s->go = -1;
	s->cpus = sysconf(_SC_NPROCESSORS_CONF);
	allow_files((size_t)s->cpus * KS_BUFFERS * files_a_cpu + FILES_ELSE);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	signal(SIGPIPE, interrupted);
	if (signal(SIGHUP, interrupted) == SIG_IGN)	/* nohup */
		signal(SIGHUP, SIG_IGN);
	ks_guard_sweep();
	ks_guard_begin(s->id);
	ks_group_name(s->group, s->id);
	unended = s;
	atexit(end_at_exit);
	make_buffer(s, KS_JOB, kib);
	make_buffer(s, KS_ALL, kib);
	ks_probes_add(s->group, target);
	ks_probes_filter(s->buffer[KS_JOB], s->group);
	ks_probes_filter(s->buffer[KS_ALL], s->group);
	check(s);
}

void ks_session_start(struct ks_session *s, const struct ks_target *target)
{
	int found = 0;

	if (target->command)
		start_child(s, target->command);
	ks_job_threads(target, s->child, count, &found);
	if (!found) {
		ks_session_end(s);
		ks_die("no such process");
	}
	tracefs_instance_file_write(s->buffer[KS_JOB], "options/event-fork", "1");
	/* A thread that is born while we look is found the second time. */
	ks_job_threads(target, s->child, follow, s);
	ks_job_threads(target, s->child, follow, s);
	enable(s);
	if (ks_probes_see_markers())
		note(s, "kstall probe\n");
	ks_job_threads(target, s->child, tell, s);
	ks_job_threads(target, s->child, tell_files, s);
	ks_unseen(tell_unseen, s);
	if (s->go >= 0) {
		if (write(s->go, "", 1) != 1)
			ks_die("the command has gone: %s", strerror(errno));
		close(s->go);
	}
}

static bool all_gone(const struct ks_target *target)
{
	for (size_t i = 0; i < target->nr_pids; i++) {
		if (!kill(target->pids[i], 0) || errno != ESRCH)
			return false;
	}
	return target->nr_pids && !target->cgroup && !target->comm;
}

bool ks_session_over(struct ks_session *s, const struct ks_target *target)
{
	int status;

	if (!s->child)
		return all_gone(target);
	if (waitpid(s->child, &status, WNOHANG) != s->child)
		return false;
	s->child_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	s->child = 0;
	return true;
}

void ks_session_stop(struct ks_session *s)
{
	for (int b = 0; b < KS_BUFFERS; b++) {
		tracefs_event_disable(s->buffer[b], NULL, NULL);
		tracefs_trace_off(s->buffer[b]);
	}
}

void ks_session_end(struct ks_session *s)
{
	unended = NULL;
	for (int b = 0; b < KS_BUFFERS; b++) {
		tracefs_instance_free(s->buffer[b]);
		s->buffer[b] = NULL;
	}
	ks_guard_end(s->id);
}
