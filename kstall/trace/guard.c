// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracefs.h>

#include "trace/guard.h"

static const char *const kinds[KS_BUFFERS] = { [KS_ALL] = "all", [KS_JOB] = "job" };
static int lock = -1, guardian = -1;	/* the guardian reads the other end of a pipe */
static pid_t guardian_pid;

char *ks_buffer_name(char *buf, const char *id, int buffer)
{
	return ks_fmt(buf, KS_NAME, "kstall-%s-%s", id, kinds[buffer]);
}

char *ks_group_name(char *buf, const char *id)
{
	return ks_fmt(buf, KS_NAME, "kstall_%s", id);
}

bool ks_is_group(const char *system)
{
	return !strncmp(system, "kstall_", 7) && strlen(system) == 7 + KS_ID - 1 &&
	       strspn(system + 7, "0123456789abcdef") == KS_ID - 1;
}

/* The directory of a buffer; to be freed with tracefs_put_tracing_file(). */
static char *buffer_dir(const char *id, int buffer)
{
	char name[KS_NAME], path[KS_NAME + 16];

	ks_buffer_name(name, id, buffer);
	return tracefs_get_tracing_file(ks_fmt(path, sizeof(path), "instances/%s", name));
}

/* Returns the file that has the lock, or -1: somebody else has it, or the buffer is gone. */
static int take_lock(const char *id)
{
	char *dir = buffer_dir(id, KS_JOB);
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat locked, now;

	/* The process that had the lock before may have removed the file, and another one made it again. */
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &locked) || stat(dir, &now) ||
			locked.st_ino != now.st_ino)) {
		close(fd);
		fd = -1;
	}
	tracefs_put_tracing_file(dir);
	return fd;
}

static bool has_buffer(const char *id, int buffer)
{
	char *dir = buffer_dir(id, buffer);
	bool yes = dir && !access(dir, F_OK);

	tracefs_put_tracing_file(dir);
	return yes;
}

static struct tracefs_instance *find_buffer(const char *id, int buffer)
{
	char name[KS_NAME];

	return has_buffer(id, buffer) ?
		tracefs_instance_alloc(NULL, ks_buffer_name(name, id, buffer)) : NULL;
}

