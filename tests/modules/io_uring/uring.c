// SPDX-License-Identifier: GPL-2.0
/*
 * uring.c - does a known thing with io_uring and says what it did
 *
 *	uring COMMAND ARGUMENTS...
 *
 * Prints a line "pid=<pid>", then, as key=value, what the kernel's events must agree with: how
 * many requests, their user_data and results, and durations by CLOCK_MONOTONIC. A duration
 * printed is an upper bound of what the kernel can have seen of it; one given as an argument
 * (ms) is a lower bound, by construction. Exit status 1: something else happened than was asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long u64;

static void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "uring: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

/* For system calls: -1 and errno. */
static long sys(const char *what, long ret)
{
	if (ret < 0)
		die("%s: %s", what, strerror(errno));
	return ret;
}

/* For liburing: a negative errno. */
static int lib(const char *what, int ret)
{
	if (ret < 0)
		die("%s: %s", what, strerror(-ret));
	return ret;
}

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void sleep_ms(u64 ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) < 0)
		;
}

static u64 number(const char *s)
{
	char *end;
	u64 n = strtoull(s, &end, 0);

	if (!*s || *end)
		die("not a number: %s", s);
	return n;
}

static int enter(struct io_uring *ring, unsigned int submit, unsigned int wait, unsigned int flags)
{
	return syscall(__NR_io_uring_enter, ring->ring_fd, submit, wait, flags, NULL, 0);
}

static struct io_uring_sqe *get_sqe(struct io_uring *ring, u64 user_data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (!sqe)
		die("the submission ring is full");
	memset(sqe, 0, sizeof(*sqe));
	sqe->user_data = user_data;
	return sqe;
}

/* Unlike io_uring_prep_nop() of some versions, leaves user_data alone. */
static void add_nop(struct io_uring *ring, u64 user_data)
{
	get_sqe(ring, user_data)->opcode = IORING_OP_NOP;
}

/* Waits for @n completions; prints each if asked to. Return: how many were as asked (>= 0). */
static unsigned int reap(struct io_uring *ring, unsigned int n, bool print)
{
	struct io_uring_cqe *cqe;
	unsigned int good = 0;

	while (n--) {
		lib("wait", io_uring_wait_cqe(ring, &cqe));
		good += cqe->res >= 0;
		if (print)
			printf("cqe user_data=%llu result=%d\n", (u64)cqe->user_data, cqe->res);
		io_uring_cqe_seen(ring, cqe);
	}
	return good;
}

static void init(struct io_uring *ring, unsigned int entries, unsigned int flags)
{
	lib("queue_init", io_uring_queue_init(entries, ring, flags));
}

/* ---- rings ---- */

/* nops N USER_DATA: N of them, user_data counted up */
static void cmd_nops(char **arg)
{
	u64 n = number(arg[0]), user_data = number(arg[1]), i;
	struct io_uring ring;

	init(&ring, 8, 0);
	for (i = 0; i < n; i++) {
		add_nop(&ring, user_data + i);
		if (i % 8 == 7 || i == n - 1)
			reap(&ring, lib("submit", io_uring_submit(&ring)), false);
	}
	printf("submitted=%llu\n", n);
}

/* sq-full ENTRIES BATCHES: fills the ring to the brim each time */
static void cmd_sq_full(char **arg)
{
	u64 entries = number(arg[0]), batches = number(arg[1]), i, j;
	struct io_uring ring;

	init(&ring, entries, 0);
	for (i = 0; i < batches; i++) {
		for (j = 0; j < entries; j++)
			add_nop(&ring, 1);
		reap(&ring, lib("submit", io_uring_submit(&ring)), false);
	}
	printf("full=%llu to_submit=%llu\n", batches, entries);
}

/* short-submit: the third of six has an opcode that does not exist */
static void cmd_short_submit(char **arg)
{
	struct io_uring ring;
	int i, ret;

	init(&ring, 8, 0);
	for (i = 0; i < 6; i++)
		get_sqe(&ring, i)->opcode = i == 2 ? 255 : IORING_OP_NOP;
	ret = lib("submit", io_uring_submit(&ring));
	reap(&ring, ret, false);
	printf("to_submit=6 submitted=%d\n", ret);
}

/*
 * skip-refused: one that asks for no completion, and after it one with an opcode that does not
 * exist, which gets its memory in the kernel
 */
