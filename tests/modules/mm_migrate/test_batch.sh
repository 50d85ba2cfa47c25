#!/usr/bin/env bash
# description: a batch of migrated pages says why, how many, from where to where, and what of its time were notifiers and TLB flushes
# tier1: 6.12
. ./lib.sh
plan 16

batch=mm_migrate_batch
ms=000000
load mock_mm
trace $batch
mine() { echo "f[\"pid\"] == $(said pid)"; }

mm node 0 map 100 pfns 0 move 0 1
t_eq "move_pages: moved" "$(said moved)" 100
t_eq "move_pages: one batch of 100" "$(ev_get $batch reason "$(mine)") $(ev_get $batch pages "$(mine)") $(ev_get $batch moved "$(mine)") $(ev_get $batch failed "$(mine)")" "syscall 100 100 0"
t_eq "move_pages: its first page" "$(ev_get $batch pfn "$(mine)")" "$(said pfn | head -1)"
t_eq "move_pages: nodes" "$(ev_get $batch src_node "$(mine)") $(ev_get $batch dst_node "$(mine)")" "0 1"
t_eq "move_pages: mode, result" "$(ev_get $batch mode "$(mine)") $(ev_get $batch result "$(mine)")" "sync 0"
t_eq "no notifier, no wait" "$(ev_get $batch waits "$(mine)") $(ev_get $batch notifier_ns "$(mine)")" "0 0"

mm node 1 map 10 notify 0 list 2000 move 0 0
t_eq "a slow notifier: the waits" "$(ev_get $batch waits "$(mine)") $(ev_get $batch src_node "$(mine)") $(ev_get $batch dst_node "$(mine)")" "10 1 0"
t_range "a slow notifier: their time" "$(ev_get $batch notifier_ns "$(mine)")" 20$ms "$(ev_get $batch duration_ns "$(mine)")"

mm cpu 0 node 0 map 10 spin 3 move 0 1
t_range "threads on other CPUs: shootdowns" "$(ev_get $batch shootdowns "$(mine)")" 1 10
t_range "threads on other CPUs: their time" "$(ev_get $batch tlb_ns "$(mine)")" 1 "$(ev_get $batch duration_ns "$(mine)")"

if has_thp; then
	mm node 0 huge 1 move 0 1
	t_eq "a huge page" "$(ev_get $batch moved "$(mine)") $(ev_get $batch thp_moved "$(mine)") $(ev_get $batch thp_split "$(mine)")" "512 1 0"
	failed=$(vmstat thp_migration_fail) split=$(vmstat thp_migration_split)
	mm node 0 huge 1 hold 0 move 0 1
	t_eq "a huge page that cannot move" "$(ev_get $batch moved "$(mine)") $(ev_get $batch thp_failed "$(mine)") $(ev_get $batch thp_split "$(mine)")" \
		"0 $(($(vmstat thp_migration_fail) - failed)) $(($(vmstat thp_migration_split) - split))"
	t_eq "... is failed, not split" "$(ev_get $batch thp_failed "$(mine)") $(ev_get $batch thp_split "$(mine)")" "1 0"
else
	for what in "a huge page" "a huge page that cannot move" "... is failed, not split"; do t_skip "$what" "a kernel without them"; done
fi
mm node 0 map 5 mbind 0 1
t_eq "mbind" "$(ev_get $batch reason "$(mine)" | sort -u) $(ev_sum $batch moved "$(mine)")" "mbind 5"
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
