/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ib_cq_trace_events.h - the module's events
 *
 * Both the fields and the TP_PROTO() arguments (what rawtracepoint: and raw_tp programs see)
 * are ABI: they are only ever added to, at the end. Documentation/events.md is generated
 * from the comments here.
 *
 * Kernel users of RDMA (NVMe-oF, NFS, IPoIB, SRP, ...) are seen completely. User verbs on mlx5 and
 * most others (NCCL, MPI) post and poll without the kernel: of them there are asynchronous events,
 * queue pair states, registrations and the ports' counters, but no completion and no latency; on
 * soft-RoCE alone their failed completions are seen. For the rest there are ibv_errors.bt and
 * ibv_lat.bt, which look into the programs themselves.
 *
 * What is particular to mlx5 was checked against the kernel's source and is not tested on
 * hardware: a CQ's syndrome and the errors of DEVX objects' CQs (ib_cq_overflow), post_send()
 * under another name (ib_wr_latency), the counters that start a sweep (ib_qp_error), on-demand
 * paging (ib_odp_fault; soft-RoCE's is tested, and the core's part of it). That the functions are
 * there was tested with mlx5's driver loaded without a device. The module does not depend on it:
 * where a function is missing the status file says so, and the rest works.
 *
 * A function hook that is hit in an interrupt of another hook's handler misses, as kprobes do, and
 * counts it in the status file (missed=): so rounds of ib_cq_process, posts of ib_wr_latency and,
 * on soft-RoCE only, errors of programs may be lacking. Completions of the core's users come by
 * a tracepoint, which does not miss.
 *
 * The identity is the owner's: the thread that created the queue pair or CQ. If the kernel owns
 * it, pid and tgid are 0, comm is empty and user names the module that does. Then cgroup_id is that
 * of the process in whose system call the work request was posted, where one is (ib_wr_latency, and
 * ib_wc_error while that is enabled too); it is 0 if a kernel thread or an interrupt posted it (an
 * RPC of rpciod, a target's answer), and in the other events, which are about a queue pair, CQ or port
 * that processes share.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_cq

#ifndef _IB_CQ_TRACE_EVENTS_TYPES
#define _IB_CQ_TRACE_EVENTS_TYPES

#include "ib_cq_trace.h"

KSTALL_DECLARE_EVENT(ib_cq_overflow);
KSTALL_DECLARE_EVENT(ib_wc_error);
KSTALL_DECLARE_TIMED_EVENT(ib_wr_latency);
KSTALL_DECLARE_TIMED_EVENT(ib_cq_process);
KSTALL_DECLARE_EVENT(ib_qp_event);
KSTALL_DECLARE_EVENT(ib_qp_error);
KSTALL_DECLARE_TIMED_EVENT(ib_comp_channel);
KSTALL_DECLARE_TIMED_EVENT(ib_mr_reg);
KSTALL_DECLARE_TIMED_EVENT(ib_odp_fault);
KSTALL_DECLARE_EVENT(ib_port_event);

/* enum ib_wc_status */
#define iq_show_status(val)						\
	__print_symbolic(val,						\
		{ 0, "SUCCESS" }, { 1, "LOC_LEN_ERR" }, { 2, "LOC_QP_OP_ERR" }, \
		{ 3, "LOC_EEC_OP_ERR" }, { 4, "LOC_PROT_ERR" }, { 5, "WR_FLUSH_ERR" }, \
		{ 6, "MW_BIND_ERR" }, { 7, "BAD_RESP_ERR" }, { 8, "LOC_ACCESS_ERR" }, \
		{ 9, "REM_INV_REQ_ERR" }, { 10, "REM_ACCESS_ERR" }, { 11, "REM_OP_ERR" }, \
		{ 12, "RETRY_EXC_ERR" }, { 13, "RNR_RETRY_EXC_ERR" }, \
		{ 14, "LOC_RDD_VIOL_ERR" }, { 15, "REM_INV_RD_REQ_ERR" }, \
		{ 16, "REM_ABORT_ERR" }, { 17, "INV_EECN_ERR" }, { 18, "INV_EEC_STATE_ERR" }, \
		{ 19, "FATAL_ERR" }, { 20, "RESP_TIMEOUT_ERR" }, { 21, "GENERAL_ERR" })

/* enum ib_wr_opcode; IQ_UNKNOWN */
#define iq_show_opcode(val)						\
	__print_symbolic(val,						\
		{ 0, "RDMA_WRITE" }, { 1, "RDMA_WRITE_WITH_IMM" }, { 2, "SEND" }, \
		{ 3, "SEND_WITH_IMM" }, { 4, "RDMA_READ" }, { 5, "ATOMIC_CMP_AND_SWP" }, \
		{ 6, "ATOMIC_FETCH_AND_ADD" }, { 7, "LOCAL_INV" }, { 8, "BIND_MW" }, \
		{ 9, "SEND_WITH_INV" }, { 10, "TSO" }, { 11, "RDMA_READ_WITH_INV" }, \
		{ 12, "MASKED_ATOMIC_CMP_AND_SWP" }, { 13, "MASKED_ATOMIC_FETCH_AND_ADD" }, \
		{ 14, "FLUSH" }, { 15, "ATOMIC_WRITE" }, { 32, "REG_MR" }, \
		{ 33, "REG_MR_INTEGRITY" }, { 255, "-" })

/* enum ib_event_type */
#define iq_show_event(val)						\
	__print_symbolic(val,						\
		{ 0, "CQ_ERR" }, { 1, "QP_FATAL" }, { 2, "QP_REQ_ERR" }, \
		{ 3, "QP_ACCESS_ERR" }, { 4, "COMM_EST" }, { 5, "SQ_DRAINED" }, \
		{ 6, "PATH_MIG" }, { 7, "PATH_MIG_ERR" }, { 8, "DEVICE_FATAL" }, \
		{ 9, "PORT_ACTIVE" }, { 10, "PORT_ERR" }, { 11, "LID_CHANGE" }, \
		{ 12, "PKEY_CHANGE" }, { 13, "SM_CHANGE" }, { 14, "SRQ_ERR" }, \
		{ 15, "SRQ_LIMIT_REACHED" }, { 16, "QP_LAST_WQE_REACHED" }, \
		{ 17, "CLIENT_REREGISTER" }, { 18, "GID_CHANGE" }, { 19, "WQ_FATAL" }, \
		{ 20, "DEVICE_SPEED_CHANGE" })

/* enum ib_qp_state; IQ_UNKNOWN */
#define iq_show_state(val)						\
	__print_symbolic(val, { 0, "RESET" }, { 1, "INIT" }, { 2, "RTR" }, { 3, "RTS" }, \
			 { 4, "SQD" }, { 5, "SQE" }, { 6, "ERR" }, { 255, "-" })

/* enum ib_port_state */
#define iq_show_port_state(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "DOWN" }, { 2, "INIT" }, { 3, "ARMED" }, \
			 { 4, "ACTIVE" }, { 5, "ACTIVE_DEFER" })