static void cmd_skip_refused(char **arg)
{
	struct io_uring_sqe *sqe;
	struct io_uring ring;

	init(&ring, 8, 0);
	sqe = get_sqe(&ring, 511);
	sqe->opcode = IORING_OP_NOP;
	sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
	lib("submit", io_uring_submit(&ring));
	get_sqe(&ring, 511)->opcode = 255;
	lib("submit", io_uring_submit(&ring));
	reap(&ring, 1, true);
}

/*
 * skip N HOLD: N that ask for no completion, submitted at once. Ends when its standard input does if
 * HOLD is 1, the ring staying until then.
 */
static void cmd_skip(char **arg)
{
	u64 n = number(arg[0]), i;
	struct io_uring ring;
	char c;

	init(&ring, n, 0);
	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = get_sqe(&ring, i);

		sqe->opcode = IORING_OP_NOP;
		sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
	}
	printf("submitted=%d\n", lib("submit", io_uring_submit(&ring)));
	fflush(stdout);
	while (number(arg[1]) && read(0, &c, 1) > 0)
		;
}

/* pending N: ends with N reads of a pipe that nobody writes to, and as many timeouts, in flight */
static void cmd_pending(char **arg)
{
	static struct __kernel_timespec hour = { .tv_sec = 3600 };
	u64 n = number(arg[0]), i;
	static char buf[64];
	struct io_uring ring;
	int pipefd[2];

	sys("pipe", pipe(pipefd));
	init(&ring, 2 * n, 0);
	for (i = 0; i < n; i++) {
		io_uring_prep_read(get_sqe(&ring, 0), pipefd[0], buf, sizeof(buf), 0);
		io_uring_prep_timeout(get_sqe(&ring, 0), &hour, 0, 0);
	}
	printf("submitted=%d\n", lib("submit", io_uring_submit(&ring)));
}

/*
 * bad-index: the third of six says it is entry 1000. Set up by hand: liburing makes rings without
 * an array.
 */
static void cmd_bad_index(char **arg)
{
	struct io_uring_params p = {};
	struct io_uring ring;
	int i, fd, ret;

	fd = sys("io_uring_setup", syscall(__NR_io_uring_setup, 8, &p));
	lib("queue_mmap", io_uring_queue_mmap(fd, &p, &ring));
	for (i = 0; i < 6; i++) {
		memset(&ring.sq.sqes[i], 0, sizeof(ring.sq.sqes[i]));
		ring.sq.sqes[i].opcode = IORING_OP_NOP;
		ring.sq.array[i] = i == 2 ? 1000 : i;
	}
	io_uring_smp_store_release(ring.sq.ktail, 6);
	ring.ring_fd = fd;
	ret = sys("io_uring_enter", enter(&ring, 6, 0, 0));
	printf("to_submit=6 submitted=%d dropped=%u\n", ret, *ring.sq.kdropped);
}

static struct {
	struct io_uring *ring;
	pid_t tid;
	u64 ms;
} waker;

#define NOT_ASLEEP	-2

/* The system call in which that thread of ours sleeps, -1: in none, NOT_ASLEEP */
static int sleeps_in(pid_t tid)
{
	char path[64], line[256] = "";
	FILE *f;
	int nr = NOT_ASLEEP;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = fopen(path, "r");
	if (!f)
		die("cannot open %s", path);
	if (fgets(line, sizeof(line), f))
		sscanf(line, "%d", &nr);
	fclose(f);
	return nr;
}

static pid_t sq_thread(const struct io_uring *ring)
{
	char path[64], line[256];
	int tid = -1, i;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", ring->ring_fd);
	/* -1 while somebody holds the ring's lock */
	for (i = 0; i < 1000 && tid <= 0; i++) {
		f = fopen(path, "r");
		if (!f)
			die("cannot open %s", path);
		while (fgets(line, sizeof(line), f) && sscanf(line, "SqThread: %d", &tid) != 1)
			;
		fclose(f);
	}
	if (tid <= 0)
		die("no SqThread in %s", path);
	return tid;
}

/* Lets the waiter sleep for so long before it wakes the SQPOLL thread. */
static void *wake_later(void *unused)
{
	while (sleeps_in(waker.tid) != __NR_io_uring_enter)
		sleep_ms(1);
	sleep_ms(waker.ms);
	sys("wake", enter(waker.ring, 0, 0, IORING_ENTER_SQ_WAKEUP));
	return NULL;
}

/*
 * sqpoll-wait N MS: N times, fills a ring of 8 while its SQPOLL thread sleeps, and waits for
 * room until another thread wakes that one, MS after this one fell asleep
 */
