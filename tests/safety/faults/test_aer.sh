#!/usr/bin/env bash
# description: aer_trace without memory at any moment: an error or a reported loss, nothing left behind
# timeout: 1800
# requires: /sys/kernel/debug/kmemleak
# known: vmalloc error: size|page allocation failure: order|percpu: allocation failed
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
faults aer_trace e1000e
