#!/usr/bin/env bash
# description: what lockdown=confidentiality takes away
# timeout: 300
# once: doctor_integrity asks each kernel
# requires: python3 bpftrace /sys/kernel/security/lockdown
. ../../lib.sh
. ../doctor/lib.sh
. ../doctor/refused.sh
plan 10

t_refused "lockdown=confidentiality" "Operation not permitted"
t_says "the state of the kernel" '^  FAIL  lockdown: confidentiality \(lockdown= on the command line\)' '^  FAIL  tracefs: at /sys/kernel/tracing, closed by lockdown'

# What the report says is closed, and what is open.
t_eq "tracefs is empty" "$(ls /sys/kernel/tracing)" ""
t_fails "perf has no tracepoints" perf stat -e sched:sched_switch true
t_fails "BPF: bpftrace refuses" bpftrace -e 'BEGIN { exit(); }'
t_ok "debugfs: what can only be read can be read" cat /sys/kernel/debug/kprobes/list
