/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring_trace_events.h - the module's events
 *
 * Both the fields and the TP_PROTO() arguments (what rawtracepoint: and raw_tp programs see)
 * are ABI: they are only ever added to, at the end. Documentation/events.md is generated
 * from the comments here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM io_uring_trace

#ifndef _IO_URING_TRACE_EVENTS_TYPES
#define _IO_URING_TRACE_EVENTS_TYPES

#include "io_uring_trace.h"

KSTALL_DECLARE_TIMED_EVENT(io_uring_sq_overflow);
KSTALL_DECLARE_EVENT(io_uring_sq_full);
KSTALL_DECLARE_TIMED_EVENT(io_uring_cq_overflow);
KSTALL_DECLARE_TIMED_EVENT(io_uring_req_done);
KSTALL_DECLARE_EVENT(io_uring_wq_punt);
KSTALL_DECLARE_TIMED_EVENT(io_uring_block_rq);
KSTALL_DECLARE_TIMED_EVENT(writeback_throttle);
KSTALL_DECLARE_TIMED_EVENT(writeback_wait_done);

/* io_uring_sq_overflow: cause */
#define URING_SQPOLL_WAIT	0
#define URING_SHORT_SUBMIT	1
#define URING_DROPPED_SQE	2
#define URING_NO_MEMORY		3

#define uring_show_cause(val)						\
	__print_symbolic(val, { 0, "sqpoll_wait" }, { 1, "short_submit" }, \
			 { 2, "dropped_sqe" }, { 3, "no_memory" })

/* io_uring_cq_overflow: phase */
#define URING_CQ_BEGIN		0
#define URING_CQ_FLUSHED	1
#define URING_CQ_REPORTED	2

#define uring_show_phase(val)						\
	__print_symbolic(val, { 0, "begin" }, { 1, "flushed" }, { 2, "reported" })

/* io_uring_wq_punt: reason */
#define URING_PUNT_WOULD_BLOCK	0
#define URING_PUNT_FORCE_ASYNC	1
#define URING_PUNT_BEFORE_ISSUE	2

#define uring_show_reason(val)						\
	__print_symbolic(val, { 0, "would_block" }, { 1, "force_async" }, { 2, "before_issue" })

/* io_uring_block_rq: attribution */
#define URING_ATTR_NONE		0
#define URING_ATTR_WINDOW	1
#define URING_ATTR_EXACT	2

#define uring_show_attribution(val)					\
	__print_symbolic(val, { 0, "none" }, { 1, "window" }, { 2, "exact" })

/*
 * Those of REQ_OP_* that have the same number in all kernels; zones' were renumbered, in stable
 * kernels too (linux/blk_types.h).
 */
#define uring_show_op(val)						\
	__print_symbolic(val, { 0, "READ" }, { 1, "WRITE" }, { 2, "FLUSH" },	\
			 { 3, "DISCARD" }, { 5, "SECURE_ERASE" }, { 9, "WRITE_ZEROES" })

/* writeback_wait_done: kind */
#define WB_WAIT_FOLIO		0
#define WB_WAIT_RANGE		1

#define wb_show_kind(val)						\
	__print_symbolic(val, { 0, "folio" }, { 1, "range" })

