#!/usr/bin/env bash
# description: io_uring_block_rq's times are the device's, the scheduler's and the wait for a tag, and every byte is accounted for
# requires: fio module:null_blk
. ./lib.sh
plan 28

trace io_uring_block_rq
echo mono >"$INSTANCE/trace_clock" # as the fields
ev=io_uring_block_rq
scratch=$(basename "$(readlink $SCRATCH)")
disks="ks_delay|ks_tag|ks_slow|$scratch"

# moved DISK: bytes read and written, by the disk's own counters
moved() { awk '{ print ($3 + $7) * 512 }' "/sys/block/$1/stat"; }

# accounted DESC DISK command…: runs it; the events' bytes are those that the disk's counters say
accounted() {
	local desc=$1 disk=$2 before
	shift 2
	before=$(moved "$disk")
	uring "$@"
	t_eq "$desc: the disk's counters say the same" "$(ev_sum $ev len_bytes "f[\"dev\"] == \"$disk\"")" $(($(moved "$disk") - before))
}

# in_turn: with one request at a time, none begins before the one before it is complete. Prints how many did so, of those that had
# one before them. By the events' own time, at completion: who got its tag may be held up before it comes to the scheduler, which
# no field counts. Text has microseconds, hence the 2000.
in_turn() {
	ev_awk $ev 'now = substr($4, 1, length($4) - 1) * 1e9; printf "%.0f %.0f\n", now - f["device_ns"] + 2000, now' |
		sort -n | awk 'NR > 1 && $1 >= end { n++ } { end = $2 } END { print n + 0 }'
}

# --- the device ---

ms=1000000
null_blk ks_delay irqmode=2 completion_nsec=$((20 * ms)) submit_queues=1
echo none >/sys/block/ks_delay/queue/scheduler
accounted "20 ms device" ks_delay io read /dev/ks_delay 11 4096 1 31
t_eq "20 ms device: device_ns is that or more" "$(ev_n $ev "f[\"device_ns\"] >= 20 * $ms && f[\"dev\"] == \"ks_delay\"")" 11
t_eq "20 ms device: and no more than the program waited" \
	"$(paste -d' ' <(ev_get $ev device_ns) <(said ns) | awk '$1 <= $2' | wc -l)" 11
t_eq "no scheduler: sched_ns is 0" "$(ev_n $ev 'f["sched_ns"] == 0')" 11
t_eq "sectors in order" "$(ev_get $ev sector | xargs)" "$(seq 0 8 80 | xargs)"
t_eq "op: reads" "$(ev_n $ev 'f["op"] == "READ" && f["status"] == 0')" 11
uring io write /dev/ks_delay 3 8192 1 31
t_eq "op: writes" "$(ev_n $ev 'f["op"] == "WRITE" && f["len_bytes"] == 8192')" 3

# longest FIELD LEAST command…: again if the machine stood still for as long as the device takes, so that nobody had to wait
longest() { for _ in 1 2 3 4; do [ "$(ev_get $ev "$1" | sort -n | tail -1)" -lt "$2" ] || break; uring "${@:3}"; done; }

# --- the tag: one, and four that want it ---

null_blk ks_tag irqmode=2 completion_nsec=$((300 * ms)) submit_queues=1 hw_queue_depth=1
echo none >/sys/block/ks_tag/queue/scheduler
echo 2 >/sys/block/ks_tag/queue/nomerges
accounted "one tag" ks_tag io read /dev/ks_tag 4 4096 4 41 async
longest tag_ns $((300 * ms)) io read /dev/ks_tag 4 4096 4 41 async
t_eq "one tag: four requests" "$(ev_get $ev user_data | sort | xargs)" "41 42 43 44"
t_eq "one tag: who has none waits until the one before is complete" "$(in_turn)" 3
# The last waits for three of 300 ms, less what passed until it was queued itself.
t_range "one tag: it is tag_ns that says so" "$(ev_get $ev tag_ns | sort -n | tail -1)" $((300 * ms)) "$(said ns | sort -n | tail -1)"
t_eq "one tag: not the device" "$(ev_n $ev "f[\"device_ns\"] >= 300 * $ms && f[\"sched_ns\"] == 0")" 4

# --- the scheduler: the same device, but there a request waits in it ---

