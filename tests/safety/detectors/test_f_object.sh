#!/usr/bin/env bash
# description: the debug kernel notices a timer that is freed while it runs
# requires: /sys/kernel/debug/kmemleak
# provokes: ODEBUG: free active
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant object
