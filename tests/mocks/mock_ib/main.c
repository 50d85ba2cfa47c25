// SPDX-License-Identifier: GPL-2.0
/*
 * mock_ib - a kernel user of RDMA that does exactly what a test asks for
 *
 * A command written to /sys/kernel/debug/mock_ib/do is carried out on the device named by the
 * parameter "device" before the write returns; reading the file then gives "key=value" words on
 * what was done. The commands are in the table at the end.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/hmm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

static char *device = "rxe0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device to use (default rxe0)");

static char *peer = "";
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "RDMA device of each second queue pair (default: the same)");

#define GID_INDEX	1
#define BUF_SIZE	4096
#define MAX_WR		1024
#define NO_SUCH_QP	0xabcde
#define NO_ANSWER	0xabcdf	/* nor this one, and it is waited for without end */

/*
 * Two queue pairs of one device or two, connected to each other, each with a CQ and a buffer. Each
 * request has an id of its own.
 */
struct pair {
	struct ib_device *dev[2];
	struct ib_pd *pd[2];
	struct ib_cq *cq[2];
	struct ib_qp *qp[2];
	void *buf[2];
	u64 dma[2];
	struct ib_cqe ids[MAX_WR];
	unsigned int next;
	atomic_t done;
	atomic_t failed;
	int wanted;
	struct completion all;
};

/* The words of a command. */
struct args {
	unsigned int n;		/* how many */
	unsigned int k;		/* each how-many-th, or which */
};

static DEFINE_MUTEX(lock);	/* all below */
static struct ib_device *devs[2];	/* the second is NULL if there is no peer */
static char result[512];
static struct pair pair;	/* of the command that runs */
static struct pair left;	/* by fail or open, until close; none if its dev[0] is NULL */

static __printf(1, 2) void say(const char *fmt, ...)
{
	size_t len = strlen(result);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(result + len, sizeof(result) - len, fmt, ap);
	va_end(ap);
}

static void mock_ib_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct pair *p = cq->cq_context;

	if (wc->status != IB_WC_SUCCESS)
		atomic_inc(&p->failed);
	if (atomic_inc_return(&p->done) == p->wanted)
		complete(&p->all);
}

/* Waits until @n more completions have been handled since expect(). */
static void expect(struct pair *p, int n)
{
	p->wanted = n;
	atomic_set(&p->done, 0);
	atomic_set(&p->failed, 0);
	reinit_completion(&p->all);
}

static int await(struct pair *p)
{
	return wait_for_completion_timeout(&p->all, 60 * HZ) ? 0 : -ETIMEDOUT;
}

static struct ib_cqe *id(struct pair *p)
{
	return &p->ids[p->next++ % MAX_WR];
}

/* ---- a connection ---- */

static int to_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				       IB_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ib_qp *qp, struct ib_device *to, u32 dest)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(to, 1, GID_INDEX);
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_1024, .dest_qp_num = dest,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 },
	};
	int ret;

	if (IS_ERR(gid))
		return PTR_ERR(gid);
	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, GID_INDEX, 1, 0);
	memcpy(rdma_ah_retrieve_grh(&attr.ah_attr)->dgid.raw, gid->gid.raw, sizeof(gid->gid));
	ret = rdma_read_gid_l2_fields(gid, NULL, attr.ah_attr.roce.dmac);
	if (!ret)
		ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
					      IB_QP_DEST_QPN | IB_QP_RQ_PSN |
					      IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	rdma_put_gid_attr(gid);
	return ret;
}

