#!/usr/bin/env bash
# Runs in the guest: prints "case NAME INSTRUCTIONS" for each way to listen to io_uring's requests. See ../vm/bench.
set -eu
cd "$(dirname "$0")"

T=/sys/kernel/tracing
E=$T/events/io_uring_trace/io_uring_req_done/enable
N=${N:-20000}

measure() { echo "case $1 $(./nops "$N")"; }

# with_bpftrace CASE PROGRAM: measured while the program is attached; its histogram must hold every request measured
with_bpftrace() {
	local out seen
	out=$(mktemp)
	bpftrace -e "BEGIN { printf(\"ready\n\"); } $2" >"$out" 2>&1 &
	until grep -q ready "$out"; do
		kill -0 $! 2>/dev/null || { echo "case $1 - $(tail -1 "$out")"; return; }
		sleep 0.1
	done
	sleep 5	# bpftrace runs BEGIN before it attaches the rest; under -icount this is 5e9 instructions for it
	measure "$1"
	kill -INT $!
	wait $! || true
	seen=$(sed -n 's/^@n: //p' "$out")
	[ "${seen:-0}" -ge "$N" ] || { echo "# $1 saw only ${seen:-0} of $N requests"; return 1; }
}

hist='@n = count(); @ = hist'
submit=io_uring_submit_req
[ -e $T/events/io_uring/$submit ] || submit=io_uring_submit_sqe

measure nothing
modprobe io_uring_trace
measure loaded
echo 1 >$E
measure ftrace
echo 0 >$E
# The worker disarms when the grace periods are over.
while grep -q state=armed /sys/kernel/debug/io_uring_trace/status; do sleep 0.1; done
measure disabled
with_bpftrace tracepoint "tracepoint:io_uring_trace:io_uring_req_done { $hist(args->total_ns); }"
with_bpftrace rawtracepoint "rawtracepoint:io_uring_req_done { $hist(arg0); }"
with_bpftrace today_tracepoints "tracepoint:io_uring:$submit { @s[args->req] = nsecs; }
	tracepoint:io_uring:io_uring_complete /@s[args->req]/ { $hist(nsecs - @s[args->req]); delete(@s[args->req]); }"
with_bpftrace today_kprobes "kprobe:io_issue_sqe { @s[tid] = nsecs; }
	kretprobe:io_issue_sqe /@s[tid]/ { $hist(nsecs - @s[tid]); delete(@s[tid]); }"
rmmod io_uring_trace
