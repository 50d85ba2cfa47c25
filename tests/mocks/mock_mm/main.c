// SPDX-License-Identifier: GPL-2.0
/*
 * mock_mm - a driver that uses a program's memory, without a device, for tests
 *
 * /dev/mock_mm watches address spaces with notifiers that take as long as one says, allocates
 * memory as drivers do, pins and moves pages. Nothing here traces.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/hmm.h>
#include <linux/migrate.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <generated/kstall_features.h>

#include "device.h"
#include "mock_mm.h"

#define MAX_NOTIFIERS	16
#define MAX_BLOCKS	65536

struct mock_file;

struct mock_notifier {
	struct mock_file *file;
	u32 via;
	u32 delay_us;
	struct mmu_notifier mn;
	struct mmu_interval_notifier interval;
#ifdef HAVE_MMU_INTERVAL_INVALIDATE_START
	struct mmu_interval_notifier_finish finish;
#endif
};

struct mock_block {
	struct page *page;
	unsigned int order;
};

struct mock_file {
	struct mutex lock;	/* everything below but the counts */
	struct mutex update;	/* stands for the driver's own page tables */
	struct mock_notifier *notifier[MAX_NOTIFIERS];
	unsigned int nr_notifiers;
	struct mock_block *blocks;
	unsigned int nr_blocks;
	atomic64_t list;
	atomic64_t interval;
	atomic64_t finish;
};

static void mock_delay(const struct mock_notifier *n)
{
	if (n->delay_us)
		usleep_range(n->delay_us, n->delay_us + 100);
}

/* ---- notifiers ---- */

static int mock_mm_list_start(struct mmu_notifier *mn, const struct mmu_notifier_range *range)
{
	struct mock_notifier *n = container_of(mn, struct mock_notifier, mn);

	atomic64_inc(&n->file->list);
	if (!mmu_notifier_range_blockable(range))
		return -EAGAIN;
	mock_delay(n);
	return 0;
}

static const struct mmu_notifier_ops mock_list_ops = {
	.invalidate_range_start = mock_mm_list_start,
};

static bool mock_mm_invalidate(struct mmu_interval_notifier *interval,
			       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct mock_notifier *n = container_of(interval, struct mock_notifier, interval);

	atomic64_inc(&n->file->interval);
	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&n->file->update);
	mmu_interval_set_seq(interval, seq);
	mutex_unlock(&n->file->update);
	mock_delay(n);
	return true;
}

static const struct mmu_interval_notifier_ops mock_interval_ops = {
	.invalidate = mock_mm_invalidate,
};

#ifdef HAVE_MMU_INTERVAL_INVALIDATE_START
static bool mock_mm_two_pass_start(struct mmu_interval_notifier *interval,
				   const struct mmu_notifier_range *range, unsigned long seq,
				   struct mmu_interval_notifier_finish **finish)
{
	struct mock_notifier *n = container_of(interval, struct mock_notifier, interval);

	atomic64_inc(&n->file->interval);
	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&n->file->update);
	mmu_interval_set_seq(interval, seq);
	mutex_unlock(&n->file->update);
	*finish = &n->finish;
	return true;
}

static void mock_mm_two_pass_finish(struct mmu_interval_notifier_finish *finish)
{
	struct mock_notifier *n = container_of(finish, struct mock_notifier, finish);

	atomic64_inc(&n->file->finish);
	mock_delay(n);
}

static const struct mmu_interval_notifier_ops mock_two_pass_ops = {
	.invalidate_start = mock_mm_two_pass_start,
	.invalidate_finish = mock_mm_two_pass_finish,
};
#endif

