/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The partition engine. Events go in, in order of time; steps come out with their parts. It knows
 * neither files nor ring buffers.
 *
 * A thread's time is a list of segments without a gap. sched_switch and its like make them,
 * intervals that end are carved into them (who comes first, wins: what is inside ends first),
 * and when nothing that is to come can reach back to them, at the thread's next system call,
 * they are added to its steps and forgotten.
 */
#ifndef KSTALL_ENGINE_H
#define KSTALL_ENGINE_H

#include "engine/event.h"
#include "engine/part.h"

#define KS_COMM 16

/* Something that was done elsewhere, and what its time was spent with. */
struct ks_phase {
	u64 begin, end;
	u32 name;
};

#define KS_MAX_PHASES 8

struct ks_done {
	u64 ts;
	s32 pid, tgid;		/* for whom */
	s32 ctx_pid;		/* where it was told */
	u8 irq;
	u8 layer;
	u8 nr;
	u32 culprit;
	u64 flow;
	u64 id[2];		/* ring and user_data, for requests and their block requests */
	struct ks_phase phase[KS_MAX_PHASES];
};

/* What a system call does, if that is known; layer KS_NONE if it is not. */
struct ks_call {
	u8 layer;
	u32 phase;
	u32 culprit;
};

/* A file of a process whose calls are told apart. */
struct ks_open {
	s32 tgid;
	u8 layer;
	u32 path;
	u64 fd;
};

struct ks_seg {
	u64 begin, end;
	struct ks_what what;
	s16 syscall;		/* -1: in user mode or not known */
	struct ks_call call;
	u8 uninterruptible;
	u8 first;		/* the first segment of a spell: it is counted */
	u64 flow;		/* number of what it waited for */
	struct ks_done *done;	/* what was done elsewhere before this sleep was ended */
};

struct ks_step {
	struct ks_step *next;	/* of the thread */
	u64 begin, end;
	u64 serial;
	char id[48];
	char kind[16];
	char attributes[160];
	s32 pid, tid;
	char comm[KS_COMM];
	u64 lost;
	bool ended;
	struct ks_parts parts;
};

struct ks_thread {
	struct ks_thread *next;	/* in its hash bucket */
	s32 tid, tgid;
	char comm[KS_COMM];
	bool in_job, dead;
	u64 born;		/* 0: before the recording */
	u64 ready;		/* all of the thread's time before this has been added up */
	/* what it does now */
	u8 state;
	u8 uninterruptible;
	s16 syscall;
	struct ks_call call;
	u64 since;
	u64 call_begin;		/* of the system call */
	bool first;
	u32 instead;		/* who runs instead */
	u64 throttle_rq;
	/* what it did */
	struct ks_seg *seg;
	size_t nr, room;
	struct ks_step *steps;
	u64 track;		/* for who draws it */
	u64 last_call;		/* of the function that makes steps */
	/* requests of a kernel thread, for whom it wakes up */
	struct ks_done *recent;
	u32 recent_nr;
};

#define KS_THREAD_BUCKETS 16384
#define KS_CONTEXT 4

struct ks_context {
	struct ks_done done[KS_CONTEXT];
	u32 next;
};

/* Queues that are throttled now: the last so many. */
#define KS_THROTTLED 64

struct ks_throttled {
	u64 rq;
	int cpu;
};

struct ks_scope {
	const s32 *pids;
	size_t nr_pids;
	const char *comm;
};

struct ks_unseen {
	char layer[32], event[64], why[160];
};

enum ks_steps_by { KS_BY_AUTO, KS_BY_MARKER, KS_BY_NCCL, KS_BY_CALL, KS_BY_EVERY, KS_BY_ALL };

struct ks_engine {
	/* set by the caller */
	enum ks_steps_by by;
	u64 every;
	struct ks_scope scope;
	void (*step_done)(struct ks_engine *e, struct ks_step *s);	/* which frees it */
	/* optional: every thread's time, and what goes on elsewhere */
	void (*segment)(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s);
	void (*elsewhere)(struct ks_engine *e, const char *track, const char *name, u64 begin,
			  u64 end, u64 flow);
	void (*counted)(struct ks_engine *e, const char *name, s64 value);
	void *priv;

	u64 begin, now;
	u64 events;
	u64 lost;		/* events */
	u64 lost_until;		/* a step that begins before this is not exact */
	u64 lost_there;		/* how many it lacks */
	u64 late;		/* intervals that came too late to be laid where they belong */
	u64 unmatched;		/* markers */
	u64 serial;
	u64 flows;
	u64 window;		/* begin of the current one */
	bool has_tasks;		/* the recording says which tasks are the job */
	bool marks_by_probe;
	bool markers, calls;	/* have been seen */
	struct ks_thread *threads[KS_THREAD_BUCKETS];
	size_t nr_threads;
	struct ks_context *context;	/* by CPU */
	size_t nr_context;
	struct ks_unseen *unseen;
	size_t nr_unseen, room_unseen;
	struct ks_job *jobs;	/* of GPUs */
	struct ks_throttled throttled[KS_THROTTLED];
	size_t nr_throttled;
	struct ks_open *open;
	size_t nr_open, room_open;
};

