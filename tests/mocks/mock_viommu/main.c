// SPDX-License-Identifier: GPL-2.0
/*
 * virtio_iommu - stands for the driver of that name where there is no such device: when it is
 * loaded it waits once for an IOMMU that no device is behind, two pages below the "edu" device's in
 * memory. Nothing is read there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/pci.h>

int __viommu_sync_req(const void *viommu);

noinline __noclone int __viommu_sync_req(const void *viommu)
{
	barrier();
	return 0;
}

static int __init mock_viommu_init(void)
{
	struct pci_dev *pdev = pci_get_device(0x1234, 0x11e8, NULL);
	const void *iommu = NULL;

	if (pdev && pdev->dev.iommu)
		iommu = pdev->dev.iommu->iommu_dev;
	pci_dev_put(pdev);
	if (!iommu)
		return -ENODEV;
	return __viommu_sync_req(iommu - 2 * PAGE_SIZE);
}

static void __exit mock_viommu_exit(void)
{
}

module_init(mock_viommu_init);
module_exit(mock_viommu_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(intree, "Y");	/* as the kernel's own has it */
MODULE_DESCRIPTION("kstall tests: an IOMMU that nobody uses");