/* enum ib_poll_context */
#define iq_show_poll(val)						\
	__print_symbolic(val, { 0, "softirq" }, { 1, "workqueue" }, { 2, "unbound_workqueue" }, \
			 { 3, "direct" })

/* IQ_BY_* */
#define iq_show_source(val)						\
	__print_symbolic(val, { 0, "modify" }, { 1, "event" }, { 2, "sweep" })

/* enum ib_port_speed */
#define iq_show_speed(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "SDR" }, { 2, "DDR" }, { 4, "QDR" }, \
			 { 8, "FDR10" }, { 16, "FDR" }, { 32, "EDR" }, { 64, "HDR" }, \
			 { 128, "NDR" }, { 256, "XDR" })

/* enum ib_port_width */
#define iq_show_width(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "1X" }, { 2, "4X" }, { 4, "8X" },	\
			 { 8, "12X" }, { 16, "2X" })

/* enum ib_access_flags */
#define iq_show_access(val)						\
	__print_flags(val, "|", { 0x1, "LOCAL_WRITE" }, { 0x2, "REMOTE_WRITE" }, \
		      { 0x4, "REMOTE_READ" }, { 0x8, "REMOTE_ATOMIC" }, { 0x10, "MW_BIND" }, \
		      { 0x20, "ZERO_BASED" }, { 0x40, "ON_DEMAND" }, { 0x80, "HUGETLB" }, \
		      { 0x100, "FLUSH_GLOBAL" }, { 0x200, "FLUSH_PERSISTENT" }, \
		      { 0x100000, "RELAXED_ORDERING" })

/* ib_cq_overflow: syndrome, of mlx5 */
#define iq_show_syndrome(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "overrun" }, { 2, "access_violation" })

/* ib_mr_reg: kind */
#define IQ_MR_MEMORY	0
#define IQ_MR_ODP	1
#define IQ_MR_DMABUF	2

#define iq_show_mr(val)							\
	__print_symbolic(val, { 0, "memory" }, { 1, "odp" }, { 2, "dmabuf" })

/* ib_odp_fault: op */
#define IQ_ODP_MAP	0
#define IQ_ODP_UNMAP	1

#define iq_show_odp(val)						\
	__print_symbolic(val, { 0, "map" }, { 1, "invalidate" })

/**
 * struct kstall_ib_cq_error - rest of ib_cq_overflow
 * @id: identity, the CQ's owner
 * @o: the CQ
 * @count: completions it had no room for
 * @first_ns: when the first of them came
 * @last_ns: when the last
 */
struct kstall_ib_cq_error {
	struct kstall_id id;
	const struct iq_overflow *o;
	u64 count;
	u64 first_ns;
	u64 last_ns;
};

/**
 * struct kstall_ib_wc - rest of ib_wc_error
 * @id: identity, the owner
 * @f: completion; @f->folded holds how many and when
 * @qp: queue pair as far as it is known
 * @opcode: enum ib_wr_opcode, IQ_UNKNOWN
 * @first: the queue pair's first that was not flushed
 */
struct kstall_ib_wc {
	struct kstall_id id;
	const struct iq_flushed *f;
	const struct iq_qp *qp;
	u8 opcode;
	bool first;
};

/**
 * struct kstall_ib_wr - rest of ib_wr_latency
 * @id: identity, the owner
 * @user: name of the kernel user
 * @port: of the device
 * @opcode: enum ib_wr_opcode
 * @cq_id: restrack id of its CQ
 * @post_pid: thread in whose system call it was posted, 0: none
 */
