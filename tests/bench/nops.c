// SPDX-License-Identifier: GPL-2.0
/*
 * nops N - submits N io_uring NOPs one at a time and prints the mean time of one in ns
 *
 * Under QEMU's -icount shift=0 a nanosecond of guest time is one instruction, so this is the
 * number of instructions a request costs, hooks and whoever listens included.
 */
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int one(struct io_uring *ring, unsigned long user_data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;

	if (!sqe)
		return -1;
	io_uring_prep_nop(sqe);
	sqe->user_data = user_data;
	if (io_uring_submit_and_wait(ring, 1) < 0 || io_uring_peek_cqe(ring, &cqe))
		return -1;
	io_uring_cqe_seen(ring, cqe);
	return 0;
}

int main(int argc, char **argv)
{
	long i, n = argc > 1 ? atol(argv[1]) : 0;
	struct io_uring ring;
	long long start;

	if (n <= 0 || io_uring_queue_init(8, &ring, 0)) {
		fprintf(stderr, "usage: nops N\n");
		return 1;
	}
	for (i = 0; i < n / 10; i++)	/* caches, page faults, lazily allocated buffers */
		if (one(&ring, i))
			return 1;
	start = now_ns();
	for (i = 0; i < n; i++)
		if (one(&ring, i))
			return 1;
	printf("%.1f\n", (double)(now_ns() - start) / n);
	return 0;
}
