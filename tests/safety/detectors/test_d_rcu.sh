#!/usr/bin/env bash
# description: the debug kernel notices that RCU is not asked first
# requires: /proc/lockdep_stats
# provokes: suspicious RCU usage
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant rcu
