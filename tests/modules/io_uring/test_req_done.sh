#!/usr/bin/env bash
# description: io_uring_req_done comes once for each request, with its numbers and with times that a program can confirm
# tier1: all
# requires: fio
. ./lib.sh
plan 40

trace io_uring_req_done
ev=io_uring_req_done
parts='f["queue_ns"] + f["wq_ns"] + f["exec_ns"] == f["total_ns"]'

# --- fio: a prime number of requests ---

fio_job() { fio --name=job --ioengine=io_uring --direct=1 --filename=$SCRATCH --size=64M "$@"; }

run fio fio_job --rw=randread --bs=4k --iodepth=8 --number_ios=211
good='f["opcode"] == "READ" && f["result"] == 4096 && f["len_bytes"] == 4096'
t_count "211 reads: 211 events" "$(ev_n $ev)" 211
t_eq "211 reads: opcode, result and length" "$(ev_n $ev "$good")" 211
t_eq "211 reads: the parts make the total" "$(ev_n $ev "$parts")" 211
t_eq "211 reads: fio did them" "$(ev_n $ev 'f["comm"] == "fio"')" 211

cd "$work" || exit
run fio fio_job --rw=write --bs=8k --iodepth=1 --number_ios=53 --clocksource=clock_gettime \
	--write_lat_log=log --log_avg_msec=0
cd "$OLDPWD" || exit
ev_get $ev total_ns 'f["opcode"] == "WRITE" && f["result"] == 8192 && f["len_bytes"] == 8192' >"$work/total"
t_eq "53 writes: 53 events" "$(wc -l <"$work/total")" 53
t_eq "53 writes, one at a time: none took longer than fio says of the same one" \
	"$(cut -d, -f2 "$work"/log_lat.*.log | tr -d ' ' | paste - "$work/total" | awk '$2 > 0 && $2 <= $1' | wc -l)" 53

# --- one at a time, against the program's own clock ---

base=$((0x1badb00200001)) # more than 32 bits
uring io read $SCRATCH 23 4096 1 $base offset=1048576
awk '{ split($2, u, "="); split($4, t, "="); print u[2], t[2] }' <(grep ^io "$work/out") >"$work/told"
ev_awk $ev 'print f["user_data"], f["total_ns"]' >"$work/saw"
t_eq "user_data: all of it, in order" "$(cut -d' ' -f1 "$work/saw")" "$(seq $base $((base + 22)))"
t_eq "total_ns: no longer than the program waited for it" \
	"$(paste -d' ' "$work/told" "$work/saw" | awk '$1 == $3 && $4 > 0 && $4 <= $2' | wc -l)" 23
