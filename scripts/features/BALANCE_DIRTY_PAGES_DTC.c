// SPDX-License-Identifier: GPL-2.0
/*
 * Is writeback:balance_dirty_pages given the dirty_throttle_control? If not,
 * it is given thresh, bg_thresh, dirty, bdi_thresh and bdi_dirty one by one.
 *
 * include/trace/events/writeback.h; f1ab2831e2a4 ("writeback: let
 * trace_balance_dirty_pages() take struct dtc as parameter"), v6.15, and in
 * stable releases of v6.14.
 */
#include <linux/writeback.h>
#include <trace/events/writeback.h>

static void probe(void *data, struct bdi_writeback *wb,
#ifndef OTHERWISE
		  struct dirty_throttle_control *dtc,
#else
		  unsigned long thresh, unsigned long bg_thresh,
		  unsigned long dirty, unsigned long bdi_thresh,
		  unsigned long bdi_dirty,
#endif
		  unsigned long dirty_ratelimit, unsigned long task_ratelimit,
		  unsigned long dirtied, unsigned long period, long pause,
		  unsigned long start_time)
{
	check_trace_callback_type_balance_dirty_pages(probe);
}
