// SPDX-License-Identifier: GPL-2.0
/*
 * comings SEED ROUNDS - threads and processes that come, go, are preempted, wait for each other, and exit slowly
 *
 * What they do is drawn from SEED. Each thread that does something writes its own "kstall step" markers to /dev/null.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREEMPTS_US	700	/* how often the one of a realtime class runs */
#define THREADS		3
#define CHILD_MIB	24	/* that a process has to give back when it exits */

static const char *self;
static int marker;
static int pipes[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what)
{
	fprintf(stderr, "comings: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int draw(unsigned int *seed, unsigned int below)
{
	return rand_r(seed) / 7 % below;
}

static void mark(const char *fmt, ...)
{
	char text[64];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (write(marker, text, n) != n)
		die("marker");
}

static void spin(unsigned int us)
{
	struct timespec ts;
	long long end;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = ts.tv_sec * 1000000000LL + ts.tv_nsec + us * 1000LL;
	do {
		clock_gettime(CLOCK_MONOTONIC, &ts);
	} while (ts.tv_sec * 1000000000LL + ts.tv_nsec < end);
}

static void locked(unsigned int us)
{
	pthread_mutex_lock(&mutex);
	usleep(us);
	pthread_mutex_unlock(&mutex);
}

/* Somebody else's byte, or none for a while. */
static void exchange(void)
{
	struct pollfd in = { .fd = pipes[0], .events = POLLIN };
	char c = 0;

	if (write(pipes[1], &c, 1) != 1 && errno != EAGAIN)
		die("pipe");
	if (poll(&in, 1, 5) == 1 && read(pipes[0], &c, 1) < 0 && errno != EAGAIN)
		die("pipe");
}

static void *spinner(void *unused)
{
	for (;;)
		spin(1000);
	return NULL;
}

static void *execs(void *unused)
{
	execl(self, self, "0", "2", NULL);
	die(self);
	return NULL;
}

static void start(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, function, arg);
	if (errno)
		die("pthread_create");
	pthread_detach(thread);
}

static void fill(void)
{
	char *p = mmap(NULL, CHILD_MIB << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	memset(p, 1, CHILD_MIB << 20);
}

static void child(unsigned int kind)
{
	switch (kind) {
	case 0:		/* much to give back */
		fill();
		break;
	case 1:		/* one exits for all, who run */
		start(spinner, NULL);
		start(spinner, NULL);
		spin(3000);
		break;
	case 2:		/* the main thread goes first */
		start(spinner, NULL);
		alarm(1);
		pthread_exit(NULL);
	case 3:		/* it takes over the main thread's number */
		start(execs, NULL);
		pause();
	}
	_exit(0);
}

static void children(unsigned int kind)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		child(kind);
	if (kind == 2) {
		usleep(4000);
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
}

static void something(unsigned int *seed)
{
	unsigned int us = draw(seed, 3000);

	switch (draw(seed, 5)) {
	case 0:
		spin(us);
		break;
	case 1:
		usleep(us);
		break;
	case 2:
		locked(us);
		break;
	case 3:
		exchange();
		break;
	case 4:
		sched_yield();
		break;
	}
}

/* It comes, works and goes. */
static void *visitor(void *arg)
{
	unsigned int seed = (unsigned long)arg;
	int n = 1 + draw(&seed, 8);

	mark("kstall step visitor-%u begin", gettid());
	while (n--)
		something(&seed);
	mark("kstall step visitor-%u end", gettid());
	return NULL;
}

static void *preempts(void *unused)
{
	const struct sched_param first = { .sched_priority = 1 };

	errno = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	if (errno)
		die("SCHED_FIFO");
	for (;;) {
		usleep(PREEMPTS_US);
		spin(100);
	}
	return NULL;
}

static void round_of(unsigned int *seed)
{
	for (int i = 0; i < THREADS; i++)
		start(visitor, (void *)(unsigned long)draw(seed, 1 << 20));
	for (int i = 0; i < 4; i++)
		something(seed);
	children(draw(seed, 4));
}

int main(int argc, char **argv)
{
	unsigned int seed = argc == 3 ? atoi(argv[1]) : 0;
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (!rounds) {
		fprintf(stderr, "usage: comings SEED ROUNDS\n");
		return 2;
	}
	self = argv[0];
	marker = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (marker < 0 || pipe2(pipes, O_NONBLOCK | O_CLOEXEC))
		die("open");
	if (seed)
		start(preempts, NULL);
	for (int i = 0; i < rounds; i++) {
		mark("kstall step %u-%d begin", getpid(), i);
		if (seed)
			round_of(&seed);
		else
			something(&seed);
		mark("kstall step %u-%d end", getpid(), i);
	}
	return 0;
}
