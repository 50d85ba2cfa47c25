#!/usr/bin/env bash
# description: what lockdown=integrity does to the modules, and what not
# timeout: 300
# requires: python3 bpftrace /sys/kernel/security/lockdown
. ../../lib.sh
. ../doctor/lib.sh
. ../doctor/refused.sh
plan 9

t_refused "lockdown=integrity" "Operation not permitted"
t_says "the state of the kernel" '^  note  lockdown: integrity \(lockdown= on the command line\)'

# What the report says stays open.
t_ok "tracefs: events can be enabled" sh -c 'echo 1 >/sys/kernel/tracing/events/sched/sched_switch/enable && echo 0 >/sys/kernel/tracing/events/sched/sched_switch/enable'
t_ok "debugfs: what can only be read can be read" cat /sys/kernel/debug/kprobes/list
t_eq "BPF: bpftrace reads the kernel's memory" "$(bpftrace -e 'BEGIN { printf("comm %s\n", curtask->comm); exit(); }' 2>&1 | grep -c '^comm bpftrace')" 1
