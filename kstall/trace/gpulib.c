// SPDX-License-Identifier: GPL-2.0
/*
 * The library is found in the maps of the job's processes, and opened by /proc/PID/map_files: that is the file which is mapped, be
 * it a container's or deleted. The kernel gets the open file; what counts is its inode. Each probe is an event of its own, as a
 * second probe of one event can crash the kernel (Documentation/kernel-uprobe-siblings.txt).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/gpucall.h"
#include "trace/elf.h"
#include "trace/gpulib.h"
#include "trace/notes.h"
#include "trace/tracing.h"
#include "trace/trial.h"

#define MAX_LIBRARIES 16
#define MAX_FUNCTIONS 512	/* of one; the table has some 130, some of them in three variants */
#define LOOK_EVERY (NSEC / 4)
#define LOOK_SHARE 200		/* looking takes at most 1/200 of a CPU */
#define NAME 64			/* of an event: MAX_EVENT_NAME_LEN of kernel/trace/trace_probe.h */
#define WHY 256

/* Where the first arguments of a function are. $stack is where it has its return address, or would have it. */
#ifdef __aarch64__
static const char *const arguments[] = { "\\0", "%x0", "%x1", "%x2", "%x3", "%x4" };
#else
static const char *const arguments[] = { "\\0", "%di", "%si", "%dx", "%cx", "%r8" };
#endif

struct library {
	dev_t dev;
	ino_t ino;
};

struct process {
	pid_t pid;
	u64 pages;		/* that it had mapped */
};

struct ks_gpu {
	bool launches;
	struct library library[MAX_LIBRARIES];
	size_t nr_libraries;
	char (*event)[NAME];
	size_t nr, room;
	size_t nr_enabled;	/* of the events: the first so many */
	bool tried;
	const char *no_returns;	/* why; NULL: returns are probed */
	bool told_many, told_none, told_closed;
	char (*unseen)[WHY];	/* "EVENT WHY", for the recording */
	size_t nr_unseen, room_unseen;
	size_t nr_noted;	/* of them: the first so many */
	u64 next_look;
	struct process *process;	/* of the last look, in order of pid */
	size_t nr_processes;
};

/* One that is being read. */
struct reading {
	struct ks_session *s;
	int fd;
	const char *name;
	u64 *offset;		/* of functions that have probes */
	size_t nr, room;
	size_t failed;
	int error;
};

