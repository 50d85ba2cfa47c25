/* SPDX-License-Identifier: GPL-2.0 */
/* ib_cq_trace.h - what the module's files share */
#ifndef _IB_CQ_TRACE_H
#define _IB_CQ_TRACE_H

#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include <kstall/event.h>
#include <kstall/identity.h>
#include <kstall/own.h>

/* Longer device names are cut. */
#define IQ_DEV_LEN	32
#define IQ_USER_LEN	16

/* An opcode or a state that is not known. */
#define IQ_UNKNOWN	255

/* ib_qp_error: source */
#define IQ_BY_MODIFY	0
#define IQ_BY_EVENT	1
#define IQ_BY_SWEEP	2

/**
 * struct iq_peer - the two ends of a queue pair's connection
 * @lgid: own GID
 * @rgid: the other's; with a LID only, zero
 * @rqpn: the other's queue pair number
 * @rlid: the other's LID, 0 on RoCE
 */
struct iq_peer {
	union ib_gid lgid;
	union ib_gid rgid;
	u32 rqpn;
	u16 rlid;
};

/**
 * struct iq_qp - a queue pair; key: iq_key() of its number
 * @who: its owner, zero if the kernel's
 * @rts_ns: when it became ready to send, 0 unknown
 * @dead_ns: what was posted on it before has completed or never will
 * @user: name of the kernel user, empty if a process owns it
 * @peer: the other end, if @connected
 * @cq_id: restrack id of its send CQ
 * @port: of the device
 * @state: enum ib_qp_state as last seen, IQ_UNKNOWN
 * @first_status: of its first completion that failed and was not flushed, 0: none has
 * @connected: @peer is known
 * @sig_all: all of its work requests are signaled
 * @known: the fields up to @port are filled
 */
struct iq_qp {
	struct kstall_who who;
	u64 rts_ns;
	u64 dead_ns;
	char user[IQ_USER_LEN];
	struct iq_peer peer;
	u32 cq_id;
	u32 port;
	u8 state;
	u8 first_status;
	bool connected;
	bool sig_all;
	bool known;
};

/**
 * struct iq_flushed - completions flushed in a row; key: iq_key() of the queue pair
 * @folded: how many, when
 * @key: the record's
 * @wr_id: the first one's
 * @qp_num: queue pair
 * @cq_id: restrack id of the CQ
 * @dev_node: NUMA node of the device
 * @vendor_err: the first one's
 * @dev: name of the device
 * @user: name of the kernel user
 * @done: name of the first one's completion handler
 * @who: owner
 */
struct iq_flushed {
	struct kstall_folded folded;
	u64 key;
	u64 wr_id;
	u32 qp_num;
	u32 cq_id;
	s32 dev_node;
	u32 vendor_err;
	char dev[IQ_DEV_LEN];
	char user[IQ_USER_LEN];
	char done[IQ_DEV_LEN];
	struct kstall_who who;
};

/**
 * struct iq_overflow - completions a CQ had no room for; key: iq_key() of its restrack id
 * @folded: how many, when
 * @cq_id: restrack id of the CQ
 * @depth: entries it has
 * @used: of them in use, -1 unknown
 * @attached: work queues that use it
 * @syndrome: the device's
 * @dev_node: NUMA node of the device
 * @dev: name of the device
 * @user: name of the kernel user
 * @who: owner
 */
struct iq_overflow {
	struct kstall_folded folded;
	u32 cq_id;
	u32 depth;
	s32 used;
	u32 attached;
	s32 syndrome;
	s32 dev_node;
	char dev[IQ_DEV_LEN];
	char user[IQ_USER_LEN];
	struct kstall_who who;
};

/* Work requests with one id under way at a time on one queue pair that can be distinguished. */
#define IQ_SAME_ID	4

/**
 * struct iq_post - a signaled work request under way; key: iq_wr_key()
 * @qp: its queue pair, only compared
 * @wr_id: its id
 * @qp_num: number of @qp
 * @port: of the device
 * @nr: requests with this id in @wr, oldest first: they complete in order
 * @lost: those posted after them
 * @wr: when ib_post_send() was called, the thread in whose system call that was and its cgroup, 0
 *	if none, bytes to transfer and enum ib_wr_opcode
 */
struct iq_post {
	const struct ib_qp *qp;
	u64 wr_id;
	u32 qp_num;
	u32 port;
	u32 nr;
	u32 lost;
	struct iq_wr {
		u64 post_ns;
		u64 cgroup_id;
		u32 bytes;
		u32 opcode : 8;
		u32 pid : 24;	/* PID_MAX_LIMIT is 2^22 */
	} wr[IQ_SAME_ID];
};

/* A CQ that was scheduled and not yet processed; key: its ib_cq */
struct iq_scheduled {
	u64 ns;
};

#define IQ_CHANNEL_EVENTS	14

