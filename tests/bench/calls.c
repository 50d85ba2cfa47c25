// SPDX-License-Identifier: GPL-2.0
/*
 * calls EVENTS SECONDS - makes so many events a second (a system call is two, its enter and its exit), some in each 10 ms, and prints
 * the processor time that this took it, in us
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS		10000000
#define SECOND_NS	1000000000
#define OWN		4	/* of clock_nanosleep() and of the switches to and fro */

static void until(struct timespec *ts)
{
	ts->tv_nsec += TICK_NS;
	if (ts->tv_nsec >= SECOND_NS) {
		ts->tv_nsec -= SECOND_NS;
		ts->tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, ts, NULL) == EINTR)
		;
}

static long long us(struct timeval tv)
{
	return tv.tv_sec * 1000000LL + tv.tv_usec;
}

int main(int argc, char **argv)
{
	long events = argc == 3 ? atol(argv[1]) : -1, seconds = argc == 3 ? atol(argv[2]) : 0;
	long calls = (events / (SECOND_NS / TICK_NS) - OWN) / 2;
	struct timespec ts;
	struct rusage usage;

	if (events < 0 || seconds <= 0) {
		fprintf(stderr, "usage: calls EVENTS SECONDS\n");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	for (long i = seconds * (SECOND_NS / TICK_NS); i > 0; i--) {
		for (long n = calls; n > 0; n--)
			syscall(SYS_getppid);
		until(&ts);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%lld\n", us(usage.ru_utime) + us(usage.ru_stime));
	return 0;
}