struct kstall_ib_wr {
	struct kstall_id id;
	const char *user;
	u32 port;
	u32 opcode;
	u32 cq_id;
	s32 post_pid;
};

/**
 * struct kstall_ib_round - rest of ib_cq_process
 * @id: identity, the owner
 * @user: name of the kernel user
 * @delay_ns: from being scheduled to the round's begin
 * @duration_ns: of the round
 * @budget: completions it may process, -1: any
 * @scheduled: its being scheduled was seen
 * @poll_ctx: enum ib_poll_context
 * @comp_vector: completion vector
 */
struct kstall_ib_round {
	struct kstall_id id;
	const char *user;
	u64 delay_ns;
	u64 duration_ns;
	s32 budget;
	bool scheduled;
	u8 poll_ctx;
	u32 comp_vector;
};

/**
 * struct kstall_ib_qp - rest of ib_qp_event and ib_qp_error
 * @id: identity, the queue pair's owner
 * @qp_num: its number
 * @qp: the rest
 * @old_state: ib_qp_error: enum ib_qp_state, IQ_UNKNOWN
 * @cause: ib_qp_error: enum ib_event_type if found by an event, else -1
 */
struct kstall_ib_qp {
	struct kstall_id id;
	u32 qp_num;
	const struct iq_qp *qp;
	u8 old_state;
	s32 cause;
};

/**
 * struct kstall_ib_channel - rest of ib_comp_channel
 * @id: identity of the reader
 * @lost: events of this channel there was no room to time
 */
struct kstall_ib_channel {
	struct kstall_id id;
	u32 lost;
};

/**
 * struct kstall_ib_mr - rest of ib_mr_reg and ib_odp_fault
 * @id: identity, the process whose memory it is
 * @addr: user address
 * @access: enum ib_access_flags
 * @kind: ib_mr_reg: IQ_MR_*; ib_odp_fault: IQ_ODP_*
 * @write: ib_odp_fault: for writing
 */
struct kstall_ib_mr {
	struct kstall_id id;
	u64 addr;
	u32 access;
	u8 kind;
	bool write;
};

/**
 * struct kstall_ib_port - rest of ib_port_event
 * @id: identity: none but the device
 * @state: enum ib_port_state
 * @lid: LID, 0 on RoCE
 * @sm_lid: subnet manager's LID
 * @speed: enum ib_port_speed
 * @width: enum ib_port_width
 */
struct kstall_ib_port {
	struct kstall_id id;
	u8 state;
	u16 lid;
	u16 sm_lid;
	u16 speed;
	u8 width;
};

/* A connection's ends, in every event about one. */
#define IQ_PEER_FIELDS							\
	__field(bool, connected)					\
	__array(char, lgid, 40)						\
	__array(char, rgid, 40)						\
	__field(u32, rqpn)						\
	__field(u16, rlid)

#define IQ_PEER_ASSIGN(_qp)						\
	do {								\
		__entry->connected = (_qp)->connected;			\
		memset(__entry->lgid, 0, 40);				\
		memset(__entry->rgid, 0, 40);				\
		snprintf(__entry->lgid, 40, "%pI6c", (_qp)->peer.lgid.raw); \
		snprintf(__entry->rgid, 40, "%pI6c", (_qp)->peer.rgid.raw); \
		__entry->rqpn = (_qp)->peer.rqpn;			\
		__entry->rlid = (_qp)->peer.rlid;			\
	} while (0)

#define IQ_PEER_FMT	"connected=%d lgid=%s rgid=%s rqpn=%u rlid=%u"
#define IQ_PEER_ARGS							\
	__entry->connected, __entry->lgid, __entry->rgid, __entry->rqpn, __entry->rlid

#endif /* _IB_CQ_TRACE_EVENTS_TYPES */

#if !defined(_IB_CQ_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _IB_CQ_TRACE_EVENTS_H

#include <linux/tracepoint.h>

/**
 * ib_cq_overflow - a completion queue had no room for a completion, or failed
 *
 * The completion is lost; a task that waits for it waits for ever, or until a queue pair on the CQ
 * fails in its turn. Storms are folded: the first at once with count=1, the rest in one
 * summary; the sum of counts is the number of completions lost, where the provider reports
 * each (soft-RoCE does), or of reports.
 *
 * @dev: RDMA device; empty for a CQ of mlx5 that no verbs CQ stands for: a DEVX object's, or
 *	another of its drivers' (vDPA, steering; not the Ethernet one)
 * @user: module that owns the CQ, empty if a process does
 * @cq_id: restrack id of the CQ, as rdma resource show cq prints; with an empty dev the device's
 *	own number
 * @depth: entries it has, as the provider rounded them; 0 with an empty dev
 * @used: of them in use: depth if the provider says it is full, else -1
 * @attached: work queues that use it (a queue pair with both on it counts 2); which,
 *	rdma resource show qp says
 * @syndrome: the device's (mlx5): overrun, access_violation; - (none)
 * @count: completions lost, or reports
 * @first_ts_mono_ns: the first of them
 * @last_ts_mono_ns: the last of them
 * @duration_ns: from the first to the last
 *
 * Arguments: duration_ns, cq_id, count, syndrome, struct.
 * Overhead: nothing while no CQ overflows; on soft-RoCE a function entry per completion.
 * Reach: CQs of processes on every provider that reports it (mlx5, mlx4, irdma, bnxt_re, qedr,
 * ocrdma, mthca, rdmavt, soft-RoCE; never cxgb4, efa, mana), and of the kernel on mlx5 and
 * soft-RoCE: elsewhere the kernel drops the report. CQs created to ignore overruns never
 * report. The paths of mlx5 are not tested on hardware.
 */
