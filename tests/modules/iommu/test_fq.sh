#!/usr/bin/env bash
# description: in lazy mode unmaps wait for a flush, by time or because the queue is full, and none is lost from the count
# arm64: SMMUv3's driver
# tier1: 6.12
# timeout: 400
. ./lib.sh
plan 15

e=iommu_fq_flush s=iommu_iotlb_sync u=dma_unmap_done
mode DMA-FQ
at_exit mode DMA
trace $e $s $u
known 2

# unmapped N: $done of them are flushed, a little later. The timer's interrupt may come while one of our probes runs: then this
# flush is not seen, which the status file counts as missed, and what waited counts with the next.
unmapped() {
	local i
	done=$1
	for i in {1..100}; do
		snap
		# not between the two events of one flush
		[ "$(ev_sum $e entries "$edu")" -lt "$done" ] || [ "$(ev_n $s "$edu")" != "$(ev_n $e)" ] || return 0
		sleep 0.1
		[ $((i % 20)) != 0 ] || { echo single 4096 1 >$mock/do; done=$((done + 1)); }
	done
}

maps single 4096 1000
unmapped 1000
t_eq "1000 unmaps: entries and bytes" "$(ev_sum $e entries "$edu") $(ev_sum $e bytes "$edu")" "$done $((done * 4096))"
t_eq "whose, by what" "$(ev_awk $e 'print f["dev"], f["driver"], f["iommu"], f["devices"], f["type"]' | sort -u)" "$EDU $DRIVER $IOMMU 1 dma_fq"
t_range "by time" "$(ev_n $e 'f["reason"] == "timeout"')" 1 1000
t_eq "each is a flush of all" "$(ev_n $s "$edu && f[\"all\"] == 1") $(ev_n $s "$edu && f[\"all\"] == 0")" "$(ev_n $e) 0"
t_eq "of the same time" "$(ev_get $s duration_ns "$edu")" "$(ev_get $e duration_ns)"
t_eq "it takes time" "$(ev_n $e 'f["duration_ns"] == 0')" 0
t_eq "the first had waited" "$(ev_n $e 'f["entries"] > 0 && f["waited_ns"] == 0')" 0
t_eq "unmapping did not wait" "$(ev_n $u "$edu && f[\"sync_ns\"] > 0")" "$(ev_n $e 'f["reason"] == "full"')"

# Each CPU has a queue of its own, which a flush empties, too. What is counted by CPU has to come out whole.
taskset -cp 0 $$ >/dev/null
maps single 4096 200
taskset -cp 1 $$ >/dev/null
echo single 8192 300 >$mock/do || bail "mock_dma: single"
unmapped 500
taskset -cp 0,1 $$ >/dev/null
t_eq "two CPUs: entries" "$(ev_sum $e entries "$edu")" "$done"
t_eq "two CPUs: bytes" "$(ev_sum $e bytes "$edu")" $((200 * 4096 + 300 * 8192 + (done - 500) * 4096))

# no timer in between: the queue of a CPU holds 256
maps single 4096 300 bh
unmapped 300
t_eq "300 at once: entries" "$(ev_sum $e entries "$edu")" "$done"
t_eq "300 at once: one flush because the queue was full" "$(ev_n $e 'f["reason"] == "full"')" 1
t_range "300 at once: what had waited then" "$(ev_get $e entries 'f["reason"] == "full"')" 250 257
t_eq "300 at once: who had to wait for it" "$(ev_get $e tgid 'f["reason"] == "full"') $(ev_n $u "$edu && f[\"sync_ns\"] > 0")" "$$ 1"
t_eq "the status file knows of no other loss" "$(status_losses | grep -E '(recursed|dropped|evicted|unmatched|clamped)=[1-9]')" ""