/* Opcodes are ABI (uapi/linux/io_uring.h), so numbers do; 255: not an io_uring request. */
#define uring_show_opcode(val)						\
	__print_symbolic(val,						\
		{ 0, "NOP" }, { 1, "READV" }, { 2, "WRITEV" }, { 3, "FSYNC" },	\
		{ 4, "READ_FIXED" }, { 5, "WRITE_FIXED" }, { 6, "POLL_ADD" },	\
		{ 7, "POLL_REMOVE" }, { 8, "SYNC_FILE_RANGE" }, { 9, "SENDMSG" }, \
		{ 10, "RECVMSG" }, { 11, "TIMEOUT" }, { 12, "TIMEOUT_REMOVE" },	\
		{ 13, "ACCEPT" }, { 14, "ASYNC_CANCEL" }, { 15, "LINK_TIMEOUT" }, \
		{ 16, "CONNECT" }, { 17, "FALLOCATE" }, { 18, "OPENAT" },	\
		{ 19, "CLOSE" }, { 20, "FILES_UPDATE" }, { 21, "STATX" },	\
		{ 22, "READ" }, { 23, "WRITE" }, { 24, "FADVISE" },		\
		{ 25, "MADVISE" }, { 26, "SEND" }, { 27, "RECV" },		\
		{ 28, "OPENAT2" }, { 29, "EPOLL_CTL" }, { 30, "SPLICE" },	\
		{ 31, "PROVIDE_BUFFERS" }, { 32, "REMOVE_BUFFERS" }, { 33, "TEE" }, \
		{ 34, "SHUTDOWN" }, { 35, "RENAMEAT" }, { 36, "UNLINKAT" },	\
		{ 37, "MKDIRAT" }, { 38, "SYMLINKAT" }, { 39, "LINKAT" },	\
		{ 40, "MSG_RING" }, { 41, "FSETXATTR" }, { 42, "SETXATTR" },	\
		{ 43, "FGETXATTR" }, { 44, "GETXATTR" }, { 45, "SOCKET" },	\
		{ 46, "URING_CMD" }, { 47, "SEND_ZC" }, { 48, "SENDMSG_ZC" },	\
		{ 49, "READ_MULTISHOT" }, { 50, "WAITID" }, { 51, "FUTEX_WAIT" }, \
		{ 52, "FUTEX_WAKE" }, { 53, "FUTEX_WAITV" },			\
		{ 54, "FIXED_FD_INSTALL" }, { 55, "FTRUNCATE" }, { 56, "BIND" }, \
		{ 57, "LISTEN" }, { 58, "RECV_ZC" }, { 59, "EPOLL_WAIT" },	\
		{ 60, "READV_FIXED" }, { 61, "WRITEV_FIXED" }, { 62, "PIPE" },	\
		{ 63, "NOP128" }, { 64, "URING_CMD128" }, { 255, "-" })

/**
 * struct kstall_io_uring_sq - rest of io_uring_sq_overflow and io_uring_sq_full
 * @id: identity
 * @ctx: ring
 * @sq_entries: size of the submission ring
 * @queued: entries in it when the kernel looked
 * @submitted: entries the kernel took
 * @sqpoll: the ring has an SQPOLL thread
 * @first_ns: first of the folded occurrences, CLOCK_MONOTONIC
 * @last_ns: last of them
 */
struct kstall_io_uring_sq {
	struct kstall_id id;
	const void *ctx;
	u32 sq_entries;
	u32 queued;
	s32 submitted;
	bool sqpoll;
	u64 first_ns;
	u64 last_ns;
};

/**
 * struct kstall_io_uring_cq - rest of io_uring_cq_overflow
 * @id: identity
 * @ctx: ring
 * @user_data: of the first completion that overflowed
 * @cq_entries: size of the completion ring
 * @dropped: completions lost for lack of memory
 * @sqpoll: the ring has an SQPOLL thread
 * @seen_by_waiter: a waiter got -EBADR
 */
struct kstall_io_uring_cq {
	struct kstall_id id;
	const void *ctx;
	u64 user_data;
	u32 cq_entries;
	u32 dropped;
	bool sqpoll;
	bool seen_by_waiter;
};

/**
 * struct kstall_io_uring_req - rest of io_uring_req_done and io_uring_wq_punt
 * @id: identity
 * @ctx: ring
 * @user_data: as the program set it
 * @submit_ns: when the kernel accepted it
 * @queue_ns: io_uring_req_done: before it was begun
 * @wq_ns: io_uring_req_done: waiting in io-wq
 * @exec_ns: io_uring_req_done: the rest
 * @fd: file
 * @opcode: IORING_OP_*
 * @sqpoll: the ring has an SQPOLL thread
 * @punted: has been to io-wq
 * @poll_armed: has waited for readiness
 */
struct kstall_io_uring_req {
	struct kstall_id id;
	const void *ctx;
	u64 user_data;
	u64 submit_ns;
	u64 queue_ns;
	u64 wq_ns;
	u64 exec_ns;
	s32 fd;
	u8 opcode;
	bool sqpoll;
	bool punted;
	bool poll_armed;
};