KSTALL_TRACE_EVENT(ib_cq_overflow,
	TP_PROTO(u64 duration_ns, u32 cq_id, u64 count, int syndrome,
		 const struct kstall_ib_cq_error *e),
	TP_ARGS(duration_ns, cq_id, count, syndrome, e),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(user)
		__field(u32, cq_id)
		__field(u32, depth)
		__field(s32, used)
		__field(u32, attached)
		__field(s32, syndrome)
		__field(u64, count)
		__field(u64, first_ts_mono_ns)
		__field(u64, last_ts_mono_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&e->id);
		KSTALL_NAME_ASSIGN(user, e->o->user);
		__entry->cq_id = cq_id;
		__entry->depth = e->o->depth;
		__entry->used = e->o->used;
		__entry->attached = e->o->attached;
		__entry->syndrome = syndrome;
		__entry->count = count;
		__entry->first_ts_mono_ns = e->first_ns;
		__entry->last_ts_mono_ns = e->last_ns;
		__entry->duration_ns = duration_ns;
	),
	TP_printk(KSTALL_ID_FMT " user=%s cq_id=%u depth=%u used=%d attached=%u syndrome=%s count=%llu first_ts_mono_ns=%llu last_ts_mono_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->user, __entry->cq_id, __entry->depth,
		  __entry->used, __entry->attached, iq_show_syndrome(__entry->syndrome),
		  __entry->count,
		  __entry->first_ts_mono_ns, __entry->last_ts_mono_ns,
		  __entry->duration_ns)
);

/**
 * ib_wc_error - a work request completed with an error
 *
 * A queue pair fails once, with first=1: that is the error to look at. What is posted on it is
 * then flushed (WR_FLUSH_ERR): those are folded, the first at once with count=1, the rest in
 * one summary, and first_status names the error they follow. Flushed with first_status=SUCCESS:
 * no error was seen, the queue pair was moved to ERR by its owner, as at every disconnect.
 *
 * @dev: RDMA device
 * @user: module that owns the CQ (of a shared one: ib_core), empty if a process does
 * @port: of the device
 * @qp_num: number of the queue pair
 * @cq_id: restrack id of the CQ
 * @status: enum ib_wc_status; each is a count of one but WR_FLUSH_ERR
 * @first_status: of the queue pair's first error that was not a flush, since it was connected
 * @first: this is it
 * @vendor_err: the provider's own code
 * @opcode: enum ib_wr_opcode while ib_wr_latency is enabled too, else 255: unknown
 * @latency_ns: since it was posted, while ib_wr_latency is enabled too, else 0
 * @wr_id: the work request's id; 0 where it is a kernel pointer (done names it then)
 * @done: completion handler in the kernel
 * @connected: the following are known
 * @lgid: GID of this end
 * @rgid: GID of the other end; ends with a LID only have ::
 * @rqpn: queue pair number of the other end
 * @rlid: LID of the other end, 0 on RoCE
 * @count: how many, more than 1 in a summary of flushed ones
 * @first_ts_mono_ns: the first of them
 * @last_ts_mono_ns: the last of them
 * @duration_ns: latency_ns under the name common to all events
 *
 * Arguments: latency_ns, qp_num, count, status, struct.
 * Overhead: a tracepoint probe and a function entry per ib_poll_cq(), for users that poll
 * themselves an entry and return; on soft-RoCE one more entry per completion.
 * Reach: all kernel users on all providers; user verbs on soft-RoCE only. The other end is known
 * of queue pairs connected after enabling, and of those that ib_qp_error's sweep has asked.
 */
KSTALL_TRACE_EVENT(ib_wc_error,
	TP_PROTO(u64 latency_ns, u32 qp_num, u64 count, int status, const struct kstall_ib_wc *w),
	TP_ARGS(latency_ns, qp_num, count, status, w),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(user)
		__field(u32, port)
		__field(u32, qp_num)
		__field(u32, cq_id)
		__field(u8, status)
		__field(u8, first_status)
		__field(bool, first)
		__field(u32, vendor_err)
		__field(u8, opcode)
		__field(u64, latency_ns)
		__field(u64, wr_id)
		KSTALL_NAME_FIELD(done)
		IQ_PEER_FIELDS
		__field(u64, count)
		__field(u64, first_ts_mono_ns)
		__field(u64, last_ts_mono_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&w->id);
		KSTALL_NAME_ASSIGN(user, w->f->user);
		__entry->port = w->qp->port;
		__entry->qp_num = qp_num;
		__entry->cq_id = w->f->cq_id;
		__entry->status = status;
		__entry->first_status = w->qp->first_status;
		__entry->first = w->first;
		__entry->vendor_err = w->f->vendor_err;
		__entry->opcode = w->opcode;
		__entry->latency_ns = latency_ns;
		__entry->wr_id = w->f->wr_id;
		KSTALL_NAME_ASSIGN(done, w->f->done);
		IQ_PEER_ASSIGN(w->qp);
		__entry->count = count;
		__entry->first_ts_mono_ns = w->f->folded.first_ns;
		__entry->last_ts_mono_ns = w->f->folded.last_ns;
		__entry->duration_ns = latency_ns;
	),
	TP_printk(KSTALL_ID_FMT " user=%s port=%u qp_num=%u cq_id=%u status=%s first_status=%s first=%d vendor_err=%u opcode=%s latency_ns=%llu wr_id=0x%llx done=%s " IQ_PEER_FMT " count=%llu first_ts_mono_ns=%llu last_ts_mono_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->user, __entry->port, __entry->qp_num,
		  __entry->cq_id, iq_show_status(__entry->status),
		  iq_show_status(__entry->first_status), __entry->first,
		  __entry->vendor_err, iq_show_opcode(__entry->opcode), __entry->latency_ns,
		  __entry->wr_id, __entry->done, IQ_PEER_ARGS, __entry->count,
		  __entry->first_ts_mono_ns, __entry->last_ts_mono_ns,
		  __entry->duration_ns)
);

