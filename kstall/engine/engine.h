/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The partition engine. Events go in, in order of time; steps come out with their parts. It knows
 * neither files nor ring buffers.
 *
 * A thread's time is a list of segments without a gap. sched_switch and its like make them,
 * intervals that end are carved into them (the first one wins: what is inside ends first),
 * and when nothing that is to come can reach back to them, at the thread's next system call,
 * they are added to its steps and forgotten.
 */
#ifndef KSTALL_ENGINE_H
#define KSTALL_ENGINE_H

#include "engine/event.h"
#include "engine/part.h"

#define KS_COMM 46		/* 15 bytes, each of which may have become a U+FFFD */

/* Something that was done elsewhere, and what its time was spent with. */
struct ks_phase {
	u64 begin, end;
	u32 name;
	struct ks_culprit culprit;
};

#define KS_MAX_PHASES 8

struct ks_done {
	u64 ts;
	s32 pid, tgid;		/* of the thread that it is for */
	bool others;		/* another's request: it only splits what the thread itself has an event of */
	u8 layer;
	u8 nr;
	struct ks_culprit culprit;
	u64 flow;
	u64 id[2];		/* ring and user_data, for requests and their block requests */
	struct ks_phase phase[KS_MAX_PHASES];
};

/* What a system call does, if that is known; layer KS_NONE if it is not. */
struct ks_call {
	u8 layer;
	u32 phase;
	u32 culprit;		/* interned */
};

/* A call of the GPU's library, such as libcuda, that a thread is in. */
struct ks_gpu_call {
	struct ks_call what;	/* layer KS_NONE: it is in none */
	u32 name;		/* of the function, interned */
	u64 sp;			/* its stack when it called */
	u64 lost;		/* events, when it called */
};

/* A file of a process whose calls have names. */
struct ks_open {
	struct ks_open *next;	/* in the bucket of its process */
	s32 tgid;
	u8 layer;
	u32 path;
	u64 fd;
};

#define KS_OPEN_BUCKETS 1024

struct ks_thread;

#define KS_NO_CALL (-1)		/* in user mode, or it is not known */
#define KS_EXITING (-2)		/* between sched_process_exit and the last switch */

/* The task that ended a sleep. */
struct ks_waker {
	struct ks_thread *t;	/* NULL: an interrupt, or not known */
	/* As it was then. Its number may be another's by now. */
	u32 comm;		/* interned */
	bool followed;
	u64 born;
};

struct ks_seg {
	u64 begin, end;
	struct ks_what what;
	s16 syscall;		/* or KS_NO_CALL, KS_EXITING */
	struct ks_call call;
	struct ks_call gpu;	/* of the GPU's library: of what nothing inside it explains */
	u32 since;		/* a function of that which it had called, interned; 0: none, or it is known when it returns */
	u8 uninterruptible;
	u64 flow;		/* number of what it waited for */
	struct ks_done *done;	/* what was done elsewhere before this sleep was ended */
	struct ks_waker waker;
};

/*
 * Time goes to a step by what its thread had added up at its end, less what it had at its begin: as
 * many steps as one likes may be open at once.
 */
struct ks_step {
	struct ks_step *next, **prev;		/* of the thread, in order of begin */
	struct ks_step *next_ended;		/* of the thread, in order of end */
	struct ks_step *next_open, **prev_open;	/* of the thread, the last first */
	struct ks_step *next_own, **prev_own;	/* same thread, kind and ID, the last first */
	struct ks_step *next_any, **prev_any;	/* same process, kind and ID, the last first */
	struct ks_thread *owner;
	u64 begin, end;
	u64 serial;
	const char *kind;
	char id[48];
	char *attributes;	/* "" or allocated */
	s32 pid, tid;
	char comm[KS_COMM];
	u64 lost;
	bool begun, ended;
	struct ks_parts parts;
	u64 *before;		/* ns and count of the thread's parts at its begin */
	size_t nr_before;
	/* of a collective */
	struct ks_split *split;		/* its parts, which then are not its thread's; NULL: not known */
	struct ks_step *proxy;		/* the time of NCCL's proxy thread meanwhile, which is no step of its own */
	struct ks_step *collective;	/* of such a time: the collective, which may be over before; NULL: it is gone */
	bool waits;			/* only for @proxy */
};

