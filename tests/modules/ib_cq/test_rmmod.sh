#!/usr/bin/env bash
# description: rmmod succeeds at any moment under traffic of a module and a program, with ftrace users, and leaves nothing
# tier1: 6.12
# takes: 12
# timeout: 420
. ./lib.sh
plan 4

rounds=$(at_length 3 1)
soft_roce
load mock_ib
mk_instance "kstall-$$"
at_exit unload_if_loaded ib_cq_trace

# load NAME command…: does it without end
load_with() {
	local name=$1
	shift
	while [ ! -e "$work/over" ]; do
		"$@" || exit
		echo . >>"$work/done.$name"
	done >"$work/load.$name" 2>&1
}
write_do() { echo "write 50 3" >$DO; }
load_with module write_do &
loads=($!)
load_with program ./verbs write 50 &
loads+=($!)

# shellcheck source=../../rmmod.sh
. ../../rmmod.sh
begun() { [ -s "$work/done.module" ] && [ -s "$work/done.program" ]; }
finished() { cat "$work"/done.* | wc -l; }
wait_until 60 begun || bail "no load"
removed_under_load ib_wr_latency 1
t_eq "nothing is left behind" "$(leftovers)" ""
touch "$work/over"
wait "${loads[0]}"
status=$?
wait "${loads[1]}"
status+=" $?"
diag <"$work/load.program" | grep failed
t_eq "the load ends well: nothing in flight was lost" "$status" "0 0"
