#!/usr/bin/env bash
# description: flushes are those that the emulated IOMMU itself says it was asked for (virtio)
# timeout: 400
# once: iommu/emulator runs on each kernel
# requires: module:virtio_iommu
modprobe virtio_iommu || exit
cd ../iommu || exit
# shellcheck source=../iommu/test_emulator.sh
. ./test_emulator.sh
