// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "base/util.h"
#include "trace/tracing.h"

static bool kernel_has_tracefs(void)
{
	FILE *f = fopen("/proc/filesystems", "r");
	char line[64];
	bool has = !f;	/* not known */

	while (f && !has && fgets(line, sizeof(line), f))
		has = !strcmp(line, "nodev\ttracefs\n");
	if (f)
		fclose(f);
	return has;
}

void ks_need_tracing(void)
{
	char instances[PATH_MAX];
	const char *dir;

	errno = 0;
	dir = tracefs_tracing_dir();	/* mounts it if it can */
	if (dir && !access(ks_fmt(instances, sizeof(instances), "%s/instances", dir), R_OK | W_OK))
		return;
	if (geteuid())
		ks_die("no tracing here: it takes root (sudo)");
	if (!kernel_has_tracefs())
		ks_die("no tracing here: this kernel has no tracefs");
	if (!dir)
		ks_die("no tracing here: tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing)");
	ks_die("no tracing here: %s: %s (kstall-doctor says why)", instances, strerror(errno));
}

bool ks_tracefs_has(const char *file)
{
	const char *dir = tracefs_tracing_dir();
	char path[PATH_MAX];

	return dir && !access(ks_fmt(path, sizeof(path), "%s/%s", dir, file), F_OK);
}
