// SPDX-License-Identifier: GPL-2.0
/* writeback.c - writers that are held back, and tasks that wait for writeback to finish */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/backing-dev.h>
#include <linux/pagemap.h>
#include <linux/vmstat.h>
#include <linux/writeback.h>

#include "io_uring_trace.h"
#include "io_uring_trace_events.h"

KSTALL_FN(int, balance_dirty_pages, struct bdi_writeback *, wb, unsigned long, pages_dirtied);

/* The caller holds @wb. */
bool wb_throttle_enter(void *data, struct pt_regs *regs)
{
	struct wb_throttle_call *call = data;

	call->wb = kstall_arg(regs, balance_dirty_pages, wb);
	call->pages_dirtied = kstall_arg(regs, balance_dirty_pages, pages_dirtied);
	call->nvcsw = current->nvcsw;
	call->start_ns = kstall_now();
	return true;
}

/* Most calls only look: a writer was held if it gave up the CPU. */
void wb_throttle_return(void *data, struct pt_regs *regs)
{
	const struct wb_throttle_call *call = data;
	struct bdi_writeback *wb = call->wb;
	struct kstall_writeback e;
	u64 pause_ns;

	if (current->nvcsw == call->nvcsw)
		return;
	pause_ns = kstall_delta(kstall_now(), call->start_ns);
	if (!kstall_long_enough(&kstall_event_writeback_throttle, pause_ns))
		return;
	e = (struct kstall_writeback){
		.id = KSTALL_ID_CURRENT,
		.dirty_pages = global_node_page_state(NR_FILE_DIRTY),
		.writeback_pages = global_node_page_state(NR_WRITEBACK),
		.ratelimit_pages = READ_ONCE(wb->dirty_ratelimit),
		.wb_dirty_pages = wb_stat(wb, WB_RECLAIMABLE),
	};
	e.id.task = uring_owner(current);
	e.id.dev = bdi_dev_name(wb->bdi);
	trace_writeback_throttle(pause_ns, 0, call->pages_dirtied, 0, &e);
}

/* Names are copied at entry: while the task sleeps the inode may go. */
static void wb_wait_begin(struct wb_wait_call *call, struct address_space *mapping)
{
	struct inode *inode = mapping ? mapping->host : NULL;

	call->ino = inode ? inode->i_ino : 0;
	strscpy(call->sb, inode ? inode->i_sb->s_id : "", sizeof(call->sb));
	strscpy(call->dev, inode ? bdi_dev_name(inode_to_bdi(inode)) : "", sizeof(call->dev));
	call->nvcsw = current->nvcsw;
	call->start_ns = kstall_now();
}

static void wb_wait_emit(const struct wb_wait_call *call, int kind, u64 wait_ns, u64 pages)
{
	struct kstall_writeback e = { .id = KSTALL_ID_CURRENT, .sb = call->sb };

	if (!kstall_long_enough(&kstall_event_writeback_wait_done, wait_ns))
		return;
	e.id.task = uring_owner(current);
	e.id.dev = call->dev;
	trace_writeback_wait_done(wait_ns, call->ino, pages, kind, &e);
}

KSTALL_FN(void, __filemap_fdatawait_range, struct address_space *, mapping);

bool wb_range_enter(void *data, struct pt_regs *regs)
{
	struct kstall_slot slot;

	if (!kstall_inflight_insert(&wb_waits, (unsigned long)current, kstall_now(), &slot))
		return false;
	kstall_inflight_unlock(&slot);
	wb_wait_begin(data, kstall_arg(regs, __filemap_fdatawait_range, mapping));
	return true;
}

void wb_range_return(void *data, struct pt_regs *regs)
{
	struct wb_wait sum;

	if (kstall_inflight_take(&wb_waits, (unsigned long)current, &sum) && sum.pages)
		wb_wait_emit(data, WB_WAIT_RANGE, sum.wait_ns, sum.pages);
}

KSTALL_FN(void, folio_wait_writeback, struct folio *, folio);
KSTALL_CHECK_FN(folio_wait_writeback, folio_wait_writeback);

bool wb_folio_enter(void *data, struct pt_regs *regs)
{
	struct folio *folio = kstall_arg(regs, folio_wait_writeback, folio);
	struct wb_wait_call *call = data;

	if (!folio_test_writeback(folio))
		return false;
	call->pages = folio_nr_pages(folio);
	wb_wait_begin(call, folio_mapping(folio));
	return true;
}

/* Inside a range the wait is part of the range's, else it is an event of its own. */
void wb_folio_return(void *data, struct pt_regs *regs)
{
	const struct wb_wait_call *call = data;
	struct kstall_slot slot;
	struct wb_wait *sum;
	u64 wait_ns;

	if (current->nvcsw == call->nvcsw)
		return;
	wait_ns = kstall_delta(kstall_now(), call->start_ns);
	if (!kstall_inflight_find(&wb_waits, (unsigned long)current, &slot)) {
		wb_wait_emit(call, WB_WAIT_FOLIO, wait_ns, call->pages);
		return;
	}
	sum = slot.rec;
	sum->wait_ns += wait_ns;
	sum->pages += call->pages;
	kstall_inflight_unlock(&slot);
}
