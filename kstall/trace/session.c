// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "trace/gpulib.h"
#include "trace/notes.h"
#include "trace/ports.h"
#include "trace/probe.h"
#include "trace/session.h"
#include "trace/tracing.h"
#include "trace/user.h"

/* Those of libtracefs, of the guardian, of /proc; the standard ones. */
#define FILES_ELSE 24

volatile sig_atomic_t ks_interrupted;

/* What is left of it when the program ends early: events that nobody reads would slow the node. */
static struct ks_session *unended;
static pid_t owner;	/* its children leave it alone */

static void end_at_exit(void)
{
	if (unended && getpid() == owner) {
		ks_guard_close_others();
		ks_session_end(unended);
	}
}

static void interrupted(int sig)
{
	(void)sig;
	ks_interrupted = 1;
}

static void on_end(void (*handler)(int))
{
	static const int ends[] = { SIGINT, SIGTERM, SIGPIPE, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (signal(ends[i], handler) == SIG_IGN && ends[i] == SIGHUP)	/* nohup */
			signal(SIGHUP, SIG_IGN);
	}
}

/* A file may not grow: write() says so. The command does not inherit a handler, as it would SIG_IGN. */
static void write_fails(int sig)
{
	(void)sig;
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

/* What the command gets as $KSTALL_MARKER: tracefs is closed to all but root. */
static char *marker_of(struct ks_session *s, bool is_root)
{
	if (is_root)
		return tracefs_instance_get_file(s->buffer[KS_JOB], "trace_marker");
	if (!ks_probes_see_null())
		ks_warn("the command's markers cannot be seen unless it runs as root (--as-root): no kprobe on write_null()");
	return NULL;
}

/* The command waits until its pid is known to the kernel, so that nothing of it is missed. */
static void start_child(struct ks_session *s, const struct ks_target *target)
{
	struct ks_user user;
	bool is_root = target->as_root || !ks_user_of_sudo(&user);
	char c, *marker = marker_of(s, is_root), **command = target->command;
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
	/* For a command that writes its markers where nobody else reads. */
	setenv("KSTALL_MARKER", marker ? marker : "/dev/null", 1);
	setrlimit(RLIMIT_NOFILE, &files);
	if (!is_root)
		ks_user_become(&user);
	if (read(go[0], &c, 1) == 1) {
		execvp(command[0], command);
		ks_warn("%s: %s", command[0], strerror(errno));
	}
	_exit(127);
}

const char *ks_session_system(const struct ks_session *s, const struct ks_type *t)
{
	return strcmp(t->system, "kstall") ? t->system : s->group;
}

/* Types of a system are beside each other in the table. */
const char *const *ks_session_systems(const struct ks_session *s)
{
	static const char *list[32] = { "ftrace" };
	size_t n = 1;

	for (size_t i = 0; i < ks_nr_types && n < ARRAY_SIZE(list) - 1; i++) {
		const char *system = ks_session_system(s, &ks_types[i]);

		if (!strcmp(system, "ftrace") || !strcmp(system, list[n - 1]) ||
		    !tracefs_event_file_exists(NULL, system, ks_types[i].family ? "" : ks_types[i].name, "enable"))
			continue;
		list[n++] = system;
	}
	list[n] = NULL;
	return list;
}

static int buffer_of(const struct ks_type *t)
{
	return t->whose == KS_EVERYBODYS ? KS_ALL : KS_JOB;
}

static void tell_unseen(void *priv, const char *layer, const char *event, const char *why)
{
	char text[320];

	ks_note(priv, ks_fmt(text, sizeof(text), "kstall unseen %s %s %s\n", layer, event, why));
}

/* Without these there is no answer, or a wrong one. */
static bool is_needed(const struct ks_type *t)
{
	return !strcmp(t->name, "sched_switch") || !strcmp(t->system, "raw_syscalls") ||
	       !strcmp(t->name, "call");
}

/* Returns 0, or why not. */
static int enable(struct ks_session *s, const struct ks_type *t)
{
	struct tracefs_instance *in = s->buffer[buffer_of(t)];
	const char *system = ks_session_system(s, t);

	if ((!t->filter || tracefs_event_file_write(in, system, t->name, "filter", t->filter) >= 0) &&
	    tracefs_event_file_write(in, system, t->name, "enable", "1") >= 0)
		return 0;
	if (is_needed(t))
		ks_die("the event %s:%s cannot be enabled: %s", t->system, t->name, strerror(errno));
	return errno;
}

/* ks_unseen() names what is not there. */
static void enable_all(struct ks_session *s, const struct ks_target *target, int *error)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		const struct ks_type *t = &ks_types[i];
		bool is_call = !strcmp(t->name, "call");

		if (!strcmp(t->system, "ftrace") || t->family || (is_call && !target->symbol) || ks_module_tells(t) ||
		    (t->only_with && access(t->only_with, F_OK)))
			continue;
		if (is_needed(t) || tracefs_event_file_exists(NULL, ks_session_system(s, t), t->name, "enable"))
			error[i] = enable(s, t);
	}
}

