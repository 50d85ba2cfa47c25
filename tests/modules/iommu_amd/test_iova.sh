#!/usr/bin/env bash
# description: each allocation of addresses says how big it was, how long it took and whether a CPU's cache served it (AMD)
# timeout: 400
# once: iommu/iova runs on each kernel
cd ../iommu || exit
# shellcheck source=../iommu/test_iova.sh
. ./test_iova.sh
