#!/usr/bin/env bash
# description: each allocation of addresses says how big it was, how long it took and whether a CPU's cache served it
# tier1: 6.12
# timeout: 400
. ./lib.sh
plan 15

e=iommu_iova_alloc m=dma_map_done
mode DMA
trace $e $m
count_calls alloc_iova_fast alloc_iova

# as_called: the module's sums are the function tracer's
as_called() {
	t_eq "$1: tries and searches as the functions are called" "$(ev_sum $e tries) $(ev_sum $e slow_tries)" \
		"$(calls alloc_iova_fast) $(calls alloc_iova)"
	: >"$calls/trace"
}

: >"$calls/trace"
maps single 4096 100
t_eq "4 KiB: an allocation for each mapping" "$(ev_n $e) $(ev_n $m)" "100 100"
as_called "4 KiB"
t_eq "4 KiB: what and for whom" "$(ev_awk $e 'print f["dev"], f["bytes"], f["tgid"]' | sort -u)" "$EDU 4096 $$"
t_eq "4 KiB: where" "$(ev_get $e iova)" "$(ev_get $m dma_addr)"
t_range "4 KiB: from the cache, but the first" "$(ev_n $e 'f["served"] == "cache"')" 95 100
t_eq "4 KiB: from the cache, or not" "$(ev_n $e '(f["served"] == "cache") != (f["slow_tries"] == 0)')" 0
t_eq "4 KiB: the limit is the device's" "$(ev_get $e limit | sort -u)" 0xffffffffffffffff
t_eq "4 KiB: it takes time" "$(ev_n $e 'f["duration_ns"] == 0')" 0
t_eq "4 KiB: the search is part of it" "$(ev_n $e 'f["slow_ns"] > f["duration_ns"] || (f["slow_ns"] > 0) != (f["slow_tries"] > 0)')" 0

maps single 5000 1
t_eq "5000 bytes: in pages" "$(ev_get $e bytes)" 8192
: >"$calls/trace"
maps single 1048576 10
as_called "1 MiB"
t_eq "1 MiB: always searched for" "$(ev_get $e served)" "$(printf 'slow\n%.0s' {1..10})"
maps sg 536870912 2097152
t_eq "512 MiB: one allocation" "$(ev_awk $e 'print f["bytes"], f["served"]')" "536870912 slow"
t_range "512 MiB: it is part of the mapping" "$(ev_get $e slow_ns)" 1 "$(ev_get $m iova_ns)"
t_no_losses