/**
 * ib_wr_latency - a signaled work request is complete
 *
 * From the call of ib_post_send() to the moment its completion is polled, so it includes the
 * CQ's moderation and the delay of its processing: ib_cq_process has these two. Unsignaled
 * requests have no completion and no event.
 *
 * @dev: RDMA device
 * @user: module that owns the CQ (of a shared one: ib_core)
 * @port: of the device
 * @qp_num: number of the queue pair
 * @cq_id: restrack id of the CQ
 * @opcode: enum ib_wr_opcode
 * @bytes: sum of its scatter/gather list
 * @status: enum ib_wc_status
 * @latency_ns: from ib_post_send() to ib_poll_cq()
 * @post_pid: thread in whose system call it was posted; 0 if by a kernel thread or an interrupt
 * @duration_ns: latency_ns under the name common to all events
 *
 * Arguments: latency_ns, qp_num, bytes, status, struct.
 * Parameter: ib_wr_latency_min_ns.
 * Overhead: a function entry and return per ib_post_send(), a tracepoint probe and a function
 * entry per ib_poll_cq(), a table record per signaled request.
 * Reach: kernel users on every provider whose device is there. Not user verbs, nor MADs, but
 * those of mlx5's QP1, which it posts again on queue pairs of its own. Of queue pairs that signal
 * every request without the flag (IB_SIGNAL_ALL_WR) only those created after enabling. Requests
 * posted before enabling count as unmatched in the status file, and so do those with an id that
 * more than four on their way have, on one queue pair.
 */
KSTALL_TRACE_EVENT(ib_wr_latency,
	TP_PROTO(u64 latency_ns, u32 qp_num, u64 bytes, int status, const struct kstall_ib_wr *w),
	TP_ARGS(latency_ns, qp_num, bytes, status, w),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(user)
		__field(u32, port)
		__field(u32, qp_num)
		__field(u32, cq_id)
		__field(u8, opcode)
		__field(u64, bytes)
		__field(u8, status)
		__field(u64, latency_ns)
		__field(s32, post_pid)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&w->id);
		KSTALL_NAME_ASSIGN(user, w->user);
		__entry->port = w->port;
		__entry->qp_num = qp_num;
		__entry->cq_id = w->cq_id;
		__entry->opcode = w->opcode;
		__entry->bytes = bytes;
		__entry->status = status;
		__entry->latency_ns = latency_ns;
		__entry->post_pid = w->post_pid;
		__entry->duration_ns = latency_ns;
	),
	TP_printk(KSTALL_ID_FMT " user=%s port=%u qp_num=%u cq_id=%u opcode=%s bytes=%llu status=%s latency_ns=%llu post_pid=%d duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->user, __entry->port, __entry->qp_num,
		  __entry->cq_id, iq_show_opcode(__entry->opcode), __entry->bytes,
		  iq_show_status(__entry->status), __entry->latency_ns, __entry->post_pid,
		  __entry->duration_ns)
);

/**
 * ib_cq_process - the kernel has processed a completion queue
 *
 * One event a round of polling. lag_ns = delay_ns + duration_ns: for so long the oldest
 * completion may have waited for its handler since the CQ was scheduled.
 *
 * @dev: RDMA device
 * @user: module that owns the CQ (of a shared one: ib_core)
 * @cq_id: restrack id of the CQ
 * @comp_vector: completion vector (which interrupt)
 * @poll_ctx: where it is processed: direct, softirq, workqueue, unbound_workqueue
 * @scheduled: its being scheduled was seen; if not, delay_ns is 0 (direct polling, a work item
 *	that queued itself again)
 * @lag_ns: the sum
 * @delay_ns: from being scheduled, by the interrupt or the round before, to the round's begin
 * @duration_ns: of the round, with the handlers of the completions
 * @completed: completions in this round
 * @budget: it may process so many; -1: any
 * @exhausted: it has; the rest waits for the next round
 *
 * Arguments: lag_ns, cq_id, completed, exhausted, struct.
 * Parameter: ib_cq_process_min_ns.
 * Overhead: two tracepoint probes and a function entry and return a round.
 * Reach: CQs of kernel users that let the core process them (ib_alloc_cq(), ib_cq_pool_get():
 * NVMe-oF, NFS, SRP, iSER, MADs). Not those of ib_create_cq() (IPoIB, RDS), not user verbs.
 */
