#!/usr/bin/env bash
# description: rmmod succeeds at any moment under load, with ftrace users, and leaves nothing
# timeout: 420
. ./lib.sh
plan 4

rounds=12
load mock_mm
mk_instance "kstall-$$"
at_exit unload_if_loaded mm_migrate_trace

# Two programs that migrate, unmap and flush without end.
loads=()
for node in 0 1; do
	while [ ! -e "$work/over" ]; do
		./mm node $node map 32 notify 0 list 0 notify 0 interval 0 spin 1 \
			repeat 10 move 0 1 move 0 0 dontneed 0 touch 0 end unmap 0 || exit
		echo . >>"$work/done.$node"
	done >"$work/load.$node" 2>&1 &
	loads+=($!)
done
finished() { cat "$work"/done.? 2>/dev/null | wc -l; }

# A moment of its own each time: everything enabled, one event, or enabling still under way.
one_round() {
	local enabling=
	insmod ../../mm_migrate_trace/mm_migrate_trace.ko || return
	case $(($1 % 3)) in
	0) ev_enable mm_migrate ;;
	1) ev_enable mm_migrate/mm_migrate_mmu_notifier_wait ;;
	2) ev_enable mm_migrate 2>/dev/null & enabling=$! ;;
	esac
	sleep "0.0$(($1 % 7))"
	rmmod mm_migrate_trace || return
	[ -z "$enabling" ] || wait $enabling || :
}

# Where kprobes, ftrace and the file systems would still know of us.
leftovers() {
	grep -hE 'mm_migrate_trace|kstall' /sys/kernel/debug/kprobes/list "$TRACEFS"/enabled_functions "$TRACEFS"/set_event /proc/kallsyms
	comm -13 "$work/kprobes" <(probed)
	ls -d /sys/kernel/debug/mm_migrate_trace "$TRACEFS"/events/mm_migrate /sys/module/mm_migrate_trace 2>/dev/null
}
probed() { awk '{ print $1, $3 }' /sys/kernel/debug/kprobes/list | sort; }

probed >"$work/kprobes"
begun() { [ "$(finished)" -ge 2 ]; }
wait_until 60 begun || bail "no load"
begin=$(finished)
for ((done = 0; done < rounds; done++)); do
	one_round $done 2>>"$work/errors" || break
done
t_eq "rmmod under load, ftrace users: succeeds $rounds times" $done $rounds
diag <"$work/errors" | tail -5
t_range "there was load" $(($(finished) - begin)) 1 999999999
t_eq "nothing is left behind" "$(leftovers)" ""
touch "$work/over"
wait "${loads[@]}"
t_eq "the load ends well: nothing in flight was lost" "$? $(cat "$work"/load.? | grep -c '^mm:')" "0 0"
