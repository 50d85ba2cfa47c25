#!/usr/bin/env bash
# description: writeback_throttle and writeback_wait_done blame the writer and last as long as the scheduler and the program say
# tier1: 6.12
# requires: module:null_blk dmsetup mkfs.ext4
. ./lib.sh
plan 19

trace writeback_throttle writeback_wait_done
throttle=writeback_throttle
wait=writeback_wait_done
slow_disk
bdi=$(cat /sys/block/ks_slow/dev)

set_dirty_bytes() { echo "$1" >/proc/sys/vm/dirty_bytes; }
at_exit eval "echo $(cat /proc/sys/vm/dirty_ratio) >/proc/sys/vm/dirty_ratio"
set_dirty_bytes $((4 << 20))

# --- throttled: 16 MiB at 6 MB/s, of which 4 may be dirty; the scheduler knows how long the writer slept where the kernel held it ---

ev_enable writeback/balance_dirty_pages
echo 'prev_comm == "dd" || next_comm == "dd"' >"$INSTANCE/events/sched/sched_switch/filter" || bail "no filter"
ev_enable sched/sched_switch
# slept: ns that dd slept from balance_dirty_pages on to the next of its own events, which a sleep elsewhere is not followed by
slept() {
	awk '/ balance_dirty_pages: / && / dd-[0-9]/ { n += nap; nap = 0; held = 1 }
	/ writeback_throttle: / && / dd-[0-9]/ { n += nap; nap = held = 0 }
	/ sched_switch: / {
		for (i = 1; $(i + 1) != "sched_switch:"; i++)
			;
		if (held && !nap && / prev_comm=dd .* prev_state=D/) out = $i
		if (out && / next_comm=dd /) { nap += $i - out; out = 0 }
	} END { printf "%.0f\n", n * 1e9 }' "$work/trace"
}

begin=$(date +%s%N)
run dd dd if=/dev/zero of=/dev/ks_slow bs=64k count=256
took=$(($(date +%s%N) - begin))
# Half: a sleep on the way from a call that did not pause to the next one is taken for a pause.
slept=$(slept)
t_range "dd was seen to sleep" "$slept" 1 "$took"
t_range "dd is held as long as it slept, and no longer than it ran" \
	"$(ev_sum $throttle pause_ns 'f["comm"] == "dd"')" $((slept / 2)) "$took"
t_eq "dd: every event is of its disk" "$(ev_get $throttle dev 'f["comm"] == "dd"' | sort -u)" "$bdi"
t_eq "dd: it did dirty pages" "$(ev_n $throttle 'f["comm"] == "dd" && (f["pages_dirtied"] < 1 || f["pages_dirtied"] > 4096)')" 0
t_eq "dd: no event without a pause" "$(ev_n $throttle 'f["pause_ns"] < 1000')" 0
dirty_limit=$(((4 << 20) / 4096))
# They are counted at the end of a pause, which the kernel makes 200 ms at most: who is held up for longer finds less.
t_eq "dd: the system is near its limit of dirty pages" \
	"$(ev_n $throttle "f[\"comm\"] == \"dd\" && f[\"pause_ns\"] < 200000000 && (f[\"dirty_pages\"] + f[\"writeback_pages\"] < $dirty_limit / 4)")" 0
t_eq "dd: one process" "$(ev_get $throttle tgid 'f["comm"] == "dd"' | sort -u | wc -l)" 1

uring io write /dev/ks_slow 64 262144 8 1 buffered
t_range "io_uring writer: held" "$(ev_n $throttle "f[\"tgid\"] == $(said pid)")" 1 99999
t_eq "io_uring writer: it is the program that is blamed, not its workers" \
	"$(ev_get $throttle comm "f[\"tgid\"] == $(said pid)" | sort -u) $(ev_n $throttle 'f["comm"] ~ /iou-wrk/')" "uring 0"

echo $((1 << 40)) >/sys/module/io_uring_trace/parameters/${throttle}_min_ns
uring io write /dev/ks_slow 64 262144 8 1 buffered
t_eq "min_ns: none is that long" "$(ev_n $throttle)" 0
t_range "min_ns: they are counted" "$(status_field io_uring_trace event $throttle suppressed)" 1 99999
ev_disable writeback/balance_dirty_pages
ev_disable sched/sched_switch
set_dirty_bytes $((64 << 20))

# --- fsync on a disk that stands still for at least 300 ms while it waits ---

sync
dmsetup create kstall_fs --table "0 131072 linear $SCRATCH 0"
dmsetup mknodes kstall_fs
at_exit dmsetup remove --retry kstall_fs
mkfs.ext4 -q -F -O ^has_journal -E nodiscard /dev/mapper/kstall_fs
mkdir "$work/fs"
mount /dev/mapper/kstall_fs "$work/fs"
at_exit umount "$work/fs"
dm=$(basename "$(readlink -f /dev/mapper/kstall_fs)")
[ -e "/sys/block/$dm" ] || dm=$(dmsetup info -c --noheadings -o blkdevname kstall_fs)

coproc ./uring fsync "$work/fs/file" $((1 << 20))
program=$COPROC_PID
exec {from}<&"${COPROC[0]}" {to}>&"${COPROC[1]}"
read -r -u "$from" pid
pid=${pid#pid=}
read -r -u "$from" line
t_eq "the program has written" "$line" written
ev_clear
dmsetup suspend --nolockfs --noflush kstall_fs
echo go >&"$to"
asleep() { grep -q '^State:.D' "/proc/$pid/status"; }
wait_until 30 asleep
sleep 0.3
dmsetup resume kstall_fs
read -r -u "$from" line
wait "$program"
snap
file="f[\"kind\"] == \"range\" && f[\"tgid\"] == $pid && f[\"ino\"] == $(stat -c %i "$work/fs/file")"
t_range "fsync: waited at least as long as the disk stood still, at most as long as fsync took" \
	"$(ev_sum $wait wait_ns "$file")" 300000000 "${line#ns=}"
t_eq "fsync: one event for the range" "$(ev_n $wait "$file")" 1
t_range "fsync: pages" "$(ev_get $wait pages "$file")" 1 256
t_eq "fsync: file system" "$(ev_get $wait sb "$file")" "$dm"
t_eq "fsync: backing device" "$(ev_get $wait dev "$file")" "$(cat "/sys/block/$dm/dev")"
t_eq "fsync: the program is blamed" "$(ev_get $wait comm "$file")" uring

# --- nothing to wait for ---

run out dd if="$work/fs/file" of=/dev/null bs=1M
run out sync "$work/fs/file"
t_eq "sync of a clean file: no event" "$(ev_n $wait)" 0
