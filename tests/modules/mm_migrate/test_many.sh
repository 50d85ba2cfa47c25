#!/usr/bin/env bash
# description: of 100,000 invalidations from all CPUs none is lost, and what is in the table goes away
# timeout: 600
# once: the table is the same on each kernel, and churn fills it there
. ./lib.sh
plan 6

# hits EVENT: how often it fired, from its hist trigger
hits() { sed -n 's/.*Hits: *//p' "$TRACEFS/events/mm_migrate/$1/hist"; }

# count EVENT
count() {
	echo "hist:keys=reason" >"$TRACEFS/events/mm_migrate/$1/trigger" || bail "no hist trigger"
	at_exit eval "echo '!hist:keys=reason' >$TRACEFS/events/mm_migrate/$1/trigger"
}

load mock_mm
load mm_migrate_trace
# so that the callbacks are known before anything is counted
mk_instance "kstall-$$"
ev_enable mm_migrate/mm_migrate_notifier
teach
count mm_migrate_notifier
count mm_migrate_mmu_notifier_wait
ev_disable mm_migrate/mm_migrate_notifier
bytes=$(grep -c . /sys/kernel/debug/mm_migrate_trace/status)
./mm map 1 notify 0 list 0 storm 4 25000 counts unnotify >"$work/out" || bail "mm failed"
t_range "100,000 invalidations" "$(said list)" 100000 100100
t_eq "as many calls of the callback" "$(hits mm_migrate_notifier)" "$(said list)"
t_eq "as many waits" "$(hits mm_migrate_mmu_notifier_wait)" "$(said list)"
t_no_losses
t_eq "nothing is left in the table, and it was never fuller than there are threads" \
	"$(status_field mm_migrate_trace table tasks in_use) $(($(status_field mm_migrate_trace table tasks high_water) <= 4 * 32 + 8))" "0 1"
t_eq "the status file does not grow" "$(grep -c . /sys/kernel/debug/mm_migrate_trace/status)" "$bytes"
