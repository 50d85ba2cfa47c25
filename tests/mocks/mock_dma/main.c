// SPDX-License-Identifier: GPL-2.0
/*
 * mock_dma - a driver of QEMU's "edu" device that maps memory for it exactly as a test asks
 *
 *	echo single BYTES N [bh] >/sys/kernel/debug/mock_dma/do
 *		maps and unmaps a buffer N times; with bh this CPU takes no timer meanwhile
 *	echo sg BYTES CHUNK >/sys/kernel/debug/mock_dma/do
 *		maps and unmaps a list of chunks; CHUNK is a power of two, at least a page
 *	echo lazy BYTES N >/sys/kernel/debug/mock_dma/do
 *		maps and unmaps a list of pages N times, by functions of its own that do nothing: it
 *		takes the same time however long the list is. Where DMA is not translated
 *	echo fail BYTES N >/sys/kernel/debug/mock_dma/do
 *		maps N times more than there are addresses for, and succeeds if none of these does
 *	echo peer BYTES 0|1 >/sys/kernel/debug/mock_dma/do
 *		maps and unmaps memory of another device, an NVMe disk's buffer; 1: as a list
 *	echo fault ADDR N [w] >/sys/kernel/debug/mock_dma/do
 *		has the device read (w: write) N times where nothing is mapped
 *	echo report ADDR N [w] >/sys/kernel/debug/mock_dma/do
 *		says N times that it did, as IOMMU drivers do
 *	cat /sys/kernel/debug/mock_dma/last
 *		what the last one got: "addr=... nents=... segments=..."
 *
 * Else the device itself does nothing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iommu.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>

static bool hold;
module_param(hold, bool, 0644);
MODULE_PARM_DESC(hold, "probing the device, which is locked then, waits for 0 (default 0)");

static struct device *dev;		/* one is enough */
static void __iomem *regs;
static struct dentry *dir;
static struct {
	u64 addr;
	u32 nents;
	u32 segments;
} last;

static int map_single(unsigned long bytes, unsigned int n, bool bh)
{
	void *buf = alloc_pages_exact(bytes, GFP_KERNEL);
	int ret = 0;

	if (!buf)
		return -ENOMEM;
	if (bh)
		local_bh_disable();
	while (n-- && !ret) {
		dma_addr_t addr = dma_map_single(dev, buf, bytes, DMA_TO_DEVICE);

		ret = dma_mapping_error(dev, addr);
		if (ret)
			break;
		last.addr = addr;
		dma_unmap_single(dev, addr, bytes, DMA_TO_DEVICE);
	}
	if (bh)
		local_bh_enable();
	last.nents = 1;
	last.segments = 1;
	free_pages_exact(buf, bytes);
	return ret;
}

static int map_in_vain(unsigned long bytes, unsigned int n)
{
	while (n--) {
		dma_addr_t addr = dma_map_page(dev, ZERO_PAGE(0), 0, bytes, DMA_TO_DEVICE);

		if (!dma_mapping_error(dev, addr)) {
			dma_unmap_page(dev, addr, bytes, DMA_TO_DEVICE);
			return -EEXIST;
		}
	}
	return 0;
}

static void free_list(struct sg_table *sgt, unsigned int order)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i) {
		if (sg_page(sg))
			__free_pages(sg_page(sg), order);
	}
	sg_free_table(sgt);
}

