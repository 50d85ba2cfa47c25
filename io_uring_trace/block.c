// SPDX-License-Identifier: GPL-2.0
/*
 * block.c - which io_uring request a block request belongs to, and where it waited
 *
 * A bio is tagged when it enters the block layer and recognised when its request completes.
 * Nothing is matched by time: either the bio's completion data leads to the kiocb that is the
 * head of a live io_kiocb (exact), or the task that queues the bio is inside io_issue_sqe()
 * (window), or the bio belongs to no request that we know (none).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blk-mq.h>
#include <linux/uaccess.h>

#include "io_uring_trace.h"
#include "io_uring_trace_events.h"

/* A bio chain is followed this far. */
#define URING_MAX_CHAIN		8

/* Static completion functions of direct I/O; 0 where the kernel has none by this name. */
static struct {
	const char *name;
	unsigned long addr;
} uring_endio[] = {
#define ENDIO_CHAIN		0
	{ "bio_chain_endio" },
#define ENDIO_BLKDEV_ASYNC	1
	{ "blkdev_bio_end_io_async" },
#define ENDIO_BLKDEV		2
	{ "blkdev_bio_end_io" },
#define ENDIO_IOMAP		3
	{ "iomap_dio_bio_end_io" },
};

/* Head of the private struct blkdev_dio (block/fops.c): same in all supported kernels. */
struct uring_blkdev_dio {
	struct kiocb *iocb;
	size_t size;
	atomic_t ref;
	unsigned int flags;
	struct bio bio ____cacheline_aligned_in_smp;
};

void uring_block_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uring_endio); i++)
		uring_endio[i].addr = kstall_symbol(uring_endio[i].name);
}

/* Status file: which completion functions attribution=exact is known from. */
void uring_block_show(struct seq_file *m)
{
	unsigned int i;

	seq_puts(m, "reach exact attribution by");
	for (i = 0; i < ARRAY_SIZE(uring_endio); i++) {
		if (uring_endio[i].addr)
			seq_printf(m, " %s", uring_endio[i].name);
	}
	seq_putc(m, '\n');
}

static bool uring_ends_by(const struct bio *bio, int endio)
{
	return uring_endio[endio].addr && (unsigned long)bio->bi_end_io == uring_endio[endio].addr;
}

/* The bio that @bio was split from, NULL if from none. */
static struct bio *uring_bio_parent(const struct bio *bio)
{
	return uring_ends_by(bio, ENDIO_CHAIN) ? bio->bi_private : NULL;
}

/*
 * The kiocb an asynchronous direct I/O reports to, or something that is none: the value is
 * compared with the keys of live requests, and not followed but by uring_submitter().
 */
static const void *uring_bio_kiocb(const struct bio *bio)
{
	const void *const *dio;
	const void *kiocb;
	int depth;

	for (depth = 0; depth < URING_MAX_CHAIN && uring_bio_parent(bio); depth++)
		bio = uring_bio_parent(bio);
	if (uring_ends_by(bio, ENDIO_BLKDEV_ASYNC))
		dio = (void *)container_of(bio, const struct uring_blkdev_dio, bio);
	else if (uring_ends_by(bio, ENDIO_BLKDEV) || uring_ends_by(bio, ENDIO_IOMAP))
		dio = bio->bi_private;
	else
		return NULL;
	return get_kernel_nofault(kiocb, dio) ? NULL : kiocb;
}

/* The io_kiocb begins with the kiocb (cmd_to_io_kiocb(), io_uring_types.h). */
static bool uring_attribute_exact(struct uring_bio *rec, const void *kiocb)
{
	const struct uring_req *req;
	struct kstall_slot slot;

	if (!kiocb || !kstall_inflight_find(&uring_reqs, (unsigned long)kiocb, &slot))
		return false;
	req = slot.rec;
	rec->user_data = req->user_data;
	rec->ctx = req->ctx;
	rec->fd = req->fd;
	rec->opcode = req->opcode;
	rec->sqpoll = req->sqpoll;
	rec->attribution = URING_ATTR_EXACT;
	rec->cpu_node = req->cpu_node;
	kstall_inflight_unlock(&slot);
	return true;
}

