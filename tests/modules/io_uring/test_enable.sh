#!/usr/bin/env bash
# description: what follows the enabling of an event is seen from its first request on, by ftrace and by perf
# once: what is enabled first is the same code on each kernel
# requires: perf
. ./lib.sh
plan 4

rounds=5

# Enabled and used at once, after each load of the module: a hook armed too late loses requests. Prints how many were seen.
ftrace_round() {
	insmod ../../../io_uring_trace/io_uring_trace.ko
	ev_clear
	ev_enable io_uring_trace/io_uring_wq_punt
	./uring io read $SCRATCH 7 4096 7 1 async >/dev/null
	snap
	ev_disable io_uring_trace/io_uring_wq_punt
	ev_n io_uring_wq_punt
	status_losses
	rmmod io_uring_trace
}

perf_round() {
	insmod ../../../io_uring_trace/io_uring_trace.ko
	perf stat -x, -o "$work/stat" -e io_uring_trace:io_uring_req_done ./uring nops 7 1 >/dev/null
	grep -oP '^\d+(?=,.*io_uring_req_done)' "$work/stat"
	rmmod io_uring_trace
}

times() { for ((i = 0; i < rounds; i++)); do "$@"; done | xargs; }

at_exit unload_if_loaded io_uring_trace
mk_instance "kstall-$$"
t_eq "ftrace: 7 of 7, each time" "$(times ftrace_round)" "7 7 7 7 7"
t_eq "perf stat: 7 of 7, each time" "$(times perf_round)" "7 7 7 7 7"

# Another user of the same event comes and goes: the first one goes on.
load io_uring_trace
ev_enable io_uring_trace/io_uring_req_done
run perf perf stat -x, -o "$work/stat" -e io_uring_trace:io_uring_req_done ./uring nops 7 1
t_eq "two users: perf" "$(grep -oP '^\d+(?=,.*io_uring_req_done)' "$work/stat")" 7
run out ./uring nops 11 1
t_eq "two users, one left: ftrace" "$(ev_n io_uring_req_done)" 11