/**
 * struct kstall_io_uring_block - rest of io_uring_block_rq
 * @id: identity
 * @ctx: ring, NULL if attribution is none
 * @user_data: of the io_uring request, 0 if attribution is none
 * @sector: first sector
 * @queue_ns: when the bio entered the block layer
 * @tag_ns: waiting for a hardware queue slot
 * @sched_ns: in the I/O scheduler
 * @fd: file, -1 if attribution is none
 * @opcode: IORING_OP_*
 * @op: REQ_OP_*
 * @sqpoll: the ring has an SQPOLL thread
 * @status: blk_status_t as errno
 */
struct kstall_io_uring_block {
	struct kstall_id id;
	const void *ctx;
	u64 user_data;
	u64 sector;
	u64 queue_ns;
	u64 tag_ns;
	u64 sched_ns;
	s32 fd;
	u8 opcode;
	u8 op;
	bool sqpoll;
	s32 status;
};

/**
 * struct kstall_writeback - rest of writeback_throttle and writeback_wait_done
 * @id: identity; dev is the backing device's name
 * @dirty_pages: dirty pages of the node
 * @writeback_pages: pages under writeback
 * @ratelimit_pages: pages a second a writer to this backing device may dirty
 * @wb_dirty_pages: dirty pages of this backing device
 * @sb: file system, s_id
 * @ino: inode
 */
struct kstall_writeback {
	struct kstall_id id;
	u64 dirty_pages;
	u64 writeback_pages;
	u64 ratelimit_pages;
	u64 wb_dirty_pages;
	const char *sb;
	u64 ino;
};

#endif /* _IO_URING_TRACE_EVENTS_TYPES */

#if !defined(_IO_URING_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _IO_URING_TRACE_EVENTS_H

#include <linux/tracepoint.h>

/**
 * io_uring_sq_overflow - a task was delayed or refused at the submission ring
 *
 * The kernel cannot see a failed io_uring_get_sqe() of user space. What it sees:
 * sqpoll_wait, a submitter slept in io_uring_enter(IORING_ENTER_SQ_WAIT) until the SQPOLL
 * thread made room; short_submit, the kernel took fewer entries than it was given
 * (an entry failed and IORING_SETUP_SUBMIT_ALL is not set, or memory for requests ran out on the
 * way); dropped_sqe, entries with an index out of range; no_memory, not one request could be
 * allocated and io_uring_enter() gave -EAGAIN.
 *
 * @dev: empty
 * @ring: stable id of the ring, a hash
 * @sqpoll: the ring has an SQPOLL thread
 * @cause: sqpoll_wait, short_submit, dropped_sqe, no_memory
 * @sq_entries: size of the submission ring
 * @queued: entries in it when the kernel looked
 * @to_submit: entries it was asked to take, 0 for sqpoll_wait
 * @submitted: entries it took, or a negative errno
 * @wait_ns: how long the submitter slept (sqpoll_wait), else 0
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, ring, to_submit, cause, struct.
 * Parameter: io_uring_sq_overflow_min_ns, for sqpoll_wait only.
 * Overhead: entry and return of io_submit_sqes() once per submission batch.
 * Reach: 6.1 and later. With IORING_SETUP_SQ_REWIND (7.2) queued equals sq_entries.
 */
KSTALL_TRACE_EVENT(io_uring_sq_overflow,
	TP_PROTO(u64 wait_ns, u64 ring, u32 to_submit, int cause,
		 const struct kstall_io_uring_sq *sq),
	TP_ARGS(wait_ns, ring, to_submit, cause, sq),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, ring)
		__field(bool, sqpoll)
		__field(u8, cause)
		__field(u32, sq_entries)
		__field(u32, queued)
		__field(u32, to_submit)
		__field(s32, submitted)
		__field(u64, wait_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&sq->id);
		__entry->ring = ring;
		__entry->sqpoll = sq->sqpoll;
		__entry->cause = cause;
		__entry->sq_entries = sq->sq_entries;
		__entry->queued = sq->queued;
		__entry->to_submit = to_submit;
		__entry->submitted = sq->submitted;
		__entry->wait_ns = wait_ns;
		__entry->duration_ns = wait_ns;
	),
	TP_printk(KSTALL_ID_FMT " ring=%08x sqpoll=%d cause=%s sq_entries=%u queued=%u to_submit=%u submitted=%d wait_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->ring, __entry->sqpoll,
		  uring_show_cause(__entry->cause), __entry->sq_entries, __entry->queued,
		  __entry->to_submit, __entry->submitted, __entry->wait_ns,
		  __entry->duration_ns)
);