/**
 * struct iq_channel - completion events nobody has read yet; key: the channel's event queue
 * @nr: of them known, oldest first
 * @lost: further ones, for which there was no room
 * @dev_node: NUMA node of the device, to which all CQs of a channel belong
 * @dev: its name
 * @cq_id: their CQs
 * @ns: when they came
 */
struct iq_channel {
	u32 nr;
	u32 lost;
	s32 dev_node;
	char dev[IQ_DEV_LEN];
	u32 cq_id[IQ_CHANNEL_EVENTS];
	u64 ns[IQ_CHANNEL_EVENTS];
};

/* What the pair hooks carry from a function's entry to its return. */

/* the provider's poll_cq() */
struct iq_poll_call {
	struct ib_cq *cq;
	const struct ib_wc *wc;
};

/* the provider's post_send() */
struct iq_post_call {
	const struct ib_qp *qp;
	const struct ib_send_wr **bad_wr;
};

/* __ib_process_cq() */
struct iq_process_call {
	struct ib_cq *cq;
	u64 start_ns;
	u64 delay_ns;
	int budget;
	bool scheduled;
};

/* _ib_modify_qp() */
struct iq_modify_call {
	struct ib_qp *qp;
	const struct ib_qp_attr *attr;
	int mask;
};

/* ib_create_qp_kernel() */
struct iq_create_call {
	bool sig_all;
};

/* ib_destroy_qp_user() */
struct iq_destroy_call {
	u64 key;
	u64 begin_ns;
};

/* In cq_err_event_notifier() of mlx5_core: what the error is of, whether the kernel passed it on */
struct iq_mlx5_error {
	u32 cqn;
	u8 syndrome;
	bool reported;
};

/* rxe_cq_post(), cq_err_event_notifier() of mlx5_core */
struct iq_cqe_call {
	struct ib_cq *cq;
};

/* ib_uverbs_comp_event_read() */
struct iq_read_call {
	const void *queue;
	u64 start_ns;
	unsigned long nvcsw;
};

/* the provider's reg_user_mr(), reg_user_mr_dmabuf() */
struct iq_mr_call {
	struct ib_pd *pd;
	u64 start_ns;
	u64 addr;
	u64 bytes;
	u32 access;
	bool dmabuf;
};

/* ib_umem_odp_map_dma_and_lock(), ib_umem_odp_unmap_dma_pages() */
struct iq_odp_call {
	void *umem;
	u64 start_ns;
	u64 addr;
	u64 bytes;
	bool write;
};

extern struct kstall_inflight iq_qps, iq_posts, iq_scheduled, iq_channels;
extern struct kstall_fold iq_flushes, iq_overflows;
extern struct kstall_own iq_mlx5_errors;

/* @id is unique in its device. */
static inline u64 iq_key(const struct ib_device *ibdev, u32 id)
{
	return (u64)ibdev->index << 32 | id;
}

/* The record has both, to be compared: two different ones could have the same key. */
static inline u64 iq_wr_key(const struct ib_qp *qp, u64 wr_id)
{
	return wr_id ^ ror64((unsigned long)qp * GOLDEN_RATIO_64, 17);
}

/**
 * iq_owner() - the program or module that it belongs to
 * @who: its process, zero if it is the kernel's
 * @res: of the CQ or queue pair
 *
 * Context: a provider's callback about it, or the process itself: the task is then held
 * (core/restrack.c drops it after the provider's destroy, which waits for callbacks).
 */
static inline void iq_owner(struct kstall_who *who, const struct rdma_restrack_entry *res)
{
	struct task_struct *task = READ_ONCE(res->task);

	if (res->user && task)
		kstall_who_read(who, task);
	else
		memset(who, 0, sizeof(*who));
}

/* The kernel user's name, empty if a process owns it. */
static inline const char *iq_user(const struct rdma_restrack_entry *res)
{
	return !res->user && res->kern_name ? res->kern_name : "";
}

static inline struct kstall_id iq_id(struct ib_device *ibdev, const struct kstall_who *who)
{
	return (struct kstall_id){
		.dev = dev_name(&ibdev->dev), .dev_node = ibdev_to_node(ibdev),
		.cpu_node = numa_node_id(), .who = who,
	};
}

/* wc.c */
void iq_on_poll(void *hook, const struct ib_cq *cq, int requested, int rc);
bool iq_poll_enter(void *data, struct pt_regs *regs);
void iq_poll_return(void *data, struct pt_regs *regs);
bool iq_post_enter(void *data, struct pt_regs *regs);
void iq_post_return(void *data, struct pt_regs *regs);
bool iq_rxe_post_enter(void *data, struct pt_regs *regs);
void iq_rxe_post_return(void *data, struct pt_regs *regs);
void iq_emit_flushes(const struct kstall_folded *folded);