modprobe mq-deadline 2>/dev/null
echo mq-deadline >/sys/block/ks_tag/queue/scheduler
accounted "mq-deadline" ks_tag io read /dev/ks_tag 2 4096 2 51 async
longest sched_ns $((10 * ms)) io read /dev/ks_tag 2 4096 2 51 async
t_eq "mq-deadline: two requests" "$(ev_get $ev user_data | sort | xargs)" "51 52"
t_eq "mq-deadline: one waits in it until the other is complete" "$(in_turn)" 1
t_range "mq-deadline: it is sched_ns that says so" "$(ev_get $ev sched_ns | sort -n | tail -1)" $((10 * ms)) "$(said ns | sort -n | tail -1)"
t_eq "mq-deadline: not the device" "$(ev_n $ev "f[\"device_ns\"] >= 300 * $ms")" 2

# --- a request that the scheduler merges into another one: it never comes to the disk ---

null_blk ks_hold irqmode=2 completion_nsec=$((3000 * ms)) submit_queues=1 hw_queue_depth=8
echo mq-deadline >/sys/block/ks_hold/queue/scheduler
disks+="|ks_hold"
# eight that the disk has and one that is its next, two with a gap, and one that fills it; of 16 requests 6.1 leaves writes 12
{
	printf '%s\n' "fio version 2 iolog" "/dev/ks_hold add" "/dev/ks_hold open"
	printf '/dev/ks_hold write %d 4096\n' $(seq 1024000 1024000 9216000) 0 8192 4096
	echo "/dev/ks_hold close"
} >"$work/iolog"
merged() { awk '{ print $2 + $6 }' /sys/block/ks_hold/stat; }
for try in 1 2 3 4; do
	before=$(merged)
	run out fio --name=x --read_iolog="$work/iolog" --ioengine=libaio --iodepth=16 --direct=1 --minimal
	[ $(($(merged) - before)) -lt 2 ] || break
	echo "# $try: too slow to be merged"
done
t_eq "merged requests: two merges, of twelve writes" "$(($(merged) - before)) $(ev_sum $ev len_bytes 'f["dev"] == "ks_hold"')" "2 49152"
t_eq "merged requests: each part's" "$(ev_get $ev sector 'f["dev"] == "ks_hold"' | sort -n | xargs)" "0 8 16 $(seq 2000 2000 18000 | xargs)"
# of another disk's there may be one at any time
none_left() { [ "$(status_field io_uring_trace table block_requests in_use)" = 0 ]; }
t_ok "merged requests: none is left" wait_until 30 none_left

# --- a disk of 6 MB/s ---

slow_disk
accounted "6 MB/s disk" ks_slow io write /dev/ks_slow 64 65536 1 61
# 64 requests of 10 ms, less the last one, which may be acknowledged before it is over
t_range "6 MB/s disk: device_ns is the throttling" "$(ev_sum $ev device_ns)" $((630 * ms)) "$(said ns | awk '{ n += $1 } END { printf "%.0f", n }')"

# --- a disk that is gone fails what is in its queue: that was never the device's ---

if modprobe -a sd_mod scsi_debug 2>/dev/null; then
	at_exit rmmod scsi_debug
	gone=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*)
	disks+="|$gone"
	wait_until 30 test -b "/dev/$gone"
	echo mq-deadline >"/sys/block/$gone/queue/scheduler"
	read_gone() { dd bs=4096 count=1 iflag=direct of=/dev/null || true; }
	exec 5<"/dev/$gone"
	echo offline >"/sys/block/$gone/device/state"
	run out read_gone <&5
	exec 5<&-
	echo running >"/sys/block/$gone/device/state"
	t_eq "a disk that is gone: fails" "$(ev_n $ev "f[\"dev\"] == \"$gone\" && f[\"status\"] == -5")" 1
	t_eq "a disk that is gone: never had it" "$(ev_get $ev device_ns "f[\"dev\"] == \"$gone\"")" 0
	t_range "a disk that is gone: it was with the scheduler" "$(ev_get $ev sched_ns "f[\"dev\"] == \"$gone\"")" 1 60000000000
else
	for t in fails had scheduler; do t_skip "a disk that is gone: $t" "no scsi_debug"; done
fi

# --- min_ns ---

echo $((1 << 40)) >/sys/module/io_uring_trace/parameters/${ev}_min_ns
uring io read $SCRATCH 5 4096 1 71
t_eq "min_ns: none is that long" "$(ev_n $ev)" 0
t_eq "min_ns: they are counted" "$(status_field io_uring_trace event $ev suppressed)" 5
t_no_losses
