#!/usr/bin/env bash
# description: what kstall metrics cannot open is not missing: its layer is unreadable, and it says why
# host: it reads a tracefs that the test makes up
# tier1: 6.12
# once: it does not ask the kernel
# requires: unshare python3
. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
fail=$tests/program/why/fail.so
[ -e "$fail" ] || skip_all "fail.so is not built here"
plan 7

export RUNTIME_DIRECTORY=$work/run KS_TRACEFS=$work/tracefs
event=$KS_TRACEFS/instances/kstall_metrics/events/io_uring_trace/io_uring_req_done
xid=$KS_TRACEFS/instances/kstall_metrics_xid
mkdir -p "$work/dir" "$event"
trigger='hist:keys=opcode,total_ns.log2:vals=hitcount,total_ns:sort=hitcount:size=512 [active]'
echo "$trigger" >"$event/trigger"
printf '{ opcode:         22, total_ns: ~ 2^20 } hitcount:          7  total_ns:       5000\n\nTotals:\n    Dropped: 0\n' >"$event/hist"
touch "$event/format"

# reads FAIL: the page of a pass with the driver of NVIDIA, while KS_FAIL is that
reads() {
	: >"$err"
	rm -f "$page"
	# shellcheck disable=SC2016 # for the inner shell
	KS_FAIL=$1 unshare -m sh -c 'mount -t tmpfs none /sys && mkdir -p /sys/module/nvidia &&
		LD_PRELOAD=$1 exec "$2" metrics --every 1h --textfile "$3"' sh "$fail" "$KSTALL" "$work/dir" 2>"$err" &
	pid=$!
	wait_until 60 has_sample kstall_metrics_passes_total
	cp "$page" "$work/page"
	ends_metrics TERM
	cp "$work/page" "$page"
}
reach() { grep -oP "^kstall_reach\{layer=\"$1\",state=\"\K[^\"]*" "$page"; }
# A directory is not removed as an instance is.
said() { grep -v ' stays: Directory not empty$' "$err"; }
requests() { sample kstall_events_total 'event="io_uring_req_done"'; }

reads "nothing 0"
t_eq "all can be read" "$(reach io_uring) $(requests) $(said)" "armed 7 "
for file in hist trigger format; do
	echo "$trigger" >"$event/trigger"
	reads "$event/$file 24"
	t_eq "$file" "$(reach io_uring) $(requests) $(said)" "unreadable  kstall: cannot be read: io_uring_req_done (Too many open files)"
done
rm -r "$event"
reads "nothing 0"
t_eq "an event that is not there" "$(reach io_uring) $(said)" "not_loaded "

# --- errors of NVIDIA's driver ---

mkdir -p "$xid"
touch "$xid/trace_pipe"
reads "/dev/kmsg 1"
t_eq "neither the driver's events nor the log" "$(reach xid) $(said)" \
	"unreadable kstall: cannot be read: xid (Operation not permitted) and 1 more"
mkdir -p "$xid/events/nvidia/nvidia_dev_xid"
echo 1 >"$xid/events/nvidia/nvidia_dev_xid/enable"
echo ' python-7 [000] d..1. 5.0: nvidia_dev_xid: Xid (PCI:0000:19:00): 119, timeout' >"$xid/trace_pipe"
reads "/dev/kmsg 1"
t_eq "the driver's events" "$(reach xid) $(sample kstall_events_total 'event="xid"' 'cause="119"')" "armed 1"
