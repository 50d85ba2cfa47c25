#!/usr/bin/env bash
# description: a mapping of another device's memory says p2p=1, one of this machine's 0
. ./lib.sh
grep -qw pci_alloc_p2pmem /proc/kallsyms || skip_all "a kernel without CONFIG_PCI_P2PDMA"
plan 4

mode identity
nvme
trace dma_map_done dma_unmap_done
# what EVENT: that of one mapping
what() { for key in op p2p bytes; do ev_get "$1" $key "$edu"; done | xargs; }

maps peer 8192 0
t_eq "a page of it" "$(what dma_map_done), $(what dma_unmap_done)" "single 1 8192, single 0 8192"
maps peer 8192 1
t_eq "a list of it, which the kernel refuses where the two have no bridge in common" "$(what dma_map_done)" "sg 1 0"
maps single 8192 1
t_eq "memory of the machine" "$(what dma_map_done)" "single 0 8192"
t_no_losses
