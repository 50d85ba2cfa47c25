#!/usr/bin/env bash
# description: the debug kernel notices memory that nobody can free any more
# requires: /sys/kernel/debug/kmemleak
# provokes: kmemleak: [0-9]+ new
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant leak
