/* SPDX-License-Identifier: GPL-2.0 */
/* mock_mm.h - how programs talk to /dev/mock_mm; the numbers are its own, for this tree's tests */
#ifndef _MOCK_MM_H
#define _MOCK_MM_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct mock_mm_notify - watch the caller's address space until the file is closed
 * @start: first address, for intervals
 * @len: bytes
 * @via: MOCK_MM_LIST, MOCK_MM_INTERVAL, MOCK_MM_TWO_PASS
 * @delay_us: how long each callback takes
 */
struct mock_mm_notify {
	__u64 start;
	__u64 len;
	__u32 via;
	__u32 delay_us;
};

#define MOCK_MM_LIST		0
#define MOCK_MM_INTERVAL	1
#define MOCK_MM_TWO_PASS	2

/**
 * struct mock_mm_counts - calls of this file's callbacks, out
 * @list: of those on the list
 * @interval: of interval notifiers, first pass
 * @finish: second pass
 */
struct mock_mm_counts {
	__u64 list;
	__u64 interval;
	__u64 finish;
};

/**
 * struct mock_mm_alloc - allocate pieces of memory as a driver does, kept until the file is closed
 * @order: the size wanted
 * @pieces: so many
 * @compact: try hard: direct compaction
 * @fallbacks: out: got single pages instead
 */
struct mock_mm_alloc {
	__u32 order;
	__u32 pieces;
	__u32 compact;
	__u32 fallbacks;
};

/**
 * struct mock_mm_range - pages of the caller to do something with
 * @start: first address; MOCK_MM_CONTIG: first page frame
 * @pages: how many
 * @flags: MOCK_MM_PIN: MOCK_MM_LONGTERM, MOCK_MM_FAST
 * @done: out: pages for which it was done
 * @pad: unused
 */
struct mock_mm_range {
	__u64 start;
	__u32 pages;
	__u32 flags;
	__u32 done;
	__u32 pad;
};

#define MOCK_MM_LONGTERM	1
#define MOCK_MM_FAST		2

#define MOCK_MM_NOTIFY		_IOW('m', 1, struct mock_mm_notify)
#define MOCK_MM_UNNOTIFY	_IO('m', 2)
#define MOCK_MM_COUNTS		_IOR('m', 3, struct mock_mm_counts)
#define MOCK_MM_ALLOC		_IOWR('m', 4, struct mock_mm_alloc)
#define MOCK_MM_PIN		_IOWR('m', 5, struct mock_mm_range)
#define MOCK_MM_HMM		_IOWR('m', 6, struct mock_mm_range)
#define MOCK_MM_VMA		_IOWR('m', 7, struct mock_mm_range)
#define MOCK_MM_CONTIG		_IOWR('m', 8, struct mock_mm_range)
#define MOCK_MM_TO_DEVICE	_IOWR('m', 10, struct mock_mm_range)

#endif /* _MOCK_MM_H */