/* What a thread has begun and not ended. */
struct ks_began {
	u64 begin;		/* 0: nothing */
	u64 value;		/* of what: a lock, a reason */
};

struct ks_thread {
	struct ks_thread *next;	/* in its hash bucket */
	s32 tid, tgid;
	char comm[KS_COMM];
	bool in_job;
	bool user;		/* it has made a system call */
	bool gone;		/* it has been switched away for the last time */
	bool guessed;		/* the recorder found it runnable: on a CPU, or waiting for one */
	bool recorded;		/* the recorder has noted it, or its parent */
	bool named;		/* ... before the first event, and has not said yet what it does */
	u64 born;		/* 0: before the recording */
	u64 ready;		/* all of the thread's time before this has been added up */
	u64 given;		/* end of the last step that was given out */
	/* what it does now */
	u8 state;
	u8 uninterruptible;
	s16 syscall;
	struct ks_call call;
	struct ks_gpu_call gpu;
	u32 gpu_since;		/* as in struct ks_seg */
	u64 since;
	u64 call_begin;		/* of the system call */
	u64 slept;		/* until then, the last time */
	struct ks_began span[KS_NR_SPANS];
	u32 lock_flags;		/* of the lock that it waits for */
	struct ks_what next_sleep;	/* its last event says what it is about to sleep for; layer KS_NONE: it does not */
	struct ks_culprit instead;	/* what runs instead */
	u64 throttle_rq;
	struct ks_thread *next_throttled, **prev_throttled;	/* suspended on the same queue */
	/* what it did */
	struct ks_seg *seg;
	size_t nr, room;
	u64 logged;		/* number of its last piece in the log; 0: there is none */
	/* its steps */
	struct ks_step *steps, **last_step;	/* not given out, in order of begin */
	struct ks_step *to_begin;		/* the first of them that the sums have not reached */
	struct ks_step *fresh;			/* the first that has begun since anything was added up */
	struct ks_step *ended, **last_ended;
	struct ks_step *open;			/* the last first */
	size_t nr_running;			/* begun by the sums, not given out */
	struct ks_parts sums;
	struct ks_what last;			/* what has been added up last */
	struct ks_thread *next_with, **prev_with;	/* threads that have steps */
	struct ks_thread *next_main;		/* first threads of processes, for windows */
	bool is_main, folding;
	u64 track;		/* of the picture; 0: none */
	u32 track_name;
	u64 last_call;		/* of the function that makes steps */
	/* requests of a kernel thread, for the threads that it wakes up */
	struct ks_done *recent;
	u32 recent_nr;
};

#define KS_THREAD_BUCKETS 16384

#define ks_for_each_thread(e, t)					\
	for (size_t b_ = 0; b_ < KS_THREAD_BUCKETS; b_++)		\
		for (t = (e)->threads[b_]; t; t = t->next)

#define KS_STEP_BUCKETS 16384
#define KS_QUEUE_BUCKETS 1024
#define KS_CONTEXT 4

/* What was done on a CPU in the context (task, interrupt) that it is in. */
struct ks_context {
	s32 pid;
	bool irq;
	struct ks_done done[KS_CONTEXT];
	u32 next;
};

/* Queues that are throttled now: the last so many. */
#define KS_THROTTLED 64

struct ks_throttled {
	u64 rq;
	int cpu;
};

/* What a thread did, in pieces that have their final names: the last so many of all threads. */
#define KS_LOG (1 << 18)

struct ks_piece {
	u64 begin, end;
	struct ks_what what;
	struct ks_waker waker;	/* to be followed */
	u64 before;		/* number of the same thread's piece before this one */
};

struct ks_scope {
	const s32 *pids;
	size_t nr_pids;
	const char *comm;
};

/* An error of a device. */
struct ks_fault {
	u64 ts;
	const char *kind, *action;	/* of the program */
	u32 code;
	char dev[32], text[160];
};

/* ROCm's queues of a process were off the GPU; the names of the process and of the task that wanted its memory are interned. */
struct ks_eviction {
	u64 asked, off, on;	/* 0: not yet */
	u64 ctx;		/* of its fence */
	u32 process, by;
	s32 pid;		/* of @by */
};

