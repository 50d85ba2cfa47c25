#!/usr/bin/env bash
# description: flushes are those that the emulated IOMMU itself says it was asked for (amd)
# timeout: 400
# once: iommu/emulator runs on each kernel
cd ../iommu || exit
# shellcheck source=../iommu/test_emulator.sh
. ./test_emulator.sh
