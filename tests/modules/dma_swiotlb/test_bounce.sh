#!/usr/bin/env bash
# description: each copy through a bounce buffer is reported, and the mapping that caused it says so
# tier1: 6.12
# timeout: 300
cd ../iommu || exit
. ./lib.sh
grep -q swiotlb=force /proc/cmdline || skip_all "needs swiotlb=force"
plan 13

e=dma_bounce m=dma_map_done u=dma_unmap_done
trace $e $m $u
ev_enable swiotlb/swiotlb_bounced
maps single 4096 10
t_eq "10 mappings: 10 copies" "$(ev_n $e)" 10
t_eq "as many as the kernel bounces" "$(grep -c ' swiotlb_bounced: ' "$INSTANCE/trace")" 10
t_eq "what" "$(ev_awk $e 'print f["dev"], f["dir"], f["bytes"]' | sort -u)" "$EDU to_device 4096"
t_eq "by which task" "$(ev_get $e tgid | sort -u)" $$
t_eq "it takes time" "$(ev_n $e 'f["duration_ns"] == 0')" 0
slots=$(<"/sys/kernel/debug/swiotlb/io_tlb_nslabs")
t_eq "the pool" "$(ev_get $e pool_slots | sort -u)" "$slots"
if [[ $(uname -r) != 6.1.* ]]; then # whose swiotlb does not count it
	t_eq "its use: each takes two slots and gives them back" "$(ev_n $e 'f["pool_used"] < 2') $(ev_get $e pool_used | sort -u | wc -l)" "0 1"
else
	t_eq "its use is not known" "$(ev_get $e pool_used | sort -u)" 0
fi
t_eq "the mappings say so" "$(ev_awk $m 'print f["path"], f["bytes"], f["bounced_bytes"]' | sort -u)" "swiotlb 4096 4096"
t_range "the copies are part of them" "$(ev_sum $e duration_ns)" 1 "$(ev_sum $m duration_ns)"

maps sg 65536 4096
t_eq "64 KiB from the device: copied back" "$(ev_sum $e bytes 'f["dir"] == "from_device"')" 65536
t_eq "64 KiB: unmapping says so" "$(ev_awk $u 'print f["path"], f["bytes"], f["bounced_bytes"]')" "swiotlb 65536 65536"
t_eq "who flushes nothing is told to be silent" "$(sed -n 's/^reach translated devices: \([0-9]*\) .*/\1/p' /sys/kernel/debug/iommu_trace/status)" 0
t_no_losses
