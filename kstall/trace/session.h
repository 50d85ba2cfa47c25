/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing of a job, in two ring buffers of our own so that nobody else's tracing is disturbed:
 * "job" has what its threads do (the scheduler's events, system calls, markers), limited to them
 * by the kernel; "all" has what goes on elsewhere: kstall's events, whoever's they are.
 */
#ifndef KSTALL_SESSION_H
#define KSTALL_SESSION_H

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
};

/*
 * The buffers and what they need; nothing is traced yet. @files_a_cpu: how many files the caller
 * opens for a CPU of a buffer. What cannot work here ends the program with one line.
 */
void ks_session_prepare(struct ks_session *s, const struct ks_target *target, int files_a_cpu);

/* The job's threads are found and told of, and off it goes. */
void ks_session_start(struct ks_session *s, const struct ks_target *target);

/* Is the command over (its status is in child_status), are the processes gone? */
bool ks_session_over(struct ks_session *s, const struct ks_target *target);

/* The system of an event of this type in tracefs: our own events are in the session's group. */
const char *ks_session_system(const struct ks_session *s, const struct ks_type *t);

/* No more events. The buffers can still be read. */
void ks_session_stop(struct ks_session *s);
void ks_session_end(struct ks_session *s);

/* Ctrl-C, SIGTERM, a terminal that hangs up and a pipe that nobody reads set this. */
extern volatile int ks_interrupted;

/* job.c: write every thread of the job to @fn, which gets tid and tgid. */
void ks_job_threads(const struct ks_target *target, pid_t child, void (*fn)(void *, pid_t, pid_t),
		    void *priv);

#endif