static void cmd_sqpoll_wait(char **arg)
{
	u64 n = number(arg[0]), i, j, start;
	struct io_uring_params p = { .flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1 };
	struct io_uring ring;
	pthread_t thread;

	lib("queue_init", io_uring_queue_init_params(8, &ring, &p));
	waker.ring = &ring;
	waker.tid = gettid();
	waker.ms = number(arg[1]);
	for (i = 0; i < n; i++) {
		while (!(__atomic_load_n(ring.sq.kflags, __ATOMIC_ACQUIRE) & IORING_SQ_NEED_WAKEUP))
			sleep_ms(1);
		/* It looks a last time after it has said so, and would take what it finds. */
		while (sleeps_in(sq_thread(&ring)) == NOT_ASLEEP)
			sleep_ms(1);
		for (j = 0; j < 8; j++)
			add_nop(&ring, j);
		io_uring_smp_store_release(ring.sq.ktail, *ring.sq.ktail + 8);
		ring.sq.sqe_head = ring.sq.sqe_tail;
		pthread_create(&thread, NULL, wake_later, NULL);
		start = now();
		sys("wait", enter(&ring, 0, 0, IORING_ENTER_SQ_WAIT));
		printf("waited wait_ns=%llu\n", now() - start);
		pthread_join(thread, NULL);
		reap(&ring, 8, false);
	}
}

/*
 * cq-overflow MS reap|leave: 16 completions for a completion ring of 4; MS after the first that
 * does not fit they are reaped, or left to the end of the ring
 */
static void cmd_cq_overflow(char **arg)
{
	struct io_uring_params p = { .flags = IORING_SETUP_CQSIZE, .cq_entries = 4 };
	struct io_uring ring;
	u64 start = 0;
	int i, j;

	lib("queue_init", io_uring_queue_init_params(4, &ring, &p));
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++)
			add_nop(&ring, 7000 + 4 * i + j);
		if (i == 1)
			start = now();
		if (lib("submit", io_uring_submit(&ring)) != 4)
			die("short submission");
	}
	sleep_ms(number(arg[0]));
	if (!strcmp(arg[1], "reap"))
		reap(&ring, 16, false);
	io_uring_queue_exit(&ring);
	printf("completions=16 overflowed=12 first=7004 ns=%llu\n", now() - start);
}

/*
 * skip-overflow: 8 completions for a completion ring of 4, then, at once, 3 requests that ask for
 * none and one that does
 */
static void cmd_skip_overflow(char **arg)
{
	struct io_uring_params p = { .flags = IORING_SETUP_CQSIZE, .cq_entries = 4 };
	struct io_uring ring;
	int i;

	lib("queue_init", io_uring_queue_init_params(4, &ring, &p));
	for (i = 0; i < 12; i++) {
		struct io_uring_sqe *sqe = get_sqe(&ring, 7100 + i);

		sqe->opcode = IORING_OP_NOP;
		if (i >= 8 && i < 11)
			sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
		if (i % 4 == 3 && lib("submit", io_uring_submit(&ring)) != 4)
			die("short submission");
	}
	reap(&ring, 9, false);
	io_uring_queue_exit(&ring);
}

/* ---- the life of a request ---- */

/* link MS: a NOP that has to wait for a timeout, and another that has to wait for the NOP */
static void cmd_link(char **arg)
{
	u64 ms = number(arg[0]), start;
	struct __kernel_timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
	struct io_uring_sqe *sqe;
	struct io_uring ring;

	init(&ring, 8, 0);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_timeout(sqe, &ts, 0, 0);
	sqe->user_data = 101;
	sqe->flags = IOSQE_IO_HARDLINK;
	sqe = get_sqe(&ring, 103);
	sqe->opcode = IORING_OP_NOP;
	sqe->flags = IOSQE_IO_HARDLINK;
	add_nop(&ring, 107);
	start = now();
	lib("submit", io_uring_submit(&ring));
	reap(&ring, 3, true);
	printf("ns=%llu\n", now() - start);
}

/* poll MS: a READ of a pipe that gets 5 bytes MS after the kernel has begun to wait for them */
static void cmd_poll(char **arg)
{
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	static char buf[64];
	int pipefd[2];
	u64 start;

	sys("pipe", pipe(pipefd));
	init(&ring, 8, 0);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, pipefd[0], buf, sizeof(buf), 0);
	sqe->user_data = 211;
	start = now();
	lib("submit", io_uring_submit(&ring));
	sleep_ms(number(arg[0]));
	sys("write", write(pipefd[1], "hello", 5));
	reap(&ring, 1, true);
	printf("fd=%d len_bytes=%zu ns=%llu\n", pipefd[0], sizeof(buf), now() - start);
}