/* 6 packets may be lost, or their answers be late, 268 ms each; none comes from nobody. */
static int to_rts(struct ib_qp *qp, u32 dest)
{
	bool nobody = dest == NO_SUCH_QP;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS, .timeout = nobody ? 10 : dest == NO_ANSWER ? 0 : 16,
		.retry_cnt = nobody ? 2 : 6, .rnr_retry = 0, .max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				       IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

/* ERR or RESET */
static int to_state(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static int connect_qp(struct pair *p, int i, u32 dest)
{
	struct ib_qp *qp = p->qp[i];

	return to_init(qp) ?: to_rtr(qp, p->dev[!i], dest ?: p->qp[!i]->qp_num) ?:
	       to_rts(qp, dest);
}

static void on_qp_event(struct ib_event *event, void *context)
{
}

static void pair_close(struct pair *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!IS_ERR_OR_NULL(p->qp[i]))
			ib_destroy_qp(p->qp[i]);
	}
	/*
	 * ib_free_cq() does not wait for an ib_poll_handler() that is about to ask for the next
	 * interrupt; it runs in softirq.
	 */
	synchronize_rcu();
	for (i = 0; i < 2; i++) {
		if (!IS_ERR_OR_NULL(p->cq[i]))
			ib_free_cq(p->cq[i]);
		if (p->dma[i])
			ib_dma_unmap_single(p->dev[i], p->dma[i], BUF_SIZE, DMA_BIDIRECTIONAL);
		if (!IS_ERR_OR_NULL(p->pd[i]))
			ib_dealloc_pd(p->pd[i]);
		kfree(p->buf[i]);
	}
}

static int pair_make(struct pair *p, int cqe, enum ib_poll_context ctx, enum ib_sig_type sig)
{
	struct ib_qp_init_attr init = {
		.event_handler = on_qp_event, .sq_sig_type = sig, .qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = MAX_WR, .max_recv_wr = MAX_WR, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int i;

	for (i = 0; i < 2; i++) {
		p->buf[i] = kzalloc(BUF_SIZE, GFP_KERNEL);
		if (!p->buf[i])
			return -ENOMEM;
		p->pd[i] = ib_alloc_pd(p->dev[i], IB_PD_UNSAFE_GLOBAL_RKEY);
		if (IS_ERR(p->pd[i]))
			return PTR_ERR(p->pd[i]);
		p->dma[i] = ib_dma_map_single(p->dev[i], p->buf[i], BUF_SIZE, DMA_BIDIRECTIONAL);
		p->cq[i] = ib_alloc_cq(p->dev[i], p, cqe, 0, ctx);
		if (IS_ERR(p->cq[i]))
			return PTR_ERR(p->cq[i]);
		init.send_cq = p->cq[i];
		init.recv_cq = p->cq[i];
		p->qp[i] = ib_create_qp(p->pd[i], &init);
		if (IS_ERR(p->qp[i]))
			return PTR_ERR(p->qp[i]);
		say("qp%d=%u cq%d=%u depth=%d ", i, p->qp[i]->qp_num, i, p->cq[i]->res.id,
		    p->cq[i]->cqe);
	}
	return 0;
}

/* With @dest 0 they are connected to each other, else both to a queue pair of that number. */
static int pair_open(struct pair *p, int cqe, enum ib_poll_context ctx, enum ib_sig_type sig,
		     u32 dest)
{
	int ret, i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < MAX_WR; i++)
		p->ids[i].done = mock_ib_done;
	init_completion(&p->all);
	p->dev[0] = devs[0];
	p->dev[1] = *peer ? devs[1] : devs[0];
	if (!p->dev[0] || !p->dev[1]) {
		p->dev[0] = NULL;
		return -ENODEV;
	}
	ret = pair_make(p, cqe, ctx, sig) ?: connect_qp(p, 0, dest) ?: connect_qp(p, 1, dest);
	if (ret) {
		pair_close(p);
		p->dev[0] = NULL;
	}
	return ret;
}

/* ---- work requests ---- */

static int post_recv(struct pair *p, int i)
{
	struct ib_sge sge = { p->dma[i], 64, p->pd[i]->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = id(p), .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(p->qp[i], &wr, NULL);
}

static int post_send(struct pair *p, int flags)
{
	struct ib_sge sge = { p->dma[0], 64, p->pd[0]->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = id(p), .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND,
		.send_flags = flags,
	};

	return ib_post_send(p->qp[0], &wr, NULL);
}

static int post_write(struct pair *p, u32 bytes, u32 rkey, int flags)
{
	struct ib_sge sge = { p->dma[0], bytes, p->pd[0]->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = id(p), .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_RDMA_WRITE, .send_flags = flags },
		.remote_addr = p->dma[1], .rkey = rkey,
	};

	return ib_post_send(p->qp[0], &wr.wr, NULL);
}

