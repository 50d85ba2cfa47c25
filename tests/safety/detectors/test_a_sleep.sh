#!/usr/bin/env bash
# description: the debug kernel notices that somebody sleeps where he must not
# requires: /proc/lockdep_stats
# provokes: BUG: sleeping function called from invalid context
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant sleep