static void set_tracing(struct ks_session *s, const char *on)
{
	for (int b = 0; b < KS_BUFFERS; b++) {
		if (tracefs_instance_file_write(s->buffer[b], "tracing_on", on) < 0)
			ks_die("tracing_on: %s", strerror(errno));
	}
}

/* All at once: enabling each takes the kernel a while, and half of them would show half of what a thread does. */
static void begin(struct ks_session *s, const struct ks_target *target)
{
	int *error = ks_alloc(ks_nr_types * sizeof(*error));

	set_tracing(s, "0");
	enable_all(s, target, error);
	ks_gpu_enable(s);
	set_tracing(s, "1");
	for (size_t i = 0; i < ks_nr_types; i++) {
		const char *layer = ks_module_layer(ks_types[i].system);

		if (error[i])
			tell_unseen(s, layer ? layer : ks_types[i].system, ks_types[i].name, strerror(error[i]));
	}
	free(error);
}

static bool is_zero(const char *path)
{
	FILE *f = fopen(path, "r");
	bool zero = f && fgetc(f) == '0';

	if (f)
		fclose(f);
	return zero;
}

/* Why a probe that the kernel has taken does not fire. */
static const char *why_deaf(void)
{
	if (is_zero("/proc/sys/kernel/ftrace_enabled"))
		return "kernel.ftrace_enabled is 0";
	if (is_zero("/sys/kernel/debug/kprobes/enabled"))
		return "/sys/kernel/debug/kprobes/enabled is 0";
	return "the reason is not known";
}

/* The pid of a line of the file trace, "  COMM-PID   [CPU] ...", of which COMM may have anything in it. */
static int pid_of_line(const char *line)
{
	const char *cpu = strstr(line, " ["), *p = cpu;

	while (p && p > line && p[-1] != '-')
		p--;
	return p && p > line ? atoi(p) : -1;
}

/* One of them may not be there. */
static void set_probes(struct ks_session *s, const char *on)
{
	tracefs_event_file_write(s->buffer[KS_JOB], s->group, "step", "enable", on);
	tracefs_event_file_write(s->buffer[KS_JOB], s->group, "step_null", "enable", on);
}

static void write_null(const char *text)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ks_die("/dev/null: %s", strerror(errno));
	close(fd);
}

/*
 * A line of our own, followed from end to end: it arrives, under the pid that we think we have, and
 * the probes on markers see it. Else what is recorded would be another's, or nothing.
 */