/* cq.c */
void iq_on_schedule(void *hook, struct ib_cq *cq);
void iq_on_process(void *hook, const struct ib_cq *cq);
bool iq_process_enter(void *data, struct pt_regs *regs);
void iq_process_return(void *data, struct pt_regs *regs);
bool iq_destroy_cq_enter(void *data, struct pt_regs *regs);
bool iq_uverbs_cq_event_enter(void *data, struct pt_regs *regs);
bool iq_mlx5_cq_event_enter(void *data, struct pt_regs *regs);
bool iq_mlx5_cq_error_enter(void *data, struct pt_regs *regs);
void iq_mlx5_cq_error_return(void *data, struct pt_regs *regs);
bool iq_mlx5e_cq_error_enter(void *data, struct pt_regs *regs);
bool iq_comp_enter(void *data, struct pt_regs *regs);
bool iq_comp_read_enter(void *data, struct pt_regs *regs);
void iq_comp_read_return(void *data, struct pt_regs *regs);
void iq_overflowed(struct ib_cq *cq, s32 used, s32 syndrome);
void iq_emit_overflows(const struct kstall_folded *folded);

/* qp.c */
bool iq_modify_enter(void *data, struct pt_regs *regs);
void iq_modify_return(void *data, struct pt_regs *regs);
bool iq_create_enter(void *data, struct pt_regs *regs);
void iq_create_return(void *data, struct pt_regs *regs);
bool iq_destroy_qp_enter(void *data, struct pt_regs *regs);
bool iq_destroyed_qp_enter(void *data, struct pt_regs *regs);
void iq_destroyed_qp_return(void *data, struct pt_regs *regs);
bool iq_uverbs_qp_event_enter(void *data, struct pt_regs *regs);
bool iq_core_qp_event_enter(void *data, struct pt_regs *regs);
void iq_qp_fill(struct iq_qp *rec, const struct ib_qp *qp);
bool iq_qp_to_error(struct ib_qp *qp, struct iq_qp *copy, bool known);
void iq_qp_error(struct ib_qp *qp, const struct iq_qp *rec, int source, int cause);
void iq_peer_fill(struct iq_qp *rec, const union ib_gid *lgid, const struct ib_qp_attr *attr);
struct iq_qp *iq_qp_record(const struct ib_qp *qp, struct kstall_slot *slot);

/* mr.c */
bool iq_reg_enter(void *data, struct pt_regs *regs);
bool iq_reg_dmabuf_enter(void *data, struct pt_regs *regs);
void iq_reg_return(void *data, struct pt_regs *regs);
bool iq_odp_map_enter(void *data, struct pt_regs *regs);
void iq_odp_map_return(void *data, struct pt_regs *regs);
bool iq_odp_unmap_enter(void *data, struct pt_regs *regs);
void iq_odp_unmap_return(void *data, struct pt_regs *regs);

/* device.c */
int iq_devices_init(void);
void iq_devices_exit(void);
bool iq_devices_update(bool wanted);
void iq_show_devices(struct seq_file *m);

/**
 * struct iq_sweep - looks for queue pairs of a device that failed unseen
 * @ibdev: device
 * @work: looks at the counters, asks queue pairs
 * @wanted: ib_qp_error is enabled
 * @anew: it was enabled or disabled since @work looked last, whose state is of another time
 * @stats: hardware counters by port, NULL if the device has none
 * @errors: by port, sum of those that count errors at the last look
 * @primed: there was one
 * @again: they had grown, so the next look sweeps as well
 * @seen: by restrack id, what a queue pair was when it was asked
 * @pos: where the sweep is, or the next one begins
 * @sweeping: a sweep is going on
 * @began: @pos when it began
 * @turned: @pos has been at the end since
 * @left: queue pairs it may still ask
 * @sweeps: begun so far
 * @asked: queue pairs asked so far
 * @cut: sweeps that ended by qp_sweep_max
 * @round_began_ns: when @pos was 0 last
 * @round_ns: how long it took to ask all, the last time; an answer may be so old
 * @busy_ns: time spent
 */
struct iq_sweep {
	struct ib_device *ibdev;
	struct delayed_work work;
	bool wanted;
	bool anew;
	struct rdma_hw_stats **stats;
	u64 *errors;
	bool primed;
	bool again;
	struct xarray seen;
	u64 pos;
	bool sweeping;
	u64 began;
	bool turned;
	u32 left;
	u64 sweeps;
	u64 asked;
	u64 cut;
	u64 round_began_ns;
	u64 round_ns;
	u64 busy_ns;
};

/* sweep.c */
extern unsigned int qp_sweep_max, qp_sweep_force;
void iq_sweeps_init(void);
bool iq_may_ask(void);
int iq_sweep_init(struct iq_sweep *sweep, struct ib_device *ibdev);
void iq_sweep_exit(struct iq_sweep *sweep);
void iq_sweep_set(struct iq_sweep *sweep, bool wanted);

/* main.c: the functions of a provider, found when its first device comes */
bool iq_place_provider(const struct ib_device_ops *ops);

#endif /* _IB_CQ_TRACE_H */