/* By how much a counter of an RDMA port has grown between two looks; the port's and the counter's names are interned. */
struct ks_change {
	u64 from, to;
	u32 port, counter;
	u64 count;
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
	bool live;		/* what has not happened yet cannot be waited for without end */
	bool other_clock;	/* events' times are not those of CLOCK_MONOTONIC, which fields in them are */
	bool foreign_calls;	/* of another architecture: system calls have other numbers than here */
	void (*step_done)(struct ks_engine *e, struct ks_step *s);	/* which frees it */
	/* optional: every thread's time, and what goes on elsewhere */
	void (*segment)(struct ks_engine *e, struct ks_thread *t, const struct ks_seg *s);
	void (*elsewhere)(struct ks_engine *e, const char *track, const char *name, u64 begin,
			  u64 end, u64 flow);
	void (*counted)(struct ks_engine *e, const char *name, s64 value);
	/* optional: the name of a thread that is in none of the events; "": not known */
	const char *(*comm_of)(struct ks_engine *e, s32 tid);
	void *namer;		/* for comm_of */
	void *priv;

	u64 begin, now;
	u64 events;
	u64 lost;		/* events */
	u64 lost_until;		/* a step that begins before this is not exact */
	u64 lost_there;		/* how many it lacks */
	u64 late;		/* intervals that came too late to be laid where they belong */
	u64 unmatched;		/* markers */
	u64 refused;		/* markers that are no markers, or too many */
	u64 unended;		/* collectives of which NCCL has not said when they ended */
	u64 serial;
	u64 flows;
	u64 window;		/* begin of the current one */
	bool has_tasks;		/* the recording says which tasks are the job */
	bool has_names;		/* ... before its first event */
	s32 teller;		/* the process that has said so: kstall itself */
	bool marks_by_probe;
	bool markers, calls;	/* have been seen */
	struct ks_thread *threads[KS_THREAD_BUCKETS];
	size_t nr_threads;
	struct ks_thread *with_steps, *mains;
	size_t nr_steps, nr_open;
	u32 folding;		/* threads, each for the one before */
	struct ks_step *own_step[KS_STEP_BUCKETS], *any_step[KS_STEP_BUCKETS];
	struct ks_context *context;	/* by CPU */
	size_t nr_context;
	struct ks_unseen *unseen;
	size_t nr_unseen, room_unseen;
	struct ks_fault *faults;
	size_t nr_faults;	/* also of those that are not kept */
	struct ks_eviction *evictions;
	size_t nr_evictions;	/* also of those that are not kept */
	u32 *ports;		/* that are looked at */
	size_t nr_ports;
	struct ks_change *changes;
	size_t nr_changes;	/* also of those that are not kept */
	struct ks_job *jobs;	/* of GPUs */
	struct ks_throttled throttled[KS_THROTTLED];
	size_t nr_throttled;
	struct ks_thread *suspended[KS_QUEUE_BUCKETS];
	struct ks_issued *issued;	/* block requests */
	struct ks_disk *disks;
	size_t nr_disks, room_disks;
	struct ks_open *open[KS_OPEN_BUCKETS];
	size_t nr_files;
	struct ks_piece *log;
	u64 logged;		/* number of the last piece; the first is 1 */
	u64 *picked;		/* pieces of wakers, the last first */
};

void ks_engine_feed(struct ks_engine *e, const struct ks_event *ev);

/* @nr events are missing between @from and @to (0: not known how many, 1 is taken). */
void ks_engine_lost(struct ks_engine *e, u64 from, u64 to, u64 nr);

/* @event cannot come: what @layer did is looked for in vain, and the answer says so. */
void ks_engine_unseen(struct ks_engine *e, const char *layer, const char *event, const char *why);

/* Everything is over at @end, or at the last event. */
void ks_engine_finish(struct ks_engine *e, u64 end);
void ks_engine_free(struct ks_engine *e);

/* thread.c */
struct ks_thread *ks_thread_find(struct ks_engine *e, s32 tid);
struct ks_thread *ks_thread_get(struct ks_engine *e, s32 tid);
void ks_thread_join(struct ks_engine *e, struct ks_thread *t);

/* Is its time to be kept? Then it joins. Without a list of the job's tasks, everybody's in scope is. */
bool ks_thread_follow(struct ks_engine *e, struct ks_thread *t);

/* The thread is in @state from @ts on. The same state closes the segment and begins a new one. */
void ks_thread_enter(struct ks_engine *e, struct ks_thread *t, u64 ts, enum ks_state state);

