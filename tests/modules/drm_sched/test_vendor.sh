#!/usr/bin/env bash
# description: in a vendor's gpu_sched, of other structures, no hook is placed, and the status file says why
# requires: module:gpu_sched python3
# tier1: 6.12
. ../../lib.sh
plan 6

ko=$(mktemp --suffix=.ko)
at_exit rm -f "$ko"
vendors_ko gpu_sched "$ko"
load drm_sched_trace
mk_instance "kstall-$$"
events=$INSTANCE/events/drm_sched status=/sys/kernel/debug/drm_sched_trace/status
state() { status_field drm_sched_trace "$@"; }

echo 1 >"$events/drm_sched_job_complete/enable"
insmod "$ko" || bail "cannot load gpu_sched"
at_exit rmmod gpu_sched
t_eq "it comes: the event fails" "$(state event drm_sched_job_complete state) $(state hook finished state) $(state hook finished reason)" "failed failed vendor"
t_eq "no hook stands in it" "$(grep -h 'gpu_sched' /sys/kernel/debug/kprobes/list $TRACEFS/enabled_functions)" ""
t_eq "the status file says that nobody's jobs can be seen" "$(grep '^reach' $status)" "reach no driver uses gpu_sched (absent: vendor gpu_sched)"
t_eq "the log says why" "$(dmesg | grep -c 'drm_sched_trace: absent: vendor gpu_sched')" 1
echo 0 >"$events/drm_sched_job_complete/enable"
enable() { echo 1 >"$events/$1/enable"; }
t_fails "it cannot be enabled any more" enable drm_sched_job_complete
t_ok "what needs nothing of it works" enable dma_fence_wait
echo 0 >"$events/dma_fence_wait/enable"
