#!/usr/bin/env bash
# description: an allocation of certain pages, as CMA makes it, has others' moved away, and each of these is reported
cd ../mm_migrate || exit
# shellcheck source=../mm_migrate/lib.sh
. ./lib.sh
plan 5

wait=mm_migrate_mmu_notifier_wait batch=mm_migrate_batch
grep -q '^Node 1, zone  Movable' /proc/zoneinfo || skip_all "no movable memory"
load mock_mm
trace $wait $batch mm_migrate_notifier
teach

# The pfns of a region before and after, a line a page: those that changed.
gone() { paste <(said pfn | head -"$1") <(said pfn | tail -"$1") | awk '$1 != $2 { print $1 }' | sort; }
told() { ev_get $wait pfn "f[\"reason\"] == \"contig_range\" && f[\"owner_pid\"] == $(said pid) && f[\"callback\"] == \"mock_mm_invalidate\"" | sort -u; }

# The second region has the first leave the lists of pages that are on no LRU yet.
mm cpu 0 node 1 map 12 map 100 pfns 0 notify 0 interval 100 contig 0 pfns 0
t_eq "certain pages: all are had" "$(said "done") $(gone 12 | wc -l)" "12 12"
t_eq "certain pages: a wait for each" "$(told)" "$(gone 12)"
t_eq "certain pages: in batches with that reason" "$(ev_sum $batch moved "f[\"pid\"] == $(said pid) && f[\"reason\"] == \"contig_range\"")" 12
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