/* @file: kprobe_events or uprobe_events. An event that another tracer has enabled stays: EBUSY. */
static void remove_events(const char *id, const char *file)
{
	char *all = tracefs_instance_file_read(NULL, file, NULL), *save, group[KS_NAME];

	ks_group_name(group, id);
	for (char *line = all ? strtok_r(all, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char event[128], text[160];

		if (sscanf(line, "%*[^:]:%127s", event) != 1 ||
		    strncmp(event, group, strlen(group)) || event[strlen(group)] != '/')
			continue;
		tracefs_instance_file_append(NULL, file,
					     ks_fmt(text, sizeof(text), "-:%s\n", event));
	}
	free(all);
}

/* The lock goes last. False: somebody has a file of it open; what it costs is gone all the same. */
static bool remove_all(const char *id)
{
	struct tracefs_instance *in[KS_BUFFERS];
	bool gone = true;

	for (int b = 0; b < KS_BUFFERS; b++) {
		in[b] = find_buffer(id, b);
		if (in[b])
			tracefs_event_disable(in[b], NULL, NULL);
	}
	remove_events(id, "uprobe_events");
	remove_events(id, "kprobe_events");
	for (int b = 0; b < KS_BUFFERS; b++) {
		if (!in[b])
			continue;
		if (tracefs_instance_destroy(in[b])) {
			tracefs_instance_set_buffer_size(in[b], 1, -1);
			gone = false;
		}
		tracefs_instance_free(in[b]);
	}
	return gone;
}

static bool has_events(const char *id)
{
	char group[KS_NAME];

	return tracefs_event_file_exists(NULL, ks_group_name(group, id), "", "enable");
}

/* The buffer with the lock is made first and goes last: without it there is no owner either. */
static void sweep_one(const char *id)
{
	int fd = take_lock(id);

	if (fd < 0 && (has_buffer(id, KS_JOB) || (!has_buffer(id, KS_ALL) && !has_events(id))))
		return;
	if (remove_all(id) && !has_events(id))
		ks_warn("session %s had no owner any more: removed", id);
	if (fd >= 0)
		close(fd);
}

static void sweep_buffer(const char *name)
{
	char id[KS_ID], kind[4];
	int end = 0;

	if (sscanf(name, "kstall-%8[0-9a-f]-%3[a-z]%n", id, kind, &end) == 2 &&
	    strlen(id) == KS_ID - 1 && !name[end])
		sweep_one(id);
}

static void sweep_group(const char *name)
{
	if (ks_is_group(name))
		sweep_one(name + strlen("kstall_"));
}

static void each_name(const char *dir, void (*fn)(const char *name))
{
	char *path = tracefs_get_tracing_file(dir);
	DIR *d = path ? opendir(path) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		fn(e->d_name);
	if (d)
		closedir(d);
	tracefs_put_tracing_file(path);
}

void ks_guard_sweep(void)
{
	each_name("instances", sweep_buffer);
	each_name("events", sweep_group);
}

/* Has this process a file open in a directory that begins so? The guardian has the directory itself. */
static bool holds(const char *pid, const char *dir)
{
	char path[300], link[4096];
	DIR *fds = opendir(ks_fmt(path, sizeof(path), "/proc/%s/fd", pid));
	bool found = false;
	struct dirent *f;

	while (fds && !found && (f = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), f->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		found = !strncmp(link, dir, strlen(dir)) && strchr(link + strlen(dir), '/');
	}
	if (fds)
		closedir(fds);
	return found;
}

/* The PID of a process with a file of the session open; false: none is found. */
static bool find_holder(const char *id, char *buf, size_t size)
{
	char begin[KS_NAME + 16], *path;
	DIR *proc = opendir("/proc");
	bool found = false;
	struct dirent *p;

	path = tracefs_get_tracing_file(ks_fmt(begin, sizeof(begin), "instances/kstall-%s-", id));
	while (proc && path && !found && (p = readdir(proc))) {
		found = atoi(p->d_name) > 0 && atoi(p->d_name) != getpid() &&
			holds(p->d_name, path);
		if (found)
			ks_fmt(buf, size, "%s", p->d_name);
	}
	if (proc)
		closedir(proc);
	tracefs_put_tracing_file(path);
	return found;
}

static void __attribute__((noreturn)) guard(const char *id, int pipe)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };
	int null = open("/dev/null", O_RDWR);
	ssize_t n;
	char c;

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	prctl(PR_SET_NAME, "kstall-guard");
	/* A reader of kstall's output waits until nobody has it open. */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	guardian = pipe;
	ks_guard_close_others();
	do {
		n = read(pipe, &c, 1);
	} while (n < 0 && errno == EINTR);
	while (n != 1 && !remove_all(id))
		sleep(1);
	_exit(0);
}

static void start_guardian(const char *id)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		ks_die("pipe: %s", strerror(errno));
	fflush(NULL);
	guardian_pid = fork();
	if (guardian_pid < 0)
		ks_die("fork: %s", strerror(errno));
	if (!guardian_pid) {
		close(fds[1]);
		guard(id, fds[0]);
	}
	close(fds[0]);
	guardian = fds[1];
}

void ks_guard_begin(char id[KS_ID])
{
	for (int i = 0; lock < 0 && i < 100; i++) {
		char *dir;
		u32 nr;

		if (getrandom(&nr, sizeof(nr), 0) != sizeof(nr))
			ks_die("getrandom: %s", strerror(errno));
		ks_fmt(id, KS_ID, "%08x", nr);
		dir = buffer_dir(id, KS_JOB);
		if (!dir || (mkdir(dir, 0750) && errno != EEXIST))
			ks_die("no tracing here: %s", strerror(errno));
		tracefs_put_tracing_file(dir);
		lock = take_lock(id);
	}
	if (lock < 0)
		ks_die("no tracing here: a buffer cannot be locked: %s", strerror(errno));
	start_guardian(id);
}

void ks_guard_close_others(void)
{
	int low = lock < guardian ? lock : guardian, high = lock < guardian ? guardian : lock;

	if (low < 0) {
		closefrom(STDERR_FILENO + 1);
		return;
	}
	if (low > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

void ks_guard_end(const char *id)
{
	bool gone = remove_all(id);
	char holder[300];

	if (!gone && find_holder(id, holder, sizeof(holder)))
		ks_warn("process %s still has the trace_marker of session %s open: the buffer is removed when it closes it",
			holder, id);
	if (has_events(id))
		ks_warn("another tracer has events of session %s enabled: the next kstall removes them when nobody has",
			id);
	/* The end of the pipe without a byte in it is what it takes for our death. */
	if (gone && write(guardian, "", 1) != 1)
		ks_warn("the guardian has gone: %s", strerror(errno));
	close(guardian);
	if (gone)
		waitpid(guardian_pid, NULL, 0);
	close(lock);
	lock = guardian = -1;
}
