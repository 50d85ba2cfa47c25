// SPDX-License-Identifier: GPL-2.0
/*
 * Xids and SXids, counted from lines: of the kernel's log, where all drivers write them, with the program; or of nvidia_dev_xid,
 * from 575 on, which is without it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xid.h"
#include "metrics/metric.h"

#define MAX_KINDS 128		/* of device and code, as the kernel's histograms have */

struct ks_xid_log {
	struct {
		bool sxid;
		char dev[KS_LABEL];
		u32 code;
		u64 count;
	} kind[MAX_KINDS];
	size_t nr;
	u64 dropped;
};

struct ks_xid_log *ks_xid_log_new(void)
{
	return ks_alloc(sizeof(struct ks_xid_log));
}

static void count(struct ks_xid_log *l, const struct ks_xid *x)
{
	size_t i = 0;

	while (i < l->nr && (l->kind[i].sxid != x->sxid || l->kind[i].code != x->code || strcmp(l->kind[i].dev, x->dev)))
		i++;
	if (i == MAX_KINDS) {
		l->dropped++;
		return;
	}
	if (i == l->nr) {
		l->nr++;
		l->kind[i].sxid = x->sxid;
		l->kind[i].code = x->code;
		ks_fmt(l->kind[i].dev, sizeof(l->kind[i].dev), "%s", x->dev);
	}
	l->kind[i].count++;
}

/* "Xid (PCI:0000:19:00): 119, pid=4711, name=python, TEXT"; of a switch "SXid (PCI:0000:05:00.0): 20034, TEXT" */
bool ks_xid_parse(struct ks_xid *x, const char *line)
{
	const char *at = strstr(line, "Xid (PCI:"), *pid, *name;
	int n = 0;

	memset(x, 0, sizeof(*x));
	if (!at || sscanf(at, "Xid (PCI:%31[0-9a-fA-F:.]): %u%n", x->dev, &x->code, &n) != 2)
		return false;
	x->sxid = at > line && at[-1] == 'S';
	/* An Xid's device has no function. */
	if (!strchr(x->dev, '.'))
		strcat(x->dev, ".0");
	at += n;
	pid = strstr(at, "pid=");
	name = strstr(at, "name=");
	x->pid = pid && isdigit((u8)pid[4]) ? atoi(pid + 4) : 0;
	if (name)
		ks_fmt(x->comm, sizeof(x->comm), "%.*s", (int)strcspn(name + 5, ",\n"), name + 5);
	x->text = *at == ',' ? at + 1 + strspn(at + 1, " ") : at;
	return true;
}

bool ks_xid_log_line(struct ks_xid_log *l, const char *line, struct ks_xid *x)
{
	if (!ks_xid_parse(x, line))
		return false;
	count(l, x);
	return true;
}

/* As if the kernel had counted them. */
char *ks_xid_log_hist(const struct ks_xid_log *l, const struct ks_metric_event *e)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		ks_die("out of memory");
	for (size_t i = 0; i < l->nr; i++) {
		if (l->kind[i].sxid == !strcmp(e->name, "sxid"))
			fprintf(f, "{ dev: %s, %s: %u } hitcount: %llu\n", l->kind[i].dev, e->cause, l->kind[i].code,
				(unsigned long long)l->kind[i].count);
	}
	fprintf(f, "    Dropped: %llu\n", (unsigned long long)l->dropped);
	fclose(f);
	return text;
}