/* One line for the user, and one for whoever reads the recording. */
static void __attribute__((format(printf, 3, 4))) not_seen(struct ks_gpu *g, const char *event, const char *fmt, ...)
{
	char why[PATH_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	ks_warn("%s", why);
	g->unseen = ks_grow(g->unseen, &g->room_unseen, g->nr_unseen + 1, sizeof(*g->unseen));
	ks_fmt(g->unseen[g->nr_unseen++], WHY, "%s %s", event, why);
}

static void add_event(struct reading *r, char type, const char *kind, const char *function, u64 offset, const char *args)
{
	struct ks_gpu *g = r->s->gpu;
	char name[NAME], text[256];

	ks_fmt(name, sizeof(name), "%s_%zu_%s", kind, g->nr_libraries, function);
	ks_fmt(text, sizeof(text), "%c:%s/%s /proc/self/fd/%d:0x%llx %s\n", type, r->s->group, name, r->fd,
	       (unsigned long long)offset, args);
	if (tracefs_instance_file_append(NULL, "uprobe_events", text) < 0) {
		r->error = errno;
		r->failed++;
		return;
	}
	g->event = ks_grow(g->event, &g->room, g->nr + 1, sizeof(*g->event));
	strcpy(g->event[g->nr++], name);
}

/* A call that returned before its beginning was probed says nothing; one that began and cannot return would: returns come first. */
static void add_function(struct reading *r, const struct ks_gpu_function *f, const char *name, u64 offset)
{
	char args[96];

	if (r->s->gpu->no_returns) {
		add_event(r, 'p', "gpu_only", name, offset, "");
		return;
	}
	add_event(r, 'r', "gpu_end", name, offset, "sp=$stack:u64");
	add_event(r, 'p', "gpu_begin", name, offset,
		  ks_fmt(args, sizeof(args), "sp=$stack:u64 bytes=%s:u64 kind=%s:u32", arguments[f->bytes], arguments[f->kind]));
}

static bool on_symbol(void *priv, const char *symbol, u64 offset)
{
	struct reading *r = priv;
	const struct ks_gpu_function *f = ks_gpu_function(symbol);

	if (!f || (f->layer == KS_GPU_LAUNCH && !r->s->gpu->launches))
		return false;
	if (r->nr == MAX_FUNCTIONS) {
		not_seen(r->s->gpu, "gpu_begin", "%s: it has too many functions that are known: calls of the rest are not seen", r->name);
		return true;
	}
	/* Two names of one function, or one name in two tables. */
	for (size_t i = 0; i < r->nr; i++) {
		if (r->offset[i] == offset)
			return false;
	}
	r->offset = ks_grow(r->offset, &r->room, r->nr + 1, sizeof(*r->offset));
	r->offset[r->nr++] = offset;
	add_function(r, f, symbol, offset);
	return false;
}

static void try_returns(struct ks_session *s)
{
	struct ks_gpu *g = s->gpu;

	if (!g->tried)
		g->no_returns = ks_trial(s->buffer[KS_ALL], s->group);
	if (!g->tried && g->no_returns)
		not_seen(g, "gpu_end", "of calls of the GPU's library only the beginnings are seen: %s", g->no_returns);
	g->tried = true;
}

static bool is_known(struct ks_gpu *g, const struct stat *st)
{
	for (size_t i = 0; i < g->nr_libraries; i++) {
		if (g->library[i].dev == st->st_dev && g->library[i].ino == st->st_ino)
			return true;
	}
	return false;
}

/* Once, as the next look would find it again. */
static void calls_not_seen(struct ks_gpu *g, const char *name, const char *why, bool *said)
{
	if (!*said)
		not_seen(g, "gpu_begin", "%s: %s: its calls are not seen", name, why);
	*said = true;
}

static void attach(struct ks_session *s, int fd, const char *name)
{
	struct reading r = { .s = s, .fd = fd, .name = name };
	struct ks_gpu *g = s->gpu;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || is_known(g, &st))
		return;
	if (g->nr_libraries == MAX_LIBRARIES) {
		calls_not_seen(g, name, "there are too many libraries", &g->told_many);
		return;
	}
	if (!ks_tracefs_has("uprobe_events")) {
		calls_not_seen(g, name, "this kernel has no uprobe events", &g->told_none);
		return;
	}
	try_returns(s);
	g->library[g->nr_libraries] = (struct library){ st.st_dev, st.st_ino };
	if (!ks_elf_functions(fd, on_symbol, &r))
		not_seen(g, "gpu_begin", "%s: %s: its calls are not seen", name, strerror(errno));
	else if (!r.nr)
		not_seen(g, "gpu_begin", "%s: it has no function that is known: its calls are not seen", name);
	if (r.failed)
		not_seen(g, "gpu_begin", "%s: %zu probes are not to be had: %s", name, r.failed, strerror(r.error));
	g->nr_libraries++;
	free(r.offset);
}

static bool is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/libcuda.so", 11) || !strncmp(name, "/libamdhip64.so", 15));
}

/* "BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH" of the process's maps */
static void look_at_line(struct ks_session *s, pid_t pid, char *line)
{
	unsigned long long begin, end;
	char *path = strchr(line, '/'), file[96];
	int fd;

	if (!path || sscanf(line, "%llx-%llx", &begin, &end) != 2)
		return;
	path[strcspn(path, "\n")] = '\0';
	if (!is_library(path))
		return;
	fd = open(ks_fmt(file, sizeof(file), "/proc/%d/map_files/%llx-%llx", pid, begin, end), O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		attach(s, fd, path);
		close(fd);
	} else if (errno != ENOENT && errno != ESRCH) {
		calls_not_seen(s->gpu, file, strerror(errno), &s->gpu->told_closed);
	}
}

