// SPDX-License-Identifier: GPL-2.0
/*
 * trainer STEPS CAUSE[=US][+CAUSE...],... - marks steps and suffers known stalls in each
 *
 *	-m FILE		where the markers go (default: trace_marker)
 *	-d DISK		whose fsync is slow
 *	-g CGROUP	with a CPU quota of its own, for this program alone
 *	-r FILE		mock_ib's
 *	-o FILE		where the lines below go
 *
 * Steps take what is between the commas in turn, and suffer what is added up there one after the other,
 * each as long as is said, where that can be said; "all" is everything else in the list, "none" nothing.
 * Prints a line a step:
 *
 *	step=ID wall=NS cpu=NS queued=NS CAUSE=LOW-HIGH ...
 *
 * by this program's own clocks: the step's length, its processor time, its time in a run queue
 * (/proc/thread-self/schedstat), and how long each stall was: at least LOW, which was asked for, or
 * for which the thread neither ran nor could have, and at most HIGH, from before the call to after it.
 * A step in which something else took longer than the stall (a busy machine) has the word "noisy"
 * and does not count as one of STEPS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "delays.h"
#include "drm_uapi.h"
#include "mock_gpu.h"
#include "mock_mm.h"

#define MS		1000000ULL
#define PAGE		4096UL
#define PAGES		8
#define HUGE_ORDER	9
#define LEFT		128	/* pieces, of 1 MiB */
#define MPOL_BIND	2
#define MPOL_MF_MOVE	2
#define STALL_US	40000	/* if nothing else is asked for */
#define CALLBACK_US	5000

typedef uint64_t u64;

static const char *marker = "/sys/kernel/tracing/trace_marker";
static const char *disk, *cgroup, *mock_ib = "/sys/kernel/debug/mock_ib/do";
static unsigned int stall_us;	/* of the stall that is being suffered */

static void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "trainer: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	exit(1);
}

static long check(long ret, const char *what)
{
	if (ret < 0)
		die("%s", what);
	return ret;
}

/* ---- clocks ---- */

