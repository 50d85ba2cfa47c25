// SPDX-License-Identifier: GPL-2.0
/*
 * does a known thing with its memory and says what it did
 *
 *	mm WORD ARGUMENTS... WORD ARGUMENTS... ...
 *
 * Words are done one after the other. Prints "pid=<pid>", then, as key=value, what the kernel's
 * events must agree with. Regions are numbered from 0 in the order they were made.
 *
 *	map PAGES		new region of small pages, all touched
 *	huge N			new region of N huge pages, where there are some, all touched
 *	poke N			the same, one page of each touched
 *	want PAGES		new region that asks for huge pages, all touched
 *	reserve PAGES		new region, not touched
 *	touch R			write to each page
 *	node N			regions that follow have their memory there, -1: anywhere
 *	cpu C			run there
 *	notify R VIA US		have /dev/mock_mm watch it: list, interval, two_pass; a callback
 *				takes so long
 *	unnotify		until now
 *	counts			of the mock's callbacks
 *	pfns R			of all its pages
 *	move R N		move_pages() to a node
 *	mbind R N		mbind() with MPOL_MF_MOVE
 *	migrate N M		migrate_pages() of all that is on node N
 *	offline R		madvise(MADV_SOFT_OFFLINE) of its first page
 *	anywhere R		no memory policy any more
 *	unmap R, protect R	munmap(), mprotect() to read only
 *	dontneed R		madvise(MADV_DONTNEED)
 *	holes R			the same of every second page, locked or not
 *	lock R			mlock()
 *	hold R			keep its first page from moving, by a reference of a pipe's
 *	balance R N MS		use it until NUMA balancing has moved it to that node, at most so
 *				long
 *	steps R N MS		work of so many ms of processor time that uses R, N times; says how
 *				long a step took
 *	spin N			start threads on the N next CPUs that never sleep
 *	storm THREADS N		threads that MADV_DONTNEED a page of their own N times
 *	alloc ORDER PIECES COMPACT	allocate as a driver does
 *	pin R FLAGS, hmm R, vma R
 *				have the driver do it: 1 long-term, 2 fast
 *	to_device R		have its pages moved to a device; says how many went
 *	expect R		each page holds what touch wrote there
 *	contig R		take each of its pages, as CMA does
 *	kvm			a virtual machine that uses the program's memory, until the end
 *	enter CGROUP		from now on belong to it
 *	hmm_fails R		the same where nothing is mapped
 *	repeat N WORD ARGS... end	the words in between, N times
 *	sleep MS
 *	tell FILE		tell others
 *	until FILE		wait for others, at most 120 s
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "mock_mm.h"

#define MAX		64
#define PAGE		4096UL
#define HUGE		(512 * PAGE)
#define BIND		2	/* MPOL_BIND */
#define MOVE		2	/* MPOL_MF_MOVE */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED	24
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE	101
#endif

typedef unsigned long long u64;

static struct region {
	char *start;
	unsigned long pages;
} regions[MAX];
static int nr_regions, fd = -1, node = -1;

static void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "mm: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
	exit(1);
}