/*
 * What the task does for itself on the way does not count: an interrupt, or reclaim that
 * writes out other people's pages.
 */
static bool uring_attribute_window(struct uring_bio *rec)
{
	const struct uring_window *win;
	struct kstall_slot slot;

	if (!in_task() || current->flags & PF_MEMALLOC ||
	    !kstall_inflight_find(&uring_windows, (unsigned long)current, &slot))
		return false;
	win = slot.rec;
	rec->user_data = win->user_data;
	rec->ctx = win->ctx;
	rec->fd = win->fd;
	rec->opcode = win->opcode;
	rec->sqpoll = win->sqpoll;
	rec->attribution = URING_ATTR_WINDOW;
	kstall_inflight_unlock(&slot);
	return true;
}

/*
 * The task for which a request is whose bio is queued here. What a cgroup's io.max held back a
 * kworker queues (blk-throttle.c). The bio holds its kiocb, and one that still shows the ring and
 * the user_data of the record is a request's, which holds its task.
 */
static struct task_struct *uring_submitter(const struct uring_bio *rec, const void *kiocb)
{
	const struct io_kiocb *req = kiocb;
	struct io_ring_ctx *ctx;
	u64 user_data;

	if (rec->attribution != URING_ATTR_EXACT || !(current->flags & PF_KTHREAD))
		return uring_owner(current);
	if (get_kernel_nofault(ctx, &req->ctx) || ctx != rec->ctx ||
	    get_kernel_nofault(user_data, &req->cqe.user_data) || user_data != rec->user_data)
		return current;
	return uring_owner(uring_req_task(req));
}

/* The bio is @rec's, which knows if it is for a request. */
static void uring_bio_who(struct uring_bio *rec, struct bio *bio, const void *kiocb)
{
	u64 cgroup_id;

	if (rec->ctx) {
		kstall_who_read(&rec->who, uring_submitter(rec, kiocb));
		return;
	}
	kstall_who_read(&rec->who, current);
	cgroup_id = current->flags & PF_KTHREAD ? uring_bio_cgroup(bio) : 0;
	if (cgroup_id)
		rec->who.cgroup_id = cgroup_id;
}

static void uring_bio_store(const struct bio *bio, const struct uring_bio *rec)
{
	struct kstall_slot slot;

	if (!kstall_inflight_insert(&uring_bios, (unsigned long)bio, rec->queue_ns, &slot))
		return;
	memcpy(slot.rec, rec, sizeof(*rec));
	kstall_inflight_unlock(&slot);
}

KSTALL_PROBE(uring_on_bio_queue, TP_PROTO(struct bio *bio), TP_ARGS(bio))
{
	const void *kiocb = uring_bio_kiocb(bio);
	u64 now = kstall_now();
	struct uring_bio rec = {
		.queue_ns = now,
		.mark_ns = now,
		.fd = -1,
		.cpu_node = numa_node_id(),
		.opcode = URING_NO_OPCODE,
		.attribution = URING_ATTR_NONE,
	};

	if (!uring_attribute_exact(&rec, kiocb))
		uring_attribute_window(&rec);
	uring_bio_who(&rec, bio, kiocb);
	uring_bio_store(bio, &rec);
}

KSTALL_CHECK_PROBE(block_bio_queue, uring_on_bio_queue);

/* The bio, or its front, moved on. Return: false if it is not known. */
static bool uring_bio_mark(const struct bio *bio, u64 now, struct uring_bio *copy)
{
	struct kstall_slot slot;
	struct uring_bio *rec;

	if (!kstall_inflight_find(&uring_bios, (unsigned long)bio, &slot))
		return false;
	rec = slot.rec;
	rec->tag_ns = kstall_delta(now, rec->mark_ns);
	rec->mark_ns = now;
	*copy = *rec;
	kstall_inflight_unlock(&slot);
	return true;
}

