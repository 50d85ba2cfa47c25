// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <tracefs.h>

#include "trace/datfile.h"
#include "trace/guard.h"

#define PAGE 4096
enum { OPTION_BUFFER = 3, OPTION_TRACECLOCK = 4, OPTION_UNAME = 5 };
static const char trace_clock[] = "local global counter uptime perf [mono] mono_raw boot\n";

struct out {
	const char *name;
	FILE *f;
};

static void put(struct out *o, const void *p, size_t n)
{
	if (n && fwrite(p, n, 1, o->f) != 1)
		ks_die("%s: %s", o->name, strerror(errno));
}

static void put_str(struct out *o, const char *s) { put(o, s, strlen(s) + 1); }
static void put2(struct out *o, u16 v) { put(o, &v, sizeof(v)); }
static void put4(struct out *o, u32 v) { put(o, &v, sizeof(v)); }
static void put8(struct out *o, u64 v) { put(o, &v, sizeof(v)); }

/* A file of tracefs with its size in front; empty if there is none. */
static void put_file(struct out *o, const char *file, bool size4)
{
	int size = 0;
	char *text;

	errno = 0;
	text = tracefs_instance_file_read(NULL, file, &size);
	if (!text && errno && errno != ENOENT)
		ks_die("%s: %s", file, strerror(errno));
	if (!text)
		size = 0;
	if (size4)
		put4(o, size);
	else
		put8(o, size);
	put(o, text, size);
	free(text);
}

static void put_header(struct out *o)
{
	static const char magic[] = "\x17\x08\x44tracing";
	const u16 one = 1;

	if (sysconf(_SC_PAGESIZE) != PAGE)
		ks_die("%s: only kernels with pages of %d bytes, here they have %ld", o->name, PAGE,
		       sysconf(_SC_PAGESIZE));
	put(o, magic, sizeof(magic) - 1);
	put_str(o, "6");
	put(o, *(const u8 *)&one ? "\0" : "\1", 1);
	put(o, &(u8){ sizeof(long) }, 1);
	put4(o, PAGE);
	put_str(o, "header_page");
	put_file(o, "events/header_page", false);
	put_str(o, "header_event");
	put_file(o, "events/header_event", false);
}

static void put_system(struct out *o, const char *system)
{
	char **events = tracefs_system_events(NULL, system), path[256];
	u32 n = 0;

	if (!events)
		ks_die("%s: the formats of %s: %s", o->name, system, strerror(errno));
	for (int i = 0; events[i]; i++)
		n += tracefs_event_file_exists(NULL, system, events[i], "format");
	put4(o, n);
	for (int i = 0; events[i]; i++) {
		if (!tracefs_event_file_exists(NULL, system, events[i], "format"))
			continue;
		put_file(o, ks_fmt(path, sizeof(path), "events/%s/%s/format", system, events[i]),
			 false);
	}
	tracefs_list_free(events);
}

static void put_formats(struct out *o, const char *const *systems)
{
	u32 n = 0;

	put_system(o, "ftrace");
	while (systems[n])
		n++;
	put4(o, n);
	for (u32 i = 0; i < n; i++) {
		/* The session's name does not matter any more. */
		put_str(o, ks_is_group(systems[i]) ? "kstall" : systems[i]);
		put_system(o, systems[i]);
	}
}

static void put_option(struct out *o, u16 id, const void *p, u32 size)
{
	put2(o, id);
	put4(o, size);
	put(o, p, size);
}

/* Where the buffer's table will be is not known yet: it is written again at the end. */
static void put_options(struct out *o, const struct ks_dat_buffer *b, int n, const u64 *at)
{
	char text[512];
	struct utsname u;

	put(o, "options  ", 10);
	put_option(o, OPTION_TRACECLOCK, trace_clock, sizeof(trace_clock));
	/* as trace-cmd has it: the machine decides which numbers system calls have */
	uname(&u);
	ks_fmt(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release, u.machine);
	put_option(o, OPTION_UNAME, text, strlen(text) + 1);
	for (int i = 0; i < n; i++) {
		memcpy(text, &at[i], 8);
		strcpy(text + 8, b[i].name);
		put_option(o, OPTION_BUFFER, text, 8 + strlen(b[i].name) + 1);
	}
	put2(o, 0);
}