/**
 * io_uring_sq_full - the submission ring was full when the kernel looked
 *
 * A state, not an error: a program that batches exactly the ring's size is healthy. Together
 * with io_uring_sq_overflow or a rising queue_ns it says the ring is too small. Storms of one
 * ring are folded: the first at once with count=1, the rest as one event 100 ms after the
 * last; the sum of count is exact.
 *
 * @dev: empty
 * @ring: stable id of the ring, a hash
 * @sqpoll: the ring has an SQPOLL thread
 * @sq_entries: size of the submission ring
 * @to_submit: entries the kernel was asked to take (last occurrence)
 * @count: occurrences this event stands for
 * @first_mono_ns: CLOCK_MONOTONIC of the first of them
 * @last_mono_ns: and of the last
 *
 * Arguments: 0, ring, count, to_submit, struct.
 * Overhead: entry of io_submit_sqes() once per submission batch.
 * Reach: 6.1 and later. Not with IORING_SETUP_SQ_REWIND (7.2), where the ring has no tail.
 */
KSTALL_TRACE_EVENT(io_uring_sq_full,
	TP_PROTO(u64 none, u64 ring, u64 count, int to_submit,
		 const struct kstall_io_uring_sq *sq),
	TP_ARGS(none, ring, count, to_submit, sq),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, ring)
		__field(bool, sqpoll)
		__field(u32, sq_entries)
		__field(u32, to_submit)
		__field(u64, count)
		__field(u64, first_mono_ns)
		__field(u64, last_mono_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&sq->id);
		__entry->ring = ring;
		__entry->sqpoll = sq->sqpoll;
		__entry->sq_entries = sq->sq_entries;
		__entry->to_submit = to_submit;
		__entry->count = count;
		__entry->first_mono_ns = sq->first_ns;
		__entry->last_mono_ns = sq->last_ns;
	),
	TP_printk(KSTALL_ID_FMT " ring=%08x sqpoll=%d sq_entries=%u to_submit=%u count=%llu first_mono_ns=%llu last_mono_ns=%llu",
		  KSTALL_ID_ARGS, __entry->ring, __entry->sqpoll, __entry->sq_entries,
		  __entry->to_submit, __entry->count, __entry->first_mono_ns,
		  __entry->last_mono_ns)
);

/**
 * io_uring_cq_overflow - completions did not fit into the completion ring
 *
 * An episode begins with the first completion that goes to the kernel's overflow list
 * (phase=begin, overflowed=1) and ends when the list has been flushed into the ring or the
 * ring is torn down (phase=flushed): overflowed then counts the further ones, so that the
 * sum is exact, and duration_ns is the episode's length. phase=reported: a waiter learned that
 * completions were lost (-EBADR).
 *
 * @dev: empty
 * @ring: stable id of the ring, a hash
 * @sqpoll: the ring has an SQPOLL thread
 * @user_data: of the first completion that overflowed
 * @phase: begin, flushed, reported
 * @cq_entries: size of the completion ring
 * @overflowed: completions this event stands for
 * @dropped: completions lost in this episode, for lack of memory
 * @duration_ns: from the first overflow to the flush, 0 in phase begin
 * @seen_by_waiter: a waiter learned of it (-EBADR)
 *
 * Arguments: duration_ns, ring, overflowed, phase, struct.
 * Parameter: io_uring_cq_overflow_min_ns, for phase flushed.
 * Overhead: none until a ring overflows, but for entry and return of the CQ wait.
 * Reach: 6.1 and later; phase reported not on 6.1, where io_cqring_wait() is inlined and the ring
 * unknown at the system call's return.
 */