KSTALL_TRACE_EVENT(ib_cq_process,
	TP_PROTO(u64 lag_ns, u32 cq_id, u32 completed, int exhausted,
		 const struct kstall_ib_round *r),
	TP_ARGS(lag_ns, cq_id, completed, exhausted, r),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(user)
		__field(u32, cq_id)
		__field(u32, comp_vector)
		__field(u8, poll_ctx)
		__field(bool, scheduled)
		__field(u64, lag_ns)
		__field(u64, delay_ns)
		__field(u64, duration_ns)
		__field(u32, completed)
		__field(s32, budget)
		__field(bool, exhausted)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&r->id);
		KSTALL_NAME_ASSIGN(user, r->user);
		__entry->cq_id = cq_id;
		__entry->comp_vector = r->comp_vector;
		__entry->poll_ctx = r->poll_ctx;
		__entry->scheduled = r->scheduled;
		__entry->lag_ns = lag_ns;
		__entry->delay_ns = r->delay_ns;
		__entry->duration_ns = r->duration_ns;
		__entry->completed = completed;
		__entry->budget = r->budget;
		__entry->exhausted = exhausted;
	),
	TP_printk(KSTALL_ID_FMT " user=%s cq_id=%u comp_vector=%u poll_ctx=%s scheduled=%d lag_ns=%llu delay_ns=%llu duration_ns=%llu completed=%u budget=%d exhausted=%d",
		  KSTALL_ID_ARGS, __entry->user, __entry->cq_id, __entry->comp_vector,
		  iq_show_poll(__entry->poll_ctx), __entry->scheduled, __entry->lag_ns,
		  __entry->delay_ns, __entry->duration_ns, __entry->completed,
		  __entry->budget, __entry->exhausted)
);

/**
 * ib_qp_event - a provider reports an asynchronous event of a queue pair
 *
 * @dev: RDMA device
 * @user: module that owns the queue pair (rdma_cm if it made it), empty if a process does
 * @port: of the device
 * @qp_num: number of the queue pair
 * @cq_id: restrack id of its send CQ
 * @event: enum ib_event_type: QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR, COMM_EST, SQ_DRAINED, ...
 * @state: it was last seen in: RESET, INIT, RTR, RTS, SQD, SQE, ERR; 255 unknown
 * @connected: the following are known
 * @lgid: GID of this end
 * @rgid: GID of the other end
 * @rqpn: queue pair number of the other end
 * @rlid: LID of the other end, 0 on RoCE
 *
 * Arguments: 0, qp_num, count, event, struct.
 * Overhead: a function entry an event.
 * Reach: queue pairs of processes on all providers; of the kernel on 6.12 and 7.2, not on 6.1,
 * which has no function that they pass. A requester's error, such as RETRY_EXC_ERR,
 * raises no event.
 */
KSTALL_TRACE_EVENT(ib_qp_event,
	TP_PROTO(u64 duration_ns, u32 qp_num, u32 count, int event, const struct kstall_ib_qp *q),
	TP_ARGS(duration_ns, qp_num, count, event, q),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(user)
		__field(u32, port)
		__field(u32, qp_num)
		__field(u32, cq_id)
		__field(u8, event)
		__field(u8, state)
		IQ_PEER_FIELDS
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&q->id);
		KSTALL_NAME_ASSIGN(user, q->qp->user);
		__entry->port = q->qp->port;
		__entry->qp_num = qp_num;
		__entry->cq_id = q->qp->cq_id;
		__entry->event = event;
		__entry->state = q->qp->state;
		IQ_PEER_ASSIGN(q->qp);
	),
	TP_printk(KSTALL_ID_FMT " user=%s port=%u qp_num=%u cq_id=%u event=%s state=%s " IQ_PEER_FMT,
		  KSTALL_ID_ARGS, __entry->user, __entry->port, __entry->qp_num,
		  __entry->cq_id, iq_show_event(__entry->event), iq_show_state(__entry->state),
		  IQ_PEER_ARGS)
);

/**
 * ib_qp_error - a queue pair has entered the state ERR
 *
 * Once for each time. A process or module may have moved it there (source=modify, as at every
 * disconnect), the provider may have said so (event), or it was found there (sweep): when a
 * port's error counters have grown, the queue pairs of the device are asked one by one, and again
 * a second later. On mlx5 that is the only trace in the kernel of a user queue pair whose retries
 * ran out.
 *
 * @dev: RDMA device
 * @user: module that owns the queue pair (rdma_cm if it made it), empty if a process does
 * @port: of the device
 * @qp_num: number of the queue pair
 * @cq_id: restrack id of its send CQ
 * @source: modify, event, sweep
 * @event: enum ib_event_type if source=event, else -1, printed as -
 * @old_state: before: RESET, INIT, RTR, RTS, SQD, SQE, ERR; 255 unknown
 * @first_status: enum ib_wc_status of its first error, if ib_wc_error is enabled and saw one
 * @age_ns: since it became ready to send; 0 unknown
 * @connected: the following are known
 * @lgid: GID of this end
 * @rgid: GID of the other end
 * @rqpn: queue pair number of the other end
 * @rlid: LID of the other end, 0 on RoCE
 *
 * Arguments: age_ns, qp_num, count, source, struct.
 * Overhead: a function entry and return per change of a queue pair's state. Once a second the
 * ports' counters are read; a sweep asks the device about at most 100 queue pairs a second and
 * qp_sweep_max in all (0: no sweeps). Where queue pairs are bound to counters of their own (rdma
 * statistic qp), which the port's do not contain, one sweep follows the other.
 * Reach: all queue pairs with a restrack id. There are sweeps only where the kernel has the fix of
 * CVE-2026-92512, as 6.1.188, 6.12.110 and 7.2.12 have: others may free a queue pair while it is
 * asked. For a vendor's kernel that has it in another way there is qp_sweep_force=1. What a sweep
 * finds has failed up to 2 s before, and 1 s more for each 100 queue pairs of the device. Of more
 * than qp_sweep_max the next sweep, when errors are counted again, goes on where this one ended;
 * the status file says how long it took to ask all (round_ns). Those beyond max_qps have an
 * event without their peer, and another one if a sweep finds what source=modify or event has shown. The sweep's
 * counters of mlx5 are not tested on hardware.
 */
