// SPDX-License-Identifier: GPL-2.0
/*
 * verbs COMMAND [N]: a program with user verbs on soft-RoCE that provokes exactly one thing
 *
 * Speaks to /dev/infiniband/uverbs0 itself, in the ABI of <rdma/ib_user_verbs.h> and
 * <rdma/rdma_user_rxe.h>, so that it needs no library and knows each completion. Says what it
 * did as "key=value" words.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR };
enum {
	QP_STATE = 1 << 0, QP_ACCESS = 1 << 3, QP_PKEY = 1 << 4, QP_PORT = 1 << 5, QP_AV = 1 << 7,
	QP_MTU = 1 << 8, QP_TIMEOUT = 1 << 9, QP_RETRY = 1 << 10, QP_RNR = 1 << 11,
	QP_RQ_PSN = 1 << 12, QP_MAX_RD = 1 << 13, QP_MIN_RNR = 1 << 15, QP_SQ_PSN = 1 << 16,
	QP_MAX_DEST_RD = 1 << 17, QP_DEST = 1 << 20,
};

#define LOCAL_WRITE	1
#define REMOTE_WRITE	2
#define REMOTE_READ	4
#define ON_DEMAND	64
#define SIGNALED	2
#define BUF_SIZE	65536
#define NO_SUCH_QP	0xabcde

struct queue {
	struct rxe_queue_buf *buf;
	size_t elem;
};

struct cq {
	uint32_t handle;
	uint32_t cqe;
	struct queue q;
};

struct device {
	int fd;
	int async_fd;
	uint32_t pd, lkey, rkey;
};

struct qp {
	struct device *dev;
	uint32_t handle;
	uint32_t num;
	uint32_t ssn;
	struct queue sq, rq;
};

static struct device devices[2], *dev = &devices[0];	/* dev: the one that commands go to */
static int channel = -1;
static char *buf;
static struct cq cq[2];
static struct qp qp[2];

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* One command; @resp_size words of the response at @resp, whose address is in the command. */
static int command(uint32_t nr, void *cmd, size_t size, void *resp, size_t resp_size)
{
	char msg[1024] = {};
	struct ib_uverbs_cmd_hdr *hdr = (void *)msg;

	hdr->command = nr;
	hdr->in_words = (sizeof(*hdr) + size) / 4;
	hdr->out_words = resp_size / 4;
	memcpy(msg + sizeof(*hdr), cmd, size);
	return write(dev->fd, msg, sizeof(*hdr) + size) == sizeof(*hdr) + size ? 0 : -1;
}

