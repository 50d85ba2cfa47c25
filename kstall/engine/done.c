// SPDX-License-Identifier: GPL-2.0
/*
 * What was done elsewhere. Not "at the same time": on the same CPU, in the same context (task or
 * interrupt), for the same task, just before that was woken up.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define MAX_GAP 100000ULL	/* an idle CPU's next interrupt is another one, and no event says so */
#define RECENT 8

/*
 * What is known of the CPU's context ends with it: each event of another task, or of an interrupt
 * instead of the task, voids what was done.
 */
void ks_done_context(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_context *c;

	if (ev->cpu < 0 || (size_t)ev->cpu >= e->nr_context)
		return;
	c = &e->context[ev->cpu];
	if (c->pid == ev->pid && c->irq == !!KS_IN_IRQ(ev->flags))
		return;
	c->pid = ev->pid;
	c->irq = KS_IN_IRQ(ev->flags);
	for (u32 i = 0; i < KS_CONTEXT && c->next; i++)
		c->done[i].ts = 0;
	c->next = 0;
}

static struct ks_context *context(struct ks_engine *e, const struct ks_event *ev)
{
	size_t had = e->nr_context;

	if (ev->cpu < 0 || ev->cpu > 65535)
		return NULL;
	if ((size_t)ev->cpu >= had) {
		e->context = ks_grow(e->context, &e->nr_context, ev->cpu + 1, sizeof(*e->context));
		memset(e->context + had, 0, (e->nr_context - had) * sizeof(*e->context));
		e->context[ev->cpu].pid = ev->pid;
		e->context[ev->cpu].irq = KS_IN_IRQ(ev->flags);
	}
	return &e->context[ev->cpu];
}

/* Requests of a thread of the kernel: it may be the one that wakes one of the job's up. */
static void keep_for_waker(struct ks_engine *e, const struct ks_done *d, const char *comm)
{
	struct ks_thread *t;

	if (d->pid <= 0 || d->layer != KS_DISK)
		return;
	t = ks_thread_get(e, d->pid);
	if (!t->comm[0])
		ks_printable(t->comm, sizeof(t->comm), comm);
	if (!t->recent)
		t->recent = ks_alloc(RECENT * sizeof(*t->recent));
	t->recent[t->recent_nr++ % RECENT] = *d;
}

static void note(struct ks_engine *e, const struct ks_event *ev, struct ks_done *d, const char *comm)
{
	struct ks_context *c = context(e, ev);

	d->ts = ev->ts;
	keep_for_waker(e, d, comm);
	if (c)
		c->done[c->next++ % KS_CONTEXT] = *d;
}

/* Of an event of kstall's modules. */
void ks_done_note(struct ks_engine *e, const struct ks_event *ev, struct ks_done *d)
{
	note(e, ev, d, ev->str[KS_EV_COMM]);
}

/* As far as it is known: the call may have begun before the recording. */
static bool in_io_uring(const struct ks_thread *t)
{
	if (t->syscall == KS_NO_CALL)
		return !t->user;
	return t->syscall == KS_EXITING || ks_syscall_is(t->syscall, "io_uring_enter");
}

/*
 * Can the thread's sleep have been for this? 0 no, 2 yes. 1: it was another's request; alone that
 * explains nothing, it only splits a wait for writeback that the thread itself has an event of.
 */
static int fits(const struct ks_done *d, const struct ks_event *ev, const struct ks_thread *t)
{
	bool mine = d->pid == t->tid || (d->tgid > 0 && d->tgid == t->tgid);

	if (!d->ts || d->ts < t->since || ev->ts - d->ts > MAX_GAP)
		return 0;
	if (d->layer == KS_IO_URING)
		return mine && in_io_uring(t) ? 2 : 0;
	if (ks_syscall_sleeps(t->syscall))
		return 0;
	if (d->layer == KS_RDMA)
		return mine ? 2 : 0;
	if (!t->uninterruptible)
		return 0;
	return mine ? 2 : 1;
}

/* A request of io_uring, and around it the parts of the block request that it was. */
static void join(struct ks_done *d, const struct ks_done *inner)
{
	struct ks_done both = *d;

	if (d->nr + inner->nr > KS_MAX_PHASES || memcmp(d->id, inner->id, sizeof(d->id)))
		return;
	memcpy(both.phase, inner->phase, inner->nr * sizeof(*both.phase));
	memcpy(both.phase + inner->nr, d->phase, d->nr * sizeof(*both.phase));
	both.nr += inner->nr;
	for (u8 i = 0; i < both.nr; i++)
		both.phase[i].culprit = inner->culprit;
	*d = both;
}

/* What ended before @d, in the same interrupt: it explains what @d does not. */
static void add_earlier(struct ks_done *d, const struct ks_done *earlier)
{
	if (d->layer != earlier->layer)
		return;
	if (d->layer == KS_IO_URING) {
		join(d, earlier);
	} else if (d->nr + earlier->nr <= KS_MAX_PHASES) {
		memcpy(d->phase + d->nr, earlier->phase, earlier->nr * sizeof(*d->phase));
		d->nr += earlier->nr;
	}
}

