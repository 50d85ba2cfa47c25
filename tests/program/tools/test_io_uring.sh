#!/usr/bin/env bash
# description: io_uring_trace's bpftrace tools run unedited on this kernel's bpftrace and count exactly what a program did
# timeout: 200
# once: on each kernel tools/start starts the tools
# requires: bpftrace fio
# shellcheck source=../../modules/io_uring/lib.sh
. ../../modules/io_uring/lib.sh
# shellcheck source=lib.sh
. ./lib.sh
plan 31

# counts NAME MAP WHERE: of fio, over all keys with this place
counts() { grep -oP "^@$2\[fio, \d+, $3\]: .*count( =)? \K\d+" "$work/$1" | awk '{ n += $1 } END { print n + 0 }'; }

# pid_of N: of the N-th program in the workload that said it
pid_of() { grep -oP '^pid=\K.*' "$work/$1" | sed -n "$2p"; }

fio="fio --name=x --filename=$SCRATCH --ioengine=io_uring --direct=1 --rw=randread --bs=4k --size=1M --minimal --output=/dev/null"
uring=$PWD/../../modules/io_uring/uring
disk=$(basename "$(readlink -f "$SCRATCH")")

load io_uring_trace

# --- latency ---

workload "$fio --number_ios=101"
begin=$(date +%s)
tool io_uring_lat
pid=$(grep -oP '^@total_us\[fio, \K\d+' "$work/io_uring_lat")
t_eq "io_uring_lat: the first line says what and from which duration on" \
	"$(grep -m1 Tracing "$work/io_uring_lat")" "Tracing io_uring requests until Ctrl-C. io_uring_req_done_min_ns=0"
t_eq "io_uring_lat: histogram" "$(entries io_uring_lat "total_us[fio, $pid, READ]")" 101
for part in queue wq exec; do
	t_eq "io_uring_lat: $part" "$(stat io_uring_lat "${part}_us[fio, $pid, READ]" count)" 101
done

now=$(date +%s) said=$(grep -oP '^\d{4}-\S+ \S+ \S+(?= is )' "$work/io_uring_lat")
t_range "io_uring_lat: wall-clock time" "$(date -d "$said" +%s)" $((begin - 2)) "$now"
mono=$(grep -oP ' is \K\d+(?=\.\d{6} s of CLOCK_MONOTONIC)' "$work/io_uring_lat")
t_range "io_uring_lat: and CLOCK_MONOTONIC" "$((mono + $(date -d "$(uptime -s)" +%s)))" $((begin - 2)) $((now + 1))

echo 3600000000000 >/sys/module/io_uring_trace/parameters/io_uring_req_done_min_ns
../../../tools/io_uring_lat.bt >"$work/min" 2>&1 &
tracing=$!
wait_until 60 grep -q MONOTONIC "$work/min"
$fio --number_ios=7
interrupt $tracing
t_eq "io_uring_lat: ends by itself on Ctrl-C" "$?" 0
t_eq "io_uring_lat: min_ns shows, and holds" \
	"$(grep -oP 'min_ns=\K.*' "$work/min") $(grep -c '^@' "$work/min")" "3600000000000 0"
echo 0 >/sys/module/io_uring_trace/parameters/io_uring_req_done_min_ns

# --- block requests: 101 of io_uring, 7 of somebody else ---

workload "$fio --number_ios=101" "dd if=$SCRATCH of=/dev/null bs=4k count=7 iflag=direct status=none"
tool io_uring_blk
t_eq "io_uring_blk: io_uring's requests" "$(value io_uring_blk "requests[$disk, exact]")" 101
t_eq "io_uring_blk: somebody else's" "$(value io_uring_blk "requests[$disk, none]")" 7
for part in tag sched device; do
	t_eq "io_uring_blk: $part" "$(entries io_uring_blk "${part}_us[$disk]") $(stat io_uring_blk "spent_us[$disk, $part]" count)" "101 101"
done
t_eq "io_uring_blk: bytes" "$(sed -n "s/^@bytes\[$disk, fio, [0-9]*\]: //p" "$work/io_uring_blk")" $((101 * 4096))

