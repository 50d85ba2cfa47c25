#!/usr/bin/env bash
# description: NUMA balancing that moves pages under a driver is reported as such, page for page
# timeout: 420
. ./lib.sh
plan 9

wait=mm_migrate_mmu_notifier_wait batch=mm_migrate_batch
debug=/sys/kernel/debug/sched/numa_balancing
[ -d $debug ] || skip_all "no NUMA balancing"
for knob in scan_delay_ms scan_period_min_ms; do
	at_exit eval "echo $(<$debug/$knob) >$debug/$knob"
	echo 50 >$debug/$knob
done
load mock_mm
trace $wait $batch mm_migrate_notifier
teach

# This shell's pages may move, too, and after the end what has been looked at still does when it is used: what is traced has to begin
# and end when no move has come between that and the counter.
until migrated=$(vmstat numa_pages_migrated) && ev_clear && [ "$(vmstat numa_pages_migrated)" = "$migrated" ]; do :; done
echo 1 >/proc/sys/kernel/numa_balancing
./mm cpu 2 node 0 map 200 notify 0 interval 500 anywhere 0 balance 0 1 100000 >"$work/out" || bail "mm failed"
echo 0 >/proc/sys/kernel/numa_balancing
until now=$(vmstat numa_pages_migrated) && snap && [ "$(vmstat numa_pages_migrated)" = "$now" ]; do :; done
migrated=$((now - migrated))
numa='f["reason"] == "numa"'
mine="$numa && f[\"pid\"] == $(said pid)"
t_eq "all pages came to node 1" "$(said balanced)" 200
t_eq "as many as the kernel counts" "$(ev_sum $batch moved "$numa")" "$migrated"
t_eq "from node 0 to node 1" "$(ev_sum $batch moved "$mine && f[\"src_node\"] == 0 && f[\"dst_node\"] == 1")" "$(ev_sum $batch moved "$mine")"
t_range "the region was among them" "$(ev_sum $batch moved "$mine")" 200 100000
t_range "each of its pages had the driver asked" "$(ev_n $wait "$mine && f[\"callback\"] == \"mock_mm_invalidate\" && f[\"pages\"] == 1 && f[\"src_node\"] == 0")" 200 100000
t_eq "which took its time" "$(ev_n $wait "$mine && f[\"callback_ns\"] < 500000")" 0
# Pages outside of the region move too; there nobody is asked.
t_range "the batches' waits are the waits, and those without a driver" "$(ev_sum $batch waits "$mine")" "$(ev_n $wait "$mine")" "$(ev_sum $batch moved "$mine")"
t_range "NUMA scans have the driver asked too" "$(ev_n $wait 'f["reason"] == "numa_scan" && f["event"] == "protection_vma"')" 1 100000
t_no_losses