struct clocks {
	u64 wall, cpu, queued;
};

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static u64 now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static u64 queued(void)
{
	static int fd = -1;
	char buf[96] = "";
	u64 ran, waited;

	if (fd < 0)
		fd = check(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC), "schedstat");
	check(pread(fd, buf, sizeof(buf) - 1, 0), "schedstat");
	if (sscanf(buf, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
		die("schedstat: %s", buf);
	return waited;
}

/* The longest clock is read innermost, so that the others never see less than it did. */
static struct clocks start(void)
{
	struct clocks c;

	c.queued = queued();
	c.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	c.wall = now();
	return c;
}

static struct clocks since(struct clocks from)
{
	struct clocks c;

	c.wall = now() - from.wall;
	c.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from.cpu;
	c.queued = queued() - from.queued;
	return c;
}

/* How long the thread neither ran nor waited for a processor. */
static u64 slept(struct clocks c)
{
	return c.wall > c.cpu + c.queued ? c.wall - c.cpu - c.queued : 0;
}

/* ---- what is measured ---- */

#define MAX_STALLS	16

static struct stall {
	const char *cause;
	u64 low, high;
} stalls[MAX_STALLS];
static int nr_stalls;

static void stalled(const char *cause, u64 low, u64 high)
{
	stalls[nr_stalls++] = (struct stall){ cause, low < high ? low : high, high };
}

/* So much was asked for, at the time @asked; but for what went by until the thread slept. */
static u64 rest_of(u64 ns, u64 asked, u64 begun, struct clocks c)
{
	u64 gone = begun - asked + c.cpu + c.queued;

	return ns > gone ? ns - gone : 0;
}

/* ---- disk ---- */

static void stall_fsync(void)
{
	static char block[64 << 10];
	static int fd = -1;
	struct clocks c;

	if (fd < 0)
		fd = check(open(disk, O_RDWR | O_CLOEXEC), disk);
	block[0]++;
	check(pwrite(fd, block, sizeof(block), 0), "pwrite");
	c = start();
	check(fsync(fd), "fsync");
	c = since(c);
	stalled("fsync", slept(c), c.wall);
}

/* ---- GPU ---- */

static int gpu = -1;
static uint32_t mine, others, elsewhere;	/* entities */

static void ask_gpu(unsigned long cmd, void *args)
{
	while (ioctl(gpu, cmd, args) < 0) {
		if (errno != EINTR)
			die("mock_gpu");
	}
}

static uint32_t entity(int ring)
{
	struct mock_entity e = { .op = MOCK_OP_NEW, .priority = 2, .rings = 1 << ring };

	ask_gpu(DRM_IOCTL_MOCK_ENTITY, &e);
	return e.id;
}

static void open_gpu(void)
{
	char path[64];
	glob_t g;

	if (gpu >= 0)
		return;
	if (glob("/sys/devices/mock_gpu/drm/renderD*", 0, NULL, &g))
		die("no mock_gpu");
	snprintf(path, sizeof(path), "/dev/dri/%s", strrchr(g.gl_pathv[0], '/') + 1);
	globfree(&g);
	gpu = check(open(path, O_RDWR | O_CLOEXEC), path);
	mine = entity(0);
	others = entity(0);
	elsewhere = entity(1);
}

static uint32_t job(uint32_t ent, unsigned int run_us, uint32_t dep)
{
	struct mock_submit s = {
		.entity = ent, .flags = MOCK_KEEP, .run_us = run_us, .credits = 1,
		.nr_deps = !!dep, .deps = { dep },
	};

	ask_gpu(DRM_IOCTL_MOCK_SUBMIT, &s);
	return s.handle;
}

/* Waits for a job that something holds up for stall_us from the time @asked. */
static void await(const char *cause, uint32_t fence, u64 asked)
{
	struct mock_fence_args f = { .op = MOCK_FENCE_WAIT, .handle = fence, .timeout_ms = 600000 };
	struct clocks c = start();
	u64 begun = c.wall;

	ask_gpu(DRM_IOCTL_MOCK_FENCE, &f);
	c = since(c);
	stalled(cause, rest_of(stall_us * 1000ULL, asked, begun, c), c.wall);
	stalled("fence", slept(c), c.wall);
}

static void stall_gpu_dependency(void)
{
	uint32_t dep;
	u64 asked;

	open_gpu();
	asked = now();
	dep = job(elsewhere, stall_us, 0);
	await("gpu_dependency", job(mine, 100, dep), asked);
}

/* A ring takes two jobs. */
static void stall_gpu_ring(void)
{
	u64 asked;

	open_gpu();
	asked = now();
	job(others, stall_us, 0);
	job(others, 100, 0);
	/* only jobs on the ring hold up another's */
	usleep(1000);
	await("gpu_ring", job(mine, 100, 0), asked);
}

static void stall_gpu_running(void)
{
	u64 asked;

	open_gpu();
	asked = now();
	await("gpu_running", job(mine, stall_us, 0), asked);
}

/* ---- memory ---- */

static int open_mm(void)
{
	return check(open("/dev/mock_mm", O_RDWR | O_CLOEXEC), "/dev/mock_mm");
}

static int move_pages_to(char *region, int node)
{
	void *pages[PAGES];
	int to[PAGES], status[PAGES], i, n = 0;

	for (i = 0; i < PAGES; i++) {
		pages[i] = region + i * PAGE;
		to[i] = node;
	}
	check(syscall(SYS_move_pages, 0, PAGES, pages, to, status, MPOL_MF_MOVE), "move_pages");
	for (i = 0; i < PAGES; i++)
		n += status[i] == node;
	return n;
}

static void stall_notifier(void)
{
	static char *region;
	static int fd = -1, node;
	struct mock_mm_counts before, after;
	struct clocks c;

	if (fd < 0) {
		struct mock_mm_notify n = {
			.len = PAGES * PAGE, .via = MOCK_MM_INTERVAL, .delay_us = CALLBACK_US,
		};

		region = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		move_pages_to(region, 0);
		fd = open_mm();
		n.start = (uintptr_t)region;
		check(ioctl(fd, MOCK_MM_NOTIFY, &n), "MOCK_MM_NOTIFY");
		/* The module hooks a new callback when it has heard of it. So long a step does not count. */
		usleep(500000);
	}
	node = !node;
	check(ioctl(fd, MOCK_MM_COUNTS, &before), "MOCK_MM_COUNTS");
	c = start();
	move_pages_to(region, node);
	c = since(c);
	check(ioctl(fd, MOCK_MM_COUNTS, &after), "MOCK_MM_COUNTS");
	stalled("notifier", (after.interval - before.interval) * CALLBACK_US * 1000, c.wall);
}

/* Allocates pieces until there are so many, or no more. */
static void take(int fd, int order, int pieces)
{
	struct mock_mm_alloc a = { .order = order, .pieces = 1 };

	while (pieces-- && !a.fallbacks && !ioctl(fd, MOCK_MM_ALLOC, &a))
		;
}

/*
 * Takes all large pieces there are; for the next the kernel has to make one. Enough memory is left for
 * all others, but in smaller pieces, between those that stay.
 */
static void stall_compaction(void)
{
	struct mock_mm_alloc make = { .order = HUGE_ORDER, .pieces = 1, .compact = 1 };
	int fd = open_mm(), left = open_mm(), i;
	int64_t delay;
	struct clocks c;

	for (i = 0; i < LEFT; i++) {
		take(fd, HUGE_ORDER - 1, 1);
		take(left, HUGE_ORDER - 1, 1);
	}
	take(fd, HUGE_ORDER, INT_MAX);
	close(left);
	delay = compaction_delay();
	c = start();
	ioctl(fd, MOCK_MM_ALLOC, &make);
	c = since(c);
	delay = compaction_delay() - delay;
	close(fd);
	stalled("compaction", delay, c.wall);
}

/* ---- processors ---- */

static void burn(u64 ns)
{
	u64 end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static struct {
	_Atomic int hog;
	_Atomic unsigned int feeder_us;
} *shared;
static int hog_go[2], feed_go[2], fed[2];

/* Runs on the trainer's processor while the trainer wants it. */
static void hog(void)
{
	char c;

	prctl(PR_SET_NAME, "hog");
	while (read(hog_go[0], &c, 1) == 1) {
		while (shared->hog)
			;
	}
	_exit(0);
}

static void stall_hog(void)
{
	struct clocks c = start();

	shared->hog = 1;
	check(write(hog_go[1], "", 1), "hog");
	burn(stall_us * 1000ULL);
	shared->hog = 0;
	c = since(c);
	stalled("hog", c.queued, c.wall - c.cpu);
}

static void cgroup_write(const char *file, const char *what)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	fd = check(open(path, O_WRONLY | O_CLOEXEC), path);
	check(write(fd, what, strlen(what)), path);
	close(fd);
}

static u64 throttled_ns(void)
{
	char path[512], buf[1024] = "", *p;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu.stat", cgroup);
	fd = check(open(path, O_RDONLY | O_CLOEXEC), path);
	check(read(fd, buf, sizeof(buf) - 1), path);
	close(fd);
	p = strstr(buf, "throttled_usec ");
	return p ? strtoull(p + 15, NULL, 10) * 1000 : 0;
}

/* Limits that never change from none to some, for which the kernel would stop all processors. */
#define MUCH	"1000000 100000"
#define LITTLE	"10000 100000"

static void stall_quota(void)
{
	u64 before = throttled_ns(), suspended = 0;
	struct clocks c;
	int i;

	/* All of it, as the thread may be suspended at any moment while it has little. */
	c = start();
	cgroup_write("cpu.max", LITTLE);
	for (i = 0; i < 200 && suspended < stall_us * 1000ULL; i++) {
		burn(5 * MS);
		suspended = throttled_ns() - before;
	}
	cgroup_write("cpu.max", MUCH);
	suspended = throttled_ns() - before;
	c = since(c);
	stalled("quota", suspended, c.wall - c.cpu);
}

/* ---- others ---- */

static void stall_rdma(void)
{
	static int fd = -1;
	struct clocks c;

	if (fd < 0)
		fd = check(open(mock_ib, O_RDWR | O_CLOEXEC), mock_ib);
	c = start();
	/* twice: of two packets one is lost */
	check(write(fd, "step 2 1", 8), mock_ib);
	c = since(c);
	stalled("rdma", slept(c), c.wall);
}

static void feeder(void)
{
	char c;

	prctl(PR_SET_NAME, "feeder");
	while (read(feed_go[0], &c, 1) == 1) {
		usleep(shared->feeder_us);
		check(write(fed[1], "", 1), "feeder");
	}
	_exit(0);
}

static void stall_pipe(void)
{
	struct clocks c;
	char byte;

	shared->feeder_us = stall_us;
	c = start();
	check(write(feed_go[1], "", 1), "feeder");
	check(read(fed[0], &byte, 1), "feeder");
	c = since(c);
	stalled("pipe", slept(c), c.wall);
}

static void stall_none(void)
{
}

/* ---- what only makes it harder to follow: no stall is measured ---- */

static void *come_and_go(void *arg)
{
	usleep(100);
	return NULL;
}

static void do_threads(void)
{
	pthread_t thread[8];
	int i;

	for (i = 0; i < 8; i++) {
		if (pthread_create(&thread[i], NULL, come_and_go, NULL))
			die("pthread_create");
	}
	for (i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
}

static pid_t do_child(const char *program)
{
	pid_t pid = check(fork(), "fork");

	if (!pid) {
		if (program)
			execl(program, program, NULL);
		_exit(0);
	}
	check(waitpid(pid, NULL, 0), "waitpid");
	return pid;
}

static void do_exec(void)
{
	do_child("/bin/true");
}

/* A pid that has just ended is used again, by what becomes another program. */
static void do_again(void)
{
	int fd = check(open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC), "ns_last_pid");

	dprintf(fd, "%d", do_child(NULL) - 1);
	close(fd);
	do_child("/bin/true");
}

/* ---- steps ---- */

static const struct cause {
	const char *name;
	void (*stall)(void);
} causes[] = {
	{ "fsync", stall_fsync },
	{ "gpu_dependency", stall_gpu_dependency },
	{ "gpu_ring", stall_gpu_ring },
	{ "gpu_running", stall_gpu_running },
	{ "notifier", stall_notifier },
	{ "quota", stall_quota },
	{ "hog", stall_hog },
	{ "compaction", stall_compaction },
	{ "rdma", stall_rdma },
	{ "pipe", stall_pipe },
	{ "none", stall_none },
	{ "threads", do_threads },
	{ "exec", do_exec },
	{ "again", do_again },
};

#define NR_CAUSES	(sizeof(causes) / sizeof(causes[0]))

static char *wanted[2 * NR_CAUSES];
static int nr_wanted;

static const struct cause *cause_named(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < NR_CAUSES; i++) {
		if (strlen(causes[i].name) == len && !strncmp(name, causes[i].name, len))
			return &causes[i];
	}
	errno = EINVAL;
	die("no such cause: %s", name);
	return NULL;
}

