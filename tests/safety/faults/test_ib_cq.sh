#!/usr/bin/env bash
# description: ib_cq_trace without memory at any moment: an error or a reported loss, nothing left behind
# timeout: 1800
# requires: /sys/kernel/debug/kmemleak
# known: vmalloc error: size|page allocation failure: order|percpu: allocation failed
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
# shellcheck source=../../rxe.sh
. ../../rxe.sh

# With a device: the module has memory for each.
at_exit rxe_down
rxe_up || bail "no rxe0"

faults ib_cq_trace ib_uverbs rdma_rxe