KSTALL_TRACE_EVENT(io_uring_cq_overflow,
	TP_PROTO(u64 duration_ns, u64 ring, u32 overflowed, int phase,
		 const struct kstall_io_uring_cq *cq),
	TP_ARGS(duration_ns, ring, overflowed, phase, cq),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, ring)
		__field(bool, sqpoll)
		__field(u64, user_data)
		__field(u8, phase)
		__field(u32, cq_entries)
		__field(u32, overflowed)
		__field(u32, dropped)
		__field(u64, duration_ns)
		__field(bool, seen_by_waiter)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&cq->id);
		__entry->ring = ring;
		__entry->sqpoll = cq->sqpoll;
		__entry->user_data = cq->user_data;
		__entry->phase = phase;
		__entry->cq_entries = cq->cq_entries;
		__entry->overflowed = overflowed;
		__entry->dropped = cq->dropped;
		__entry->duration_ns = duration_ns;
		__entry->seen_by_waiter = cq->seen_by_waiter;
	),
	TP_printk(KSTALL_ID_FMT " ring=%08x sqpoll=%d user_data=%llu phase=%s cq_entries=%u overflowed=%u dropped=%u duration_ns=%llu seen_by_waiter=%d",
		  KSTALL_ID_ARGS, __entry->ring, __entry->sqpoll, __entry->user_data,
		  uring_show_phase(__entry->phase), __entry->cq_entries,
		  __entry->overflowed, __entry->dropped, __entry->duration_ns,
		  __entry->seen_by_waiter)
);

/**
 * io_uring_req_done - a request completed
 *
 * total_ns = queue_ns + wq_ns + exec_ns, to the nanosecond.
 *
 * @dev: empty
 * @ring: stable id of the ring, a hash
 * @sqpoll: the ring has an SQPOLL thread
 * @opcode: IORING_OP_*
 * @fd: file descriptor, or index of a registered file; -1 if the opcode works on none
 * @user_data: as the program set it
 * @total_ns: from the kernel's acceptance of the request to its completion
 * @queue_ns: until the first attempt to issue it: waiting for a linked or drained predecessor
 * @wq_ns: waiting for an io-wq worker
 * @exec_ns: the rest: the file's work, and waiting for it to become ready
 * @result: what the program gets in cqe->res
 * @punted: has been to io-wq
 * @poll_armed: has waited for its file to become ready
 * @len_bytes: bytes asked for by READ, WRITE and their _FIXED forms, else 0
 * @submit_mono_ns: CLOCK_MONOTONIC of the acceptance
 * @duration_ns: total_ns under the name common to all events
 *
 * Arguments: total_ns, user_data, len_bytes, result, struct.
 * Parameter: io_uring_req_done_min_ns.
 * Overhead: per request two tracepoint probes, one function entry and one table pair.
 * Reach: requests submitted after enabling (others count as unmatched in the status file);
 * not those that asked for no completion (IOSQE_CQE_SKIP_SUCCESS) and succeeded, for which the
 * kernel has no hook. A multishot request is done once, with its last completion.
 */
