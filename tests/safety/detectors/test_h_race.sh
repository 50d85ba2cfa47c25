#!/usr/bin/env bash
# description: the KCSAN kernel notices that two CPUs count in one place
# requires: /sys/kernel/debug/kcsan
# provokes: BUG: KCSAN: data-race in planted_
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plant race