static int alloc_list(struct sg_table *sgt, unsigned int nents, unsigned int order)
{
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	ret = sg_alloc_table(sgt, nents, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(sgt, sg, i) {
		struct page *page = alloc_pages(GFP_KERNEL | __GFP_NOWARN, order);

		if (!page) {
			free_list(sgt, order);
			return -ENOMEM;
		}
		sg_set_page(sg, page, PAGE_SIZE << order, 0);
	}
	return 0;
}

static int map_list(unsigned long bytes, unsigned long chunk)
{
	unsigned int order = get_order(chunk);
	struct sg_table sgt;
	int ret;

	ret = alloc_list(&sgt, bytes >> (PAGE_SHIFT + order), order);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, &sgt, DMA_FROM_DEVICE, 0);
	if (!ret) {
		last.addr = sg_dma_address(sgt.sgl);
		last.nents = sgt.orig_nents;
		last.segments = sgt.nents;
		dma_unmap_sgtable(dev, &sgt, DMA_FROM_DEVICE, 0);
	}
	free_list(&sgt, order);
	return ret;
}

static int lazy_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
		       enum dma_data_direction dir, unsigned long attrs)
{
	return nents;
}

static void lazy_unmap_sg(struct device *dev, struct scatterlist *sgl, int nents,
			  enum dma_data_direction dir, unsigned long attrs)
{
}

static const struct dma_map_ops lazy_ops = { .map_sg = lazy_map_sg, .unmap_sg = lazy_unmap_sg };

static int map_lazily(unsigned long bytes, unsigned int n)
{
	const struct dma_map_ops *ops = get_dma_ops(dev);
	struct scatterlist *sg;
	struct sg_table sgt;
	unsigned int i;
	int ret;

	/* Else set_dma_ops() does nothing. */
	if (!IS_ENABLED(CONFIG_DMA_OPS) && !IS_ENABLED(CONFIG_ARCH_HAS_DMA_OPS))
		return -EOPNOTSUPP;
	ret = sg_alloc_table(&sgt, bytes >> PAGE_SHIFT, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(&sgt, sg, i) {
		sg_set_page(sg, ZERO_PAGE(0), PAGE_SIZE, 0);
		sg_dma_address(sg) = (u64)i << PAGE_SHIFT;
		sg_dma_len(sg) = PAGE_SIZE;
	}
	set_dma_ops(dev, &lazy_ops);
	while (n-- && !ret) {
		ret = dma_map_sgtable(dev, &sgt, DMA_FROM_DEVICE, 0);
		if (!ret)
			dma_unmap_sgtable(dev, &sgt, DMA_FROM_DEVICE, 0);
	}
	set_dma_ops(dev, ops);
	sg_free_table(&sgt);
	return ret;
}

static int map_peer_page(struct page *page, unsigned long bytes)
{
	dma_addr_t addr = dma_map_page(dev, page, 0, bytes, DMA_TO_DEVICE);
	int ret = dma_mapping_error(dev, addr);

	if (!ret)
		dma_unmap_page(dev, addr, bytes, DMA_TO_DEVICE);
	return ret;
}

/* Whether the two may reach each other is no matter here: it is asked for. */
static int map_peer_list(struct page *page, unsigned long bytes)
{
	struct scatterlist sg;

	sg_init_table(&sg, 1);
	sg_set_page(&sg, page, bytes, 0);
	if (dma_map_sg(dev, &sg, 1, DMA_TO_DEVICE))
		dma_unmap_sg(dev, &sg, 1, DMA_TO_DEVICE);
	return 0;
}

static int map_peer(unsigned long bytes, bool list)
{
	struct pci_dev *peer = NULL;
	void *buf = NULL;
	int ret;

	while (!buf) {
		peer = pci_get_class(PCI_CLASS_STORAGE_EXPRESS, peer);
		if (!peer)
			return -ENODEV;
		buf = pci_alloc_p2pmem(peer, bytes);
	}
	ret = list ? map_peer_list(virt_to_page(buf), bytes) :
		     map_peer_page(virt_to_page(buf), bytes);
	pci_free_p2pmem(peer, buf, bytes);
	pci_dev_put(peer);
	return ret;
}

/* The device's DMA engine: a kilobyte or two of memory of its own is at 0x40000. */
#define EDU_DMA_FROM	0x80
#define EDU_DMA_TO	0x88
#define EDU_DMA_BYTES	0x90
#define EDU_DMA_COMMAND	0x98
#define EDU_DMA_START	BIT(0)
#define EDU_DMA_WRITE	BIT(1)
#define EDU_MEMORY	0x40000

static int fault(u64 addr, unsigned int n, bool write)
{
	u64 command;
	int ret = 0;

	while (n-- && !ret) {
		writeq(write ? EDU_MEMORY : addr, regs + EDU_DMA_FROM);
		writeq(write ? addr : EDU_MEMORY, regs + EDU_DMA_TO);
		writeq(4, regs + EDU_DMA_BYTES);
		writeq(EDU_DMA_START | (write ? EDU_DMA_WRITE : 0), regs + EDU_DMA_COMMAND);
		ret = readq_poll_timeout(regs + EDU_DMA_COMMAND, command,
					 !(command & EDU_DMA_START), 1000, 60 * USEC_PER_SEC);
	}
	return ret;
}

static int report(unsigned long addr, unsigned int n, bool write)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (!domain)
		return -ENODEV;
	while (n--)
		report_iommu_fault(domain, dev, addr, write ? IOMMU_FAULT_WRITE
							    : IOMMU_FAULT_READ);
	return 0;
}

