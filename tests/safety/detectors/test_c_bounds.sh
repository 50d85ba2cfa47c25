#!/usr/bin/env bash
# description: the debug kernel notices an array that is left
# requires: /sys/kernel/debug/kmemleak
# provokes: UBSAN: array-index-out-of-bounds
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant bounds
