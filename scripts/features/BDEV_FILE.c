// SPDX-License-Identifier: GPL-2.0
/*
 * Does file_bdev() give the block device of an opened block device's file? If
 * not, I_BDEV(file->f_mapping->host) does.
 *
 * include/linux/blkdev.h; f3a608827d1f ("bdev: open block device as files"),
 * v6.9. Up to now both always agree.
 */
#include <linux/blkdev.h>

struct block_device *test(struct file *file);
struct block_device *test(struct file *file)
{
#ifndef OTHERWISE
	return file_bdev(file);
#else
	return I_BDEV(file->f_mapping->host);
#endif
}