void ks_engine_init(struct ks_engine *e);
void ks_engine_feed(struct ks_engine *e, const struct ks_event *ev);

/* @nr events are missing between @from and @to (0: not known how many, 1 is taken). */
void ks_engine_lost(struct ks_engine *e, u64 from, u64 to, u64 nr);

/* Everything is over at @end, or at the last event. */
void ks_engine_finish(struct ks_engine *e, u64 end);
void ks_engine_free(struct ks_engine *e);

/* thread.c */
struct ks_thread *ks_thread_find(struct ks_engine *e, s32 tid);
struct ks_thread *ks_thread_get(struct ks_engine *e, s32 tid);
void ks_thread_join(struct ks_engine *e, struct ks_thread *t);
void ks_thread_enter(struct ks_engine *e, struct ks_thread *t, u64 ts, enum ks_state state);
void ks_thread_fold(struct ks_engine *e, struct ks_thread *t, u64 until);
void ks_thread_end(struct ks_engine *e, struct ks_thread *t, u64 ts);
void ks_threads_free(struct ks_engine *e);

/* carve.c */
void ks_carve(struct ks_engine *e, struct ks_thread *t, u64 begin, u64 end, u32 states,
	      struct ks_what what);
void ks_carve_done(struct ks_engine *e, struct ks_thread *t, u64 begin, u64 end,
		   const struct ks_done *d, u8 layer, u32 culprit);
u64 ks_asleep_since(const struct ks_thread *t, u64 from, u64 ns);
void ks_resolve(struct ks_engine *e, struct ks_thread *t, u64 until);
size_t ks_split(struct ks_thread *t, size_t i, u64 at);

/* step.c */
void ks_step_windows(struct ks_engine *e, u64 ts);
void ks_steps_join(struct ks_engine *e, struct ks_thread *t);
void ks_steps_overdue(struct ks_engine *e);
void ks_steps_lost(struct ks_engine *e, u64 from, u64 to, u64 nr);
void ks_step_free(struct ks_step *s);
void ks_steps_add(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s);
void ks_steps_ready(struct ks_engine *e, struct ks_thread *t);
void ks_steps_drop(struct ks_engine *e, struct ks_thread *t);

/* Handlers of events, for the table in events.c. */
void ks_on_switch(struct ks_engine *e, const struct ks_event *ev);
void ks_on_waking(struct ks_engine *e, const struct ks_event *ev);
void ks_on_wakeup(struct ks_engine *e, const struct ks_event *ev);
void ks_on_newtask(struct ks_engine *e, const struct ks_event *ev);
void ks_on_exec(struct ks_engine *e, const struct ks_event *ev);
void ks_on_exit(struct ks_engine *e, const struct ks_event *ev);
void ks_on_sys_enter(struct ks_engine *e, const struct ks_event *ev);
void ks_on_sys_exit(struct ks_engine *e, const struct ks_event *ev);
void ks_on_throttle(struct ks_engine *e, const struct ks_event *ev);
void ks_on_throttle_rq(struct ks_engine *e, const struct ks_event *ev);
void ks_on_throttle_self(struct ks_engine *e, const struct ks_event *ev);
void ks_on_unthrottle(struct ks_engine *e, const struct ks_event *ev);
void ks_on_print(struct ks_engine *e, const struct ks_event *ev);
void ks_on_mark(struct ks_engine *e, const struct ks_event *ev);
void ks_on_call(struct ks_engine *e, const struct ks_event *ev);
void ks_on_own(struct ks_engine *e, const struct ks_event *ev);
void ks_on_fence_wait(struct ks_engine *e, const struct ks_event *ev);
void ks_on_submit_block(struct ks_engine *e, const struct ks_event *ev);
void ks_on_job_dispatch(struct ks_engine *e, const struct ks_event *ev);
void ks_on_job_complete(struct ks_engine *e, const struct ks_event *ev);
void ks_on_dep_wait(struct ks_engine *e, const struct ks_event *ev);
void ks_on_req_done(struct ks_engine *e, const struct ks_event *ev);
void ks_on_block_rq(struct ks_engine *e, const struct ks_event *ev);
void ks_on_comp_channel(struct ks_engine *e, const struct ks_event *ev);
void ks_on_wr_latency(struct ks_engine *e, const struct ks_event *ev);

/* done.c: what was done elsewhere, and whom that has woken up */
void ks_done_note(struct ks_engine *e, const struct ks_event *ev, struct ks_done *d);
struct ks_done *ks_done_for(struct ks_engine *e, const struct ks_event *ev,
			    const struct ks_thread *t);

/* call.c: what a system call does */
void ks_call_enter(struct ks_engine *e, struct ks_thread *t, const struct ks_event *ev);
void ks_call_forget(struct ks_engine *e, s32 tgid);
void ks_call_note(struct ks_engine *e, const char *text);
u8 ks_call_layer(const char *path);

/* syscalls.c, generated */
const char *ks_syscall_name(int nr);
bool ks_syscall_sleeps(int nr);
bool ks_syscall_is(int nr, const char *name);

#endif
