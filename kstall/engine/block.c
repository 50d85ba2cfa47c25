// SPDX-License-Identifier: GPL-2.0
/* Block requests by the kernel's own events, and names of disks. */
#include <stdio.h>

#include "engine/engine.h"

/* As the recorder has found it. */
struct ks_disk {
	u32 dev, name;
};

u32 ks_disk_name(const struct ks_engine *e, u32 dev)
{
	char text[32];

	for (size_t i = 0; i < e->nr_disks; i++) {
		if (e->disks[i].dev == dev)
			return e->disks[i].name;
	}
	return ks_intern(ks_fmt(text, sizeof(text), "%u:%u", dev >> 20, dev & 0xfffff));
}

/* disk: MAJOR:MINOR NAME */
void ks_disk_note(struct ks_engine *e, const char *text)
{
	unsigned int major, minor;
	char name[64];

	if (sscanf(text, "%u:%u %63s", &major, &minor, name) != 3)
		return;
	e->disks = ks_grow(e->disks, &e->room_disks, e->nr_disks + 1, sizeof(*e->disks));
	e->disks[e->nr_disks++] = (struct ks_disk){ major << 20 | minor, ks_intern(name) };
}

struct ks_issued {
	u64 inserted;		/* when its thread handed it over for another to issue; 0: none did */
	u64 ts, sector;		/* when the driver got it; 0: not yet */
	u32 dev;
	s32 pid;		/* 0: an interrupt has issued it */
	u32 comm;
	bool flush;		/* it has no sectors */
};

#define ISSUED 16384		/* a request whose place another one takes has no part */
#define MAX_SCHED (10 * NSEC)	/* longer in a scheduler: rather has another been merged before it, so that it is not issued by this sector */

KS_SAME_FIELD(block_rq_issue, block_rq_complete, dev);
KS_SAME_FIELD(block_rq_issue, block_rq_complete, sector);
KS_SAME_FIELD(block_rq_issue, block_rq_complete, nr_sector);
KS_SAME_FIELD(block_rq_issue, block_rq_insert, dev);
KS_SAME_FIELD(block_rq_issue, block_rq_insert, sector);
KS_SAME_FIELD(block_rq_issue, block_rq_insert, nr_sector);
KS_SAME_FIELD(block_rq_issue, block_rq_insert, comm);
KS_SAME_FIELD(block_rq_issue, block_rq_merge, dev);
KS_SAME_FIELD(block_rq_issue, block_rq_merge, sector);
KS_SAME_FIELD(block_rq_issue, block_rq_merge, nr_sector);

/* What all these events say of the request. */
static struct ks_issued request_of(const struct ks_event *ev)
{
	return (struct ks_issued){
		.sector = KS_NUM(ev, block_rq_issue, sector),
		.dev = KS_NUM(ev, block_rq_issue, dev),
		.flush = !KS_NUM(ev, block_rq_issue, nr_sector),
	};
}

static struct ks_issued *place(struct ks_engine *e, const struct ks_issued *r)
{
	u64 h = (r->sector << 1 | r->flush) ^ (u64)r->dev << 40;

	if (!e->issued)
		e->issued = ks_alloc(ISSUED * sizeof(*e->issued));
	return &e->issued[h * 0x9e3779b97f4a7c15ULL >> 50];
}

static bool is_same(const struct ks_issued *a, const struct ks_issued *b)
{
	return a->sector == b->sector && a->dev == b->dev && a->flush == b->flush;
}

/* The one that is there is this thread's for the driver, whoever gives it to that: mostly a kernel thread. */
void ks_on_rq_insert(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_issued r = request_of(ev);

	if (KS_IN_IRQ(ev->flags))
		return;
	r.inserted = ev->ts;
	r.pid = ev->pid;
	r.comm = ks_intern(KS_STR(ev, block_rq_issue, comm));
	*place(e, &r) = r;
}

/* It is part of another request now. */
void ks_on_rq_merge(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_issued r = request_of(ev), *i = place(e, &r);

	if (is_same(i, &r))
		i->inserted = 0;
}

/* comm is of the task that gave it to the driver: mostly the one that waits for it, or a kernel thread that works for that one */
void ks_on_rq_issue(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_issued r = request_of(ev), *i = place(e, &r);

	if (i->inserted && is_same(i, &r) && ev->ts - i->inserted <= MAX_SCHED) {
		i->ts = ev->ts;
		return;
	}
	r.ts = ev->ts;
	r.pid = KS_IN_IRQ(ev->flags) ? 0 : ev->pid;
	r.comm = ks_intern(KS_STR(ev, block_rq_issue, comm));
	*i = r;
}

/* Perhaps the first part of it: then the rest has no part. */
void ks_on_rq_complete(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_issued r = request_of(ev), *i = place(e, &r);
	struct ks_done d = { .pid = i->pid, .layer = KS_DISK };
	u32 disk;

	if (!i->ts || !is_same(i, &r))
		return;
	disk = ks_disk_name(e, i->dev);
	d.culprit = ks_named(ks_string(disk));
	ks_done_request(e, ev, &d, ks_string(disk), i->inserted, i->ts, ks_string(i->comm));
	*i = (struct ks_issued){ .ts = 0 };
}