KSTALL_TRACE_EVENT(io_uring_req_done,
	TP_PROTO(u64 total_ns, u64 user_data, u64 len_bytes, int result,
		 const struct kstall_io_uring_req *req),
	TP_ARGS(total_ns, user_data, len_bytes, result, req),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, ring)
		__field(bool, sqpoll)
		__field(u8, opcode)
		__field(s32, fd)
		__field(u64, user_data)
		__field(u64, total_ns)
		__field(u64, queue_ns)
		__field(u64, wq_ns)
		__field(u64, exec_ns)
		__field(s32, result)
		__field(bool, punted)
		__field(bool, poll_armed)
		__field(u64, len_bytes)
		__field(u64, submit_mono_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&req->id);
		__entry->ring = uring_ring_id(req->ctx);
		__entry->sqpoll = req->sqpoll;
		__entry->opcode = req->opcode;
		__entry->fd = req->fd;
		__entry->user_data = user_data;
		__entry->total_ns = total_ns;
		__entry->queue_ns = req->queue_ns;
		__entry->wq_ns = req->wq_ns;
		__entry->exec_ns = req->exec_ns;
		__entry->result = result;
		__entry->punted = req->punted;
		__entry->poll_armed = req->poll_armed;
		__entry->len_bytes = len_bytes;
		__entry->submit_mono_ns = req->submit_ns;
		__entry->duration_ns = total_ns;
	),
	TP_printk(KSTALL_ID_FMT " ring=%08x sqpoll=%d opcode=%s fd=%d user_data=%llu total_ns=%llu queue_ns=%llu wq_ns=%llu exec_ns=%llu result=%d punted=%d poll_armed=%d len_bytes=%llu submit_mono_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->ring, __entry->sqpoll,
		  uring_show_opcode(__entry->opcode), __entry->fd, __entry->user_data,
		  __entry->total_ns, __entry->queue_ns, __entry->wq_ns, __entry->exec_ns,
		  __entry->result, __entry->punted, __entry->poll_armed, __entry->len_bytes,
		  __entry->submit_mono_ns, __entry->duration_ns)
);

/**
 * io_uring_wq_punt - a request goes to an io-wq worker thread
 *
 * @dev: empty
 * @ring: stable id of the ring, a hash
 * @sqpoll: the ring has an SQPOLL thread
 * @opcode: IORING_OP_*
 * @fd: file descriptor, or index of a registered file; -1 if the opcode works on none
 * @user_data: as the program set it
 * @reason: force_async (IOSQE_ASYNC; also what the kernel marks so itself: drained requests, and
 *	after 6.1 opcodes that always block, like FSYNC), would_block (tried and would have
 *	blocked), before_issue (not tried for another reason)
 * @pending_reqs: requests of all rings waiting for a worker, this one included
 *
 * Arguments: 0, user_data, pending_reqs, reason, struct.
 * Overhead: one tracepoint probe per punt; pending_reqs is counted by NUMA node.
 * Reach: requests submitted after enabling; of older ones reason may be before_issue.
 */
KSTALL_TRACE_EVENT(io_uring_wq_punt,
	TP_PROTO(u64 none, u64 user_data, u64 pending_reqs, int reason,
		 const struct kstall_io_uring_req *req),
	TP_ARGS(none, user_data, pending_reqs, reason, req),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, ring)
		__field(bool, sqpoll)
		__field(u8, opcode)
		__field(s32, fd)
		__field(u64, user_data)
		__field(u8, reason)
		__field(u64, pending_reqs)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&req->id);
		__entry->ring = uring_ring_id(req->ctx);
		__entry->sqpoll = req->sqpoll;
		__entry->opcode = req->opcode;
		__entry->fd = req->fd;
		__entry->user_data = user_data;
		__entry->reason = reason;
		__entry->pending_reqs = pending_reqs;
	),
	TP_printk(KSTALL_ID_FMT " ring=%08x sqpoll=%d opcode=%s fd=%d user_data=%llu reason=%s pending_reqs=%llu",
		  KSTALL_ID_ARGS, __entry->ring, __entry->sqpoll,
		  uring_show_opcode(__entry->opcode), __entry->fd, __entry->user_data,
		  uring_show_reason(__entry->reason), __entry->pending_reqs)
);