static ssize_t do_write(struct file *file, const char __user *user, size_t len, loff_t *pos)
{
	unsigned long n;
	long bytes;
	char buf[64], op[8], option[4] = "";
	int ret;

	if (len >= sizeof(buf) || copy_from_user(buf, user, len))
		return -EINVAL;
	buf[len] = '\0';
	if (sscanf(buf, "%7s %li %lu %3s", op, &bytes, &n, option) < 3)
		return -EINVAL;
	if (!dev)
		return -ENODEV;
	if (!strcmp(op, "single"))
		ret = map_single(bytes, n, option[0]);
	else if (!strcmp(op, "sg"))
		ret = map_list(bytes, n);
	else if (!strcmp(op, "lazy"))
		ret = map_lazily(bytes, n);
	else if (!strcmp(op, "fail"))
		ret = map_in_vain(bytes, n);
	else if (!strcmp(op, "peer"))
		ret = map_peer(bytes, n);
	else if (!strcmp(op, "fault"))
		ret = fault(bytes, n, option[0]);
	else if (!strcmp(op, "report"))
		ret = report(bytes, n, option[0]);
	else
		ret = -EINVAL;
	return ret ?: len;
}

static const struct file_operations do_fops = { .owner = THIS_MODULE, .write = do_write };

static int last_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "addr=%#llx nents=%u segments=%u\n", last.addr, last.nents, last.segments);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(last);

static int mock_dma_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);

	if (ret)
		return ret;
	while (READ_ONCE(hold))
		msleep(20);
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	pci_set_master(pdev);
	regs = pcim_iomap(pdev, 0, 0);
	if (!regs)
		return -ENOMEM;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	dev = &pdev->dev;
	return 0;
}

static void mock_dma_remove(struct pci_dev *pdev)
{
	dev = NULL;
}

static const struct pci_device_id mock_dma_ids[] = {
	{ PCI_DEVICE(0x1234, 0x11e8) },
	{ }
};

static struct pci_driver mock_dma_driver = {
	.name = "mock_dma",
	.id_table = mock_dma_ids,
	.probe = mock_dma_probe,
	.remove = mock_dma_remove,
};

static int __init mock_dma_init(void)
{
	int ret = pci_register_driver(&mock_dma_driver);

	if (ret)
		return ret;
	dir = debugfs_create_dir("mock_dma", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("last", 0400, dir, NULL, &last_fops);
	return 0;
}

static void __exit mock_dma_exit(void)
{
	debugfs_remove_recursive(dir);
	pci_unregister_driver(&mock_dma_driver);
}

module_init(mock_dma_init);
module_exit(mock_dma_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kstall tests: maps memory for QEMU's edu device");
