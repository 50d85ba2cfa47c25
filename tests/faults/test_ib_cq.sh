#!/usr/bin/env bash
# description: ib_cq_trace without memory at any moment: an error or a loss that is told, nothing left behind
# timeout: 1800
# requires: /sys/kernel/debug/kmemleak
# known: vmalloc error: size|page allocation failure: order|percpu: allocation failed
# shellcheck source-path=SCRIPTDIR
. ./lib.sh

# With a device: the module has memory for each.
modprobe -a dummy rdma_rxe
ip link add dummy0 type dummy 2>/dev/null
ip link set dummy0 up
rdma link add rxe0 type rxe netdev dummy0
at_exit ip link delete dummy0
at_exit rdma link delete rxe0

faults ib_cq_trace ib_uverbs rdma_rxe