static u64 round_up(u64 v)
{
	return (v + PAGE - 1) / PAGE * PAGE;
}

static void copy(struct out *o, const struct ks_dat_cpu *c)
{
	int fd = c->path ? open(c->path, O_RDONLY | O_CLOEXEC) : c->fd;
	static char buf[1 << 20];
	u64 at = 0;

	if (fd < 0)
		ks_die("%s: %s", c->path, strerror(errno));
	while (at < c->bytes) {
		ssize_t n = pread(fd, buf, min_u64(sizeof(buf), c->bytes - at), at);

		if (n <= 0)
			ks_die("%s: %s", o->name,
			       n ? strerror(errno) : "a CPU's part is too short");
		put(o, buf, n);
		/* Where this cannot be done the disk needs room for both. */
		if (c->spool)
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n);
		at += n;
	}
	if (c->path)
		close(fd);
}

static u64 tell(struct out *o)
{
	off_t at = ftello(o->f);

	if (at < 0)
		ks_die("%s: %s", o->name, strerror(errno));
	return at;
}

static void seek(struct out *o, u64 to)
{
	if (fseeko(o->f, to, SEEK_SET))
		ks_die("%s: %s", o->name, strerror(errno));
}

/* A table of offsets and sizes, then the pages, each CPU's at a page's begin. */
static void put_buffer(struct out *o, const struct ks_dat_buffer *b, int cpus)
{
	u64 at;

	put(o, "flyrecord", 10);
	at = round_up(tell(o) + 16 * cpus);
	for (int i = 0; i < cpus; i++) {
		put8(o, at);
		put8(o, b ? b->cpu[i].bytes : 0);
		at = round_up(at + (b ? b->cpu[i].bytes : 0));
	}
	for (int i = 0; b && i < cpus; i++) {
		if (!b->cpu[i].bytes)
			continue;
		seek(o, round_up(tell(o)));
		copy(o, &b->cpu[i]);
	}
}

void ks_dat_head(FILE *f, const char *name, const char *const *systems)
{
	struct out o = { name, f };

	put_header(&o);
	put_formats(&o, systems);
	put4(&o, 0);			/* no kallsyms: no event has an address to be named */
	put_file(&o, "printk_formats", true);
}

void ks_dat_tasks(FILE *f, const char *name)
{
	struct out o = { name, f };

	put_file(&o, "saved_cmdlines", false);
}

void ks_dat_body(FILE *f, const char *name, int cpus, const struct ks_dat_buffer *buffers,
		 int nr_buffers)
{
	struct out o = { name, f };
	u64 options, *at = ks_alloc(nr_buffers * sizeof(*at));

	put4(&o, cpus);
	options = tell(&o);
	put_options(&o, buffers, nr_buffers, at);
	put_buffer(&o, NULL, cpus);	/* the top buffer, which is not ours */
	/* Readers of an OPTION_TRACECLOCK look for it here, too. */
	put8(&o, sizeof(trace_clock));
	put(&o, trace_clock, sizeof(trace_clock));
	for (int i = 0; i < nr_buffers; i++) {
		seek(&o, round_up(tell(&o)));
		at[i] = tell(&o);
		put_buffer(&o, &buffers[i], cpus);
	}
	/* A CPU without pages may be the last. */
	seek(&o, round_up(tell(&o)));
	if (fflush(o.f) || ftruncate(fileno(o.f), tell(&o)))
		ks_die("%s: %s", name, strerror(errno));
	seek(&o, options);
	put_options(&o, buffers, nr_buffers, at);
	free(at);
}