KSTALL_TRACE_EVENT(ib_qp_error,
	TP_PROTO(u64 age_ns, u32 qp_num, u32 count, int source, const struct kstall_ib_qp *q),
	TP_ARGS(age_ns, qp_num, count, source, q),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		KSTALL_NAME_FIELD(user)
		__field(u32, port)
		__field(u32, qp_num)
		__field(u32, cq_id)
		__field(u8, source)
		__field(s32, event)
		__field(u8, old_state)
		__field(u8, first_status)
		__field(u64, age_ns)
		IQ_PEER_FIELDS
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&q->id);
		KSTALL_NAME_ASSIGN(user, q->qp->user);
		__entry->port = q->qp->port;
		__entry->qp_num = qp_num;
		__entry->cq_id = q->qp->cq_id;
		__entry->source = source;
		__entry->event = q->cause;
		__entry->old_state = q->old_state;
		__entry->first_status = q->qp->first_status;
		__entry->age_ns = age_ns;
		IQ_PEER_ASSIGN(q->qp);
	),
	TP_printk(KSTALL_ID_FMT " user=%s port=%u qp_num=%u cq_id=%u source=%s event=%s old_state=%s first_status=%s age_ns=%llu " IQ_PEER_FMT,
		  KSTALL_ID_ARGS, __entry->user, __entry->port, __entry->qp_num,
		  __entry->cq_id, iq_show_source(__entry->source),
		  __entry->event < 0 ? "-" : iq_show_event(__entry->event),
		  iq_show_state(__entry->old_state), iq_show_status(__entry->first_status),
		  __entry->age_ns, IQ_PEER_ARGS)
);

/**
 * ib_comp_channel - a process has read a completion event
 *
 * A program that sleeps for completions (ibv_get_cq_event()) is woken by its completion channel;
 * wait_ns is how long the event lay there.
 *
 * @dev: RDMA device
 * @cq_id: restrack id of the CQ the event is about
 * @queued: events left in the channel
 * @lost: events of this channel that could not be timed, more than 14 at a time
 * @wait_ns: from the completion's interrupt to the end of the read()
 * @duration_ns: wait_ns under the name common to all events
 *
 * Arguments: wait_ns, cq_id, queued, 0, struct.
 * Parameter: ib_comp_channel_min_ns.
 * Overhead: a function entry per completion event, an entry and return per read().
 * Reach: programs that use completion channels. Those that poll (NCCL, most MPIs) have none.
 * What is read by a task that waited for it when the event was enabled is not seen; until a
 * reader of this channel waits again, each event after it has the time of the one before.
 * The identity is the reader's.
 */
KSTALL_TRACE_EVENT(ib_comp_channel,
	TP_PROTO(u64 wait_ns, u32 cq_id, u32 queued, int unused, const struct kstall_ib_channel *c),
	TP_ARGS(wait_ns, cq_id, queued, unused, c),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, cq_id)
		__field(u32, queued)
		__field(u32, lost)
		__field(u64, wait_ns)
		__field(u64, duration_ns)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&c->id);
		__entry->cq_id = cq_id;
		__entry->queued = queued;
		__entry->lost = c->lost;
		__entry->wait_ns = wait_ns;
		__entry->duration_ns = wait_ns;
	),
	TP_printk(KSTALL_ID_FMT " cq_id=%u queued=%u lost=%u wait_ns=%llu duration_ns=%llu",
		  KSTALL_ID_ARGS, __entry->cq_id, __entry->queued, __entry->lost,
		  __entry->wait_ns, __entry->duration_ns)
);

/**
 * ib_mr_reg - a process has registered memory
 *
 * @dev: RDMA device
 * @lkey: local key of the region; 0 if it failed
 * @kind: memory (pinned), odp (on-demand paging, not pinned), dmabuf (memory of a GPU, say)
 * @addr: user address; of a dma-buf the offset in it
 * @bytes: length
 * @access: enum ib_access_flags
 * @duration_ns: of the registration: finding and pinning pages, and telling the device
 * @result: 0 or -errno
 *
 * Arguments: duration_ns, lkey, bytes, result, struct.
 * Parameter: ib_mr_reg_min_ns.
 * Overhead: a function entry and return per registration.
 * Reach: registrations by processes on every provider whose device is there. Those of dma-bufs
 * are tested with a mock of a provider: no device without hardware has them.
 */
