// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/event.h"
#include "trace/probe.h"
#include "trace/session.h"

volatile int ks_interrupted;

/* What is left of it when the program ends early: events that nobody reads would slow the node. */
static struct ks_session *unended;

static void end_at_exit(void)
{
	if (unended) {
		closefrom(STDERR_FILENO + 1);	/* a buffer that is open cannot be removed */
		ks_session_end(unended);
	}
	ks_probes_remove();
}

static void interrupted(int sig)
{
	(void)sig;
	ks_interrupted = 1;
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
	if (read(go[0], &c, 1) == 1) {
		execvp(command[0], command);
		ks_warn("%s: %s", command[0], strerror(errno));
	}
	_exit(127);
}

static void make_buffer(struct ks_session *s, int b, const char *what, size_t kib)
{
	struct tracefs_instance *in;
	char name[64];

	in = tracefs_instance_create(ks_fmt(name, sizeof(name), "kstall-%s-%d", what, getpid()));
	if (!in)
		ks_die("no tracing here: %s", geteuid() ? "it takes root" : strerror(errno));
	s->buffer[b] = in;
	/* Not before, or what the size costs would be allocated twice. */
	if (tracefs_instance_set_buffer_size(in, kib, -1))
		ks_warn("buffers of %zu KiB are not to be had: %s", kib, strerror(errno));
	if (tracefs_instance_file_write(in, "trace_clock", "mono") < 0)
		ks_die("trace_clock: %s", strerror(errno));
}

/* Of a kstall that was killed. The kernel refuses if another, of other pid namespaces, reads it. */
static void remove_stale(void)
{
	char **list = tracefs_instances("^kstall-[aj][lo][lb]-[0-9][0-9]*$");

	for (int i = 0; list && list[i]; i++) {
		struct tracefs_instance *in;

		if (!kill(atoi(strrchr(list[i], '-') + 1), 0) || errno != ESRCH)
			continue;
		in = tracefs_instance_alloc(NULL, list[i]);
		if (in && !tracefs_instance_destroy(in))
			ks_warn("%s was left by a kstall that was killed: removed", list[i]);
		tracefs_instance_free(in);
	}
	tracefs_list_free(list);
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

		if (strcmp(t->system, "ftrace") &&
		    tracefs_event_file_exists(NULL, t->system, t->name, "enable"))
			tracefs_event_enable(s->buffer[buffer_of(t)], t->system, t->name);
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

void ks_session_prepare(struct ks_session *s, const struct ks_target *target)
{
	size_t kib = target->buffer_kib ? target->buffer_kib : 8192;

	memset(s, 0, sizeof(*s));
	s->go = -1;
	s->cpus = sysconf(_SC_NPROCESSORS_CONF);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	signal(SIGPIPE, interrupted);
	if (signal(SIGHUP, interrupted) == SIG_IGN)	/* nohup */
		signal(SIGHUP, SIG_IGN);
	remove_stale();
	unended = s;
	atexit(end_at_exit);
	make_buffer(s, KS_ALL, "all", kib);
	make_buffer(s, KS_JOB, "job", kib);
	ks_probes_add(target);
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
	ks_probes_filter(s->buffer[KS_JOB]);
	ks_probes_filter(s->buffer[KS_ALL]);
	enable(s);
	if (ks_probes_see_markers())
		note(s, "kstall probe\n");
	ks_job_threads(target, s->child, tell, s);
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
		if (!s->buffer[b])
			continue;
		tracefs_event_disable(s->buffer[b], NULL, NULL);
		tracefs_instance_destroy(s->buffer[b]);
		tracefs_instance_free(s->buffer[b]);
		s->buffer[b] = NULL;
	}
	ks_probes_remove();
}