static const struct ks_form by_form = {
	"{disk}, by {comm}/{tid}", "{disk}, {n} requests", 1 << 0, { "disk", "comm", "tid" },
};

/* "DEVICE, by COMM/TID" */
static struct ks_culprit by(const struct ks_culprit *device, const struct ks_thread *waker)
{
	return (struct ks_culprit){
		.form = &by_form,
		.strings = 1 << 0 | 1 << 1,
		.v = { device->v[0], ks_intern(waker->comm), waker->tid },
	};
}

/*
 * A thread of the kernel has woken it up: its own requests since. Of a thread of the job more is
 * known than its requests (explain.c).
 */
static struct ks_done *by_waker(struct ks_engine *e, const struct ks_event *ev,
				const struct ks_thread *t)
{
	const struct ks_thread *waker = ks_thread_find(e, ev->pid);
	struct ks_done *d;

	if (!t->uninterruptible || KS_IN_IRQ(ev->flags) || !waker || waker->user || !waker->recent)
		return NULL;
	d = ks_alloc(sizeof(*d));
	d->ts = ev->ts;
	d->layer = KS_DISK;
	for (u32 i = 1; i <= RECENT && i <= waker->recent_nr; i++) {
		const struct ks_done *r = &waker->recent[(waker->recent_nr - i) % RECENT];

		if (r->ts <= t->since)
			break;
		for (int p = r->nr; p-- > 0 && d->nr < KS_MAX_PHASES; d->nr++) {
			d->phase[d->nr] = r->phase[p];
			d->phase[d->nr].culprit = by(&r->culprit, waker);
		}
	}
	if (d->nr)
		return d;
	free(d);
	return NULL;
}

/* The request that was done last in this context and fits; NULL: none. */
static struct ks_done *by_request(struct ks_engine *e, const struct ks_event *ev,
				  const struct ks_thread *t, int *rank)
{
	const struct ks_context *c;
	struct ks_done *best = NULL;

	if (ev->cpu < 0 || (size_t)ev->cpu >= e->nr_context)
		return NULL;
	c = &e->context[ev->cpu];
	for (u32 i = 1; i <= KS_CONTEXT; i++) {
		const struct ks_done *d = &c->done[(c->next - i) % KS_CONTEXT];
		int r = fits(d, ev, t);

		if (r == 2 && *rank == 2)
			add_earlier(best, d);
		if (r <= *rank)
			continue;
		if (!best)
			best = ks_alloc(sizeof(*best));
		*best = *d;
		best->others = r == 1;
		*rank = r;
	}
	return best;
}

/* What has ended @t's sleep, if it is known; the caller frees it. */
struct ks_done *ks_done_for(struct ks_engine *e, const struct ks_event *ev,
			    const struct ks_thread *t)
{
	int rank = 0;
	struct ks_done *best = by_request(e, ev, t, &rank), *waker;

	if (rank == 2)
		return best;
	waker = by_waker(e, ev, t);
	if (!waker)
		return best;
	free(best);
	return waker;
}

static void phase(struct ks_done *d, const char *name, u64 begin, u64 ns)
{
	if (ns && d->nr < KS_MAX_PHASES)
		d->phase[d->nr++] = (struct ks_phase){ begin, begin + ns, ks_intern(name), d->culprit };
}

/* For a picture: what the disk or the ring did, with an arrow from the thread that waited for it. */
static void add_slice(struct ks_engine *e, const struct ks_event *ev, const char *track,
		      const char *name, u64 begin, struct ks_done *d)
{
	d->flow = ++e->flows;
	if (e->elsewhere)
		e->elsewhere(e, track, name, begin, ev->ts, d->flow);
}

void ks_on_block_rq(struct ks_engine *e, const struct ks_event *ev)
{
	u64 issue = ev->ts - min_u64(ev->ts, KS_NUM(ev, io_uring_block_rq, device_ns));
	u64 insert = issue - min_u64(issue, KS_NUM(ev, io_uring_block_rq, sched_ns));
	u64 tag = min_u64(insert, KS_NUM(ev, io_uring_block_rq, tag_ns));
	const char *disk = KS_STR(ev, io_uring_block_rq, dev);
	struct ks_done d = { .pid = ev->num[KS_EV_PID], .tgid = ev->num[KS_EV_TGID], .layer = KS_DISK };

	d.culprit = ks_named(disk);
	if (KS_NUM(ev, io_uring_block_rq, attribution)) {
		d.layer = KS_IO_URING;
		d.id[0] = KS_NUM(ev, io_uring_block_rq, ring);
		d.id[1] = KS_NUM(ev, io_uring_block_rq, user_data);
	} else {
		d.tgid = 0;	/* the bio is the thread's, not the process's */
	}
	phase(&d, "device", issue, ev->ts - issue);
	phase(&d, "sched", insert, issue - insert);
	phase(&d, "tag", insert - tag, tag);
	add_slice(e, ev, disk, "request", issue, &d);
	ks_done_note(e, ev, &d);
}