static void want(char *list)
{
	char *word;

	for (word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (nr_wanted == sizeof(wanted) / sizeof(wanted[0]))
			errno = E2BIG, die("causes");
		wanted[nr_wanted++] = word;
	}
}

/* CAUSE[=US][+CAUSE...] */
static void suffer(const char *what)
{
	size_t name, word;
	int i;

	if (!strcmp(what, "all")) {
		for (i = 0; i < nr_wanted; i++) {
			if (strcmp(wanted[i], "all"))
				suffer(wanted[i]);
		}
		return;
	}
	for (; *what; what += word + !!what[word]) {
		word = strcspn(what, "+");
		name = strcspn(what, "=+");
		stall_us = name < word ? strtoul(what + name + 1, NULL, 10) : STALL_US;
		cause_named(what, name)->stall();
	}
}

/* Something that nobody asked for took as long as the longest stall. */
static int is_noisy(struct clocks c)
{
	u64 longest = 0, waited = 0, asleep = 0, burned = 0;
	int i;

	for (i = 0; i < nr_stalls; i++) {
		const struct stall *s = &stalls[i];

		if (s->low > longest)
			longest = s->low;
		if (!strcmp(s->cause, "hog") || !strcmp(s->cause, "quota")) {
			waited += s->high;
			burned = c.cpu;
		} else if (strcmp(s->cause, "fence")) {
			asleep += s->high;
		}
	}
	return nr_stalls && (c.queued > waited + longest || slept(c) > asleep + longest ||
			     c.cpu > burned + longest);
}

