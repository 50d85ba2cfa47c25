#!/usr/bin/env bash
# description: a driver whose callback is watched may go and come back; the module may go while tasks wait and migrate
. ./lib.sh
plan 15

call=mm_migrate_notifier wait=mm_migrate_mmu_notifier_wait
trace $call $wait
t_eq "without a driver the events are armed all the same" "$(status_field mm_migrate_trace event $call state)" armed
for round in 1 2 3; do
	modprobe mock_mm || bail "no mock_mm"
	teach
	mm node 0 map 8 notify 0 list 0 notify 0 interval 0 move 0 1 counts unnotify
	t_eq "round $round: every call" "$(ev_n $call 'f["via"] == "list"') $(ev_n $call 'f["via"] == "interval"')" "$(said list) $(said interval)"
	t_ok "round $round: the driver can be removed while it is watched" rmmod mock_mm
	t_eq "round $round: its callbacks are gone" "$(grep -c 'here=1' /sys/kernel/debug/mm_migrate_trace/status)" 0
done
t_eq "its names are known once" "$(grep -c '^callback .*module=mock_mm' /sys/kernel/debug/mm_migrate_trace/status)" 2
t_no_losses

# --- the module goes while somebody waits ---

load mock_mm
teach
./mm node 0 map 20 notify 0 list 300000 tell "$work/begun" move 0 1 counts >"$work/out" &
pid=$!
wait_until 60 test -e "$work/begun"
# The wait is under way when its callback has been called.
waiting() { [ "$(status_field mm_migrate_trace table tasks in_use)" -ge 1 ]; }
wait_until 60 waiting
t_ok "rmmod while a task waits for a slow callback" rmmod mm_migrate_trace
wait $pid
t_eq "it goes on" "$? $(said moved)" "0 20"

# --- enabling and disabling while tasks migrate ---

load mm_migrate_trace
./mm node 0 map 64 notify 0 list 0 notify 0 interval 0 repeat 25 move 0 1 move 0 0 end >"$work/out" &
pid=$!
for ((i = 0; i < 10; i++)); do
	ev_enable mm_migrate
	ev_disable mm_migrate
	ev_enable mm_migrate/mm_migrate_batch
	ev_disable mm_migrate/mm_migrate_batch
done
wait $pid
t_eq "enabled and disabled under load: the program does not notice" "$? $(grep -c moved=64 "$work/out")" "0 50"