/*
 * The front of a split bio is a clone that is never queued: it takes over what is known of the
 * bio it was split from.
 */
static void uring_bio_split(const struct bio *bio)
{
	const struct bio *parent = uring_bio_parent(bio);
	struct uring_bio rec;

	if (parent && uring_bio_mark(parent, kstall_now(), &rec))
		uring_bio_store(bio, &rec);
}

KSTALL_PROBE(uring_on_split, TP_PROTO(struct bio *bio, unsigned int new_sector),
	     TP_ARGS(bio, new_sector))
{
	uring_bio_split(bio);
}

KSTALL_CHECK_PROBE(block_split, uring_on_split);

/* The bio got its request, that is its tag. md splits without telling by block_split. */
KSTALL_PROBE(uring_on_getrq, TP_PROTO(struct bio *bio), TP_ARGS(bio))
{
	u64 now = kstall_now();
	struct uring_bio rec;

	if (uring_bio_mark(bio, now, &rec))
		return;
	uring_bio_split(bio);
	uring_bio_mark(bio, now, &rec);
}

KSTALL_CHECK_PROBE(block_getrq, uring_on_getrq);

KSTALL_PROBE(uring_on_rq_insert, TP_PROTO(struct request *rq), TP_ARGS(rq))
{
	u64 now = kstall_now();
	struct kstall_slot slot;

	if (!kstall_inflight_insert(&uring_rqs, (unsigned long)rq, now, &slot))
		return;
	((struct uring_rq *)slot.rec)->insert_ns = now;
	kstall_inflight_unlock(&slot);
}

KSTALL_CHECK_PROBE(block_rq_insert, uring_on_rq_insert);

/* It has gone into another one, and its memory is the next request's: block/blk-merge.c. */
KSTALL_PROBE(uring_on_rq_merge, TP_PROTO(struct request *rq), TP_ARGS(rq))
{
	struct uring_rq rec;

	kstall_inflight_take(&uring_rqs, (unsigned long)rq, &rec);
}

KSTALL_CHECK_PROBE(block_rq_merge, uring_on_rq_merge);

/* Without a scheduler requests are issued without having been inserted. */
KSTALL_PROBE(uring_on_rq_issue, TP_PROTO(struct request *rq), TP_ARGS(rq))
{
	u64 now = kstall_now();
	struct kstall_slot slot;

	if (!kstall_inflight_find(&uring_rqs, (unsigned long)rq, &slot) &&
	    !kstall_inflight_insert(&uring_rqs, (unsigned long)rq, now, &slot))
		return;
	((struct uring_rq *)slot.rec)->issue_ns = now;
	kstall_inflight_unlock(&slot);
}

KSTALL_CHECK_PROBE(block_rq_issue, uring_on_rq_issue);

/* What all events of one completion have in common. */
struct uring_completion {
	const struct request *rq;
	struct uring_rq times;
	u64 now;
	int status;
};

static void uring_block_emit(const struct uring_completion *c, const struct uring_bio *rec,
			     u64 sector, u64 bytes)
{
	const struct request_queue *q = c->rq->q;
	/* A disk that is gone fails what is in its queue without it being issued. */
	u64 issue_ns = c->times.issue_ns ?: c->now;
	u64 device_ns = kstall_delta(c->now, issue_ns);
	struct kstall_io_uring_block e = {
		.id = { .dev = q->disk ? q->disk->disk_name : NULL, .dev_node = q->node,
			.cpu_node = rec->cpu_node, .who = &rec->who },
		.ctx = rec->ctx,
		.user_data = rec->user_data,
		.sector = sector,
		.queue_ns = rec->queue_ns,
		.tag_ns = rec->tag_ns,
		.sched_ns = c->times.insert_ns ?
			    kstall_delta(issue_ns, c->times.insert_ns) : 0,
		.op = (__force u32)req_op(c->rq),
		.fd = rec->fd,
		.opcode = rec->opcode,
		.sqpoll = rec->sqpoll,
		.status = c->status,
	};

	if (kstall_long_enough(&kstall_event_io_uring_block_rq, device_ns))
		trace_io_uring_block_rq(device_ns, rec->user_data, bytes, rec->attribution, &e);
}