/**
 * io_uring_block_rq - a block request completed, and which io_uring request it was for
 *
 * One event a bio: a merged request gives one for each of its parts, a split one gives one for
 * each request it became. attribution=exact: found by pointers from the bio to the request
 * (asynchronous direct I/O); window: the bio was queued by the thread that was issuing the
 * request (buffered reads, stacked devices); none: neither (writeback, dm-crypt, journals,
 * other programs), then ring, opcode, fd and user_data say nothing. Never a guess by time.
 *
 * @dev: disk
 * @ring: stable id of the ring, a hash; 0 if attribution is none
 * @sqpoll: the ring has an SQPOLL thread
 * @opcode: IORING_OP_*, 255 if attribution is none
 * @fd: file descriptor, or index of a registered file; -1 if the opcode works on none
 * @user_data: of the io_uring request
 * @sector: first sector of this part on @dev
 * @len_bytes: bytes of this part
 * @tag_ns: waiting for a request: for a tag, which without an I/O scheduler is a slot of the
 *	hardware queue, and before it for wbt, iocost and a queue that is frozen
 * @sched_ns: in the I/O scheduler or a queue's list, insert to issue, with a scheduler the wait for
 *	a slot of the hardware queue, too; not in a task's plug list
 * @device_ns: issue to completion, 0 for what failed before it was issued
 * @attribution: exact, window, none
 * @op: REQ_OP_* of the request: READ, WRITE, FLUSH, DISCARD, SECURE_ERASE, WRITE_ZEROES; of zones
 *	only the number, which differs between kernels
 * @status: 0 or a negative errno
 * @queue_mono_ns: CLOCK_MONOTONIC when the bio was queued
 * @duration_ns: device_ns under the name common to all events
 *
 * Arguments: device_ns, user_data, len_bytes, attribution, struct.
 * Parameter: io_uring_block_rq_min_ns, against device_ns.
 * Overhead: seven tracepoint probes and three table pairs per block request of the whole
 * system, io_uring or not.
 * Reach: request-based devices; on a stacked device the part that reaches the disk. A request
 * that was requeued is timed from its last issue. What a cgroup's io.max holds back it holds
 * before queue_mono_ns, in none of these times. Identity is the submitter's, for attribution=none
 * that of the task that queued the bio; but where a kernel thread queues it (writeback, loop) cgroup_id
 * is the cgroup for which it does: the one whose pages they are, or its nearest ancestor that has the
 * io controller. Where the bio does not say it (journals; a file system without cgroup writeback) it
 * is the root's.
 */
KSTALL_TRACE_EVENT(io_uring_block_rq,
	TP_PROTO(u64 device_ns, u64 user_data, u64 len_bytes, int attribution,
		 const struct kstall_io_uring_block *rq),
	TP_ARGS(device_ns, user_data, len_bytes, attribution, rq),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, ring)
		__field(bool, sqpoll)
		__field(u8, opcode)
		__field(s32, fd)
		__field(u64, user_data)
		__field(u64, sector)
		__field(u64, len_bytes)
		__field(u64, tag_ns)
		__field(u64, sched_ns)
		__field(u64, device_ns)
		__field(u8, attribution)
		__field(u8, op)
		__field(s32, status)
		__field(u64, queue_mono_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&rq->id);
		__entry->ring = uring_ring_id(rq->ctx);
		__entry->sqpoll = rq->sqpoll;
		__entry->opcode = rq->opcode;
		__entry->fd = rq->fd;
		__entry->user_data = user_data;
		__entry->sector = rq->sector;
		__entry->len_bytes = len_bytes;
		__entry->tag_ns = rq->tag_ns;
		__entry->sched_ns = rq->sched_ns;
		__entry->device_ns = device_ns;
		__entry->attribution = attribution;
		__entry->op = rq->op;
		__entry->status = rq->status;
		__entry->queue_mono_ns = rq->queue_ns;
		__entry->duration_ns = device_ns;
	),
	TP_printk(KSTALL_ID_FMT " ring=%08x sqpoll=%d opcode=%s fd=%d user_data=%llu sector=%llu len_bytes=%llu tag_ns=%llu sched_ns=%llu device_ns=%llu attribution=%s op=%s status=%d queue_mono_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->ring, __entry->sqpoll,
		  uring_show_opcode(__entry->opcode), __entry->fd, __entry->user_data,
		  __entry->sector, __entry->len_bytes, __entry->tag_ns, __entry->sched_ns,
		  __entry->device_ns, uring_show_attribution(__entry->attribution),
		  uring_show_op(__entry->op), __entry->status, __entry->queue_mono_ns,
		  __entry->duration_ns)
);