# --- saturation ---

workload "$uring sq-full 4 17" "$uring short-submit" "$uring bad-index" "$uring sqpoll-wait 3 10" "$uring cq-overflow 10 reap"
tool io_uring_sat
sat() { value io_uring_sat "$1"; }
t_eq "io_uring_sat: full" "$(sat "sq_full[uring, $(pid_of io_uring_sat 1), 4]")" 17
t_eq "io_uring_sat: short_submit" "$(sat "sq_overflow[uring, $(pid_of io_uring_sat 2), short_submit]")" 1
t_eq "io_uring_sat: dropped_sqe" "$(sat "sq_overflow[uring, $(pid_of io_uring_sat 3), dropped_sqe]")" 1
pid=$(pid_of io_uring_sat 4)
t_eq "io_uring_sat: sqpoll_wait" "$(sat "sq_overflow[uring, $pid, sqpoll_wait]") $(entries io_uring_sat "sqpoll_wait_us[uring, $pid]")" "3 3"
pid=$(pid_of io_uring_sat 5)
t_eq "io_uring_sat: completions that did not fit" "$(sat "cq_overflow[uring, $pid, 4]") $(entries io_uring_sat "cq_overflow_us[uring, $pid]")" "12 1"
t_eq "io_uring_sat: phases, losses" \
	"$(sat "cq_phase[uring, $pid, begin]") $(sat "cq_phase[uring, $pid, flushed]") $(sat "cq_lost[uring, $pid]")" "1 1 0"

# --- what is lost, as an installed tool reports: of 512 in flight a table of 64 follows 64 at most ---

unload io_uring_trace
load io_uring_trace max_requests=64
ln -s "$(cd ../../../tools && pwd)/kstall-tool" "$work/kstall-io_uring_lat"

# installed DEPTH: prints the lines after the tool's own
installed() {
	workload "$fio --iodepth=$1 --iodepth_batch_submit=$1 --number_ios=512"
	"$work/kstall-io_uring_lat" -c "/bin/sh $work/workload" 2>&1 | grep ' events lost: '
}

dropped() { status_field io_uring_trace table requests dropped; }
t_eq "kstall-io_uring_lat: nothing lost, not a word" "$(installed 1)" ""
installed 256 >"$work/lost"
n=$(dropped)
t_range "kstall-io_uring_lat: some were lost" "$n" 1 512
t_eq "... it says how many, why, and what to raise" "$(cat "$work/lost")" \
	"$n events lost: table requests of io_uring_trace: was full, raise max_requests (64 now)"
installed 256 >"$work/lost"
t_eq "... of its own run alone" "$(grep -oP '^\d+(?= events lost: table requests .* was full)' "$work/lost")" $(($(dropped) - n))
unload io_uring_trace
load io_uring_trace

# --- writeback: how often a writer is held is the kernel's choice; the trace has to agree ---

mkdir "$work/mnt"
slow_disk
{ mke2fs -q -F /dev/ks_slow && mount /dev/ks_slow "$work/mnt"; } || bail "no file system"
at_exit umount "$work/mnt"
at_exit sysctl -q vm.dirty_ratio="$(sysctl -n vm.dirty_ratio)"
sysctl -q vm.dirty_bytes=8388608
mk_instance "kstall-$$"
ev_enable io_uring_trace/writeback_throttle
ev_enable io_uring_trace/writeback_wait_done
workload "fio --name=x --directory=$work/mnt --ioengine=io_uring --rw=write --bs=64k --size=24M --fallocate=none --end_fsync=1 --minimal --output=/dev/null"
tool writeback
snap
held=$(counts writeback throttled_us '\d+:\d+') waited=$(counts writeback waited_us ks_slow)
t_range "writeback: somebody was held" "$held" 1 1000000
t_eq "writeback: as often as the trace says" "$held $waited" \
	"$(ev_n writeback_throttle 'f["comm"] == "fio"') $(ev_n writeback_wait_done 'f["comm"] == "fio"')"
