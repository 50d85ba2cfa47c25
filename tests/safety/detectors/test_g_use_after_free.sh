#!/usr/bin/env bash
# description: the debug kernel notices memory that is used after it was freed
# requires: /sys/kernel/debug/kmemleak
# provokes: KASAN: slab-use-after-free
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant use-after-free
