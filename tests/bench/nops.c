// SPDX-License-Identifier: GPL-2.0
/*
 * nops N [IN_FLIGHT] - submits N io_uring NOPs one at a time and prints the mean time of one in ns
 *
 * Under QEMU's -icount shift=0 a nanosecond of guest time is one instruction, so this is the
 * number of instructions a request costs, hooks and whoever listens included. Meanwhile IN_FLIGHT
 * other requests wait for what does not come.
 */
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "now.h"

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

static int leave_in_flight(struct io_uring *ring, long n)
{
	int fd = eventfd(0, 0);

	if (fd < 0)
		return -1;
	while (n--) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

		if (!sqe)
			return -1;
		io_uring_prep_poll_add(sqe, fd, POLLIN);
		if (io_uring_submit(ring) != 1)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long i, n = argc > 1 ? atol(argv[1]) : 0;
	long in_flight = argc > 2 ? atol(argv[2]) : 0;
	struct io_uring ring;
	long long start;

	if (n <= 0 || io_uring_queue_init(8, &ring, 0) || leave_in_flight(&ring, in_flight)) {
		fprintf(stderr, "usage: nops N [IN_FLIGHT]\n");
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