#define must(nr, cmd, resp)						\
	do {								\
		if (command(IB_USER_VERBS_CMD_##nr, &cmd, sizeof(cmd), &resp, sizeof(resp))) \
			die(#nr);					\
	} while (0)

static struct queue map_queue(const struct mminfo *mi)
{
	struct queue q;

	q.buf = mmap(NULL, mi->size, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd, mi->offset);
	if (q.buf == MAP_FAILED)
		die("mmap");
	q.elem = 1UL << q.buf->log2_elem_size;
	return q;
}

static void open_device(int i)
{
	char name[] = "/dev/infiniband/uverbs0";
	struct ib_uverbs_get_context ctx = {};
	struct ib_uverbs_get_context_resp ctx_resp;
	struct ib_uverbs_alloc_pd alloc = {};
	struct ib_uverbs_alloc_pd_resp alloc_resp;

	dev = &devices[i];
	name[sizeof(name) - 2] += i;
	dev->fd = open(name, O_RDWR | O_CLOEXEC);
	if (dev->fd < 0)
		die(name);
	ctx.response = (uintptr_t)&ctx_resp;
	must(GET_CONTEXT, ctx, ctx_resp);
	dev->async_fd = ctx_resp.async_fd;
	alloc.response = (uintptr_t)&alloc_resp;
	must(ALLOC_PD, alloc, alloc_resp);
	dev->pd = alloc_resp.pd_handle;
	buf = buf ?: mmap(NULL, BUF_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		die("mmap");
}

/* Return: 0, or errno. */
static int reg_mr(void *addr, uint64_t bytes, uint32_t access)
{
	struct ib_uverbs_reg_mr reg = {
		.start = (uintptr_t)addr, .hca_va = (uintptr_t)addr, .length = bytes,
		.pd_handle = dev->pd, .access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp resp;

	reg.response = (uintptr_t)&resp;
	if (command(IB_USER_VERBS_CMD_REG_MR, &reg, sizeof(reg), &resp, sizeof(resp)))
		return errno;
	dev->lkey = resp.lkey;
	dev->rkey = resp.rkey;
	return 0;
}

static void make_cq(struct cq *c, uint32_t cqe)
{
	struct ib_uverbs_create_cq create = { .cqe = cqe, .comp_channel = channel };
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct rxe_create_cq_resp rxe;
	} resp;

	create.response = (uintptr_t)&resp;
	must(CREATE_CQ, create, resp);
	c->handle = resp.core.cq_handle;
	c->cqe = resp.core.cqe;
	c->q = map_queue(&resp.rxe.mi);
}

static void make_qp(struct qp *q, struct cq *c)
{
	struct ib_uverbs_create_qp create = {
		.pd_handle = dev->pd, .send_cq_handle = c->handle, .recv_cq_handle = c->handle,
		.max_send_wr = 1024, .max_recv_wr = 1024, .max_send_sge = 1, .max_recv_sge = 1,
		.qp_type = IB_UVERBS_QPT_RC,
	};
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct rxe_create_qp_resp rxe;
	} resp;

	create.response = (uintptr_t)&resp;
	must(CREATE_QP, create, resp);
	q->dev = dev;
	q->handle = resp.core.qp_handle;
	q->num = resp.core.qpn;
	q->sq = map_queue(&resp.rxe.sq_mi);
	q->rq = map_queue(&resp.rxe.rq_mi);
}

static void modify(struct qp *q, struct ib_uverbs_modify_qp *m, uint32_t mask)
{
	struct ib_uverbs_cmd_hdr unused;

	dev = q->dev;
	m->qp_handle = q->handle;
	m->attr_mask = mask | QP_STATE;
	if (command(IB_USER_VERBS_CMD_MODIFY_QP, m, sizeof(*m), &unused, 0))
		die("MODIFY_QP");
}

static void connect_qp(struct qp *q, const struct device *to, uint32_t dest)
{
	/* ::ffff:10.9.0.1 is the first device's, ::ffff:10.9.0.2 the second's. */
	uint8_t gid[16] = { [10] = 0xff, 0xff, 10, 9, 0, 1 + (to - devices) };
	/* 6 packets may be lost, or their answers be late, 268 ms each; none comes from nobody. */
	int nobody = dest == NO_SUCH_QP;
	struct ib_uverbs_modify_qp init = {
		.qp_state = INIT, .port_num = 1,
		.qp_access_flags = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ,
	};
	struct ib_uverbs_modify_qp rtr = {
		.qp_state = RTR, .path_mtu = 3, .dest_qp_num = dest, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.dest = { .is_global = 1, .sgid_index = 1, .hop_limit = 1, .port_num = 1 },
	};
	struct ib_uverbs_modify_qp rts = {
		.qp_state = RTS, .timeout = nobody ? 10 : 16, .retry_cnt = nobody ? 2 : 6,
		.rnr_retry = 0, .max_rd_atomic = 1,
	};

	memcpy(rtr.dest.dgid, gid, 16);
	modify(q, &init, QP_PKEY | QP_PORT | QP_ACCESS);
	modify(q, &rtr, QP_AV | QP_MTU | QP_DEST | QP_RQ_PSN | QP_MAX_DEST_RD | QP_MIN_RNR);
	modify(q, &rts, QP_TIMEOUT | QP_RETRY | QP_RNR | QP_SQ_PSN | QP_MAX_RD);
}

static void reg_buf(void)
{
	if (reg_mr(buf, BUF_SIZE, LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ))
		die("REG_MR");
}

/* Two queue pairs, each with a CQ of @cqe, connected to each other or to @dest. */
static void connect_pair(uint32_t cqe, uint32_t dest)
{
	int i;

	reg_buf();
	for (i = 0; i < 2; i++) {
		make_cq(&cq[i], cqe);
		make_qp(&qp[i], &cq[i]);
	}
	connect_qp(&qp[0], qp[1].dev, dest ?: qp[1].num);
	connect_qp(&qp[1], qp[0].dev, dest ?: qp[0].num);
	printf("qp0=%u qp1=%u depth=%u\n", qp[0].num, qp[1].num, cq[0].cqe);
}

/* ---- work requests ---- */

static void *produce(struct queue *q)
{
	return q->buf->data + (q->buf->producer_index & q->buf->index_mask) * q->elem;
}

static void advance(struct queue *q)
{
	__atomic_store_n(&q->buf->producer_index,
			 (q->buf->producer_index + 1) & q->buf->index_mask, __ATOMIC_RELEASE);
}

static void doorbell(struct qp *q)
{
	struct ib_uverbs_post_send post = {
		.qp_handle = q->handle, .wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ib_uverbs_post_send_resp resp;

	post.response = (uintptr_t)&resp;
	must(POST_SEND, post, resp);
}

static void post_send(uint64_t wr_id, uint32_t opcode, uint32_t bytes, uint32_t key)
{
	struct rxe_send_wqe *wqe = produce(&qp[0].sq);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr.wr_id = wr_id;
	wqe->wr.opcode = opcode;
	wqe->wr.send_flags = SIGNALED;
	wqe->wr.wr.rdma.remote_addr = (uintptr_t)buf + BUF_SIZE / 2;
	wqe->wr.wr.rdma.rkey = key;
	wqe->iova = wqe->wr.wr.rdma.remote_addr;
	wqe->ssn = qp[0].ssn++;
	wqe->dma.length = bytes;
	wqe->dma.resid = bytes;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0] = (struct rxe_sge){ (uintptr_t)buf, bytes, qp[0].dev->lkey };
	advance(&qp[0].sq);
	doorbell(&qp[0]);
}

static void post_recv(struct qp *q, uint64_t wr_id, uint32_t bytes)
{
	struct rxe_recv_wqe *wqe = produce(&q->rq);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr_id;
	wqe->dma.length = bytes;
	wqe->dma.resid = bytes;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0] = (struct rxe_sge){ (uintptr_t)buf, bytes, q->dev->lkey };
	advance(&q->rq);
}

/* Waits for a completion and takes it. */
static struct ib_uverbs_wc reap(struct cq *c)
{
	struct rxe_queue_buf *q = c->q.buf;
	uint32_t at = q->consumer_index;
	struct ib_uverbs_wc wc;
	int i;

	for (i = 0; __atomic_load_n(&q->producer_index, __ATOMIC_ACQUIRE) == at; i++) {
		if (i == 60000) {
			errno = ETIMEDOUT;
			die("completion");
		}
		usleep(1000);
	}
	memcpy(&wc, q->data + (at & q->index_mask) * c->q.elem, sizeof(wc));
	__atomic_store_n(&q->consumer_index, (at + 1) & q->index_mask, __ATOMIC_RELEASE);
	return wc;
}

static void reap_all(struct cq *c, const char *what, int n)
{
	while (n--) {
		struct ib_uverbs_wc wc = reap(c);

		printf("%s=%u wr_id=%llu\n", what, wc.status, (unsigned long long)wc.wr_id);
	}
}

/* ---- commands ---- */

static void do_write(int n)
{
	int i;

	connect_pair(2048, 0);
	for (i = 0; i < n; i++)
		post_send(i, IB_UVERBS_WR_RDMA_WRITE, 100, dev->rkey);
	for (i = 0; i < n; i++) {
		if (reap(&cq[0]).status)
			die("a write failed");
	}
}

/* n writes, each after the one before it has arrived, on a CQ of 4 that is not polled. */
static void do_overflow(int n)
{
	volatile char *there = buf + BUF_SIZE / 2;
	struct pollfd p;
	int i, events = 0;

	connect_pair(4, 0);
	for (i = 1; i <= n; i++) {
		buf[0] = i;
		post_send(i, IB_UVERBS_WR_RDMA_WRITE, 1, dev->rkey);
		while (*there != (char)i)
			usleep(100);
	}
	p = (struct pollfd){ .fd = dev->async_fd, .events = POLLIN };
	while (poll(&p, 1, 1000) == 1) {
		struct ib_uverbs_async_event_desc event;

		if (read(dev->async_fd, &event, sizeof(event)) != sizeof(event) || event.event_type)
			die("async event");
		events++;
	}
	printf("events=%d\n", events);
}

static void do_retry(int n)
{
	int i;

	connect_pair(2048, NO_SUCH_QP);
	printf("peer=%u\n", NO_SUCH_QP);
	for (i = 1; i <= n; i++)
		post_send(i, IB_UVERBS_WR_SEND, 64, 0);
	reap_all(&cq[0], "send", n);
}

/* Writes to the other end of a link, 4 at a time, n times or until one fails. */
static void do_link(int n)
{
	int i, k, failed = 0;

	reg_buf();
	make_cq(&cq[0], 2048);
	make_qp(&qp[0], &cq[0]);
	open_device(1);
	reg_buf();
	make_cq(&cq[1], 2048);
	make_qp(&qp[1], &cq[1]);
	connect_qp(&qp[1], qp[0].dev, qp[0].num);
	connect_qp(&qp[0], qp[1].dev, qp[1].num);
	printf("qp0=%u qp1=%u\n", qp[0].num, qp[1].num);
	fflush(stdout);
	for (i = 0; i < n && !failed; i++) {
		for (k = 0; k < 4; k++)
			post_send(4 * i + k, IB_UVERBS_WR_RDMA_WRITE, 100, qp[1].dev->rkey);
		while (k--)
			failed += reap(&cq[0]).status != 0;
		usleep(10000);
	}
	printf("steps=%d failed=%d\n", i, failed);
}

/* Until the standard input ends. */
static void stay(void)
{
	fflush(stdout);
	while (getchar() != EOF)
		;
}

/* As retry, and stays. */
static void do_fail(int n)
{
	do_retry(n);
	stay();
}

/* n queue pairs in ERR, which stay. */
static void do_errors(int n)
{
	struct ib_uverbs_modify_qp init = { .qp_state = INIT, .port_num = 1 };
	struct ib_uverbs_modify_qp err = { .qp_state = ERR };

	make_cq(&cq[0], 16);
	while (n--) {
		make_qp(&qp[0], &cq[0]);
		modify(&qp[0], &init, QP_PKEY | QP_PORT | QP_ACCESS);
		modify(&qp[0], &err, 0);
	}
	printf("ready=1\n");
	stay();
}

static void do_rnr(int n)
{
	connect_pair(2048, 0);
	post_send(1, IB_UVERBS_WR_SEND, 64, 0);
	reap_all(&cq[0], "send", 1);
}

static void do_access(int n)
{
	connect_pair(2048, 0);
	post_send(1, IB_UVERBS_WR_RDMA_WRITE, 64, 0xdead00);
	reap_all(&cq[0], "send", 1);
}

/* A send longer than the buffer at the other end. */
static void do_len(int n)
{
	connect_pair(2048, 0);
	post_recv(&qp[1], 2, 64);
	post_send(1, IB_UVERBS_WR_SEND, 512, 0);
	reap_all(&cq[0], "send", 1);
	reap_all(&cq[1], "recv", 1);
}

static void do_flush(int n)
{
	struct ib_uverbs_modify_qp err = { .qp_state = ERR };
	int i;

	connect_pair(2048, 0);
	for (i = 1; i <= n; i++)
		post_recv(&qp[0], i, 64);
	modify(&qp[0], &err, 0);
	reap_all(&cq[0], "recv", n);
}

static void make_channel(void)
{
	struct ib_uverbs_create_comp_channel create = {};
	struct ib_uverbs_create_comp_channel_resp resp;

	create.response = (uintptr_t)&resp;
	must(CREATE_COMP_CHANNEL, create, resp);
	channel = resp.fd;
}

/* A write on the first queue pair, whose completion raises an event. */
static void write_with_event(void)
{
	struct ib_uverbs_req_notify_cq req = { .cq_handle = cq[0].handle };

	if (command(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &req, sizeof(req), NULL, 0))
		die("REQ_NOTIFY_CQ");
	post_send(1, IB_UVERBS_WR_RDMA_WRITE, 64, dev->rkey);
	reap_all(&cq[0], "send", 1);
}

static void read_event(void)
{
	struct ib_uverbs_comp_event_desc event;

	if (read(channel, &event, sizeof(event)) != sizeof(event))
		die("completion event");
}

/* n times: a write, and 50 ms later its completion event is read. */
static void do_channel(int n)
{
	make_channel();
	connect_pair(2048, 0);
	while (n--) {
		write_with_event();
		usleep(50000);
		read_event();
	}
}

static void until_asleep(pid_t pid)
{
	char name[32], stat[64], *state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	for (;; usleep(1000)) {
		f = fopen(name, "r");
		if (!f || !fgets(stat, sizeof(stat), f))
			die(name);
		fclose(f);
		state = strrchr(stat, ')');
		if (state && state[2] == 'S')
			return;
	}
}

/*
 * A child waits for the event of each of n + 1 writes; the first comes when there is input, the
 * others when the one before has been read and it waits again.
 */
static void do_waiting(int n)
{
	int acks[2];
	char ack = 0;
	pid_t child;

	make_channel();
	connect_pair(2048, 0);
	if (pipe(acks))
		die("pipe");
	fflush(stdout);
	child = fork();
	if (!child) {
		while (n-- >= 0) {
			read_event();
			if (write(acks[1], &ack, 1) != 1)
				die("pipe");
		}
		_exit(0);
	}
	getchar();
	while (n-- >= 0) {
		until_asleep(child);
		write_with_event();
		if (read(acks[0], &ack, 1) != 1)
			die("pipe");
	}
}

/* n writes on as many CQs of one channel; when all have completed their events are read. */
static void do_channels(int n)
{
	int i;

	make_channel();
	for (i = 0; i < n; i++) {
		connect_pair(16, 0);
		write_with_event();
	}
	usleep(300000);
	while (n--)
		read_event();
}

/* Registers n bytes, then something that is not there. */
static void do_mr(int n)
{
	char *mem = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (reg_mr(mem, n, LOCAL_WRITE | REMOTE_READ))
		die("REG_MR");
	printf("addr=0x%lx lkey=%u\n", (long)mem, dev->lkey);
	munmap(mem + 4096, 4096);
	printf("errno=%d\n", reg_mr(mem, n, LOCAL_WRITE));
}

/* n pages on demand: a write into them faults them in, taking them away invalidates. */
static void do_odp(int n)
{
	char *mem = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t key;
	int i, ret;

	ret = reg_mr(mem, n * 4096, LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | ON_DEMAND);
	printf("errno=%d addr=0x%lx\n", ret, (long)mem);
	if (ret)
		return;
	key = dev->rkey;
	connect_pair(2048, 0);
	for (i = 0; i < n; i++) {
		struct rxe_send_wqe *wqe = produce(&qp[0].sq);

		memset(wqe, 0, sizeof(*wqe));
		wqe->wr.wr_id = i;
		wqe->wr.opcode = IB_UVERBS_WR_RDMA_WRITE;
		wqe->wr.send_flags = SIGNALED;
		wqe->wr.wr.rdma.remote_addr = (uintptr_t)mem + i * 4096;
		wqe->wr.wr.rdma.rkey = key;
		wqe->iova = wqe->wr.wr.rdma.remote_addr;
		wqe->ssn = qp[0].ssn++;
		wqe->dma.length = 64;
		wqe->dma.resid = 64;
		wqe->dma.num_sge = 1;
		wqe->dma.sge[0] = (struct rxe_sge){ (uintptr_t)buf, 64, dev->lkey };
		advance(&qp[0].sq);
		doorbell(&qp[0]);
		reap_all(&cq[0], "send", 1);
	}
	madvise(mem, n * 4096, MADV_DONTNEED);
}

/* n pages that mock_ib faults in for a device with on-demand paging; then they are taken away. */
static void do_mockodp(int n)
{
	char *mem = mmap((void *)0x10000000, n * 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	int fd = open("/sys/kernel/debug/mock_ib/do", O_WRONLY);

	if (mem == MAP_FAILED || fd < 0 || dprintf(fd, "odp %d", n) < 0)
		die("mock_ib: odp");
	madvise(mem, n * 4096, MADV_DONTNEED);
	if (dprintf(fd, "odpend") < 0)
		die("mock_ib: odpend");
}

static const struct {
	const char *name;
	void (*run)(int n);
} commands[] = {
	{ "write", do_write }, { "overflow", do_overflow }, { "retry", do_retry },
	{ "fail", do_fail }, { "link", do_link }, { "rnr", do_rnr }, { "access", do_access },
	{ "len", do_len }, { "flush", do_flush }, { "channel", do_channel },
	{ "waiting", do_waiting }, { "channels", do_channels }, { "errors", do_errors },
	{ "mr", do_mr }, { "odp", do_odp }, { "mockodp", do_mockodp },
};

int main(int argc, char **argv)
{
	int i, n = argc > 2 ? atoi(argv[2]) : 1;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (argc < 2 || strcmp(argv[1], commands[i].name))
			continue;
		printf("pid=%d\n", getpid());
		open_device(0);
		commands[i].run(n);
		return 0;
	}
	fprintf(stderr, "usage: verbs COMMAND [N]\n");
	return 2;
}
