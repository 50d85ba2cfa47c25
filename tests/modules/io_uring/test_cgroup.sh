#!/usr/bin/env bash
# description: what the kernel writes back for a process has the cgroup of the process, not that of the kernel thread
# requires: mkfs.ext4
. ./lib.sh

cgroups=/sys/fs/cgroup
controllers() { [ -e $cgroups/cgroup.subtree_control ] && echo "+io +memory" >$cgroups/cgroup.subtree_control; }
controllers 2>/dev/null || skip_all "no cgroup v2 with io and memory"
plan 4

group=$cgroups/kstall-$$
mkdir $group
at_exit rmdir $group
disks=$(basename "$(readlink -f $SCRATCH)")
mkfs.ext4 -q -O ^has_journal $SCRATCH || bail "no file system"
mkdir "$work/fs"
mount $SCRATCH "$work/fs" || bail "cannot mount"
at_exit umount "$work/fs"
trace io_uring_block_rq

# shellcheck disable=SC2016 # for the inner shell
bash -c 'echo $$ >"$1/cgroup.procs"; exec dd if=/dev/zero of="$2" bs=64k count=64 status=none' in_group $group "$work/fs/ours"
run out sync -f "$work/fs"
written='f["op"] == "WRITE" && f["attribution"] == "none"'
in_group="$written && f[\"cgroup_id\"] == $(stat -c %i $group)"
t_eq "4 MiB that a process in a group wrote, synced by another: all of it has the group" "$(ev_sum io_uring_block_rq len_bytes "$in_group && f[\"len_bytes\"] >= 4096")" 4194304
t_eq "... though a kernel thread wrote it" "$(ev_n io_uring_block_rq "$in_group && f[\"pid\"] == $$")" 0

dd if=/dev/zero of="$work/fs/theirs" bs=64k count=16 status=none
run out sync -f "$work/fs"
t_range "what a process outside wrote" "$(ev_sum io_uring_block_rq len_bytes "$written")" 1048576 2097152
t_eq "... has not" "$(ev_n io_uring_block_rq "$in_group")" 0
