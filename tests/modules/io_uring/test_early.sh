#!/usr/bin/env bash
# description: events that were wanted before the module was loaded are seen, and the flight recorder survives its module
. ./lib.sh
plan 11

at_exit unload_if_loaded io_uring_trace
module=../../../io_uring_trace/io_uring_trace.ko
mk_instance "kstall-$$"

# --- wanted before init: since 6.14 a module that is not there yet can be named ---

early="wanted before the module is loaded"
if echo ':mod:io_uring_trace' >"$INSTANCE/set_event" 2>/dev/null; then
	insmod $module
	run out ./uring nops 7 1
	t_eq "$early: enabled when init is done" "$(status_field io_uring_trace event io_uring_req_done state)" armed
	t_eq "$early: seen" "$(ev_n io_uring_req_done)" 7
	t_ok "$early: rmmod" rmmod io_uring_trace
else
	for t in enabled seen rmmod; do t_skip "$early: $t" "this kernel cannot"; done
fi

# --- recorder=1 ---

recorder=$TRACEFS/instances/kstall
[ -d "$recorder" ] || at_exit rmdir "$recorder"
recorded() { grep -c 'io_uring_sq_overflow:.*cause=short_submit' "$recorder/trace"; }

for round in first second; do
	insmod $module recorder=1
	t_eq "recorder, $round load: says so" "$(grep -o 'recorder=[a-z]*' /sys/kernel/debug/io_uring_trace/status)" recorder=kstall
	./uring short-submit >/dev/null
	./uring nops 7 1 >/dev/null
	t_eq "recorder, $round load: has what happened since" "$(recorded)" 1
	t_eq "recorder, $round load: only what is rare" "$(grep -c io_uring_req_done "$recorder/trace")" 0
	t_ok "recorder, $round load: rmmod" rmmod io_uring_trace
done
