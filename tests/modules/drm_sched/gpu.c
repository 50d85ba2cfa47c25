// SPDX-License-Identifier: GPL-2.0
/*
 * gpu.c - does a known thing with the mock GPU and says what it did
 *
 *	gpu WORD ARGUMENTS... WORD ARGUMENTS... ...
 *
 * Words are done one after the other. Prints "pid=<pid>", then, as key=value, what the kernel's
 * events must agree with. Entities, fences and buffers are numbered from 0 in the order they were
 * made, jobs with a handle count as fences; @H is a handle another gpu printed.
 *
 *	entity PRIORITY RINGS	new entity; 0 kernel, 1 high, 2 normal, 3 low; mask of rings
 *	priority E PRIORITY	set it
 *	flush E			wait until it is empty
 *	fini E			kill what is queued
 *	dep F			the next job depends on that fence
 *	run US, credits N, prepare US, wait F, validate B, flags LETTERS
 *				of the jobs that follow: hang h, fail f, lock l, gang g,
 *				no pipeline n
 *	once			all that is of the next job only
 *	job E			submit a job; it gets a handle
 *	jobs N E		submit so many without
 *	fence			new fence of the program
 *	signal F		signal it
 *	await F MS		wait for it, at most so long
 *	awaitany F MS, awaitresv F MS
 *	awaitsync MS		wait for a new syncobj, which never gets a fence
 *	bo MIB, free B, place B, populate B, swapout
 *	lock MS			hold the reservation lock for so long
 *	sleep MS
 *	touch FILE		tell others
 *	until FILE		wait for others, at most 60 s
 *	spin			wait until killed
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "drm_uapi.h"
#include "mock_gpu.h"

#define MAX	4096

typedef unsigned long long u64;

static int fd;
static struct mock_submit next = { .run_us = 1000, .credits = 1 };
static struct mock_submit usual;
static int once;
static __u32 fences[MAX], bos[MAX];
static int nr_fences, nr_bos;

static void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "gpu: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
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

static long number(const char *s)
{
	char *end;
	long n = s ? strtol(s, &end, 0) : -1;

	if (!s || *end || n < 0)
		die("%s is none that counts", s ? s : "(nothing)");
	return n;
}

/* A handle: of the n-th in @list, or @H. */
static __u32 handle(const char *s, const __u32 *list, int nr)
{
	long n;

	if (s && *s == '@')
		return number(s + 1);
	n = number(s);
	if (n >= nr)
		die("there is no %ld yet", n);
	return list[n];
}

static void ask(const char *what, unsigned long cmd, void *args)
{
	while (ioctl(fd, cmd, args) < 0) {
		if (errno != EINTR)
			die("%s: %s", what, strerror(errno));
	}
}

static void open_node(void)
{
	glob_t g;
	char path[64];

	if (glob("/sys/devices/mock_gpu/drm/renderD*", 0, NULL, &g))
		die("no mock_gpu");
	snprintf(path, sizeof(path), "/dev/dri/%s", strrchr(g.gl_pathv[0], '/') + 1);
	globfree(&g);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
}

static void remember(__u32 h)
{
	if (nr_fences == MAX)
		die("too many fences");
	fences[nr_fences++] = h;
}

static void entity(int op, const char *a, const char *b)
{
	struct mock_entity e = { .op = op };
	u64 t = now();

	if (op == MOCK_OP_NEW) {
		e.priority = number(a);
		e.rings = number(b);
	} else {
		e.id = number(a);
		if (op == MOCK_OP_PRIORITY)
			e.priority = number(b);
	}
	ask("entity", DRM_IOCTL_MOCK_ENTITY, &e);
	if (op == MOCK_OP_FLUSH)
		printf("flush ns=%llu\n", now() - t);
	if (op == MOCK_OP_FINI)
		printf("fini ns=%llu\n", now() - t);
}

static void submit(long count, long ent, int keep)
{
	u64 t = now();
	long i;

	next.entity = ent;
	if (keep)
		next.flags |= MOCK_KEEP;
	for (i = 0; i < count; i++)
		ask("job", DRM_IOCTL_MOCK_SUBMIT, &next);
	if (keep) {
		remember(next.handle);
		printf("job %d handle=%u ctx=%llu seqno=%llu before=%llu ns=%llu\n", nr_fences - 1,
		       next.handle, next.ctx, next.seqno, t, now() - t);
	} else {
		printf("jobs %ld ctx=%llu last=%llu ns=%llu\n", count, next.ctx, next.seqno,
		       now() - t);
	}
	next.flags &= ~MOCK_KEEP;
	if (once)
		next = usual;
	once = 0;
	next.nr_deps = 0;
}

static void fence_new(void)
{
	struct mock_fence_args f = { .op = MOCK_FENCE_NEW };

	ask("fence", DRM_IOCTL_MOCK_FENCE, &f);
	remember(f.handle);
	printf("fence %d handle=%u ctx=%llu seqno=%llu\n", nr_fences - 1, f.handle, f.ctx, f.seqno);
}

static void fence_do(const char *word, int op, const char *which, long ms)
{
	struct mock_fence_args f = {
		.op = op, .handle = handle(which, fences, nr_fences), .timeout_ms = ms,
	};
	u64 t = now();

	ask(word, DRM_IOCTL_MOCK_FENCE, &f);
	printf("%s result=%d ns=%llu\n", word, f.result, now() - t);
}

