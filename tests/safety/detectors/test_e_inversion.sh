#!/usr/bin/env bash
# description: the debug kernel notices locks taken in two orders, though nothing hangs
# requires: /proc/lockdep_stats
# provokes: possible circular locking
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant inversion