t_eq "identity" "$(ev_n $ev "f[\"pid\"] == $(said pid) && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 23
t_eq "fd" "$(ev_n $ev "f[\"fd\"] == $(said fd)")" 23
t_eq "neither punted nor polled nor by SQPOLL" \
	"$(ev_n $ev 'f["punted"] || f["poll_armed"] || f["sqpoll"] || f["wq_ns"]')" 0
t_eq "one ring" "$(ev_get $ev ring | sort -u | wc -l)" 1

uring io write $SCRATCH 5 4096 1 90001 sqpoll fixed
t_eq "SQPOLL: all five, as WRITE_FIXED" "$(ev_n $ev 'f["sqpoll"] && f["opcode"] == "WRITE_FIXED" && f["result"] == 4096')" 5
t_eq "SQPOLL: blamed on the program" "$(ev_n $ev "f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 5

# --- where the time goes ---

uring io read $SCRATCH 7 4096 7 70001 async
t_eq "async: punted, and waited for a worker" \
	"$(ev_n $ev "f[\"punted\"] && f[\"wq_ns\"] > 0 && f[\"user_data\"] >= 70001 && $parts")" 7
t_eq "async: blamed on the program, not the worker" "$(ev_n $ev "f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 7

# 6.1 hands the read of a pipe to a worker, that waits for readiness too.
uring poll 200
t_eq "pipe: the read waited for readiness" \
	"$(ev_n $ev "f[\"user_data\"] == 211 && f[\"poll_armed\"] && f[\"result\"] == 5 && f[\"fd\"] == $(said fd)")" 1
t_range "pipe: exec_ns is the wait" "$(ev_get $ev exec_ns)" $((200000000 - $(ev_get $ev wq_ns))) "$(said ns)"
t_eq "pipe: len_bytes is what was asked for" "$(ev_get $ev len_bytes)" "$(said len_bytes)"

uring link 200
t_eq "link: three requests with their results" "$(ev_get $ev user_data | xargs) $(ev_get $ev result | xargs)" "101 103 107 -62 0 0"
t_range "link: the timeout ran" "$(ev_get $ev exec_ns 'f["user_data"] == 101')" 200000000 "$(said ns)"
# the timeout starts before the NOP is accepted, by as long as it takes to build the chain
timeout_ns=$(ev_get $ev submit_mono_ns 'f["user_data"] == 101')
nop_ns=$(ev_get $ev submit_mono_ns 'f["user_data"] == 103')
t_range "link: who had to wait was queued" "$(ev_get $ev queue_ns 'f["user_data"] == 103')" $((200000000 + timeout_ns - nop_ns)) "$(said ns)"
t_eq "link: the parts make the total" "$(ev_n $ev "$parts")" 3

# --- once each ---

uring multishot 3
t_eq "multishot: four completions, one event, with the last result" \
	"$(grep -c user_data=307 "$work/out") $(ev_get $ev result 'f["user_data"] == 307')" "4 -125"

uring cq-overflow 1 reap
t_eq "CQ overflow: 16 requests, 16 events" "$(ev_get $ev user_data | xargs)" "$(seq 7000 7015 | xargs)"
uring cq-overflow 1 leave
t_eq "CQ overflow, never reaped: 16 events too" "$(ev_get $ev user_data | xargs)" "$(seq 7000 7015 | xargs)"
uring skip-overflow
t_eq "CQ overflow: no event for those that want no completion" "$(ev_get $ev user_data | xargs)" "$(seq 7100 7107 | xargs) 7111"

uring nops 1009 1
t_eq "1009 NOPs: 1009 events" "$(ev_get $ev user_data | sort -n)" "$(seq 1009)"
t_eq "1009 NOPs: on no file" "$(ev_get $ev fd | sort -u)" -1
t_no_losses

ip link set lo up
uring send-zc 3
t_eq "SEND_ZC: three requests, three events" "$(ev_get $ev user_data | xargs)" "601 602 603"
t_eq "SEND_ZC: the sends, not the notifications" "$(said notifications) $(ev_n $ev 'f["opcode"] == "SEND_ZC" && f["result"] == 4096')" "3 3"
t_no_losses

# The kernel never accepted the one with the impossible opcode, though it completes it.
uring short-submit
t_eq "refused request: no event" "$(ev_get $ev user_data | xargs)" "0 1"
t_eq "refused request: is counted" "$(status_field io_uring_trace table requests unmatched)" 1
uring skip-refused
t_eq "refused in the place of one that nobody saw complete: no event" "$(ev_get $ev user_data | xargs)" ""
t_eq "and is counted" "$(status_field io_uring_trace table requests unmatched)" 2

# --- not wanted ---

echo $((1 << 40)) >/sys/module/io_uring_trace/parameters/io_uring_req_done_min_ns
uring nops 31 1
t_eq "min_ns: none is that long" "$(ev_n $ev)" 0
t_eq "min_ns: they are counted" "$(status_field io_uring_trace event $ev suppressed)" 31

# --- cgroup ---

echo 0 >/sys/module/io_uring_trace/parameters/io_uring_req_done_min_ns
group=/sys/fs/cgroup/kstall-$$
mkdir $group
at_exit rmdir $group
# shellcheck disable=SC2016 # for the inner shell
run out bash -c 'echo $$ >"$1/cgroup.procs"; exec ./uring nops 3 1' in_group $group
t_eq "cgroup_id is the group's inode" "$(ev_get $ev cgroup_id)" "$(printf '%s\n' {,,}"$(stat -c %i $group)")"