/* ---- commands; each says what it has done ---- */

/* n writes of 100 bytes, every k-th of them and the last signaled, processed in softirq. */
static int do_write(const struct args *a)
{
	unsigned int i, signaled = 0;
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	expect(p, a->n / a->k + !!(a->n % a->k));
	for (i = 1; i <= a->n && !ret; i++) {
		bool signal = i % a->k == 0 || i == a->n;

		signaled += signal;
		ret = post_write(p, 100, p->pd[1]->unsafe_global_rkey,
				 signal ? IB_SEND_SIGNALED : 0);
	}
	ret = ret ?: await(p);
	say("posted=%u signaled=%u done=%d failed=%d", a->n, signaled, atomic_read(&p->done),
	    atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* n signaled writes with one id, all posted at once. */
static int do_same(const struct args *a)
{
	unsigned int i;
	struct ib_rdma_wr wr[16] = {};
	struct ib_sge sge[16];
	struct pair *p = &pair;
	int ret;

	if (a->n > ARRAY_SIZE(wr))
		return -EINVAL;
	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	for (i = 0; i < a->n; i++) {
		sge[i] = (struct ib_sge){ p->dma[0], i + 1, p->pd[0]->local_dma_lkey };
		wr[i].wr.wr_cqe = &p->ids[0];
		wr[i].wr.sg_list = &sge[i];
		wr[i].wr.num_sge = 1;
		wr[i].wr.opcode = IB_WR_RDMA_WRITE;
		wr[i].wr.send_flags = IB_SEND_SIGNALED;
		wr[i].wr.next = i + 1 < a->n ? &wr[i + 1].wr : NULL;
		wr[i].remote_addr = p->dma[1];
		wr[i].rkey = p->pd[1]->unsafe_global_rkey;
	}
	expect(p, a->n);
	ret = ib_post_send(p->qp[0], &wr[0].wr, NULL) ?: await(p);
	say("done=%d failed=%d", atomic_read(&p->done), atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

static int post_writes(struct pair *p, unsigned int n, u32 bytes)
{
	int ret = 0;

	p->next = 0;
	while (n-- && !ret)
		ret = post_write(p, bytes, p->pd[1]->unsafe_global_rkey, IB_SEND_SIGNALED);
	return ret;
}

/* n writes of 200 bytes that a reset of the queue pairs ends, then n of 100 with the same ids. */
static int do_reset(const struct args *a)
{
	struct pair *p = &pair;
	int ret, i;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, NO_ANSWER);
	if (ret)
		return ret;
	expect(p, a->n);
	ret = post_writes(p, a->n, 200);
	for (i = 0; i < 2 && !ret; i++)
		ret = to_state(p->qp[i], IB_QPS_RESET);
	for (i = 0; i < 2 && !ret; i++)
		ret = connect_qp(p, i, 0);
	ret = ret ?: post_writes(p, a->n, 100) ?: await(p);
	say("done=%d failed=%d", atomic_read(&p->done), atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* n writes without the flag on a queue pair that signals all, processed by a worker. */
static int do_sigall(const struct args *a)
{
	unsigned int i;
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_WORKQUEUE, IB_SIGNAL_ALL_WR, 0);
	if (ret)
		return ret;
	expect(p, a->n);
	for (i = 0; i < a->n && !ret; i++)
		ret = post_write(p, 200, p->pd[1]->unsafe_global_rkey, 0);
	ret = ret ?: await(p);
	say("done=%d failed=%d", atomic_read(&p->done), atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* A chain of a good write, one of too many sges, and one behind it: the first is posted. */
static int do_refused(const struct args *a)
{
	struct ib_rdma_wr wr[3] = {};
	struct ib_sge sge[64] = {};
	struct pair *p = &pair;
	int ret, i;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ib_sge){ p->dma[0], 300, p->pd[0]->local_dma_lkey };
	for (i = 0; i < 3; i++) {
		wr[i].wr.wr_cqe = id(p);
		wr[i].wr.sg_list = sge;
		wr[i].wr.num_sge = i == 1 ? ARRAY_SIZE(sge) : 1;
		wr[i].wr.opcode = IB_WR_RDMA_WRITE;
		wr[i].wr.send_flags = IB_SEND_SIGNALED;
		wr[i].wr.next = i < 2 ? &wr[i + 1].wr : NULL;
		wr[i].remote_addr = p->dma[1];
		wr[i].rkey = p->pd[1]->unsafe_global_rkey;
	}
	expect(p, 1);
	ret = ib_post_send(p->qp[0], &wr[0].wr, NULL);
	say("post=%d ", ret);
	ret = await(p);
	say("done=%d failed=%d", atomic_read(&p->done), atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* n sends to nobody: the first runs out of retries, the others are flushed. */
static int do_retry(const struct args *a)
{
	unsigned int i;
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, NO_SUCH_QP);
	if (ret)
		return ret;
	expect(p, a->n);
	for (i = 0; i < a->n && !ret; i++)
		ret = post_send(p, IB_SEND_SIGNALED);
	ret = ret ?: await(p);
	say("peer=%u failed=%d", NO_SUCH_QP, atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* As retry, but the queue pairs stay, until close. */
static int do_fail(const struct args *a)
{
	struct pair *p = &left;
	unsigned int i;
	int ret;

	ret = p->dev[0] ? -EBUSY :
	      pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, NO_SUCH_QP);
	if (ret)
		return ret;
	expect(p, a->n);
	for (i = 0; i < a->n && !ret; i++)
		ret = post_send(p, IB_SEND_SIGNALED);
	say("peer=%u", NO_SUCH_QP);
	return ret ?: await(p);
}

static int do_close(const struct args *a)
{
	if (left.dev[0])
		pair_close(&left);
	left.dev[0] = NULL;
	return 0;
}

/* Two queue pairs that stay, until close. */
static int do_open(const struct args *a)
{
	if (left.dev[0])
		return -EBUSY;
	return pair_open(&left, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
}

/* The first of these goes to ERR. */
static int do_error(const struct args *a)
{
	return left.dev[0] ? to_state(left.qp[0], IB_QPS_ERR) : -ENODEV;
}

/* On these: k signaled writes at once, and when they are done again; n times or until one fails. */
static int do_step(const struct args *a)
{
	unsigned int i, k, failed = 0;
	struct pair *p = &left;
	int ret = p->dev[0] ? 0 : -ENODEV;

	for (i = 0; i < a->n && !ret && !failed; i++) {
		expect(p, a->k);
		for (k = 0; k < a->k && !ret; k++)
			ret = post_write(p, 100, p->pd[1]->unsafe_global_rkey, IB_SEND_SIGNALED);
		ret = ret ?: await(p);
		failed = atomic_read(&p->failed);
	}
	say("steps=%u failed=%u", i, failed);
	return ret;
}

/* A send for which nobody has posted a buffer. */
static int do_rnr(const struct args *a)
{
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	expect(p, 1);
	ret = post_send(p, IB_SEND_SIGNALED) ?: await(p);
	say("failed=%d", atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* A write with a key nobody gave; unsignaled, which makes no difference to an error. */
static int do_access(const struct args *a)
{
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_WORKQUEUE, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	expect(p, 1);
	ret = post_write(p, 100, 0xdead00, 0) ?: await(p);
	say("failed=%d", atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* n buffers posted, then the queue pair is moved to ERR. k: 1 in softirq, 2 by a worker. */
static int do_flush(const struct args *a)
{
	unsigned int i;
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, a->k == 1 ? IB_POLL_SOFTIRQ : IB_POLL_WORKQUEUE,
			IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	expect(p, a->n);
	for (i = 0; i < a->n && !ret; i++)
		ret = post_recv(p, 0);
	ret = ret ?: to_state(p->qp[0], IB_QPS_ERR) ?: await(p);
	say("failed=%d", atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/* n signaled writes on a CQ of k entries that nobody polls until they are done. */
static int do_overflow(const struct args *a)
{
	unsigned int i;
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, a->k, IB_POLL_DIRECT, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	for (i = 1; i <= a->n && !ret; i++) {
		*(u8 *)p->buf[0] = i;
		ret = post_write(p, 1, p->pd[1]->unsafe_global_rkey, IB_SEND_SIGNALED);
		/* One after the other: done when its byte has arrived. */
		while (!ret && READ_ONCE(*(u8 *)p->buf[1]) != (u8)i)
			usleep_range(100, 200);
	}
	/* The last one's completion follows its data. */
	msleep(500);
	say("polled=%d", ib_process_cq_direct(p->cq[0], -1));
	pair_close(p);
	return ret;
}

/* The provider reports event n of somebody's queue pair, which has the number k. */
static int do_event_of(const struct args *a)
{
	struct rdma_restrack_entry *res;
	struct ib_event event = { .device = devs[0], .event = a->n };

	if (!devs[0])
		return -ENODEV;
	res = rdma_restrack_get_byid(devs[0], RDMA_RESTRACK_QP, a->k);
	if (IS_ERR(res))
		return PTR_ERR(res);
	event.element.qp = container_of(res, struct ib_qp, res);
	event.element.qp->event_handler(&event, event.element.qp->qp_context);
	rdma_restrack_put(res);
	return 0;
}

/* The provider reports event n of a queue pair. */
static int do_event(const struct args *a)
{
	struct ib_event event = { .event = a->n };
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	event.device = p->dev[0];
	event.element.qp = p->qp[0];
	p->qp[0]->event_handler(&event, p->qp[0]->qp_context);
	pair_close(p);
	return 0;
}

/* The provider reports event n of port k. */
static int do_port(const struct args *a)
{
	struct ib_event event = {
		.device = devs[0], .event = a->n, .element.port_num = a->k,
	};

	if (!devs[0])
		return -ENODEV;
	ib_dispatch_event(&event);
	return 0;
}

/* ---- what soft-RoCE does not raise, or not on every kernel ---- */

static int (*real_poll_cq)(struct ib_cq *cq, int n, struct ib_wc *wc);
static u32 forged_status, forged_vendor_err;

/* The provider's, but what it polls from the command's first CQ has failed. */
static int forging_poll_cq(struct ib_cq *cq, int n, struct ib_wc *wc)
{
	int i, ret = real_poll_cq(cq, n, wc);

	for (i = 0; i < ret && cq == pair.cq[0]; i++) {
		wc[i].status = forged_status;
		wc[i].vendor_err = forged_vendor_err;
	}
	return ret;
}

/* A write that completes with the status n and the vendor_err k. */
static int do_status(const struct args *a)
{
	struct pair *p = &pair;
	int ret;

	ret = pair_open(p, MAX_WR, IB_POLL_SOFTIRQ, IB_SIGNAL_REQ_WR, 0);
	if (ret)
		return ret;
	forged_status = a->n;
	forged_vendor_err = a->k;
	real_poll_cq = p->dev[0]->ops.poll_cq;
	WRITE_ONCE(p->dev[0]->ops.poll_cq, forging_poll_cq);
	expect(p, 1);
	ret = post_write(p, 100, p->pd[1]->unsafe_global_rkey, IB_SEND_SIGNALED) ?: await(p);
	WRITE_ONCE(p->dev[0]->ops.poll_cq, real_poll_cq);
	say("failed=%d", atomic_read(&p->failed));
	pair_close(p);
	return ret;
}

/*
 * Stands for reg_user_mr_dmabuf() of a provider that has it. As it is only called from here the
 * arguments that differ between kernels, behind these, are left out.
 */
typedef struct ib_mr *(*reg_dmabuf_fn)(struct ib_pd *pd, u64 offset, u64 length, u64 addr, int fd,
				       int access);

static struct ib_mr *mock_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 addr, int fd,
				     int access)
{
	static struct ib_mr mr = { .lkey = 0x1234 };

	return fd < 0 ? ERR_PTR(-EBADF) : &mr;
}

/* Registers n bytes of a dma-buf, at offset 8192; k 2: of one that is not there. */
static int do_dmabuf(const struct args *a)
{
	reg_dmabuf_fn reg = devs[0] ? (void *)READ_ONCE(devs[0]->ops.reg_user_mr_dmabuf) : NULL;
	struct ib_pd *pd;
	struct ib_mr *mr;

	if (!reg)
		return -ENODEV;
	pd = ib_alloc_pd(devs[0], 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	mr = reg(pd, 8192, a->n, 0x7000, a->k == 2 ? -1 : 0,
		 IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ);
	say("pid=%d lkey=%u", current->tgid, IS_ERR(mr) ? 0 : mr->lkey);
	ib_dealloc_pd(pd);
	return 0;
}

#define ODP_ADDR	0x10000000UL

#ifdef ODP_WRITE_ALLOWED_BIT
#define ODP_ACCESS	(ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT)
#else
#define ODP_ACCESS	HMM_PFN_WRITE
#endif

static struct ib_umem_odp *odp;

static bool odp_invalidate(struct mmu_interval_notifier *mni,
			   const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *umem = container_of(mni, struct ib_umem_odp, notifier);

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(mni, seq);
	ib_umem_odp_unmap_dma_pages(umem, max_t(u64, ib_umem_start(umem), range->start),
				    min_t(u64, ib_umem_end(umem), range->end));
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops odp_ops = { .invalidate = odp_invalidate };

static int do_odpend(const struct args *a)
{
	if (odp)
		ib_umem_odp_release(odp);
	odp = NULL;
	return 0;
}

/* A device's fault in n pages at ODP_ADDR of the process, which stay mapped until odpend. */
static int do_odp(const struct args *a)
{
	size_t bytes = a->n * PAGE_SIZE;
	int ret;

	if (!devs[0] || odp)
		return -ENODEV;
	odp = ib_umem_odp_get(devs[0], ODP_ADDR, bytes,
			      IB_ACCESS_ON_DEMAND | IB_ACCESS_LOCAL_WRITE, &odp_ops);
	if (IS_ERR(odp)) {
		ret = PTR_ERR(odp);
		odp = NULL;
		return ret;
	}
	ret = ib_umem_odp_map_dma_and_lock(odp, ODP_ADDR, bytes, ODP_ACCESS, true);
	if (ret < 0) {
		do_odpend(NULL);
		return ret;
	}
	mutex_unlock(&odp->umem_mutex);
	return 0;
}

/* ---- the queue pairs that the provider is asked about, and when ---- */

static int (*real_query_qp)(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			    struct ib_qp_init_attr *init);
static int (*real_destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);
static DECLARE_WAIT_QUEUE_HEAD(held);
static struct ib_qp *dying;	/* its destruction has begun */
static bool hold;		/* ... and shall not go on */
static atomic_t asked_dying;
static u32 asked[8];		/* the first ones since the last watch */
static atomic_t nr_asked;

static int watched_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			    struct ib_qp_init_attr *init)
{
	unsigned int nr = atomic_fetch_inc(&nr_asked);

	if (nr < ARRAY_SIZE(asked))
		WRITE_ONCE(asked[nr], qp->qp_num);
	if (qp == READ_ONCE(dying))
		atomic_inc(&asked_dying);
	return real_query_qp(qp, attr, mask, init);
}

static int held_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	if (READ_ONCE(hold))
		WRITE_ONCE(dying, qp);
	wait_event_idle(held, !READ_ONCE(hold));
	return real_destroy_qp(qp, udata);
}

/* Those asked about from now on; n: the next one to be destroyed waits for go. */
static int do_watch(const struct args *a)
{
	struct ib_device *dev = devs[0];

	if (!dev)
		return -ENODEV;
	atomic_set(&nr_asked, 0);
	atomic_set(&asked_dying, 0);
	memset(asked, 0, sizeof(asked));
	WRITE_ONCE(dying, NULL);
	WRITE_ONCE(hold, a->n);
	if (real_query_qp)
		return 0;
	real_query_qp = dev->ops.query_qp;
	real_destroy_qp = dev->ops.destroy_qp;
	WRITE_ONCE(dev->ops.query_qp, watched_query_qp);
	WRITE_ONCE(dev->ops.destroy_qp, held_destroy_qp);
	return 0;
}

static int do_asked(const struct args *a)
{
	unsigned int i;

	say("dying=%d asked_dying=%d", !!READ_ONCE(dying), atomic_read(&asked_dying));
	for (i = 0; i < ARRAY_SIZE(asked) && asked[i]; i++)
		say(" asked=%u", READ_ONCE(asked[i]));
	return 0;
}

static int do_go(const struct args *a)
{
	WRITE_ONCE(hold, false);
	wake_up_all(&held);
	return 0;
}

static void unwatch(struct ib_device *dev)
{
	do_go(NULL);
	if (!real_query_qp)
		return;
	WRITE_ONCE(dev->ops.query_qp, real_query_qp);
	WRITE_ONCE(dev->ops.destroy_qp, real_destroy_qp);
	real_query_qp = NULL;
}

static const struct {
	const char *name;
	int (*run)(const struct args *a);
} commands[] = {
	{ "write", do_write }, { "sigall", do_sigall }, { "refused", do_refused },
	{ "same", do_same }, { "reset", do_reset },
	{ "retry", do_retry }, { "fail", do_fail }, { "close", do_close },
	{ "rnr", do_rnr }, { "access", do_access },
	{ "open", do_open }, { "step", do_step }, { "error", do_error },
	{ "flush", do_flush }, { "overflow", do_overflow }, { "event", do_event },
	{ "event_of", do_event_of },
	{ "port", do_port }, { "status", do_status }, { "dmabuf", do_dmabuf },
	{ "odp", do_odp }, { "odpend", do_odpend },
	{ "watch", do_watch }, { "asked", do_asked }, { "go", do_go },
};

static ssize_t do_command(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	struct args a = { .n = 1, .k = 1 };
	char buf[64], name[32];
	int ret = -EINVAL;
	unsigned int i;

	if (len >= sizeof(buf) || copy_from_user(buf, ubuf, len))
		return -EINVAL;
	buf[len] = '\0';
	if (sscanf(buf, "%31s %u %u", name, &a.n, &a.k) < 1 || !a.k)
		return -EINVAL;
	mutex_lock(&lock);
	result[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name))
			ret = commands[i].run(&a);
	}
	say("\n");
	mutex_unlock(&lock);
	return ret ?: len;
}

static int show_result(struct seq_file *m, void *unused)
{
	mutex_lock(&lock);
	seq_puts(m, result);
	mutex_unlock(&lock);
	return 0;
}

static int open_do(struct inode *inode, struct file *file)
{
	return single_open(file, show_result, NULL);
}

static const struct file_operations do_fops = {
	.owner = THIS_MODULE, .open = open_do, .read = seq_read, .write = do_command,
	.llseek = seq_lseek, .release = single_release,
};

/* ---- the devices ---- */

static int mock_ib_add(struct ib_device *ibdev)
{
	const char *name = dev_name(&ibdev->dev);
	bool second = !strcmp(name, peer);

	if (!second && strcmp(name, device))
		return -EOPNOTSUPP;
	mutex_lock(&lock);
	devs[second] = ibdev;
	if (!second && !ibdev->ops.reg_user_mr_dmabuf)
		ibdev->ops.reg_user_mr_dmabuf = (void *)mock_reg_dmabuf;
	mutex_unlock(&lock);
	return 0;
}

/* Waits for a command that runs. */
static void mock_ib_remove(struct ib_device *ibdev, void *data)
{
	mutex_lock(&lock);
	do_close(NULL);
	do_odpend(NULL);
	if (ibdev == devs[0])
		unwatch(ibdev);
	if ((void *)ibdev->ops.reg_user_mr_dmabuf == mock_reg_dmabuf)
		ibdev->ops.reg_user_mr_dmabuf = NULL;
	devs[devs[1] == ibdev] = NULL;
	mutex_unlock(&lock);
}

static struct ib_client client = {
	.name = KBUILD_MODNAME, .add = mock_ib_add, .remove = mock_ib_remove,
};

static struct dentry *dir;

static int __init mock_ib_init(void)
{
	int ret = ib_register_client(&client);

	if (ret)
		return ret;
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("do", 0600, dir, NULL, &do_fops);
	return 0;
}

static void __exit mock_ib_exit(void)
{
	debugfs_remove_recursive(dir);
	ib_unregister_client(&client);
}

module_init(mock_ib_init);
module_exit(mock_ib_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kstall: a kernel user of RDMA for tests");
