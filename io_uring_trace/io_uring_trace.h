/* SPDX-License-Identifier: GPL-2.0 */
/* io_uring_trace.h - what the module's files share */
#ifndef _IO_URING_TRACE_H
#define _IO_URING_TRACE_H

#include <kstall/event.h>
#include <kstall/identity.h>

#include "io_uring_compat.h"

/**
 * struct uring_req - a request between submission and completion; key: its io_kiocb
 * @submit_ns: accepted by the kernel
 * @begin_ns: first attempt to issue it or first punt, whichever came first; 0: neither yet
 * @punt_ns: went to io-wq and no worker has it yet; 0: not so
 * @wq_ns: spent waiting for a worker so far
 * @user_data: as the program set it
 * @ctx: its ring, never dereferenced
 * @len: bytes asked for by READ, WRITE and their _FIXED forms, else 0
 * @fd: file descriptor or index of a registered file, -1: it works on none
 * @cpu_node: NUMA node it was submitted on
 * @opcode: IORING_OP_*
 * @sqpoll: the ring has an SQPOLL thread
 * @punted: has been to io-wq
 * @poll_armed: has waited for its file to become ready
 */
struct uring_req {
	u64 submit_ns;
	u64 begin_ns;
	u64 punt_ns;
	u64 wq_ns;
	u64 user_data;
	const void *ctx;
	u32 len;
	s32 fd;
	s16 cpu_node;
	u8 opcode;
	bool sqpoll;
	bool punted;
	bool poll_armed;
};

/**
 * struct uring_window - the request a task is issuing right now; key: its task_struct
 * @user_data: as the program set it
 * @ctx: its ring, never dereferenced
 * @fd: its file
 * @opcode: IORING_OP_*
 * @sqpoll: the ring has an SQPOLL thread
 */
struct uring_window {
	u64 user_data;
	const void *ctx;
	s32 fd;
	u8 opcode;
	bool sqpoll;
};

/* What the pair hooks carry from a function's entry to its return. */

/* io_issue_sqe() */
struct uring_window_call {
	struct uring_window outer;	/* the request being issued around this one */
	bool nested;
};

/* io_submit_sqes() */
struct uring_submit_call {
	struct io_ring_ctx *ctx;
	u32 to_submit;
	u32 queued;
	u32 expected;
	u32 sq_dropped;
};

/* io_sqpoll_wait_sq() */
struct uring_sq_wait_call {
	struct io_ring_ctx *ctx;
	u64 start_ns;
	unsigned long nvcsw;
};

/* __io_cqring_overflow_flush(), io_cqring_wait() */
struct uring_ctx_call {
	struct io_ring_ctx *ctx;
};

/* io_ring_exit_work(), which frees the ring */
struct uring_exit_call {
	const void *ctx;
	u64 begin_ns;
};

/* balance_dirty_pages() */
struct wb_throttle_call {
	struct bdi_writeback *wb;
	u64 pages_dirtied;
	u64 start_ns;
	unsigned long nvcsw;
};

/* __filemap_fdatawait_range(), folio_wait_writeback(); inode and folio may be gone at return */
struct wb_wait_call {
	u64 start_ns;
	unsigned long nvcsw;
	u64 ino;
	u64 pages;
	char sb[32];
	char dev[32];
};

/**
 * struct uring_cq_episode - a completion ring that is overflowing; key: its io_ring_ctx
 * @first_ns: first overflow
 * @who: owner of the ring
 * @user_data: of the first completion that overflowed
 * @overflowed: further completions on the list
 * @dropped: completions lost
 * @cq_entries: size of the completion ring
 * @cpu_node: NUMA node of the first overflow
 * @sqpoll: the ring has an SQPOLL thread
 * @reported: a waiter got -EBADR
 */
struct uring_cq_episode {
	u64 first_ns;
	struct kstall_who who;
	u64 user_data;
	u32 overflowed;
	u32 dropped;
	u32 cq_entries;
	s16 cpu_node;
	bool sqpoll;
	bool reported;
};

/* A folded io_uring_sq_full; key: the ring's io_ring_ctx. */
struct uring_sq_full {
	struct kstall_folded folded;
	struct kstall_who who;
	const void *ctx;
	u32 sq_entries;
	u32 to_submit;
	s16 cpu_node;
	bool sqpoll;
};

/**
 * struct uring_bio - a bio between block_bio_queue and its end; key: the bio
 * @queue_ns: entered the block layer
 * @mark_ns: last time it, or a part split off it, moved on; at first @queue_ns
 * @tag_ns: how long it waited for its request
 * @user_data: of the io_uring request
 * @ctx: ring, never dereferenced
 * @who: the task to blame
 * @fd: file
 * @cpu_node: NUMA node it was queued on
 * @opcode: IORING_OP_*
 * @attribution: URING_ATTR_*
 * @sqpoll: the ring has an SQPOLL thread
 */
