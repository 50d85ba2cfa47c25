#!/usr/bin/env bash
# description: the flushes of AMD's IOMMU are found and reported as Intel's are
# timeout: 400
cd ../iommu || exit
# shellcheck source=../iommu/test_sync.sh
. ./test_sync.sh