static void check(long ret, const char *what)
{
	if (ret < 0)
		die("%s", what);
}

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static u64 now(void) { return clock_ns(CLOCK_MONOTONIC); }
static u64 cpu_time(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

static void ms_sleep(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static struct region *region(const char *number)
{
	int i = atoi(number);

	if (i < 0 || i >= nr_regions)
		die("no region %s", number);
	return &regions[i];
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

/* ---- regions ---- */

static void touch(const struct region *r)
{
	for (unsigned long i = 0; i < r->pages; i++)
		*(volatile char *)(r->start + i * PAGE) = i;
}

/* Between neighbours that stay, so that no table above its own pages' is freed with it. */
static struct region *new_region(unsigned long pages, int advice)
{
	struct region *r = &regions[nr_regions];
	unsigned long len = (pages * PAGE + HUGE - 1) / HUGE * HUGE + 3 * HUGE;
	char *area;

	if (nr_regions++ == MAX)
		die("too many regions");
	area = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		die("mmap");
	r->start = (char *)(((uintptr_t)area + 2 * HUGE - 1) / HUGE * HUGE);
	r->pages = pages;
	check(mprotect(r->start, pages * PAGE, PROT_READ | PROT_WRITE), "mprotect");
	/* A kernel without huge pages (PREEMPT_RT) knows no advice about them. */
	if (madvise(r->start, pages * PAGE, advice) && !(errno == EINVAL && advice == MADV_NOHUGEPAGE))
		die("madvise");
	if (node >= 0) {
		unsigned long mask = 1UL << node;

		check(syscall(SYS_mbind, r->start, pages * PAGE, BIND, &mask, 64, 0), "mbind");
	}
	return r;
}

/* 0: it is not there */
static u64 pfn_of(const struct region *r, unsigned long page)
{
	static int map = -1;
	uint64_t entry;

	if (map < 0)
		map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	check(map, "/proc/self/pagemap");
	if (pread(map, &entry, 8, ((uintptr_t)r->start / PAGE + page) * 8) != 8)
		die("pagemap");
	return (u64)entry & ((1ULL << 55) - 1);
}

static void print_pfns(const struct region *r)
{
	for (unsigned long i = 0; i < r->pages; i++)
		printf("pfn=0x%llx\n", pfn_of(r, i));
}

/* ---- moving ---- */

static int count_on(const struct region *r, int where, const int *to)
{
	void **pages = calloc(r->pages, sizeof(*pages));
	int *status = calloc(r->pages, sizeof(*status));
	int n = 0;

	for (unsigned long i = 0; i < r->pages; i++)
		pages[i] = r->start + i * PAGE;
	check(syscall(SYS_move_pages, 0, r->pages, pages, to, status, MOVE), "move_pages");
	for (unsigned long i = 0; i < r->pages; i++)
		n += status[i] == where;
	free(pages);
	free(status);
	return n;
}

static void move(const struct region *r, int where)
{
	int *to = calloc(r->pages, sizeof(*to));

	for (unsigned long i = 0; i < r->pages; i++)
		to[i] = where;
	count_on(r, where, to);
	printf("moved=%d\n", count_on(r, where, NULL));
	free(to);
}

static void migrate(int from, int to)
{
	unsigned long old = 1UL << from, new = 1UL << to;
	long left = syscall(SYS_migrate_pages, 0, 64, &old, &new);

	check(left, "migrate_pages");
	printf("left=%ld\n", left);
}

static void mbind_move(const struct region *r, int where)
{
	unsigned long mask = 1UL << where;

	check(syscall(SYS_mbind, r->start, r->pages * PAGE, BIND, &mask, 64, MOVE), "mbind");
	printf("moved=%d\n", count_on(r, where, NULL));
}

/* The times below are a fast machine's. */
static u64 scaled(u64 ns)
{
	const char *scale = getenv("KSTALL_TIME_SCALE");

	return ns * (scale ? strtoul(scale, NULL, 0) : 1);
}

static void balance(const struct region *r, int where, long ms)
{
	u64 end = now() + scaled(ms * 1000000ULL);
	int n;

	do {
		for (int i = 0; i < 20; i++)
			touch(r);
		n = count_on(r, where, NULL);
	} while (n < r->pages && now() < end);
	printf("balanced=%d\n", n);
}

static void steps(const struct region *r, int n, long ms)
{
	u64 begin = now();

	for (int i = 0; i < n; i++) {
		u64 end = cpu_time() + ms * 1000000ULL;

		do {
			touch(r);
		} while (cpu_time() < end);
	}
	printf("%d steps, %llu ms each\n", n, (now() - begin) / n / 1000000);
}

/* ---- threads ---- */

static pthread_barrier_t barrier;

static void *spin(void *cpu)
{
	run_on((long)cpu);
	pthread_barrier_wait(&barrier);
	for (;;)
		__asm__ volatile("" ::: "memory"); /* no pause: to the emulator each is an exit */
	return NULL;
}

static void start_spinning(int n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), first = sched_getcpu();
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, n + 1);
	for (long i = 1; i <= n; i++) {
		if (pthread_create(&thread, NULL, spin, (void *)((first + i) % cpus)))
			die("pthread_create");
	}
	pthread_barrier_wait(&barrier);
	ms_sleep(20); /* they are back in user space */
}

static long storm_calls;

static void *storm_thread(void *page)
{
	for (long i = 0; i < storm_calls; i++)
		check(madvise(page, PAGE, MADV_DONTNEED), "madvise");
	return NULL;
}

static void storm(int threads, long calls)
{
	struct region *r = new_region(threads, MADV_NOHUGEPAGE);
	pthread_t thread[MAX];

	storm_calls = calls;
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, storm_thread, r->start + i * PAGE))
			die("pthread_create");
	}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

/* ---- the driver ---- */

static void open_driver(void)
{
	if (fd < 0)
		fd = open("/dev/mock_mm", O_RDWR | O_CLOEXEC);
	check(fd, "/dev/mock_mm");
}

static void driver(unsigned long cmd, void *arg)
{
	open_driver();
	check(ioctl(fd, cmd, arg), "mock_mm");
}