struct uring_bio {
	u64 queue_ns;
	u64 mark_ns;
	u64 tag_ns;
	u64 user_data;
	const void *ctx;
	struct kstall_who who;
	s32 fd;
	s16 cpu_node;
	u8 opcode;
	u8 attribution;
	bool sqpoll;
};

/* A block request; key: struct request. */
struct uring_rq {
	u64 insert_ns;
	u64 issue_ns;
};

/* What a task has waited for inside __filemap_fdatawait_range(); key: task_struct. */
struct wb_wait {
	u64 wait_ns;
	u64 pages;
};

/* Opcode of a block request that belongs to no io_uring request. */
#define URING_NO_OPCODE	0xff

extern struct kstall_inflight uring_reqs;
extern struct kstall_inflight uring_gone;	/* freed rings; key: what was its io_ring_ctx */
extern struct kstall_inflight uring_rings;
extern struct kstall_inflight uring_windows;
extern struct kstall_inflight uring_bios;
extern struct kstall_inflight uring_rqs;
extern struct kstall_inflight wb_waits;
extern struct kstall_fold uring_sq_full_fold;

/*
 * The task to blame: io-wq and SQPOLL threads are threads of the ring's owner, whose group
 * leader bears the name people know.
 */
static inline struct task_struct *uring_owner(struct task_struct *task)
{
	return task->flags & PF_IO_WORKER ? task->group_leader : task;
}

static inline bool uring_is_sqpoll(const struct io_ring_ctx *ctx)
{
	return ctx->flags & IORING_SETUP_SQPOLL;
}

/* ring.c */
void uring_ring_init(void);
void uring_ring_show(struct seq_file *m);
void uring_wq_forget(void);
void uring_rings_forget(void);
u32 uring_ring_id(const void *ctx);
void uring_sq_full_emit(const struct kstall_folded *folded);

void uring_on_submit(void *hook, URING_SUBMIT_PROTO);
void uring_on_complete(void *hook, URING_COMPLETE_PROTO);
void uring_on_refused(void *hook, const struct io_uring_sqe *sqe, struct io_kiocb *req, int error);
void uring_on_punt(void *hook, URING_PUNT_PROTO);
void uring_on_poll_arm(void *hook, struct io_kiocb *req, int mask, int events);
void uring_on_cqe_overflow(void *hook, void *ctx, unsigned long long user_data, s32 res,
			   u32 cflags, void *ocqe);
bool uring_req_overflow(void *data, struct pt_regs *regs);
bool uring_flush_enter(void *data, struct pt_regs *regs);
void uring_flush_return(void *data, struct pt_regs *regs);
bool uring_kill_enter(void *data, struct pt_regs *regs);
bool uring_exit_enter(void *data, struct pt_regs *regs);
void uring_exit_return(void *data, struct pt_regs *regs);
bool uring_cq_wait_enter(void *data, struct pt_regs *regs);
void uring_cq_wait_return(void *data, struct pt_regs *regs);
bool uring_issue_enter(void *data, struct pt_regs *regs);
bool uring_window_enter(void *data, struct pt_regs *regs);
void uring_window_return(void *data, struct pt_regs *regs);
bool uring_submit_enter(void *data, struct pt_regs *regs);
void uring_submit_return(void *data, struct pt_regs *regs);
bool uring_sq_wait_enter(void *data, struct pt_regs *regs);
void uring_sq_wait_return(void *data, struct pt_regs *regs);

/* block.c */
void uring_block_init(void);
void uring_block_show(struct seq_file *m);

void uring_on_bio_queue(void *hook, struct bio *bio);
void uring_on_split(void *hook, struct bio *bio, unsigned int new_sector);
void uring_on_getrq(void *hook, struct bio *bio);
void uring_on_rq_insert(void *hook, struct request *rq);
void uring_on_rq_merge(void *hook, struct request *rq);
void uring_on_rq_issue(void *hook, struct request *rq);
void uring_on_rq_complete(void *hook, struct request *rq, blk_status_t error,
			  unsigned int nr_bytes);
void uring_on_bio_complete(void *hook, struct request_queue *q, struct bio *bio);

/* writeback.c */
bool wb_throttle_enter(void *data, struct pt_regs *regs);
void wb_throttle_return(void *data, struct pt_regs *regs);
bool wb_range_enter(void *data, struct pt_regs *regs);
void wb_range_return(void *data, struct pt_regs *regs);
bool wb_folio_enter(void *data, struct pt_regs *regs);
void wb_folio_return(void *data, struct pt_regs *regs);

#endif /* _IO_URING_TRACE_H */