static void sync_do(const char *word, long ms)
{
	struct drm_syncobj_create create = { };
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&create.handle,
		.count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	u64 t = now();
	int result;

	ask(word, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	wait.timeout_nsec = t + ms * 1000000ULL;
	result = ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait) ? -errno : 0;
	printf("%s result=%d ns=%llu\n", word, result, now() - t);
}

static void bo_do(const char *word, int op, const char *arg)
{
	struct mock_bo b = { .op = op };

	if (op == MOCK_BO_NEW)
		b.mib = number(arg);
	else if (op != MOCK_BO_SWAPOUT)
		b.handle = handle(arg, bos, nr_bos);
	ask(word, DRM_IOCTL_MOCK_BO, &b);
	if (op == MOCK_BO_NEW) {
		bos[nr_bos++ % MAX] = b.handle;
		printf("bo %d handle=%u\n", nr_bos - 1, b.handle);
	}
}

static void lock(long ms)
{
	struct mock_lock l = { .hold_ms = ms };

	ask("lock", DRM_IOCTL_MOCK_LOCK_HOLD, &l);
}

static void until(const char *file)
{
	int i;

	for (i = 0; i < 6000; i++) {
		if (!access(file, F_OK))
			return;
		sleep_ms(10);
	}
	die("no %s", file);
}

static __u32 flags(const char *s)
{
	__u32 f = 0;

	for (; *s; s++)
		f |= *s == 'h' ? MOCK_HANG : *s == 'f' ? MOCK_FAIL : *s == 'l' ? MOCK_LOCK :
		     *s == 'g' ? MOCK_GANG : *s == 'n' ? MOCK_NO_PIPELINE : 0;
	return f;
}

/* Words with no argument, then with one, then with two. Return: how many arguments it took. */
static int do_word(const char *w, char *a, char *b)
{
	static const char * const waits[] = { "await", "awaitany", "awaitresv" };
	int i;

	if (!strcmp(w, "once")) {
		usual = next;
		once = 1;
		return 0;
	}
	if (!strcmp(w, "fence"))
		return fence_new(), 0;
	if (!strcmp(w, "swapout"))
		return bo_do(w, MOCK_BO_SWAPOUT, NULL), 0;
	if (!strcmp(w, "spin")) {
		for (;;)
			pause();
	}

	if (!a)
		die("%s: what?", w);
	if (!strcmp(w, "flush"))
		return entity(MOCK_OP_FLUSH, a, NULL), 1;
	if (!strcmp(w, "fini"))
		return entity(MOCK_OP_FINI, a, NULL), 1;
	if (!strcmp(w, "dep")) {
		if (next.nr_deps == MOCK_MAX_DEPS)
			die("too many dependencies");
		next.deps[next.nr_deps++] = handle(a, fences, nr_fences);
		return 1;
	}
	if (!strcmp(w, "run"))
		return next.run_us = number(a), 1;
	if (!strcmp(w, "credits"))
		return next.credits = number(a), 1;
	if (!strcmp(w, "prepare"))
		return next.prepare_us = number(a), 1;
	if (!strcmp(w, "wait"))
		return next.wait = handle(a, fences, nr_fences), 1;
	if (!strcmp(w, "validate"))
		return next.bo = handle(a, bos, nr_bos), 1;
	if (!strcmp(w, "flags"))
		return next.flags = flags(a), 1;
	if (!strcmp(w, "job"))
		return submit(1, number(a), 1), 1;
	if (!strcmp(w, "signal"))
		return fence_do(w, MOCK_FENCE_SIGNAL, a, 0), 1;
	if (!strcmp(w, "bo"))
		return bo_do(w, MOCK_BO_NEW, a), 1;
	if (!strcmp(w, "free"))
		return bo_do(w, MOCK_BO_FREE, a), 1;
	if (!strcmp(w, "place"))
		return bo_do(w, MOCK_BO_VALIDATE, a), 1;
	if (!strcmp(w, "populate"))
		return bo_do(w, MOCK_BO_POPULATE, a), 1;
	if (!strcmp(w, "awaitsync"))
		return sync_do(w, number(a)), 1;
	if (!strcmp(w, "lock"))
		return lock(number(a)), 1;
	if (!strcmp(w, "sleep"))
		return sleep_ms(number(a)), 1;
	if (!strcmp(w, "touch"))
		return close(open(a, O_CREAT | O_WRONLY, 0600)), 1;
	if (!strcmp(w, "until"))
		return until(a), 1;

	if (!b)
		die("%s %s: what?", w, a);
	if (!strcmp(w, "entity"))
		return entity(MOCK_OP_NEW, a, b), 2;
	if (!strcmp(w, "priority"))
		return entity(MOCK_OP_PRIORITY, a, b), 2;
	if (!strcmp(w, "jobs"))
		return submit(number(a), number(b), 0), 2;
	for (i = 0; i < 3; i++) {
		if (!strcmp(w, waits[i]))
			return fence_do(w, MOCK_FENCE_WAIT + i, a, number(b)), 2;
	}
	die("no such word: %s", w);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("pid=%d\n", getpid());
	open_node();
	for (i = 1; i < argc; i++)
		i += do_word(argv[i], argv[i + 1], i + 1 < argc ? argv[i + 2] : NULL);
	return 0;
}
