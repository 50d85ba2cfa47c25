#!/usr/bin/env bash
# description: gpu_sched may come late, go and come back; the module may go while jobs are in flight
. ./lib.sh
plan 17

! is_loaded gpu_sched || rmmod gpu_sched || skip_all "a driver uses gpu_sched here"
run=drm_sched_job_dispatch
state() { status_field drm_sched_trace event $run state; }

trace $run drm_sched_job_complete drm_sched_dep_wait
t_eq "without gpu_sched the event waits for it" "$(state)" waiting-for:gpu_sched
t_fails "and does not load it" is_loaded gpu_sched
for round in 1 2; do
	modprobe mock_gpu || bail "no mock_gpu"
	t_eq "round $round: it came, the event is armed" "$(state)" armed
	gpu entity 2 1 run 100 jobs 12 0 job 0 await 0 60000
	t_eq "round $round: every job" "$(ev_n $run) $(ev_n drm_sched_job_complete)" "13 13"
	t_ok "round $round: the driver can be removed" rmmod mock_gpu
	t_ok "round $round: gpu_sched can be removed" rmmod gpu_sched
	t_eq "round $round: the event waits again" "$(state)" waiting-for:gpu_sched
done
t_no_losses

load mock_gpu
./gpu entity 2 1 run 20000 fence dep 0 job 0 jobs 20 0 touch "$work/sent" until "$work/go" signal 0 job 0 await 2 60000 >"$work/out" &
pid=$!
wait_until 30 test -e "$work/sent" || bail "gpu does not get on"
t_ok "rmmod with jobs queued and one held by a fence" rmmod drm_sched_trace
touch "$work/go"
wait $pid
t_eq "they go on" "$? $(grep -c 'await result=[1-9]' "$work/out")" "0 1"

load drm_sched_trace
ev_enable "drm_sched/$run"
ev_enable drm_sched/drm_sched_job_complete
gpu entity 2 1 run 100 jobs 3 0 job 0 await 0 60000
t_eq "loaded again: every job" "$(ev_n $run) $(ev_n drm_sched_job_complete)" "4 4"
ev_disable drm_sched
t_all_idle "disabled: the hooks are gone"