/* Return: whether it counts */
static int step(int fd, int id, const char *what)
{
	struct clocks c;
	int i, noisy;

	nr_stalls = 0;
	c = start();
	dprintf(fd, "kstall step %d begin\n", id);
	suffer(what);
	dprintf(fd, "kstall step %d end\n", id);
	c = since(c);
	noisy = is_noisy(c);
	printf("step=%d wall=%" PRIu64 " cpu=%" PRIu64 " queued=%" PRIu64, id, c.wall, c.cpu, c.queued);
	for (i = 0; i < nr_stalls; i++)
		printf(" %s=%" PRIu64 "-%" PRIu64, stalls[i].cause, stalls[i].low, stalls[i].high);
	printf("%s\n", noisy ? " noisy" : "");
	return !noisy;
}

static void start_child(int go[2], void (*child)(void))
{
	pid_t parent = getpid();

	check(pipe2(go, O_CLOEXEC), "pipe");
	if (check(fork(), "fork"))
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	child();
}

static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	check(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

int main(int argc, char **argv)
{
	int option, steps, tries, fd, id = 0, good = 0;

	while ((option = getopt(argc, argv, "m:d:g:r:o:")) != -1) {
		switch (option) {
		case 'm':
			marker = optarg;
			break;
		case 'd':
			disk = optarg;
			break;
		case 'g':
			cgroup = optarg;
			break;
		case 'r':
			mock_ib = optarg;
			break;
		case 'o':
			if (!freopen(optarg, "we", stdout))
				die("%s", optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2)
		errno = EINVAL, die("usage");
	steps = atoi(argv[optind]);
	want(argv[optind + 1]);
	setvbuf(stdout, NULL, _IOLBF, 0);

	stay_here();
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(pipe2(fed, O_CLOEXEC), "pipe");
	start_child(hog_go, hog);
	start_child(feed_go, feeder);
	if (cgroup) {
		cgroup_write("cpu.max", MUCH);
		cgroup_write("cgroup.procs", "0");
	}
	fd = check(open(marker, O_WRONLY | O_CLOEXEC), marker);
	for (tries = 0; good < steps && tries < 2 * steps; tries++) {
		if (step(fd, id, wanted[good % nr_wanted]))
			good++;
		id++;
	}
	return good < steps;
}