static void look_at(struct ks_session *s, pid_t pid)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *f = fopen(ks_fmt(path, sizeof(path), "/proc/%d/maps", pid), "re");

	while (f && getline(&line, &size, f) > 0)
		look_at_line(s, pid, line);
	free(line);
	if (f)
		fclose(f);
}

static void look_at_process(void *priv, pid_t tid, pid_t tgid)
{
	if (tid == tgid)
		look_at(priv, tgid);
}

void ks_gpu_find(struct ks_session *s, const struct ks_target *target)
{
	if (target->no_cuda)
		return;
	s->gpu = ks_alloc(sizeof(*s->gpu));
	s->gpu->launches = target->cuda_launch;
	ks_job_threads(target, 0, look_at_process, s);
}

void ks_gpu_note(struct ks_session *s)
{
	struct ks_gpu *g = s->gpu;
	char text[WHY + 32];

	for (; g && g->nr_noted < g->nr_unseen; g->nr_noted++)
		ks_note(s, ks_fmt(text, sizeof(text), "kstall unseen gpu_wait %s\n", g->unseen[g->nr_noted]));
}

void ks_gpu_enable(struct ks_session *s)
{
	struct ks_gpu *g = s->gpu;
	size_t failed = 0;
	int error = 0;

	for (; g && g->nr_enabled < g->nr; g->nr_enabled++) {
		if (tracefs_event_file_write(s->buffer[KS_JOB], s->group, g->event[g->nr_enabled], "enable", "1") < 0) {
			error = errno;
			failed++;
		}
	}
	if (failed)
		not_seen(g, "gpu_begin", "%zu probes on the GPU's library cannot be enabled: %s", failed, strerror(error));
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct process *)a)->pid - ((const struct process *)b)->pid;
}

/* Pages that it has mapped: what reads no maps, which hold the process up. */
static u64 pages_of(pid_t pid)
{
	unsigned long long pages = 0;
	char path[64];
	FILE *f = fopen(ks_fmt(path, sizeof(path), "/proc/%d/statm", pid), "re");

	if (f && fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages;
}

/* All that the kernel follows now; those of which as much is mapped as before have no other library. */
struct looking {
	struct ks_session *s;
	struct process *process;
	size_t nr, room;
};

static void look_again(void *priv, pid_t pid)
{
	struct looking *l = priv;
	struct process now = { pid, pages_of(pid) }, *before = NULL;
	struct ks_gpu *g = l->s->gpu;

	if (g->nr_processes)
		before = bsearch(&now, g->process, g->nr_processes, sizeof(now), by_pid);
	if (now.pages && (!before || before->pages != now.pages))
		look_at(l->s, pid);
	l->process = ks_grow(l->process, &l->room, l->nr + 1, sizeof(now));
	l->process[l->nr++] = now;
}

bool ks_gpu_look(struct ks_session *s)
{
	struct looking l = { .s = s };
	struct ks_gpu *g = s->gpu;
	u64 begin = ks_mono_ns();
	bool grown;

	if (!g || begin < g->next_look)
		return false;
	ks_followed(s, look_again, &l);
	free(g->process);
	g->process = l.process;
	g->nr_processes = l.nr;
	if (l.nr)
		qsort(g->process, g->nr_processes, sizeof(*g->process), by_pid);
	g->next_look = ks_mono_ns() + max_u64(LOOK_EVERY, (ks_mono_ns() - begin) * LOOK_SHARE);
	grown = g->nr_enabled < g->nr;
	if (grown)
		ks_gpu_enable(s);
	ks_gpu_note(s);
	return grown;
}

void ks_gpu_end(struct ks_session *s)
{
	if (s->gpu) {
		free(s->gpu->event);
		free(s->gpu->unseen);
		free(s->gpu->process);
	}
	free(s->gpu);
	s->gpu = NULL;
}
