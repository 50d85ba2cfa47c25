#!/usr/bin/env bash
# description: which queue pairs a search for failed ones asks, in which order: none that is destroyed, all in the end, each reported once
# tier1: 6.12
# takes: 14
. ./lib.sh

error=ib_qp_error
soft_roce
load mock_ib
plan 13
load ib_cq_trace max_qps=64
mk_instance "kstall-$$"
max=/sys/module/ib_cq_trace/parameters/qp_sweep_max

# The function that came with the fix: from then on a queue pair is out of the list before its driver destroys it.
fixed=$(grep -cw rdma_restrack_begin_del /proc/kallsyms)
# With counters of its own one sweep follows the other.
rdma statistic qp set link rxe0/1 auto type on || bail "rdma sets no counters"
at_exit rdma statistic qp set link rxe0/1 auto off

# stayers N: ./verbs has N queue pairs in ERR until gone, its process is $verbs
stayers() {
	[ -p "$work/stay" ] || mkfifo "$work/stay"
	rm -f "$work/out"
	./verbs errors "$1" <"$work/stay" >"$work/out" 2>&1 &
	verbs=$!
	exec 5>"$work/stay"
	wait_until 60 grep -q ready "$work/out" || bail "verbs does not work"
}
gone() { exec 5>&- && wait $verbs; }

# sweeps N: so many more have ended; none will where that is off
sweeps() { local n=$(($(sweep sweeps) + $1)); [ "$(sweep state)" = off ] || wait_until 120 swept $n || bail "no sweeps"; }

# held: has a program's queue pair wait in its driver's destroy_qp while others go by; what was asked is in $work/out then
held() {
	stayers 1
	mock watch 1
	exec 5>&-
	wait_until 20 begun || bail "nobody destroys it"
	sweeps 3
	mock asked
	echo go >$DO
	wait $verbs
}
begun() { mock_do asked | grep -q dying=1; }

# --- while one is destroyed ---

ev_enable ib_cq/$error
held
t_eq "its driver destroys it: it is not asked" "$(said asked_dying)" 0
if [ "$fixed" = 1 ]; then
	t_eq "the kernel has the fix: there are sweeps" "$(($(sweep sweeps) > 0)) $(grep -c CVE $STATUS)" "1 0"
	for desc in "the event works" "qp_sweep_force: there are sweeps, nothing is said" "and it is asked"; do
		t_skip "without the fix: $desc" "this kernel has it"
	done
else
	t_eq "without the fix: no sweep, and the status file says why" "$(sweep state) $(sweep sweeps) $(grep -c '^reach .*CVE.*qp_sweep_force=1' $STATUS)" "off 0 1"
	mock flush 5 1
	t_eq "without the fix: the event works" "$(ev_n $error) $(ev_get $error source)" "1 modify"
	sweep_anyway
	held
	t_eq "without the fix: qp_sweep_force: there are sweeps, nothing is said" "$(($(sweep sweeps) > 0)) $(grep -c CVE $STATUS)" "1 0"
	t_eq "without the fix: and it is asked" "$(($(said asked_dying) > 0))" 1
fi

# --- more than a sweep may ask, and more than there is room for in the table ---

ev_disable ib_cq/$error
stopped() { [ "$(sweep state)" = "$1" ]; }
wait_until 20 stopped idle || bail "sweeps go on"
one=$(at_length 130 60) other=$(at_length 300 200) at_once=$(at_length 100 60)
all=$((one + other))
echo "$at_once" >$max
mkfifo "$work/first"
./verbs errors "$one" <"$work/first" >"$work/first.out" 2>&1 &
first=$!
exec 6>"$work/first"
wait_until 60 grep -q ready "$work/first.out" || bail "verbs does not work"
stayers "$other" 6>&-
ev_clear
cut=$(sweep cut)
ev_enable ib_cq/$error
wait_until 120 have $error 1 "$all"
t_eq "$all failed, a sweep may ask $at_once: in the end all are reported" "$(ev_n $error) $(ev_get $error qp_num | sort -u | wc -l)" "$all $all"
t_eq "... after sweeps that were cut" "$(($(sweep cut) - cut >= 2))" 1
sweeps 4
snap
t_eq "... and none again" "$(ev_n $error)" "$all"
t_eq "... though most have no record" "$(($(in_use qps) < other))" 1
exec 6>&-
wait $first
sweeps 4
snap
t_eq "... nor when there is room for the record of one that had none" "$(ev_n $error)" "$all"
t_eq "the status file says how long it took to ask all" "$(($(sweep round_ns) > 0))" 1

# --- those that can fail come first ---

mock open
rts=$(said qp0 && said qp1)
echo 4096 >$max
sweeps 1
cut=$(sweep cut)
sweeps 1
t_eq "a sweep that may ask all is not cut" "$(sweep cut)" "$cut"
echo 0 >$max
wait_until 60 stopped watching || bail "the sweep does not end"
mock watch 0
echo 2 >$max
sweeps 1
mock asked
t_eq "of $((other + 2)) two are in RTS: a sweep of 2 asks these" "$(said asked | head -2 | sort)" "$(sort <<<"$rts")"
echo close >$DO
gone