/* A part split off by md and merged into another request shares its parent's record. */
static bool uring_bio_take(const struct bio *bio, struct uring_bio *rec)
{
	const struct bio *parent = uring_bio_parent(bio);
	struct kstall_slot slot;

	if (kstall_inflight_take(&uring_bios, (unsigned long)bio, rec))
		return true;
	if (!parent || !kstall_inflight_find(&uring_bios, (unsigned long)parent, &slot))
		return false;
	*rec = *(struct uring_bio *)slot.rec;
	kstall_inflight_unlock(&slot);
	return true;
}

static void uring_bio_done(const struct uring_completion *c, const struct bio *bio)
{
	struct uring_bio rec;

	if (uring_bio_take(bio, &rec))
		uring_block_emit(c, &rec, bio->bi_iter.bi_sector, bio->bi_iter.bi_size);
	else
		kstall_inflight_unmatched(&uring_bios);
}

/*
 * A request that was not seen issued: it was before the hook was there, or is a flush. That is
 * never issued itself (block/blk-flush.c issues one of its own), but has a bio that ends here.
 */
static void uring_rq_unknown(struct request *rq, unsigned int nr_bytes)
{
	unsigned int done = 0;
	const struct bio *bio;
	struct uring_bio rec;

	if (blk_rq_bytes(rq))
		kstall_inflight_unmatched(&uring_rqs);
	if (blk_rq_is_passthrough(rq))
		return;
	for (bio = rq->bio; bio; bio = bio->bi_next) {
		done += bio->bi_iter.bi_size;
		if (done > nr_bytes)
			break;
		kstall_inflight_take(&uring_bios, (unsigned long)bio, &rec);
	}
}

/* Fires before the bios are ended, possibly several times for one request. */
KSTALL_PROBE(uring_on_rq_complete,
	     TP_PROTO(struct request *rq, blk_status_t error, unsigned int nr_bytes),
	     TP_ARGS(rq, error, nr_bytes))
{
	struct uring_completion c = {
		.rq = rq, .now = kstall_now(), .status = blk_status_to_errno(error),
	};
	struct kstall_slot slot;
	const struct bio *bio;
	unsigned int done = 0;

	if (!kstall_inflight_find(&uring_rqs, (unsigned long)rq, &slot)) {
		uring_rq_unknown(rq, nr_bytes);
		return;
	}
	c.times = *(struct uring_rq *)slot.rec;
	kstall_inflight_unlock(&slot);
	if (nr_bytes >= blk_rq_bytes(rq))
		kstall_inflight_take(&uring_rqs, (unsigned long)rq, &c.times);
	/* Its bio, if it has one, was never queued: blk_rq_map_kern(). */
	if (blk_rq_is_passthrough(rq))
		return;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		done += bio->bi_iter.bi_size;
		if (done > nr_bytes)
			break;
		uring_bio_done(&c, bio);
	}
}

KSTALL_CHECK_PROBE(block_rq_complete, uring_on_rq_complete);

/* Bios of stacked devices end here; those of a request have been traced with it. */
KSTALL_PROBE(uring_on_bio_complete, TP_PROTO(struct request_queue *q, struct bio *bio),
	     TP_ARGS(q, bio))
{
	struct uring_bio rec;

	kstall_inflight_take(&uring_bios, (unsigned long)bio, &rec);
}

KSTALL_CHECK_PROBE(block_bio_complete, uring_on_bio_complete);
