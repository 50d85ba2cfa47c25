#!/usr/bin/env bash
# description: in strict mode each unmap is one flush, reported with its device, range and time (virtio-iommu)
# timeout: 400
# requires: module:virtio_iommu
modprobe virtio_iommu || exit
cd ../iommu || exit
# shellcheck source=../iommu/test_sync.sh
. ./test_sync.sh
