#!/usr/bin/env bash
# description: each wait for the IOMMU's queue is reported, once, with what it waited for (virtio-iommu)
# timeout: 400
# once: iommu/wait runs on each kernel
# requires: module:virtio_iommu
modprobe virtio_iommu || exit
cd ../iommu || exit
# shellcheck source=../iommu/test_wait.sh
. ./test_wait.sh