/*
 * A block request that the driver had from @issued until now, for the thread @d->pid, which is called @comm. That has handed it over at
 * @inserted, unless it is 0.
 */
void ks_done_request(struct ks_engine *e, const struct ks_event *ev, struct ks_done *d, const char *disk, u64 inserted, u64 issued,
		     const char *comm)
{
	phase(d, "device", issued, ev->ts - issued);
	if (inserted)
		phase(d, "sched", inserted, issued - inserted);
	add_slice(e, ev, disk, "request", issued, d);
	note(e, ev, d, comm);
}

/* A sleep that a request of the thread ended, which the thread itself then finished. */
static void finish_own(struct ks_thread *t, const struct ks_done *d, u64 submit)
{
	for (size_t i = t->nr; i-- > 0 && t->seg[i].end > t->call_begin;) {
		struct ks_seg *s = &t->seg[i];

		if (s->what.state != KS_BLOCKED)
			continue;
		if (s->what.layer || submit > s->end || !in_io_uring(t))
			return;
		if (!s->done)
			s->done = memcpy(ks_alloc(sizeof(*d)), d, sizeof(*d));
		else if (s->done->layer == KS_IO_URING) {
			struct ks_done both = *d;

			join(&both, s->done);
			*s->done = both.nr > d->nr ? both : *s->done;
		}
		return;
	}
}

static const struct ks_form op_form = { "op {op} on fd {fd}", "{n} requests, op {op}", 1 << 0, { "op", "fd" } };

void ks_on_req_done(struct ks_engine *e, const struct ks_event *ev)
{
	u64 queued = KS_NUM(ev, io_uring_req_done, queue_ns), worker = KS_NUM(ev, io_uring_req_done, wq_ns);
	u64 submit = KS_NUM(ev, io_uring_req_done, submit_mono_ns), issue = submit + queued, exec = issue + worker;
	struct ks_done d = { .pid = ev->num[KS_EV_PID], .tgid = ev->num[KS_EV_TGID], .layer = KS_IO_URING };
	struct ks_thread *t = ks_thread_find(e, ev->pid);
	char op[KS_TEXT], ring[64];

	d.id[0] = KS_NUM(ev, io_uring_req_done, ring);
	d.id[1] = KS_NUM(ev, io_uring_req_done, user_data);
	d.culprit = (struct ks_culprit){
		.form = &op_form,
		.v = { (u32)KS_NUM(ev, io_uring_req_done, opcode), (s32)KS_NUM(ev, io_uring_req_done, fd) },
	};
	if (e->other_clock) {
		submit = ev->ts - min_u64(ev->ts, KS_NUM(ev, io_uring_req_done, total_ns));
	} else {
		phase(&d, "queue", submit, queued);
		phase(&d, "worker", issue, worker);
		phase(&d, "exec", exec, KS_NUM(ev, io_uring_req_done, exec_ns));
	}
	add_slice(e, ev, ks_fmt(ring, sizeof(ring), "io_uring of %s/%d", ev->str[KS_EV_COMM], d.tgid),
		  ks_culprit_text(op, &d.culprit), submit, &d);
	ks_done_note(e, ev, &d);
	if (t && t->in_job && (t->tid == d.pid || t->tgid == d.tgid)) {
		ks_thread_enter(e, t, ev->ts, t->state);
		finish_own(t, &d, submit);
	}
}

static const struct ks_form qp_form = {
	"QP {qp} of {dev} ({user})", "{n} requests on {dev} ({user})", 1 << 1 | 1 << 2, { "qp", "dev", "user" },
};

/* The queue pair is the kernel's; the thread that posted the request may wait for it. */
void ks_on_wr_latency(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_done d = { .pid = KS_NUM(ev, ib_wr_latency, post_pid), .layer = KS_RDMA };
	u64 begin = ev->ts - min_u64(ev->ts, KS_NUM(ev, ib_wr_latency, latency_ns));
	const char *dev = KS_STR(ev, ib_wr_latency, dev);
	u32 qp = KS_NUM(ev, ib_wr_latency, qp_num);
	char track[96], name[32];

	ks_fmt(track, sizeof(track), "QP %u of %s", qp, dev);
	d.culprit = (struct ks_culprit){
		.form = &qp_form,
		.strings = 1 << 1 | 1 << 2,
		.v = { qp, ks_intern(dev), ks_intern(KS_STR(ev, ib_wr_latency, user)) },
	};
	phase(&d, "request", begin, ev->ts - begin);
	add_slice(e, ev, track, ks_fmt(name, sizeof(name), "opcode %u", (u32)KS_NUM(ev, ib_wr_latency, opcode)), begin, &d);
	ks_done_note(e, ev, &d);
}
