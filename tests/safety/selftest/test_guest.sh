#!/usr/bin/env bash
# description: the machine has what tests count on
# tier1: 6.12
. ../../lib.sh

[ "$(cat /proc/sys/kernel/hostname)" = kstall ] || skip_all "not in a guest of tests/vm"
plan 5

by_id=/dev/disk/by-id/virtio
t_eq "scratch disk: 512 MiB" "$(blockdev --getsize64 $by_id-scratch)" $((512 << 20))
slow_disk
begin=$(date +%s%N)
t_ok "slow disk: can be written" dd if=/dev/zero of=/dev/ks_slow bs=1M count=12 oflag=direct
t_range "slow disk: is slow" $((($(date +%s%N) - begin) / 1000000)) 1500 999999999

mk_instance selftest
ev_enable sched/sched_process_fork
/bin/true
ev_disable sched/sched_process_fork
t_ok "ftrace: sees an event" test "$(ev_count sched_process_fork)" -ge 1
t_eq "loopback is up" "$(cat /sys/class/net/lo/carrier)" 1
