/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing of a job, in two ring buffers of our own so that nobody else's tracing is disturbed:
 * "job" has what its threads do (the scheduler's events, system calls, markers, kstall's events of
 * their own time), limited to them by the kernel; "all" has what others do for them.
 */
#ifndef KSTALL_SESSION_H
#define KSTALL_SESSION_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <tracefs.h>

#include "engine/event.h"
#include "trace/guard.h"
#include "trace/target.h"

struct ks_session {
	char id[KS_ID], group[KS_NAME];
	struct tracefs_instance *buffer[KS_BUFFERS];
	int cpus;
	pid_t child;
	int go;			/* a pipe: the child runs the command when this is closed */
	int child_status;
	struct pollfd *process;	/* pidfds of the target's pids */
	size_t nr_process;
	struct ks_name *name;	/* the job's threads when events began */
	size_t nr_name, room_name;
	struct ks_gpu *gpu;	/* NULL: calls of its library are not asked for */
	struct ks_ports *ports;	/* of RDMA devices */
};

/*
 * The buffers and what they need, and the command, which waits; nothing is traced yet. @files_a_cpu: how many files the caller
 * opens for a CPU of a buffer. What cannot work here ends the program with one line.
 */
void ks_session_prepare(struct ks_session *s, const struct ks_target *target, int files_a_cpu);

/* The job's threads are found and noted, and off it goes. What reads the buffers has them open before. */
void ks_session_start(struct ks_session *s, const struct ks_target *target);

/* Is the command over (its status is in child_status), are the processes gone? */
bool ks_session_over(struct ks_session *s, const struct ks_target *target);

/* The system of an event of this type in tracefs: our own events are in the session's group. */
const char *ks_session_system(const struct ks_session *s, const struct ks_type *t);

/* All systems that are there; "ftrace" is the first, NULL the last. */
const char *const *ks_session_systems(const struct ks_session *s);

/* No more events. The buffers can still be read. */
void ks_session_stop(struct ks_session *s);
void ks_session_end(struct ks_session *s);

/* The command's exit status, after its end, which is waited for: it may outlive the session. 0 without a command. */
int ks_session_status(struct ks_session *s);

/* Ctrl-C, SIGTERM, a terminal that hangs up and a pipe that nobody reads set this. */
extern volatile sig_atomic_t ks_interrupted;

/* job.c: write every thread of the job to @fn, which gets tid and tgid. */
void ks_job_threads(const struct ks_target *target, pid_t child, void (*fn)(void *, pid_t, pid_t),
		    void *priv);

/* follow.c: from here on the kernel follows the job's threads, and what they start. False: there are none. */
bool ks_follow(struct ks_session *s, const struct ks_target *target);

/* ... and which processes it follows now */
void ks_followed(struct ks_session *s, void (*fn)(void *priv, pid_t pid), void *priv);

/* buffers.c: @kib_a_cpu 0: what this node can do without. */
void ks_buffers_make(struct ks_session *s, size_t kib_a_cpu);

/* What libtracefs has returned, @n: bytes, or 0 if there are none now. An error ends the program. */
int ks_buffer_read(int cpu, int n);

#endif
