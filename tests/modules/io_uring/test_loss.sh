#!/usr/bin/env bash
# description: requests there is no room for are counted, and when; the count outlives the listener and goes on with the next one
# tier1: 6.12
# once: losses are counted by the same code on each kernel
# requires: fio
. ./lib.sh
plan 13

load io_uring_trace max_requests=64
mk_instance "kstall-$$"
ev=io_uring_req_done
table() { status_field io_uring_trace table requests "$1"; }
armed() { grep -q 'state=\(armed\|allocated\)' /sys/kernel/debug/io_uring_trace/status; }
mono() { sed -n 's/.* now_mono_ns=//p' /sys/kernel/debug/io_uring_trace/status; }
# listen 0|1: when it returns hooks and tables are as wanted
listen() { echo "$1" >"$INSTANCE/events/io_uring_trace/$ev/enable" && { [ "$1" = 1 ] || wait_until 10 eval '! armed'; }; }
burst() { run fio fio --name=job --ioengine=io_uring --direct=1 --filename=$SCRATCH --size=64M --rw=randread --bs=4k --number_ios=512 --iodepth=512 --iodepth_batch=512; }

# What the CPUs may hold back of the table is room, too (kstall_inflight_alloc()).
cpus=$(($(tr - '\n' </sys/devices/system/cpu/possible | tail -1) + 1))
lost=$((512 - 64 - 32 * cpus))
[ $lost -gt 0 ] || skip_all "with $cpus CPUs there is room for all"

t_eq "at first nothing is lost" "$(table dropped) $(table last_loss_mono_ns) $(table state)" "0 0 idle"
listen 1
before=$(mono)
burst
t_range "64 places, 512 requests at a time: lost at least what there was no room for" "$(table dropped)" $lost 448
t_eq "each is an event or counted" $(($(ev_n $ev) + $(table dropped))) 512
t_range "the status says when" "$(table last_loss_mono_ns)" "$before" "$(mono)"
t_eq "the ends of those that were dropped had no beginning" "$(table unmatched)" "$(table dropped)"

was=$(for key in dropped unmatched evicted evicted_oldest_ns last_loss_mono_ns high_water; do table $key; done)
hits=$(status_field io_uring_trace hook complete hits)
listen 0
t_eq "the listener has ended" "$(table state) $(table in_use) $(table bytes)" "idle 0 0"
t_eq "... the counts have not" "$(for key in dropped unmatched evicted evicted_oldest_ns last_loss_mono_ns high_water; do table $key; done)" "$was"
t_range "... nor the hits" "$(status_field io_uring_trace hook complete hits)" "$hits" $((hits + 100))

dropped=$(table dropped) last=$(table last_loss_mono_ns)
listen 1
t_eq "the next listener does not begin at 0" "$(table dropped) $(table last_loss_mono_ns)" "$dropped $last"
losses_forget
run out ./uring nops 31 1
t_eq "what fits is no loss" "$(ev_n $ev) $(table dropped)" "31 $dropped"
t_no_losses
burst
t_range "more losses: counted on" "$(table dropped)" $((dropped + lost)) $((dropped + 448))
t_ok "... and later" test "$(table last_loss_mono_ns)" -gt "$last"
