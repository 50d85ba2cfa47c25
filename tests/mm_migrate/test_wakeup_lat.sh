#!/usr/bin/env bash
# description: wakeup_lat.bt runs unedited on this kernel's bpftrace and counts the wake-ups of the threads it is asked for
# requires: bpftrace
. ../lib.sh
# shellcheck source=../tools/lib.sh
. ../tools/lib.sh
plan 5

work=$(mktemp -d)
at_exit rm -rf "$work"
for name in trainer loader; do ln -s "$PWD/mm" "$work/$name"; done
workload "$work/loader repeat 10 sleep 5 end & $work/trainer cpu 0 repeat 40 sleep 5 end; wait"

tool() {
	../../scripts/wakeup_lat.bt -c "/bin/sh $work/workload" "$@" >"$work/out" 2>"$work/err"
	t_eq "runs without a warning: $*" "$? $(grep -hi warning "$work/out" "$work/err"; grep -v ^Attached "$work/err")" "0 "
}

# Each sleep is one; so is an exec's move to another CPU, and a wait for the disk.
tool trainer
t_range "the chosen thread: its wake-ups" "$(entries out 'woken_us[trainer]')" 40 80
t_eq "and no others" "$(grep -c '^@woken_us' "$work/out")" 1
tool
t_range "all threads" "$(($(entries out 'woken_us[trainer]') + $(entries out 'woken_us[loader]')))" 50 140
