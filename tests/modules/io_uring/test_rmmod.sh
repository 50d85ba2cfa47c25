#!/usr/bin/env bash
# description: rmmod succeeds at any moment under load with ftrace users, leaves nothing, and is refused while perf or BPF listens
# timeout: 420
# once: ib_cq/rmmod and mm_migrate/rmmod remove modules under load on each kernel
# requires: fio perf bpftrace
. ./lib.sh
plan 15

rounds=$(at_length 15 5)
[ ! -e /sys/kernel/debug/kmemleak ] || rounds=10 # where each takes a minute
mk_instance "kstall-$$"
at_exit unload_if_loaded io_uring_trace

# --- under load, enabled by ftrace ---

fio --name=load --ioengine=io_uring --direct=1 --filename=$SCRATCH --size=64M --rw=randrw --bs=4k --iodepth=16 \
	--iodepth_batch_submit=4 --time_based --runtime=3600 >"$work/fio" 2>&1 &
fio=$!
at_exit pkill -KILL -x fio
disk=$(basename "$(readlink $SCRATCH)")
finished() { awk '{ print $1 + $5 }' "/sys/block/$disk/stat"; }

# A completion that got lost would stop it sooner or later.
goes_on() {
	local before
	before=$(finished)
	kill -0 $fio && wait_until 60 eval "[ \$(finished) -gt $((before + 100)) ]"
}

# shellcheck source=../../rmmod.sh
. ../../rmmod.sh
removed_under_load io_uring_req_done "$rounds"
t_ok "the load goes on" goes_on
t_eq "nothing is left behind" "$(leftovers)" ""

# --- refused ---

load io_uring_trace
perf record -q -o "$work/perf" -e io_uring_trace:io_uring_sq_full sleep 3600 2>"$work/perf.err" &
perf=$!
at_exit eval "kill $perf 2>/dev/null"
users() { [ "$(status_field io_uring_trace event "$1" users)" -ge 1 ]; }
t_ok "perf listens" wait_until 30 users io_uring_sq_full
t_fails "rmmod while perf listens is refused" rmmod io_uring_trace
t_ok "and the module works on" users io_uring_sq_full
interrupt $perf
idle() { ! users io_uring_sq_full; }
t_ok "perf is gone" wait_until 30 idle

bpftrace -e 'tracepoint:io_uring_trace:io_uring_sq_full { @ = count(); }' >"$work/bpf" 2>&1 &
bpftrace=$!
at_exit eval "kill $bpftrace 2>/dev/null"
t_ok "bpftrace listens" wait_until 200 users io_uring_sq_full
t_fails "rmmod while bpftrace listens is refused" rmmod io_uring_trace
interrupt $bpftrace
t_ok "bpftrace is gone" wait_until 30 idle
t_ok "then rmmod succeeds" wait_until 10 rmmod io_uring_trace
t_eq "nothing is left behind" "$(leftovers)" ""
t_ok "the load still goes on" goes_on
kill $fio
ended() { ! kill -0 $fio; }
t_ok "and ends when it is told to: nothing in flight was lost" wait_until 60 ended
ended 2>/dev/null || for task in $(pgrep -x fio); do cat "/proc/$task/comm" "/proc/$task/stack"; done | diag
