#!/usr/bin/env bash
# description: disks and a network card behind the IOMMU: each of their unmaps is a flush, as the kernel counts them (virtio)
# timeout: 600
# requires: fio module:virtio_iommu
modprobe virtio_iommu || exit
cd ../iommu || exit
# shellcheck source=../iommu/test_devices.sh
. ./test_devices.sh
