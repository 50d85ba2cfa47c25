// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring_trace - where io_uring and the writers behind it stall
 *
 * Watches submission rings that are full or refuse entries, completion rings that overflow,
 * the time each request spends queued, waiting for an io-wq worker and being worked on, the
 * block requests it becomes, and the writeback throttling of any writer.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in
 * ring.c (rings and requests), block.c and writeback.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kstall/core.h>

#include "io_uring_trace.h"

#define CREATE_TRACE_POINTS
#include "io_uring_trace_events.h"

KSTALL_PARAM_UINT(max_requests, 65536, 64, 1 << 22,
		  "io_uring requests in flight that are followed at a time (64 to 4194304, default 65536)");
KSTALL_PARAM_UINT(max_bios, 16384, 64, 1 << 22,
		  "bios in flight that are followed at a time (64 to 4194304, default 16384)");

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

/* A poll waits for any time: requests go with their ring, see uring_rings_forget(). */
struct kstall_inflight uring_reqs = {
	.name = "requests", .rec_size = sizeof(struct uring_req), .raw = true,
};
struct kstall_inflight uring_gone = {
	.name = "gone_rings", .capacity = 1024,
};
struct kstall_inflight uring_rings = {
	.name = "cq_episodes", .capacity = 1024, .rec_size = sizeof(struct uring_cq_episode),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight uring_windows = {
	.name = "windows", .capacity = 4096, .rec_size = sizeof(struct uring_window),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight uring_bios = {
	.name = "bios", .rec_size = sizeof(struct uring_bio), .max_age_ns = 10 * MINUTE,
};
struct kstall_inflight uring_rqs = {
	.name = "block_requests", .rec_size = sizeof(struct uring_rq), .max_age_ns = 10 * MINUTE,
};
struct kstall_inflight wb_waits = {
	.name = "writeback_waits", .capacity = 4096, .rec_size = sizeof(struct wb_wait),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_fold uring_sq_full_fold = KSTALL_FOLD("sq_full", 1024, struct uring_sq_full,
						    uring_sq_full_emit);

enum { T_REQS, T_GONE, T_RINGS, T_WINDOWS, T_BIOS, T_RQS, T_WB, T_SQ_FULL };

static struct kstall_inflight *tables[] = {
	[T_REQS] = &uring_reqs,
	[T_GONE] = &uring_gone,
	[T_RINGS] = &uring_rings,
	[T_WINDOWS] = &uring_windows,
	[T_BIOS] = &uring_bios,
	[T_RQS] = &uring_rqs,
	[T_WB] = &wb_waits,
	[T_SQ_FULL] = &uring_sq_full_fold.table,
};

/* Ends before beginnings: what is armed first misses nothing of what is armed later. */
enum {
	H_COMPLETE, H_REQ_OVERFLOW, H_SUBMIT, H_REFUSED, H_ISSUE, H_WINDOW, H_PUNT, H_POLL_ARM,
	H_SUBMIT_SQES, H_SQPOLL_WAIT,
	H_CQE_OVERFLOW, H_CQ_FLUSH, H_RING_KILL, H_CQ_WAIT, H_RING_EXIT,
	H_BIO_COMPLETE, H_RQ_COMPLETE, H_RQ_MERGE, H_RQ_ISSUE, H_RQ_INSERT, H_GETRQ,
	H_SPLIT, H_BIO_QUEUE,
	H_BALANCE_DIRTY, H_WAIT_RANGE, H_WAIT_FOLIO,
};

static struct kstall_hook hooks[] = {
	[H_COMPLETE] = KSTALL_TRACEPOINT("complete", NULL, "io_uring_complete", uring_on_complete),
	[H_REQ_OVERFLOW] = KSTALL_ENTRY("req_overflow", NULL, URING_REQ_OVERFLOW,
					uring_req_overflow),
	[H_SUBMIT] = KSTALL_TRACEPOINT("submit", NULL, __stringify(URING_SUBMIT), uring_on_submit),
	[H_REFUSED] = KSTALL_TRACEPOINT("refused", NULL, "io_uring_req_failed", uring_on_refused),
	[H_ISSUE] = KSTALL_ENTRY("issue", NULL, "io_issue_sqe", uring_issue_enter),
	[H_WINDOW] = KSTALL_PAIR("window", NULL, "io_issue_sqe", sizeof(struct uring_window_call),
				 uring_window_enter, uring_window_return, .sleeps = true),
	[H_PUNT] = KSTALL_TRACEPOINT("punt", NULL, "io_uring_queue_async_work", uring_on_punt),
	[H_POLL_ARM] = KSTALL_TRACEPOINT("poll_arm", NULL, "io_uring_poll_arm", uring_on_poll_arm),
	[H_SUBMIT_SQES] = KSTALL_PAIR("submit_sqes", NULL, "io_submit_sqes",
				      sizeof(struct uring_submit_call), uring_submit_enter,
				      uring_submit_return, .sleeps = true),
	[H_SQPOLL_WAIT] = KSTALL_PAIR("sqpoll_wait", NULL, "io_sqpoll_wait_sq",
				      sizeof(struct uring_sq_wait_call), uring_sq_wait_enter,
				      uring_sq_wait_return, .sleeps = true),
	[H_CQE_OVERFLOW] = KSTALL_TRACEPOINT("cqe_overflow", NULL, "io_uring_cqe_overflow",
					     uring_on_cqe_overflow),
	[H_CQ_FLUSH] = KSTALL_PAIR("cq_flush", NULL, "__io_cqring_overflow_flush",
				   sizeof(struct uring_ctx_call), uring_flush_enter,
				   uring_flush_return, .sleeps = true),
	[H_RING_KILL] = KSTALL_ENTRY("ring_kill", NULL, "io_ring_ctx_wait_and_kill",
				     uring_kill_enter),
	[H_CQ_WAIT] = KSTALL_PAIR("cq_wait", NULL, "io_cqring_wait", sizeof(struct uring_ctx_call),
				  uring_cq_wait_enter, uring_cq_wait_return, .sleeps = true),
	[H_RING_EXIT] = KSTALL_PAIR("ring_exit", NULL, "io_ring_exit_work",
				    sizeof(struct uring_exit_call), uring_exit_enter,
				    uring_exit_return, .few = true),
	[H_BIO_COMPLETE] = KSTALL_TRACEPOINT("bio_complete", NULL, "block_bio_complete",
					     uring_on_bio_complete),
	[H_RQ_COMPLETE] = KSTALL_TRACEPOINT("rq_complete", NULL, "block_rq_complete",
					    uring_on_rq_complete),
	[H_RQ_MERGE] = KSTALL_TRACEPOINT("rq_merge", NULL, "block_rq_merge", uring_on_rq_merge),
	[H_RQ_ISSUE] = KSTALL_TRACEPOINT("rq_issue", NULL, "block_rq_issue", uring_on_rq_issue),
	[H_RQ_INSERT] = KSTALL_TRACEPOINT("rq_insert", NULL, "block_rq_insert", uring_on_rq_insert),
	[H_GETRQ] = KSTALL_TRACEPOINT("getrq", NULL, "block_getrq", uring_on_getrq),
	[H_SPLIT] = KSTALL_TRACEPOINT("split", NULL, "block_split", uring_on_split),
	[H_BIO_QUEUE] = KSTALL_TRACEPOINT("bio_queue", NULL, "block_bio_queue", uring_on_bio_queue),
	[H_BALANCE_DIRTY] = KSTALL_PAIR("balance_dirty", NULL, "balance_dirty_pages",
					sizeof(struct wb_throttle_call), wb_throttle_enter,
					wb_throttle_return, .sleeps = true),
	[H_WAIT_RANGE] = KSTALL_PAIR("wait_range", NULL, "__filemap_fdatawait_range",
				     sizeof(struct wb_wait_call), wb_range_enter, wb_range_return,
				     .sleeps = true),
	[H_WAIT_FOLIO] = KSTALL_PAIR("wait_folio", NULL, "folio_wait_writeback",
				     sizeof(struct wb_wait_call), wb_folio_enter, wb_folio_return,
				     .sleeps = true),
};

/*
 * All that writes to a request's record, whichever event needs it: they share the table. Without
 * H_REQ_OVERFLOW, where it is inlined, requests whose completions overflow are not seen. Without
 * H_RING_EXIT what a ring leaves there stays until it is old.
 */
#define REQ_HOOKS	(BIT_ULL(H_COMPLETE) | BIT_ULL(H_SUBMIT) | BIT_ULL(H_REFUSED) | \
			 BIT_ULL(H_ISSUE) | BIT_ULL(H_PUNT) | BIT_ULL(H_POLL_ARM))
#define REQ_OPTIONAL	(BIT_ULL(H_REQ_OVERFLOW) | BIT_ULL(H_RING_EXIT))
#define REQ_TABLES	(BIT(T_REQS) | BIT(T_GONE))
#define BLOCK_HOOKS	(BIT_ULL(H_BIO_COMPLETE) | BIT_ULL(H_RQ_COMPLETE) | \
			 BIT_ULL(H_RQ_MERGE) | BIT_ULL(H_RQ_ISSUE) | BIT_ULL(H_RQ_INSERT) | \
			 BIT_ULL(H_GETRQ) | BIT_ULL(H_SPLIT) | \
			 BIT_ULL(H_BIO_QUEUE) | BIT_ULL(H_WINDOW))

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(io_uring_sq_overflow, BIT_ULL(H_SUBMIT_SQES) | BIT_ULL(H_SQPOLL_WAIT),
		     .rare = true),
	KSTALL_EVENT(io_uring_sq_full, BIT_ULL(H_SUBMIT_SQES) | BIT_ULL(H_RING_KILL),
		     .tables = BIT(T_SQ_FULL), .fold = &uring_sq_full_fold),
	/* On 6.1 io_cqring_wait() is inlined: no phase=reported there. */
	KSTALL_EVENT(io_uring_cq_overflow,
		     BIT_ULL(H_CQE_OVERFLOW) | BIT_ULL(H_CQ_FLUSH) | BIT_ULL(H_RING_KILL),
		     .optional = BIT_ULL(H_CQ_WAIT), .tables = BIT(T_RINGS), .rare = true),
	KSTALL_EVENT(io_uring_req_done, REQ_HOOKS, .optional = REQ_OPTIONAL,
		     .tables = REQ_TABLES, .tick = uring_rings_forget),
	KSTALL_EVENT(io_uring_wq_punt, REQ_HOOKS, .optional = REQ_OPTIONAL,
		     .tables = REQ_TABLES, .tick = uring_rings_forget),
	KSTALL_EVENT(io_uring_block_rq, REQ_HOOKS | BLOCK_HOOKS,
		     .optional = REQ_OPTIONAL,
		     .tables = REQ_TABLES | BIT(T_WINDOWS) | BIT(T_BIOS) | BIT(T_RQS),
		     .tick = uring_rings_forget),
	KSTALL_EVENT(writeback_throttle, BIT_ULL(H_BALANCE_DIRTY)),
	KSTALL_EVENT(writeback_wait_done, BIT_ULL(H_WAIT_RANGE) | BIT_ULL(H_WAIT_FOLIO),
		     .tables = BIT(T_WB)),
};

/* kstall.update() */
static bool uring_update(u64 wanted)
{
	if (!(wanted & REQ_HOOKS))
		uring_wq_forget();
	return false;
}

static void uring_show(struct seq_file *m)
{
	uring_ring_show(m);
	uring_block_show(m);
}

KSTALL_MODULE("io_uring_trace", hooks, tables, events, uring_show);

static int __init io_uring_trace_init(void)
{
	uring_reqs.capacity = max_requests;
	uring_bios.capacity = max_bios;
	uring_rqs.capacity = max_bios;
	uring_ring_init();
	uring_block_init();
	kstall.update = uring_update;
	return kstall_init();
}

static void __exit io_uring_trace_exit(void)
{
	kstall_exit();
}

module_init(io_uring_trace_init);
module_exit(io_uring_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_AUTHOR("kstall maintainers");
MODULE_DESCRIPTION("kstall: where io_uring and the writers behind it stall");