/* The thread that wrote the event, be it its first; NULL: its time is not kept, or an interrupt wrote it. */
struct ks_thread *ks_thread_of(struct ks_engine *e, const struct ks_event *ev);

/* It has written an event, so it is on a CPU. */
void ks_thread_runs(struct ks_engine *e, struct ks_thread *t, u64 ts);

/*
 * Nothing more comes for what was before @until: it goes to the steps. Unless @all, a sleep stays
 * whose end another thread has brought about, until it is known what that one did; and what is
 * later.
 */
void ks_thread_fold(struct ks_engine *e, struct ks_thread *t, u64 until, bool all);
void ks_threads_finish(struct ks_engine *e, u64 end);
void ks_threads_free(struct ks_engine *e);

/* carve.c */
void ks_carve(struct ks_engine *e, struct ks_thread *t, u64 begin, u64 end, u32 states,
	      struct ks_what what);
void ks_carve_requests(struct ks_engine *e, struct ks_thread *t, u64 begin, u8 layer);
u64 ks_asleep_since(const struct ks_thread *t, u64 from, u64 ns);

/* explain.c: a segment's time, in pieces that have names */
const char *ks_waker_comm(const struct ks_waker *waker);
void ks_explain(struct ks_engine *e, struct ks_thread *t, struct ks_seg *s);
bool ks_must_wait(struct ks_engine *e, const struct ks_seg *s);

/* own.c: of an event of kstall's. A worker that did it in the name of a task: not that task's own time. */
struct ks_thread *ks_own_thread(struct ks_engine *e, const struct ks_event *ev);

/* note.c: a line "kstall WORD TEXT" of the recorder: into a buffer of its own, by the process that wrote the first */
void ks_note_feed(struct ks_engine *e, s32 pid, const char *word, const char *text);

/* Is it the line with the job's threads, which is written before the recording begins? */
bool ks_names_threads(const struct ks_event *ev);

/* step.c */
void ks_step_windows(struct ks_engine *e, u64 ts);
void ks_steps_join(struct ks_engine *e, struct ks_thread *t);
void ks_steps_overdue(struct ks_engine *e);
void ks_steps_lost(struct ks_engine *e, u64 from, u64 to, u64 nr);
void ks_step_free(struct ks_step *s);

/* [@begin, @end] of @t was @what. */
void ks_steps_add(struct ks_engine *e, struct ks_thread *t, const struct ks_what *what, u64 begin, u64 end);

/* Give out the steps of which nothing is missing any more. */
void ks_steps_ready(struct ks_engine *e, struct ks_thread *t);

/* @t is @from by another number: open steps go on with it. Both have been added up until now. */
void ks_steps_take_over(struct ks_engine *e, struct ks_thread *t, struct ks_thread *from);

/* The steps that are open are over. */
void ks_steps_close(struct ks_engine *e, struct ks_thread *t, u64 end);

/* The thread's number is another's from now on: its windows are over, what markers began has no end. */
void ks_steps_end(struct ks_engine *e, struct ks_thread *t, u64 end);
void ks_steps_drop(struct ks_engine *e, struct ks_thread *t);

/* Steps that have ended, but their thread is in the wait in which they did: since when, how many. */
void ks_steps_waiting(struct ks_engine *e, void (*fn)(void *priv, const struct ks_thread *t, size_t nr),
		      void *priv);

/*
 * collective.c: what holds a collective, as the plugin says behind "end"; NULL: the text is not the plugin's, or its times are more
 * than @duration
 */
struct ks_split *ks_split_parse(const char *text, u64 duration);
void ks_split_proxy(struct ks_split *split, const struct ks_step *proxy);
void ks_split_take(struct ks_split *split, struct ks_step *s);
void ks_split_free(struct ks_split *split);

