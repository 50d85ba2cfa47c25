// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
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
	const char *dir;
	char *instances;

	errno = 0;
	dir = tracefs_tracing_dir();	/* mounts it if it can */
	instances = dir ? tracefs_get_tracing_file("instances") : NULL;
	if (instances && !access(instances, R_OK | W_OK)) {
		tracefs_put_tracing_file(instances);
		return;
	}
	if (geteuid())
		ks_die("no tracing here: it takes root (sudo)");
	if (!kernel_has_tracefs())
		ks_die("no tracing here: this kernel has no tracefs");
	if (!dir)
		ks_die("no tracing here: tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing)");
	ks_die("no tracing here: %s: %s (kstall-doctor says why)", instances, strerror(errno));
}