/* multishot N: one POLL_ADD with N completions and a last one, when it is removed */
static void cmd_multishot(char **arg)
{
	u64 n = number(arg[0]), one = 1, i;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	int fd;

	fd = sys("eventfd", eventfd(0, 0));
	init(&ring, 8, 0);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->len = IORING_POLL_ADD_MULTI;
	sqe->user_data = 307;
	lib("submit", io_uring_submit(&ring));
	for (i = 0; i < n; i++) {
		sys("write", write(fd, &one, sizeof(one)));
		reap(&ring, 1, true);
		sys("read", read(fd, &one, sizeof(one)));
	}
	sqe = get_sqe(&ring, 311);
	sqe->opcode = IORING_OP_POLL_REMOVE;
	sqe->fd = -1;
	sqe->addr = 307;
	lib("submit", io_uring_submit(&ring));
	reap(&ring, 2, true);
}

/* Two ends of a connection: SEND_ZC is for IP. */
static void connection(int *from, int *to)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int listening = sys("socket", socket(AF_INET, SOCK_STREAM, 0));

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sys("bind", bind(listening, (struct sockaddr *)&addr, len));
	sys("listen", listen(listening, 1));
	sys("getsockname", getsockname(listening, (struct sockaddr *)&addr, &len));
	*from = sys("socket", socket(AF_INET, SOCK_STREAM, 0));
	sys("connect", connect(*from, (struct sockaddr *)&addr, len));
	*to = sys("accept", accept(listening, NULL, NULL));
}

/* send-zc N: each completes twice, the second time when its memory is no longer needed */
static void cmd_send_zc(char **arg)
{
	u64 n = number(arg[0]), i, left, told = 0;
	static char buf[4096], sink[4096];
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	int from, to;

	connection(&from, &to);
	init(&ring, 8, 0);
	for (i = 0; i < n; i++) {
		sqe = get_sqe(&ring, 601 + i);
		sqe->opcode = IORING_OP_SEND_ZC;
		sqe->fd = from;
		sqe->addr = (uintptr_t)buf;
		sqe->len = sizeof(buf);
		lib("submit", io_uring_submit(&ring));
		if (recv(to, sink, sizeof(sink), MSG_WAITALL) != sizeof(sink))
			die("not received");
		for (left = 1; left; left--) {
			lib("wait", io_uring_wait_cqe(&ring, &cqe));
			left += !!(cqe->flags & IORING_CQE_F_MORE);
			told += !!(cqe->flags & IORING_CQE_F_NOTIF);
			io_uring_cqe_seen(&ring, cqe);
		}
	}
	printf("fd=%d notifications=%llu\n", from, told);
}

/* ---- reading and writing ---- */

struct io {
	bool write;
	bool fixed;
	bool async;
	int fd;
	u64 count;
	u64 size;
	u64 depth;
	u64 user_data;
	u64 offset;
	char *buf;
};