/* Handlers of events, for the table in events.c. */
void ks_on_switch(struct ks_engine *e, const struct ks_event *ev);
void ks_on_waking(struct ks_engine *e, const struct ks_event *ev);
void ks_on_wakeup(struct ks_engine *e, const struct ks_event *ev);
void ks_on_wakeup_new(struct ks_engine *e, const struct ks_event *ev);
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
void ks_on_span_begin(struct ks_engine *e, const struct ks_event *ev);
void ks_on_span_end(struct ks_engine *e, const struct ks_event *ev);
void ks_on_contention_begin(struct ks_engine *e, const struct ks_event *ev);
void ks_on_contention_end(struct ks_engine *e, const struct ks_event *ev);
void ks_on_folio_wait(struct ks_engine *e, const struct ks_event *ev);
void ks_on_balance(struct ks_engine *e, const struct ks_event *ev);
void ks_on_rq_insert(struct ks_engine *e, const struct ks_event *ev);
void ks_on_rq_merge(struct ks_engine *e, const struct ks_event *ev);
void ks_on_rq_issue(struct ks_engine *e, const struct ks_event *ev);
void ks_on_rq_complete(struct ks_engine *e, const struct ks_event *ev);
void ks_on_xid(struct ks_engine *e, const struct ks_event *ev);
void ks_on_sxid(struct ks_engine *e, const struct ks_event *ev);
void ks_on_evict_asked(struct ks_engine *e, const struct ks_event *ev);
void ks_on_evicted(struct ks_engine *e, const struct ks_event *ev);
void ks_on_restored(struct ks_engine *e, const struct ks_event *ev);
void ks_on_gpu_begin(struct ks_engine *e, const struct ks_event *ev);
void ks_on_gpu_end(struct ks_engine *e, const struct ks_event *ev);
void ks_on_gpu_only(struct ks_engine *e, const struct ks_event *ev);
void ks_on_comp_channel(struct ks_engine *e, const struct ks_event *ev);
void ks_on_wr_latency(struct ks_engine *e, const struct ks_event *ev);

/* kernel.c: nothing that began before goes on */
void ks_spans_forget(struct ks_thread *t);
void ks_announced_sleep(struct ks_engine *e, struct ks_thread *t);

/* gpucall.c: it is in none of the GPU's library */
void ks_gpu_forget(struct ks_thread *t);

/* ... which it may be, as far as is known: the return may be among what is lost */
void ks_gpu_check(const struct ks_engine *e, struct ks_thread *t);

/* block.c */
u32 ks_disk_name(const struct ks_engine *e, u32 dev);	/* interned */
void ks_disk_note(struct ks_engine *e, const char *text);

/* fault.c: the one after @after (NULL: the first) in [@begin, @end]; NULL: there is none */
const struct ks_fault *ks_faults_next(const struct ks_engine *e, const struct ks_fault *after, u64 begin, u64 end);
char *ks_fault_text(char *buf, const struct ks_fault *f);	/* KS_TEXT bytes */

/* eviction.c */
size_t ks_evictions(const struct ks_engine *e);	/* how many are kept */
u64 ks_eviction_in(const struct ks_eviction *x, u64 begin, u64 end);	/* how long the queues were off then */

/* port.c */
void ks_port_note(struct ks_engine *e, const char *text);
size_t ks_changes(const struct ks_engine *e);	/* how many are kept */

/* Of @port, by counter, what may have been in [@begin, @end], the most first; returns how many, @most at most. */
size_t ks_changes_sum(const struct ks_engine *e, u32 port, u64 begin, u64 end, struct ks_change *sum, size_t most);

/* done.c: what was done elsewhere, and the threads that it has woken up */
void ks_done_context(struct ks_engine *e, const struct ks_event *ev);
void ks_done_note(struct ks_engine *e, const struct ks_event *ev, struct ks_done *d);
void ks_done_request(struct ks_engine *e, const struct ks_event *ev, struct ks_done *d, const char *disk, u64 inserted, u64 issued,
		     const char *comm);
struct ks_done *ks_done_for(struct ks_engine *e, const struct ks_event *ev,
			    const struct ks_thread *t);

/* call.c: what a system call does */
void ks_call_enter(struct ks_engine *e, struct ks_thread *t, const struct ks_event *ev);
void ks_call_forget(struct ks_engine *e, s32 tgid);
void ks_call_note(struct ks_engine *e, const char *text);
u8 ks_call_layer(const char *path);
void ks_calls_free(struct ks_engine *e);

/* syscalls.c, generated */
s16 ks_syscall_of(const struct ks_engine *e, u64 nr);	/* KS_NO_CALL: none */
const char *ks_syscall_name(int nr);
bool ks_syscall_sleeps(int nr);
bool ks_syscall_is(int nr, const char *name);

#endif