static int mock_subscribe(struct mock_notifier *n, const struct mock_mm_notify *arg)
{
	switch (n->via) {
	case MOCK_MM_LIST:
		n->mn.ops = &mock_list_ops;
		return mmu_notifier_register(&n->mn, current->mm);
	case MOCK_MM_INTERVAL:
		return mmu_interval_notifier_insert(&n->interval, current->mm, arg->start, arg->len,
						    &mock_interval_ops);
#ifdef HAVE_MMU_INTERVAL_INVALIDATE_START
	case MOCK_MM_TWO_PASS:
		return mmu_interval_notifier_insert(&n->interval, current->mm, arg->start, arg->len,
						    &mock_two_pass_ops);
#endif
	default:
		return -EOPNOTSUPP;
	}
}

static long mock_notify(struct mock_file *file, void __user *uarg)
{
	struct mock_mm_notify arg;
	struct mock_notifier *n;
	int ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (file->nr_notifiers == MAX_NOTIFIERS)
		return -ENOSPC;
	n = kzalloc(sizeof(*n), GFP_KERNEL);
	if (!n)
		return -ENOMEM;
	n->file = file;
	n->via = arg.via;
	n->delay_us = arg.delay_us;
	ret = mock_subscribe(n, &arg);
	if (ret) {
		kfree(n);
		return ret;
	}
	file->notifier[file->nr_notifiers++] = n;
	return 0;
}

static void mock_unnotify(struct mock_file *file)
{
	while (file->nr_notifiers) {
		struct mock_notifier *n = file->notifier[--file->nr_notifiers];

		if (n->via == MOCK_MM_LIST)
			mmu_notifier_unregister(&n->mn, n->mn.mm);
		else
			mmu_interval_notifier_remove(&n->interval);
		kfree(n);
	}
}

static long mock_counts(struct mock_file *file, void __user *uarg)
{
	struct mock_mm_counts counts = {
		.list = atomic64_read(&file->list),
		.interval = atomic64_read(&file->interval),
		.finish = atomic64_read(&file->finish),
	};

	return copy_to_user(uarg, &counts, sizeof(counts)) ? -EFAULT : 0;
}

/* ---- memory ---- */

static void mock_keep(struct mock_file *file, struct page *page, unsigned int order)
{
	file->blocks[file->nr_blocks++] = (struct mock_block){ page, order };
}