/* A buffer no two pages of which are neighbours in memory: all of them are one page. */
static char *scattered(u64 size)
{
	int fd = sys("memfd", memfd_create("page", 0));
	char *buf;
	u64 i;

	sys("ftruncate", ftruncate(fd, 4096));
	buf = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < size; i += 4096)
		if (mmap(buf + i, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			die("mmap");
	return buf;
}

static void add_io(struct io_uring *ring, const struct io *io, u64 i)
{
	struct io_uring_sqe *sqe = get_sqe(ring, io->user_data + i);

	sqe->opcode = io->fixed ? (io->write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED)
				: (io->write ? IORING_OP_WRITE : IORING_OP_READ);
	sqe->flags = io->async ? IOSQE_ASYNC : 0;
	sqe->fd = io->fd;
	sqe->addr = (uintptr_t)io->buf;
	sqe->len = io->size;
	sqe->off = io->offset + i * io->size;
}

/* One batch; each of its requests has taken at most as long as all of it. */
static void do_batch(struct io_uring *ring, const struct io *io, u64 first, u64 n)
{
	struct io_uring_cqe *cqe;
	u64 start, i;

	for (i = 0; i < n; i++)
		add_io(ring, io, first + i);
	start = now();
	lib("submit", io_uring_submit_and_wait(ring, n));
	for (i = 0; i < n; i++) {
		lib("wait", io_uring_wait_cqe(ring, &cqe));
		printf("io user_data=%llu result=%d ns=%llu\n", (u64)cqe->user_data, cqe->res,
		       now() - start);
		io_uring_cqe_seen(ring, cqe);
	}
}

static void set_workers(struct io_uring *ring, unsigned int n)
{
	unsigned int of_each_kind[] = { n, n };

	lib("max_workers", io_uring_register_iowq_max_workers(ring, of_each_kind));
}

/*
 * io read|write FILE COUNT SIZE DEPTH USER_DATA [buffered] [sqpoll] [fixed] [async] [scattered]
 *    [offset=BYTES] [workers=N]: sequential, submitted DEPTH at a time, user_data counted up
 */
static void cmd_io(char **arg)
{
	struct io io = { .write = !strcmp(arg[0], "write"), .count = number(arg[2]),
			 .size = number(arg[3]), .depth = number(arg[4]),
			 .user_data = number(arg[5]) };
	unsigned int open_flags = O_DIRECT, ring_flags = 0, workers = 0;
	char *file = arg[1];
	struct io_uring ring;
	struct iovec iov;
	u64 i;

	if (posix_memalign((void **)&io.buf, 4096, io.size))
		die("no memory");
	for (arg += 6; *arg; arg++) {
		if (!strcmp(*arg, "buffered"))
			open_flags = 0;
		else if (!strcmp(*arg, "sqpoll"))
			ring_flags = IORING_SETUP_SQPOLL;
		else if (!strcmp(*arg, "fixed"))
			io.fixed = true;
		else if (!strcmp(*arg, "async"))
			io.async = true;
		else if (!strcmp(*arg, "scattered"))
			io.buf = scattered(io.size);
		else if (!strncmp(*arg, "offset=", 7))
			io.offset = number(*arg + 7);
		else if (!strncmp(*arg, "workers=", 8))
			workers = number(*arg + 8);
		else
			die("unknown option %s", *arg);
	}
	memset(io.buf, 'k', io.size);
	io.fd = sys(file, open(file, open_flags | O_RDWR | (io.write ? O_CREAT : 0), 0600));
	init(&ring, io.depth, ring_flags);
	if (workers)
		set_workers(&ring, workers);
	if (io.fixed) {
		iov = (struct iovec){ .iov_base = io.buf, .iov_len = io.size };
		lib("register_buffers", io_uring_register_buffers(&ring, &iov, 1));
	}
	printf("fd=%d\n", io.fd);
	for (i = 0; i < io.count; i += io.depth)
		do_batch(&ring, &io, i, io.depth < io.count - i ? io.depth : io.count - i);
	io_uring_queue_exit(&ring);
}

/*
 * fsync FILE BYTES: writes so much (no io_uring) and, when told by a line on stdin, syncs it; over
 * blocks that the file has already, so that the sync has nothing else to do
 */
static void cmd_fsync(char **arg)
{
	u64 size = number(arg[1]), start;
	char *buf = malloc(size), line[8];
	int fd = sys(arg[0], open(arg[0], O_RDWR | O_CREAT, 0600));
	int i;

	memset(buf, 'k', size);
	for (i = 0; i < 2; i++) {
		if (i)
			sys("fsync", fsync(fd));
		if (pwrite(fd, buf, size, 0) != size)
			die("short write");
	}
	printf("written\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		die("no go");
	start = now();
	sys("fsync", fsync(fd));
	printf("ns=%llu\n", now() - start);
}

static const struct {
	const char *name;
	int args;
	void (*run)(char **arg);
} commands[] = {
	{ "nops", 2, cmd_nops },
	{ "sq-full", 2, cmd_sq_full },
	{ "short-submit", 0, cmd_short_submit },
	{ "skip-refused", 0, cmd_skip_refused },
	{ "skip", 2, cmd_skip },
	{ "pending", 1, cmd_pending },
	{ "bad-index", 0, cmd_bad_index },
	{ "sqpoll-wait", 2, cmd_sqpoll_wait },
	{ "cq-overflow", 2, cmd_cq_overflow },
	{ "skip-overflow", 0, cmd_skip_overflow },
	{ "link", 1, cmd_link },
	{ "poll", 1, cmd_poll },
	{ "multishot", 1, cmd_multishot },
	{ "send-zc", 1, cmd_send_zc },
	{ "io", 6, cmd_io },
	{ "fsync", 2, cmd_fsync },
};

int main(int argc, char **argv)
{
	unsigned int i;

	printf("pid=%d\n", getpid());
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (argc - 2 < commands[i].args)
			die("%s takes %d arguments", argv[1], commands[i].args);
		commands[i].run(argv + 2);
		return 0;
	}
	die("no such command");
}