/**
 * writeback_throttle - a writer was held in balance_dirty_pages()
 *
 * Any writer, io_uring or not; io_uring's buffered writes are held in their io-wq worker. One
 * event a call that slept, however often it slept in it.
 *
 * @dev: backing device (major:minor as in /sys/class/bdi)
 * @pause_ns: how long the task was held
 * @pages_dirtied: pages it had dirtied
 * @dirty_pages: dirty pages of the whole system, at the end
 * @writeback_pages: pages under writeback, of the whole system
 * @ratelimit_pages: pages a second that one writer to this backing device may dirty
 * @wb_dirty_pages: dirty pages of this backing device
 * @duration_ns: pause_ns under the name common to all events
 *
 * Arguments: pause_ns, 0, pages_dirtied, 0, struct.
 * Parameter: writeback_throttle_min_ns.
 * Overhead: entry and return of balance_dirty_pages(), which the kernel already rate-limits.
 * Reach: 6.1 and later.
 */
KSTALL_TRACE_EVENT(writeback_throttle,
	TP_PROTO(u64 pause_ns, u64 none, u64 pages_dirtied, int zero,
		 const struct kstall_writeback *wb),
	TP_ARGS(pause_ns, none, pages_dirtied, zero, wb),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u64, pause_ns)
		__field(u64, pages_dirtied)
		__field(u64, dirty_pages)
		__field(u64, writeback_pages)
		__field(u64, ratelimit_pages)
		__field(u64, wb_dirty_pages)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&wb->id);
		__entry->pause_ns = pause_ns;
		__entry->pages_dirtied = pages_dirtied;
		__entry->dirty_pages = wb->dirty_pages;
		__entry->writeback_pages = wb->writeback_pages;
		__entry->ratelimit_pages = wb->ratelimit_pages;
		__entry->wb_dirty_pages = wb->wb_dirty_pages;
		__entry->duration_ns = pause_ns;
	),
	TP_printk(KSTALL_ID_FMT " pause_ns=%llu pages_dirtied=%llu dirty_pages=%llu writeback_pages=%llu ratelimit_pages=%llu wb_dirty_pages=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->pause_ns, __entry->pages_dirtied,
		  __entry->dirty_pages, __entry->writeback_pages, __entry->ratelimit_pages,
		  __entry->wb_dirty_pages, __entry->duration_ns)
);

/**
 * writeback_wait_done - a task waited for writeback to finish
 *
 * kind=range: fsync(), sync_file_range(), sync() and whatever else waits for a range of a
 * file, NFS included: one event a range with the sum of its waits. kind=folio: a wait for a
 * single folio outside of that (truncation, a write into a page under writeback). The kernel has
 * an event writeback:writeback_wait, which is another: a flusher's work, not the task that waits for it.
 *
 * @dev: backing device (major:minor as in /sys/class/bdi)
 * @sb: file system, its s_id
 * @ino: inode
 * @kind: range, folio
 * @wait_ns: how long the task slept
 * @pages: pages waited for that were under writeback
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, ino, pages, kind, struct.
 * Parameter: writeback_wait_done_min_ns.
 * Overhead: entry and return of folio_wait_writeback() and of __filemap_fdatawait_range().
 * Reach: 6.1 and later. Not the commit an NFS client or a journal waits for afterwards.
 */
KSTALL_TRACE_EVENT(writeback_wait_done,
	TP_PROTO(u64 wait_ns, u64 ino, u64 pages, int kind, const struct kstall_writeback *wb),
	TP_ARGS(wait_ns, ino, pages, kind, wb),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(sb)
		__field(u64, ino)
		__field(u8, kind)
		__field(u64, wait_ns)
		__field(u64, pages)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&wb->id);
		KSTALL_NAME_ASSIGN(sb, wb->sb);
		__entry->ino = ino;
		__entry->kind = kind;
		__entry->wait_ns = wait_ns;
		__entry->pages = pages;
		__entry->duration_ns = wait_ns;
	),
	TP_printk(KSTALL_ID_FMT " sb=%s ino=%llu kind=%s wait_ns=%llu pages=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->sb, __entry->ino, wb_show_kind(__entry->kind),
		  __entry->wait_ns, __entry->pages, __entry->duration_ns)
);

#endif /* _IO_URING_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE io_uring_trace_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