/* As ttm_pool and others do: one large piece, else the same in single pages. */
static noinline __noclone bool mock_alloc_piece(struct mock_file *file, struct mock_mm_alloc *arg)
{
	gfp_t gfp = arg->compact ? GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL
				 : GFP_NOWAIT | __GFP_NOWARN;
	struct page *page = alloc_pages(gfp, arg->order);
	unsigned int i;

	if (page) {
		mock_keep(file, page, arg->order);
		return true;
	}
	arg->fallbacks++;
	for (i = 0; i < 1U << arg->order; i++) {
		page = alloc_page(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
		if (!page)
			return false;
		mock_keep(file, page, 0);
	}
	return true;
}

static long mock_alloc(struct mock_file *file, void __user *uarg)
{
	struct mock_mm_alloc arg;
	unsigned int i;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (!file->blocks)
		file->blocks = kvcalloc(MAX_BLOCKS, sizeof(*file->blocks), GFP_KERNEL);
	if (!file->blocks)
		return -ENOMEM;
	arg.fallbacks = 0;
	for (i = 0; i < arg.pieces; i++) {
		if (arg.order > 10 || file->nr_blocks + (1U << arg.order) > MAX_BLOCKS)
			return -ENOSPC;
		if (!mock_alloc_piece(file, &arg))
			break;
	}
	return copy_to_user(uarg, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static void mock_free(struct mock_file *file)
{
	while (file->nr_blocks) {
		struct mock_block *b = &file->blocks[--file->nr_blocks];

		__free_pages(b->page, b->order);
	}
	kvfree(file->blocks);
}

/* ---- the caller's pages ---- */

static noinline __noclone int mock_pin_pages(const struct mock_mm_range *arg, struct page **pages)
{
	unsigned int flags = FOLL_WRITE | (arg->flags & MOCK_MM_LONGTERM ? FOLL_LONGTERM : 0);
	int ret;

	if (arg->flags & MOCK_MM_FAST)
		return pin_user_pages_fast(arg->start, arg->pages, flags, pages);
	mmap_read_lock(current->mm);
#ifdef HAVE_PIN_USER_PAGES_VMAS
	ret = pin_user_pages(arg->start, arg->pages, flags, pages, NULL);
#else
	ret = pin_user_pages(arg->start, arg->pages, flags, pages);
#endif
	mmap_read_unlock(current->mm);
	return ret;
}

static int mock_pin(struct mock_mm_range *arg)
{
	struct page **pages = kvcalloc(arg->pages, sizeof(*pages), GFP_KERNEL);
	int ret;

	if (!pages)
		return -ENOMEM;
	ret = mock_pin_pages(arg, pages);
	if (ret > 0) {
		arg->done = ret;
		unpin_user_pages(pages, ret);
		ret = 0;
	}
	kvfree(pages);
	return ret;
}

static noinline __noclone int mock_hmm(struct mock_file *file, struct mock_mm_range *arg)
{
	struct hmm_range range = {
		.start = arg->start,
		.end = arg->start + arg->pages * PAGE_SIZE,
		.default_flags = HMM_PFN_REQ_FAULT | HMM_PFN_REQ_WRITE,
	};
	int ret;

	if (!file->nr_notifiers || file->notifier[0]->via != MOCK_MM_INTERVAL)
		return -EINVAL;
	range.notifier = &file->notifier[0]->interval;
	range.hmm_pfns = kvcalloc(arg->pages, sizeof(*range.hmm_pfns), GFP_KERNEL);
	if (!range.hmm_pfns)
		return -ENOMEM;
	do {
		range.notifier_seq = mmu_interval_read_begin(range.notifier);
		mmap_read_lock(current->mm);
		ret = hmm_range_fault(&range);
		mmap_read_unlock(current->mm);
	} while (ret == -EBUSY);
	if (!ret)
		arg->done = arg->pages;
	kvfree(range.hmm_pfns);
	return ret;
}

/* To other pages of the same memory, as a driver without device memory could. */
static void mock_vma_copy(struct migrate_vma *args)
{
	unsigned long i;

	for (i = 0; i < args->npages; i++) {
		struct page *src = migrate_pfn_to_page(args->src[i]);
		struct page *dst;

		if (!(args->src[i] & MIGRATE_PFN_MIGRATE) || !src)
			continue;
		dst = alloc_page(GFP_HIGHUSER_MOVABLE);
		if (!dst)
			continue;
		copy_highpage(dst, src);
		lock_page(dst);
		args->dst[i] = migrate_pfn(page_to_pfn(dst));
	}
}

static noinline __noclone int mock_vma_pages(struct mock_mm_range *arg, unsigned long *src,
					     unsigned long *dst)
{
	struct migrate_vma args = {
		.start = arg->start, .end = arg->start + arg->pages * PAGE_SIZE,
		.src = src, .dst = dst, .flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	unsigned long i;
	int ret = -EINVAL;

	mmap_read_lock(current->mm);
	args.vma = find_vma(current->mm, args.start);
	if (args.vma)
		ret = migrate_vma_setup(&args);
	if (!ret) {
		mock_vma_copy(&args);
		migrate_vma_pages(&args);
		for (i = 0; i < args.npages; i++)
			arg->done += !!(args.src[i] & MIGRATE_PFN_MIGRATE);
		migrate_vma_finalize(&args);
	}
	mmap_read_unlock(current->mm);
	return ret;
}

static int mock_vma(struct mock_mm_range *arg, unsigned int cmd)
{
	unsigned long *pfns;
	int ret;

	if (cmd == MOCK_MM_TO_DEVICE && !mock_has_device())
		return -EOPNOTSUPP;
	pfns = kvcalloc(arg->pages, 2 * sizeof(*pfns), GFP_KERNEL);
	if (!pfns)
		return -ENOMEM;
	if (cmd == MOCK_MM_TO_DEVICE)
		ret = mock_to_device(arg, pfns, pfns + arg->pages);
	else
		ret = mock_vma_pages(arg, pfns, pfns + arg->pages);
	kvfree(pfns);
	return ret;
}

/* ---- pages of certain places ---- */

/* As CMA and virtio-mem do: just these, whoever has them. They move away, and are free again. */
static int mock_contig(struct mock_mm_range *arg)
{
#ifdef HAVE_ALLOC_CONTIG_FLAGS
	int ret = alloc_contig_range(arg->start, arg->start + arg->pages, ACR_FLAGS_NONE,
				     GFP_KERNEL);
#else
	int ret = alloc_contig_range(arg->start, arg->start + arg->pages, MIGRATE_MOVABLE,
				     GFP_KERNEL);
#endif

	if (ret)
		return ret;
	free_contig_range(arg->start, arg->pages);
	arg->done = arg->pages;
	return 0;
}

static int mock_range_do(struct mock_file *file, unsigned int cmd, struct mock_mm_range *arg)
{
	switch (cmd) {
	case MOCK_MM_PIN:
		return mock_pin(arg);
	case MOCK_MM_HMM:
		return mock_hmm(file, arg);
	case MOCK_MM_CONTIG:
		return mock_contig(arg);
	default:
		return mock_vma(arg, cmd);
	}
}

static long mock_range(struct mock_file *file, unsigned int cmd, void __user *uarg)
{
	struct mock_mm_range arg;
	int ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (!arg.pages || arg.pages > 65536)
		return -EINVAL;
	arg.done = 0;
	ret = mock_range_do(file, cmd, &arg);
	if (copy_to_user(uarg, &arg, sizeof(arg)))
		return -EFAULT;
	return ret;
}

/* ---- the file ---- */

static long mock_do(struct mock_file *file, unsigned int cmd, void __user *uarg)
{
	switch (cmd) {
	case MOCK_MM_NOTIFY:
		return mock_notify(file, uarg);
	case MOCK_MM_UNNOTIFY:
		mock_unnotify(file);
		return 0;
	case MOCK_MM_ALLOC:
		return mock_alloc(file, uarg);
	case MOCK_MM_COUNTS:
		return mock_counts(file, uarg);
	case MOCK_MM_PIN:
	case MOCK_MM_HMM:
	case MOCK_MM_VMA:
	case MOCK_MM_CONTIG:
	case MOCK_MM_TO_DEVICE:
		return mock_range(file, cmd, uarg);
	default:
		return -ENOTTY;
	}
}

static long mock_ioctl(struct file *filp, unsigned int cmd, unsigned long uarg)
{
	struct mock_file *file = filp->private_data;
	long ret;

	mutex_lock(&file->lock);
	ret = mock_do(file, cmd, (void __user *)uarg);
	mutex_unlock(&file->lock);
	return ret;
}

static int mock_open(struct inode *inode, struct file *filp)
{
	struct mock_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return -ENOMEM;
	mutex_init(&file->lock);
	mutex_init(&file->update);
	filp->private_data = file;
	return 0;
}

static int mock_release(struct inode *inode, struct file *filp)
{
	struct mock_file *file = filp->private_data;

	mock_unnotify(file);
	mock_free(file);
	kfree(file);
	return 0;
}

static const struct file_operations mock_fops = {
	.owner = THIS_MODULE,
	.open = mock_open,
	.release = mock_release,
	.unlocked_ioctl = mock_ioctl,
};

static struct miscdevice mock_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mock_mm",
	.fops = &mock_fops,
};

static int __init mock_init(void)
{
	int ret = misc_register(&mock_misc);

	if (!ret)
		mock_device_init();
	return ret;
}

static void __exit mock_exit(void)
{
	misc_deregister(&mock_misc);
	mock_device_exit();
}

module_init(mock_init);
module_exit(mock_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a driver that uses programs' memory, for tests");
