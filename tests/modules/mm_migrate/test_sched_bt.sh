#!/usr/bin/env bash
# description: the scheduler's bpftrace tools, which need no module, run unedited on this kernel's bpftrace and say what programs did
# once: on each kernel tools/start starts the tools
# requires: bpftrace
. ./lib.sh
# shellcheck source=../../program/tools/lib.sh
. ../../program/tools/lib.sh
plan 25

for name in trainer loader proxy waiter mover; do ln -s "$PWD/mm" "$work/$name"; done
ln -s "$(command -v dd)" "$work/reader"

# tid_of TOOL N: of the N-th program in the workload
tid_of() { grep -oP '^pid=\K.*' "$work/$1" | sed -n "$2p"; }

# --- a CPU quota: 10 ms of each 100, and 50 ms of work ---

echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
for cgroup in "/sys/fs/cgroup/kstall-$$"{a,b}; do
	mkdir "$cgroup" || bail "no cgroup"
	at_exit rmdir "$cgroup"
	echo 10000 100000 >"$cgroup/cpu.max"
done

# loader has no quota; proxy has, and sleeps most of the time, beside one that uses it up.
workload "$work/loader cpu 1 map 16 steps 0 5 10 >/dev/null &" \
	"$work/mover cpu 2 enter $cgroup map 16 steps 0 5 10 >/dev/null &" \
	"$work/proxy cpu 2 enter $cgroup repeat 40 sleep 10 end >/dev/null &" \
	"$work/trainer cpu 1 enter ${cgroup%b}a map 16 steps 0 5 10" wait
tool cfs_throttle
key=$(grep -oP '^@suspended_us\[\Ktrainer, [^]]*' "$work/cfs_throttle")
t_eq "cfs_throttle: which thread, on which CPU and node, how many CPUs it may use" "$key" "trainer, $(tid_of cfs_throttle 1), 1, 0, 1"
t_range "cfs_throttle: so often" "$(stat cfs_throttle "suspended_us[$key]" count)" 1 1000
t_eq "cfs_throttle: and as often in the histogram" "$(entries cfs_throttle 'spell_us[trainer]')" "$(stat cfs_throttle "suspended_us[$key]" count)"
# Most of what a step takes, but for waits for the CPU; what it uses too much in its last it does not pay for any more.
wall=$(($(grep -oP '5 steps, \K\d+' "$work/cfs_throttle") * 5000))
t_range "cfs_throttle: for so long" "$(stat cfs_throttle "suspended_us[$key]" total)" $((wall > 300000 ? wall / 4 - 100000 : 1)) 6000000000
# Each time it wakes up, and when what it needs itself is more than the quota: where programs start slowly that is often.
t_range "cfs_throttle: one that wakes up in a suspended cgroup is too" "$(entries cfs_throttle 'spell_us[proxy]')" 1 1000
t_eq "cfs_throttle: on node 1" "$(grep -oP '^@suspended_us\[(proxy|mover), \d+, \K[^]]*' "$work/cfs_throttle" | sort -u)" "2, 1, 1"
t_eq "cfs_throttle: one without a quota is not" "$(grep -c '\[loader' "$work/cfs_throttle")" 0
workload "$work/loader cpu 1 map 16 steps 0 2 10"
tool cfs_throttle
t_eq "cfs_throttle: nobody" "$(grep -c '^Nobody was suspended' "$work/cfs_throttle") $(grep -c '^@' "$work/cfs_throttle")" "1 0"

# --- wake-ups ---

# Each sleep is one, unless it is over before the thread sleeps; so is an exec's move to another CPU, and a wait for the disk.
workload "$work/loader repeat 10 sleep 5 end" "$work/waiter cpu 0 repeat 40 sleep 5 end"
tool wakeup_lat waiter
t_range "wakeup_lat: the chosen thread's wake-ups" "$(entries wakeup_lat 'woken_us[waiter]')" 36 80
t_eq "wakeup_lat: and nobody else's" "$(grep -c '^@woken_us' "$work/wakeup_lat")" 1
t_range "wakeup_lat: the longest, on its CPU" "$(value wakeup_lat "longest_us[waiter, $(tid_of wakeup_lat 2), 0]")" 1 6000000000
tool wakeup_lat
t_range "wakeup_lat: all threads" "$(($(entries wakeup_lat 'woken_us[waiter]') + $(entries wakeup_lat 'woken_us[loader]')))" 45 160
# Three that never sleep, on one CPU, have to take turns.
workload "$work/waiter cpu 1 map 16 steps 0 1 1000 & $work/waiter cpu 1 map 16 steps 0 1 1000 & $work/waiter cpu 1 map 16 steps 0 1 1000; wait"
tool wakeup_lat waiter
t_range "wakeup_lat: sent away by each other" "$(entries wakeup_lat 'sent_away_us[waiter]')" 3 10000

# --- interrupts and nodes ---

if modprobe -q virtio_rng && [ -e /dev/hwrng ]; then
	at_exit modprobe -r virtio_rng
	rng=$(basename "$(dirname /sys/bus/virtio/drivers/virtio_rng/virtio*/uevent)")-input
	# Its device is on node 1, the program is not.
	workload "taskset -c 0 $work/reader if=/dev/hwrng of=/dev/null bs=64 count=400 status=none"
	tool gpu_thread_numa
	n=$(grep -oP "^@ran\[$rng, 1, reader, 0, (same|other) CPU\]: \K\d+" "$work/gpu_thread_numa" | awk '{ n += $1 } END { print n + 0 }')
	# The kernel reads ahead: a device as quick as an emulated one may always have answered before the reader sleeps.
	if [ "$n" = 0 ] && ! grep -q "^@ran\[$rng, [^,]*, reader, " "$work/gpu_thread_numa"; then
		t_skip "gpu_thread_numa: a device of node 1 wakes a thread on node 0" "it woke nobody"
		t_skip "gpu_thread_numa: which never is on another node" "it woke nobody"
	else
		t_range "gpu_thread_numa: a device of node 1 wakes a thread on node 0" "$n" 1 800
		t_eq "gpu_thread_numa: which never is on another node" "$(grep -oP "^@on_us\[reader, \d+, \K\d" "$work/gpu_thread_numa" | sort -u)" 0
	fi
else
	t_skip "gpu_thread_numa: a device of node 1 wakes a thread on node 0" "no virtio_rng"
	t_skip "gpu_thread_numa: which never is on another node" "no virtio_rng"
fi
workload "$work/mover cpu 1 repeat 10 cpu 3 cpu 0 end" "$work/loader cpu 0 cpu 3"
tool gpu_thread_numa mover
tid=$(tid_of gpu_thread_numa 1)
t_eq "gpu_thread_numa: a chosen thread's moves" "$(value gpu_thread_numa "moved[mover, $tid, 0, 3]") $(value gpu_thread_numa "moved[mover, $tid, 3, 0]")" "9 10"
t_eq "gpu_thread_numa: time on each node" "$(grep -oP "^@on_us\[mover, $tid, \K\d" "$work/gpu_thread_numa" | sort | xargs)" "0 1"
t_eq "gpu_thread_numa: and nobody else's" "$(grep '^@' "$work/gpu_thread_numa" | grep -vc '\[mover, ')" 0
