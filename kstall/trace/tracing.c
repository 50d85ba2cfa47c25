// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

bool ks_formats_add(struct tep_handle *tep, const char *system, const char *event)
{
	char path[256], *text;
	bool parsed;
	int size;

	if (tep_find_event_by_name(tep, system, event))
		return true;
	text = tracefs_instance_file_read(NULL, ks_fmt(path, sizeof(path), "events/%s/%s/format", system, event), &size);
	parsed = text && !tep_parse_event(tep, text, size, system);
	free(text);
	return parsed;
}

struct tep_handle *ks_formats(const char *const *systems)
{
	struct tep_handle *tep = tep_alloc();
	char *head;
	int size;

	head = tracefs_instance_file_read(NULL, "events/header_page", &size);
	if (!tep || !head || tep_parse_header_page(tep, head, size, sizeof(long)))
		ks_die("the kernel's event formats cannot be read: %s", strerror(errno));
	free(head);
	for (; *systems; systems++) {
		char **events = tracefs_system_events(NULL, *systems);

		for (char **event = events; event && *event; event++)
			ks_formats_add(tep, *systems, *event);
		tracefs_list_free(events);
	}
	return tep;
}
