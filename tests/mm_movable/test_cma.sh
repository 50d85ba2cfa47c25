#!/usr/bin/env bash
# description: a device's large buffer comes out of CMA, and each of a program's pages that had to make room is told
cd ../mm_migrate || exit
# shellcheck source=../mm_migrate/lib.sh
. ./lib.sh

cma=/sys/kernel/mm/cma/reserved
[ -d $cma ] || skip_all "this kernel has no CMA (CONFIG_CMA)"
plan 7
wait=mm_migrate_mmu_notifier_wait batch=mm_migrate_batch
load mock_mm
trace $wait $batch mm_migrate_notifier
teach

# Movable memory comes out of CMA as long as most of what is free is there.
success=$(<$cma/alloc_pages_success)
mm node 0 map 20000 pfns 0 notify 0 interval 0 dma 80000 pfns 0
t_eq "the buffer is had, and out of CMA" "$(said "done") $(($(<$cma/alloc_pages_success) - success))" "80000 80000"
gone=$(paste <(said pfn | head -20000) <(said pfn | tail -20000) | awk '$1 != $2 { print $1 }' | sort)
told=$(ev_get $wait pfn "f[\"reason\"] == \"contig_range\" && f[\"owner_pid\"] == $(said pid)" | sort -u)
t_range "pages of the program had to move" "$(wc -w <<<"$gone")" 1 20000
t_eq "each had the driver asked" "$(comm -23 <(echo "$gone") <(echo "$told"))" ""
t_eq "and no other page" "$(comm -13 <(said pfn | head -20000 | sort) <(echo "$told"))" ""
t_range "the batches" "$(ev_sum $batch moved 'f["reason"] == "contig_range"')" "$(wc -w <<<"$gone")" 200000
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