static void check(struct ks_session *s)
{
	static const char text[] = "kstall probe";
	int wanted = ks_probes_see_markers() + ks_probes_see_null(), seen = 0;
	bool arrives = false;
	char *all, *save;

	set_probes(s, "1");
	ks_note(s, text);
	write_null(text);
	errno = 0;
	all = tracefs_instance_file_read(s->buffer[KS_JOB], "trace", NULL);
	if (!all && errno)
		ks_die("no tracing here: trace: %s", strerror(errno));
	for (char *line = all ? strtok_r(all, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (*line == '#' || !strstr(line, text))
			continue;
		if (strstr(line, " step: ") || strstr(line, " step_null: "))
			seen += pid_of_line(line) == getpid();
		else if (pid_of_line(line) == getpid())
			arrives = true;
		else
			ks_die("the kernel's tracing calls process %d what is %d here: run it in the host's PID namespace (--pid=host)",
			       pid_of_line(line), getpid());
	}
	free(all);
	if (!arrives)
		ks_die("a marker that was written to trace_marker does not arrive: tracing does not work here");
	if (seen < wanted)
		ks_die("the kernel takes a kprobe on markers, and it does not fire: %s", why_deaf());
	set_probes(s, "0");
	tracefs_instance_file_clear(s->buffer[KS_JOB], "trace");
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static void __attribute__((noreturn)) no_process(const struct ks_target *target)
{
	if (target->nr_pids)
		ks_die("no process %d", target->pids[0]);
	if (target->comm)
		ks_die("no process %s", target->comm);
	ks_die("no process in cgroup %s", target->cgroup);
}

/* One of several pids may be missing: the others are traced. */
static void check_pids(const struct ks_target *target)
{
	size_t gone = 0;

	for (size_t i = 0; i < target->nr_pids; i++)
		gone += is_gone(target->pids[i]);
	if (gone && gone == target->nr_pids && !target->comm && !target->cgroup && !target->command)
		no_process(target);
	for (size_t i = 0; gone && i < target->nr_pids; i++) {
		if (is_gone(target->pids[i]))
			ks_warn("no process %d", target->pids[i]);
	}
}

void ks_session_prepare(struct ks_session *s, const struct ks_target *target, int files_a_cpu)
{
	ks_need_tracing();
	check_pids(target);
	memset(s, 0, sizeof(*s));
	s->go = -1;
	s->cpus = sysconf(_SC_NPROCESSORS_CONF);
	allow_files((size_t)s->cpus * KS_BUFFERS * files_a_cpu + target->nr_pids + FILES_ELSE);
	on_end(interrupted);
	signal(SIGXFSZ, write_fails);
	ks_guard_sweep();
	ks_guard_begin(s->id);
	ks_group_name(s->group, s->id);
	unended = s;
	owner = getpid();
	atexit(end_at_exit);
	ks_buffers_make(s, target->buffer_kib);
	ks_probes_add(s->group, target);
	ks_probes_filter(s->buffer[KS_JOB], s->group);
	ks_probes_filter(s->buffer[KS_ALL], s->group);
	check(s);
	ks_gpu_find(s, target);
	/* Before libtracefs opens files that the command would inherit, and keep the buffers by. */
	if (target->command)
		start_child(s, target);
}

/* A number may be another process's by the time it is asked for again; this is this one's. */
static void hold_processes(struct ks_session *s, const struct ks_target *target)
{
	s->process = ks_alloc(target->nr_pids * sizeof(*s->process));
	for (size_t i = 0; i < target->nr_pids; i++, s->nr_process++) {
		int fd = syscall(SYS_pidfd_open, target->pids[i], 0);

		if (fd < 0 && errno != ESRCH)
			ks_die("process %d: %s", target->pids[i],
			       errno == EINVAL || errno == ENOENT ? "it is a thread of another" : strerror(errno));
		s->process[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
}

void ks_session_start(struct ks_session *s, const struct ks_target *target)
{
	hold_processes(s, target);
	if (!ks_follow(s, target))
		no_process(target);
	ks_note_names(s, target);
	begin(s, target);
	if (ks_probes_see_markers())
		ks_note(s, "kstall probe\n");
	ks_note_states(s, target);
	ks_unseen(tell_unseen, s);
	ks_gpu_note(s);
	ks_ports_find(s);
	if (s->go >= 0) {
		if (write(s->go, "", 1) != 1)
			ks_die("the command has gone: %s", strerror(errno));
		close(s->go);
	}
}

/* Of a process that has ended the file is readable; of none, -1, poll() says nothing. */
static bool all_gone(struct ks_session *s, const struct ks_target *target)
{
	if (!s->nr_process || target->cgroup || target->comm)
		return false;
	poll(s->process, s->nr_process, 0);
	for (size_t i = 0; i < s->nr_process; i++) {
		if (s->process[i].fd >= 0 && !s->process[i].revents)
			return false;
	}
	return true;
}

static void child_ended(struct ks_session *s, int status)
{
	s->child_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	s->child = 0;
}

bool ks_session_over(struct ks_session *s, const struct ks_target *target)
{
	int status;

	if (!s->child)
		return all_gone(s, target);
	if (waitpid(s->child, &status, WNOHANG) != s->child)
		return false;
	child_ended(s, status);
	return true;
}

int ks_session_status(struct ks_session *s)
{
	int status;

	if (s->child && !waitpid(s->child, &status, WNOHANG)) {
		ks_warn("the command goes on without being traced, and kstall waits for its end");
		on_end(SIG_DFL);
		waitpid(s->child, &status, 0);
	}
	if (s->child)
		child_ended(s, status);
	return s->child_status;
}

void ks_session_stop(struct ks_session *s)
{
	ks_ports_look(s, true);
	/* All at once, as disabling one after the other takes a while: the last ones would be recorded without the first. */
	for (int b = 0; b < KS_BUFFERS; b++)
		tracefs_trace_off(s->buffer[b]);
	for (int b = 0; b < KS_BUFFERS; b++)
		tracefs_event_disable(s->buffer[b], NULL, NULL);
}

void ks_session_end(struct ks_session *s)
{
	unended = NULL;
	for (int b = 0; b < KS_BUFFERS; b++) {
		tracefs_instance_free(s->buffer[b]);
		s->buffer[b] = NULL;
	}
	while (s->nr_process)
		close(s->process[--s->nr_process].fd);
	free(s->process);
	ks_gpu_end(s);
	ks_ports_end(s);
	ks_guard_end(s->id);
}