KSTALL_TRACE_EVENT(ib_mr_reg,
	TP_PROTO(u64 duration_ns, u32 lkey, u64 bytes, int result, const struct kstall_ib_mr *r),
	TP_ARGS(duration_ns, lkey, bytes, result, r),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, lkey)
		__field(u8, kind)
		__field(u64, addr)
		__field(u64, bytes)
		__field(u32, access)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&r->id);
		__entry->lkey = lkey;
		__entry->kind = r->kind;
		__entry->addr = r->addr;
		__entry->bytes = bytes;
		__entry->access = r->access;
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(KSTALL_ID_FMT " lkey=%u kind=%s addr=0x%llx bytes=%llu access=%s duration_ns=%llu result=%d",
		  KSTALL_ID_ARGS, __entry->lkey, iq_show_mr(__entry->kind), __entry->addr,
		  __entry->bytes, iq_show_access(__entry->access), __entry->duration_ns,
		  __entry->result)
);

/**
 * ib_odp_fault - a device met a page that was not mapped, or the kernel took pages from it
 *
 * With on-demand paging memory is not pinned: the device faults pages in (op=map), and reclaim,
 * migration, munmap() and the like take them away (invalidate).
 *
 * @dev: RDMA device
 * @op: map, invalidate
 * @addr: user address
 * @bytes: length asked for
 * @write: map: for writing
 * @duration_ns: how long it took; of a map, with waiting for the pages
 * @result: map: pages mapped, or -errno; invalidate: 0
 *
 * Arguments: duration_ns, page, bytes, result, struct.
 * Parameter: ib_odp_fault_min_ns.
 * Overhead: a function entry and return each.
 * Reach: mlx5, and soft-RoCE in 7.2; tested with the latter, and on 6.1 and 6.12 with a mock that
 * calls the core's functions as mlx5 does. The identity is that of a fault's process; of an
 * invalidation it is the task that causes it.
 */
KSTALL_TRACE_EVENT(ib_odp_fault,
	TP_PROTO(u64 duration_ns, u32 page, u64 bytes, int result, const struct kstall_ib_mr *r),
	TP_ARGS(duration_ns, page, bytes, result, r),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u8, op)
		__field(u64, addr)
		__field(u64, bytes)
		__field(bool, write)
		__field(u64, duration_ns)
		__field(s32, result)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&r->id);
		__entry->op = r->kind;
		__entry->addr = r->addr;
		__entry->bytes = bytes;
		__entry->write = r->write;
		__entry->duration_ns = duration_ns;
		__entry->result = result;
	),
	TP_printk(KSTALL_ID_FMT " op=%s addr=0x%llx bytes=%llu write=%d duration_ns=%llu result=%d",
		  KSTALL_ID_ARGS, iq_show_odp(__entry->op), __entry->addr, __entry->bytes,
		  __entry->write, __entry->duration_ns, __entry->result)
);

/**
 * ib_port_event - a port goes up or down, or its addresses, subnet manager or speed change
 *
 * The fields are the port's a moment after the change: it is asked by a worker, because the core
 * holds a lock while it reports. Which GID or partition key has changed the kernel does not say.
 *
 * @dev: RDMA device
 * @port: its port; 0 for DEVICE_FATAL
 * @event: enum ib_event_type: PORT_ACTIVE, PORT_ERR, GID_CHANGE, LID_CHANGE, PKEY_CHANGE,
 *	SM_CHANGE, CLIENT_REREGISTER, DEVICE_FATAL, DEVICE_SPEED_CHANGE (7.2)
 * @state: of the port: DOWN, INIT, ARMED, ACTIVE, ACTIVE_DEFER; 0 if it could not be asked
 * @lid: its LID, 0 on RoCE
 * @sm_lid: LID of its subnet manager
 * @speed: enum ib_port_speed; 0 if it could not be asked
 * @width: enum ib_port_width; 0 if it could not be asked
 *
 * Arguments: 0, port, count, event, struct.
 * Overhead: one query of the port an event.
 * Reach: all devices. No process causes it: the identity is empty.
 */
KSTALL_TRACE_EVENT(ib_port_event,
	TP_PROTO(u64 duration_ns, u32 port, u32 count, int event, const struct kstall_ib_port *p),
	TP_ARGS(duration_ns, port, count, event, p),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		__field(u32, port)
		__field(u8, event)
		__field(u8, state)
		__field(u16, lid)
		__field(u16, sm_lid)
		__field(u16, speed)
		__field(u8, width)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&p->id);
		__entry->port = port;
		__entry->event = event;
		__entry->state = p->state;
		__entry->lid = p->lid;
		__entry->sm_lid = p->sm_lid;
		__entry->speed = p->speed;
		__entry->width = p->width;
	),
	TP_printk(KSTALL_ID_FMT " port=%u event=%s state=%s lid=%u sm_lid=%u speed=%s width=%s",
		  KSTALL_ID_ARGS, __entry->port, iq_show_event(__entry->event),
		  iq_show_port_state(__entry->state), __entry->lid, __entry->sm_lid,
		  iq_show_speed(__entry->speed), iq_show_width(__entry->width))
);

#endif /* _IB_CQ_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE ib_cq_trace_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