static void notify(const struct region *r, const char *via, int us)
{
	struct mock_mm_notify n = {
		.start = (uintptr_t)r->start, .len = r->pages * PAGE, .delay_us = us,
		.via = !strcmp(via, "list") ? MOCK_MM_LIST :
		       !strcmp(via, "interval") ? MOCK_MM_INTERVAL : MOCK_MM_TWO_PASS,
	};

	driver(MOCK_MM_NOTIFY, &n);
}

static void range(unsigned long cmd, const struct region *r)
{
	struct mock_mm_range arg = {
		.start = (uintptr_t)r->start, .pages = r->pages,
	};

	driver(cmd, &arg);
	printf("done=%u\n", arg.done);
}

/* One may be busy for a moment. */
static void contig(const struct region *r)
{
	int done = 0, error = 0;

	for (unsigned long i = 0; i < r->pages; i++) {
		struct mock_mm_range arg = { .start = pfn_of(r, i), .pages = 1 };

		for (int tries = 0; tries < 20 && ioctl(fd, MOCK_MM_CONTIG, &arg); tries++) {
			error = errno;
			ms_sleep(50);
		}
		done += arg.done;
	}
	printf("done=%d error=%d\n", done, error);
}

static void start_kvm(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	check(kvm, "/dev/kvm");
	check(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
}

static void allocate(int order, int pieces, int compact)
{
	struct mock_mm_alloc arg = { .order = order, .pieces = pieces, .compact = compact };

	driver(MOCK_MM_ALLOC, &arg);
	printf("pieces=%d fallbacks=%u\n", pieces, arg.fallbacks);
}

static void print_counts(void)
{
	struct mock_mm_counts c;

	driver(MOCK_MM_COUNTS, &c);
	printf("list=%llu interval=%llu finish=%llu\n", c.list, c.interval, c.finish);
}

/* ---- words ---- */

static char **arg;

static char *next(void)
{
	if (!*arg)
		die("more arguments");
	return *arg++;
}

static long next_long(void)
{
	return strtol(next(), NULL, 0);
}

static struct region *next_region(void)
{
	return region(next());
}

static void wait_for(const char *file)
{
	u64 end = now() + scaled(120000000000ULL);

	while (access(file, F_OK)) {
		if (now() > end)
			die("no %s", file);
		ms_sleep(10);
	}
}

static void holes(const struct region *r)
{
	for (unsigned long i = 0; i < r->pages; i += 2)
		check(madvise(r->start + i * PAGE, PAGE, MADV_DONTNEED_LOCKED), "madvise");
}

static void do_map(void)
{
	struct region *r = new_region(next_long(), MADV_NOHUGEPAGE);

	touch(r);
	printf("start=%p\n", r->start);
}

static void do_reserve(void) { new_region(next_long(), MADV_NOHUGEPAGE); }
static void do_huge(void) { touch(new_region(512 * next_long(), MADV_HUGEPAGE)); }
static void do_want(void) { touch(new_region(next_long(), MADV_HUGEPAGE)); }

static void do_poke(void)
{
	long n = next_long();
	struct region *r = new_region(512 * n, MADV_HUGEPAGE);

	for (long i = 0; i < n; i++)
		*(volatile char *)(r->start + i * HUGE) = 1;
}

static void do_touch(void) { touch(next_region()); }
static void do_node(void) { node = next_long(); }
static void do_cpu(void) { run_on(next_long()); }

static void do_notify(void)
{
	struct region *r = next_region();
	char *via = next();

	notify(r, via, next_long());
}

static void do_unnotify(void) { driver(MOCK_MM_UNNOTIFY, NULL); }
static void do_pfns(void) { print_pfns(next_region()); }

static void do_move(void)
{
	struct region *r = next_region();

	move(r, next_long());
}

static void do_mbind(void)
{
	struct region *r = next_region();

	mbind_move(r, next_long());
}

static void do_migrate(void)
{
	int from = next_long();

	migrate(from, next_long());
}

static void do_offline(void)
{
	check(madvise(next_region()->start, PAGE, MADV_SOFT_OFFLINE), "MADV_SOFT_OFFLINE");
}

static void do_anywhere(void)
{
	struct region *r = next_region();

	check(syscall(SYS_mbind, r->start, r->pages * PAGE, 0, NULL, 0, 0), "mbind");
}

static void do_unmap(void)
{
	struct region *r = next_region();

	check(munmap(r->start, r->pages * PAGE), "munmap");
}

static void do_protect(void)
{
	struct region *r = next_region();

	check(mprotect(r->start, r->pages * PAGE, PROT_READ), "mprotect");
}

static void do_dontneed(void)
{
	struct region *r = next_region();

	check(madvise(r->start, r->pages * PAGE, MADV_DONTNEED), "madvise");
}

static void do_holes(void) { holes(next_region()); }

static void do_lock(void)
{
	struct region *r = next_region();

	check(mlock(r->start, r->pages * PAGE), "mlock");
}

static void do_hold(void)
{
	struct iovec page = { .iov_base = next_region()->start, .iov_len = PAGE };
	int ends[2];

	check(pipe(ends), "pipe");
	check(vmsplice(ends[1], &page, 1, 0), "vmsplice");
}

static void do_balance(void)
{
	struct region *r = next_region();
	int where = next_long();

	balance(r, where, next_long());
}

static void do_steps(void)
{
	struct region *r = next_region();
	int n = next_long();

	steps(r, n, next_long());
}

static void do_spin(void) { start_spinning(next_long()); }

static void do_storm(void)
{
	int threads = next_long();

	storm(threads, next_long());
}

static void do_alloc(void)
{
	int order = next_long(), pieces = next_long();

	allocate(order, pieces, next_long());
}

/* It may fail. */
static void do_pin(void)
{
	struct region *r = next_region();
	struct mock_mm_range range = {
		.start = (uintptr_t)r->start, .pages = r->pages, .flags = next_long(),
	};
	int ret;

	open_driver();
	ret = ioctl(fd, MOCK_MM_PIN, &range);
	printf("done=%u errno=%d\n", range.done, ret ? errno : 0);
}

static void do_hmm(void) { range(MOCK_MM_HMM, next_region()); }

/* It has to. */
static void do_hmm_fails(void)
{
	struct region *r = next_region();
	struct mock_mm_range range = { .start = (uintptr_t)r->start, .pages = r->pages };

	if (!ioctl(fd, MOCK_MM_HMM, &range))
		die("hmm did not fail");
}

static void do_contig(void)
{
	open_driver();
	contig(next_region());
}

static void do_to_device(void) { range(MOCK_MM_TO_DEVICE, next_region()); }

static void do_expect(void)
{
	struct region *r = next_region();

	for (unsigned long i = 0; i < r->pages; i++) {
		if (*(volatile char *)(r->start + i * PAGE) != (char)i)
			die("page %lu is another", i);
	}
}

static void do_vma(void) { range(MOCK_MM_VMA, next_region()); }
static void do_sleep(void) { ms_sleep(next_long()); }
static void do_tell(void) { check(creat(next(), 0600), "creat"); }
static void do_until(void) { wait_for(next()); }

static void do_enter(void)
{
	char file[256];
	int procs;

	snprintf(file, sizeof(file), "%s/cgroup.procs", next());
	procs = open(file, O_WRONLY);
	check(procs, file);
	check(write(procs, "0", 1), file);
	close(procs);
}

static void do_words(void);

static void do_repeat(void)
{
	long n = next_long();
	char **begin = arg;

	while (n--) {
		arg = begin;
		do_words();
	}
}

static const struct {
	const char *name;
	void (*fn)(void);
} words[] = {
	{ "map", do_map }, { "huge", do_huge }, { "want", do_want }, { "poke", do_poke },
	 { "reserve", do_reserve },
	{ "touch", do_touch }, { "node", do_node }, { "cpu", do_cpu },
	{ "notify", do_notify }, { "unnotify", do_unnotify }, { "counts", print_counts },
	{ "pfns", do_pfns }, { "move", do_move }, { "mbind", do_mbind },
	{ "migrate", do_migrate }, { "offline", do_offline }, { "anywhere", do_anywhere },
	{ "unmap", do_unmap },
	{ "protect", do_protect }, { "dontneed", do_dontneed }, { "holes", do_holes },
	{ "lock", do_lock }, { "hold", do_hold }, { "balance", do_balance },
	{ "steps", do_steps }, { "spin", do_spin },
	{ "storm", do_storm }, { "alloc", do_alloc }, { "pin", do_pin }, { "hmm", do_hmm },
	{ "hmm_fails", do_hmm_fails }, { "contig", do_contig },
	{ "kvm", start_kvm }, { "to_device", do_to_device }, { "expect", do_expect },
	{ "vma", do_vma }, { "repeat", do_repeat }, { "sleep", do_sleep },
	{ "enter", do_enter }, { "tell", do_tell }, { "until", do_until },
};

static void do_word(const char *name)
{
	for (int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].name, name)) {
			words[i].fn();
			return;
		}
	}
	die("no word %s", name);
}

/* Until "end" or the last. */
static void do_words(void)
{
	while (*arg) {
		char *word = next();

		if (!strcmp(word, "end"))
			return;
		do_word(word);
	}
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	printf("pid=%d\n", getpid());
	arg = argv + 1;
	do_words();
	return 0;
}
