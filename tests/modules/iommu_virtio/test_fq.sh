#!/usr/bin/env bash
# description: in lazy mode unmaps wait for a flush, by time or because the queue is full, and none is lost from the count (virtio-iommu)
# timeout: 400
# once: iommu/fq runs on each kernel
# requires: module:virtio_iommu
modprobe virtio_iommu || exit
cd ../iommu || exit
# shellcheck source=../iommu/test_fq.sh
. ./test_fq.sh
