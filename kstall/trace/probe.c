// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/event.h"
#include "trace/elf.h"
#include "trace/probe.h"
#include "trace/session.h"

/*
 * A marker is noticed as it is written: to any trace_marker, as the top buffer, where it goes,
 * may be somebody else's; and to /dev/null, for programs without tracefs. Kernels without
 * CONFIG_KPROBE_EVENTS_ON_NOTRACE do not let tracing_mark_write() be probed: then all writes are
 * looked at, those of other tasks only as far as to see which task it is.
 *
 * Quota: since 6.18 it is the thread that suspends itself, on its way to user mode, if its queue
 * is still throttled then; before, it is the queue. throttle_cfs_rq() may find runtime after all
 * and says so in what it returns; kernels before 6.9 do not have arguments at the return.
 */
enum { MARKER, NULL_MARKER, ANY_WRITE, UNTHROTTLE, THROTTLE, THROTTLE_CALL, THROTTLE_RQ,
	THROTTLE_SELF };

#define AT_RETURN "rq=$arg1 throttled=$retval:u8", 'r'

static const struct {
	const char *name, *function, *args;
	char type;		/* 'p' if it is not said */
} kprobes[] = {
	[MARKER] = { "step", "tracing_mark_write", "text=+0($arg2):ustring" },
	[NULL_MARKER] = { "step_null", "write_null", "text=+0($arg2):ustring" },
	[ANY_WRITE] = { "step", "vfs_write", "text=+0($arg2):ustring" },
	[UNTHROTTLE] = { "unthrottle", "unthrottle_cfs_rq", "rq=$arg1" },
	[THROTTLE] = { "throttle", "throttle_cfs_rq", AT_RETURN },
	[THROTTLE_CALL] = { "throttle", "throttle_cfs_rq", "rq=$arg1" },
	[THROTTLE_RQ] = { "throttle_rq", "throttle_cfs_rq", AT_RETURN },
	[THROTTLE_SELF] = { "throttle_self", "throttle_cfs_rq_work", "" },
};

static bool marker_seen, null_seen, quota_seen;

static bool add_kprobe(const char *group, size_t i)
{
	char text[256];

	ks_fmt(text, sizeof(text), "%c:%s/%s %s %s\n", kprobes[i].type ? kprobes[i].type : 'p', group,
	       kprobes[i].name, kprobes[i].function, kprobes[i].args);
	return tracefs_instance_file_append(NULL, "kprobe_events", text) >= 0;
}

/* A job's file: in a container that is another one than the host's of that name. */
struct binary {
	const char *name;
	int fd, error;
	size_t nr;		/* processes of the job */
	struct stat st;
	pid_t pid;		/* the file is this process's */
};

static int open_in_root_of(pid_t pid, const char *name)
{
	char path[64];
	int fd, root = open(ks_fmt(path, sizeof(path), "/proc/%d/root", pid), O_PATH | O_CLOEXEC);

	if (root < 0)
		return -1;
	fd = ks_openat2(root, name, O_RDONLY, RESOLVE_IN_ROOT);
	close(root);
	return fd;
}

static void find_binary(void *priv, pid_t tid, pid_t tgid)
{
	struct binary *b = priv;
	struct stat st;
	int fd;

	if (tid != tgid)
		return;
	b->nr++;
	fd = open_in_root_of(tgid, b->name);
	if (fd < 0 || fstat(fd, &st)) {
		b->error = errno;
		if (fd >= 0)
			close(fd);
		return;
	}
	if (b->fd < 0) {
		b->fd = fd;
		b->st = st;
		b->pid = tgid;
		return;
	}
	close(fd);
	/* Two probes of one event would make the kernel free one that is in use (Documentation/kernel-uprobe-siblings.txt). */
	if (st.st_dev != b->st.st_dev || st.st_ino != b->st.st_ino)
		ks_die("%s is one file in the root of process %d, and another in that of process %d: trace them one by one (-p)",
		       b->name, b->pid, tgid);
}

