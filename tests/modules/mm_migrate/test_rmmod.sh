#!/usr/bin/env bash
# description: rmmod succeeds at any moment under load, with ftrace users, and leaves nothing
# timeout: 420
. ./lib.sh
plan 4

rounds=$(at_length 12 3)
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

# shellcheck source=../../rmmod.sh
. ../../rmmod.sh
begun() { [ "$(finished)" -ge 2 ]; }
wait_until 60 begun || bail "no load"
removed_under_load mm_migrate_mmu_notifier_wait 1
t_eq "nothing is left behind" "$(leftovers)" ""
touch "$work/over"
wait "${loads[@]}"
t_eq "the load ends well: nothing in flight was lost" "$? $(cat "$work"/load.? | grep -c '^mm:')" "0 0"