static int open_binary(const struct ks_target *target)
{
	struct binary b = { .name = target->binary, .fd = -1 };
	int fd;

	if (*b.name == '/')
		ks_job_threads(target, 0, find_binary, &b);
	if (b.nr && b.fd < 0)
		ks_die("%s: in the root of no process of the job: %s", b.name, strerror(b.error));
	fd = b.nr ? b.fd : open(b.name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		ks_die("%s: %s", b.name, strerror(errno));
	return fd;
}

/* The kernel gets the file that is open here, whatever its name leads to elsewhere. */
static void add_uprobe(const char *group, const struct ks_target *target)
{
	const char *binary = target->binary, *symbol = target->symbol;
	int fd = open_binary(target);
	char text[128];
	u64 at;

	at = ks_elf_offset(fd, binary, symbol);
	if (!at)
		ks_die("%s has no function %s", binary, symbol);
	ks_fmt(text, sizeof(text), "p:%s/call /proc/self/fd/%d:0x%llx\n", group, fd,
	       (unsigned long long)at);
	if (tracefs_instance_file_append(NULL, "uprobe_events", text) < 0)
		ks_die("no uprobe on %s:%s: %s", binary, symbol, strerror(errno));
	close(fd);
}

/*
 * All, or none that suspends: of another kernel's kind it would take a wait for quota. The kernel is asked which it has, since
 * /proc/kallsyms has 200,000 lines; for what it has not it says ENOENT, and EINVAL since 6.6 (validate_probe_symbol()).
 */
static bool add_quota(const char *group)
{
	if (!add_kprobe(group, UNTHROTTLE))
		return false;
	if (add_kprobe(group, THROTTLE_SELF))
		return add_kprobe(group, THROTTLE_RQ);
	if (errno != ENOENT && errno != EINVAL)
		return false;
	return add_kprobe(group, THROTTLE) || add_kprobe(group, THROTTLE_CALL);
}

void ks_probes_add(const char *group, const struct ks_target *target)
{
	marker_seen = add_kprobe(group, MARKER);
	if (marker_seen)
		null_seen = add_kprobe(group, NULL_MARKER);
	else
		null_seen = marker_seen = add_kprobe(group, ANY_WRITE);
	quota_seen = add_quota(group);
	if (target->symbol)
		add_uprobe(group, target);
}

bool ks_probes_see_markers(void)
{
	return marker_seen;
}

bool ks_probes_see_null(void)
{
	return null_seen;
}

void ks_probes_filter(struct tracefs_instance *in, const char *group)
{
	tracefs_event_file_write(in, group, "step", "filter", "text ~ \"kstall *\"");
	tracefs_event_file_write(in, group, "step_null", "filter", "text ~ \"kstall *\"");
	tracefs_event_file_write(in, group, "throttle", "filter", "throttled == 1");
	tracefs_event_file_write(in, group, "throttle_rq", "filter", "throttled == 1");
	/* Not tasks that only spin: they hold a CPU, and there may be very many. A task that waits for a mutex does both. */
	tracefs_event_file_write(in, "lock", "contention_begin", "filter", "!(flags & 1) || flags & 32");
}

static const struct {
	const char *system, *module, *layer;
} modules[] = {
	{ "drm_sched", "drm_sched_trace", "gpu" },
	{ "io_uring_trace", "io_uring_trace", "io_uring" },
	{ "mm_migrate", "mm_migrate_trace", "memory" },
	{ "iommu_trace", "iommu_trace", "iommu" },
	{ "ib_cq", "ib_cq_trace", "rdma" },
};

const char *ks_module_layer(const char *system)
{
	for (size_t m = 0; m < ARRAY_SIZE(modules); m++) {
		if (!strcmp(modules[m].system, system))
			return modules[m].layer;
	}
	return NULL;
}

bool ks_module_tells(const struct ks_type *t)
{
	const struct ks_type *more = ks_type_of_module(t);

	return more && tracefs_event_file_exists(NULL, more->system, more->name, "id");
}

/* The layer for which the kernel's own events stand in for @t; NULL: none that this kernel has. */
static const char *kernel_layer(const struct ks_type *t)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		if (ks_types[i].layer && ks_type_of_module(&ks_types[i]) == t &&
		    tracefs_event_file_exists(NULL, ks_types[i].system, ks_types[i].name, "id"))
			return ks_layer_name[ks_types[i].layer];
	}
	return NULL;
}

static void unseen_of(size_t m, const struct ks_type *t, ks_unseen_fn fn, void *priv)
{
	const char *stand_in = kernel_layer(t), *layer = stand_in ? stand_in : modules[m].layer;
	char why[128];

	ks_fmt(why, sizeof(why), stand_in ? "by the kernel's own events, as %s %s" : "%s %s", modules[m].module,
	       tracefs_event_file_exists(NULL, t->system, "", "enable") ?
	       "cannot have it on this kernel" : "is not loaded");
	fn(priv, layer, t->name, why);
}

void ks_unseen(ks_unseen_fn fn, void *priv)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		const struct ks_type *t = &ks_types[i];

		for (size_t m = 0; m < ARRAY_SIZE(modules); m++) {
			if (!strcmp(modules[m].system, t->system) &&
			    !tracefs_event_file_exists(NULL, t->system, t->name, "id"))
				unseen_of(m, t, fn, priv);
		}
	}
	if (!marker_seen)
		fn(priv, "marker", "step", "no kprobe sees markers: only a command of root's has a file for them that is read");
	else if (!null_seen)
		fn(priv, "marker", "step_null", "no kprobe on write_null(): markers written to /dev/null are not seen");
	if (!quota_seen)
		fn(priv, "quota", "throttle", "no kprobe on throttle_cfs_rq(): it is in cpu");
	if (!access("/sys/module/nvidia", F_OK))
		fn(priv, "gpu", "nvidia",
		   "NVIDIA's driver does not use the kernel's GPU scheduler");
}
