#!/usr/bin/env bash
# description: of 100,000 jobs none is lost, and what is in the tables goes away
# timeout: 600
# once: the tables are the same on each kernel, and churn fills them there
. ./lib.sh
plan 6

# hits EVENT: how often it fired, from its hist trigger
hits() { sed -n 's/.*Hits: *//p' "$TRACEFS/events/drm_sched/$1/hist"; }

# count EVENT
count() {
	echo hist:keys=priority >"$TRACEFS/events/drm_sched/$1/trigger" || bail "no hist trigger"
	at_exit eval "echo '!hist:keys=priority' >$TRACEFS/events/drm_sched/$1/trigger"
}

load mock_gpu
load drm_sched_trace
count drm_sched_job_dispatch
count drm_sched_job_complete
pids=()
for i in 1 2 3 4; do
	./gpu entity 2 1 entity 2 2 entity 1 6 run 0 jobs 8000 0 jobs 8000 1 jobs 8999 2 job 2 await 0 300000 >"$work/out.$i" &
	pids+=($!)
done
wait "${pids[@]}" || bail "gpu failed"
t_eq "100,000 jobs: all ended as they were asked to" "$(cat "$work"/out.? | grep -c 'await result=[1-9]')" 4
all_over() { [ "$(in_use jobs)" = 0 ]; }
t_ok "100,000 jobs: all are over" wait_until 60 all_over
t_eq "100,000 dispatches" "$(hits drm_sched_job_dispatch)" 100000
t_eq "100,000 ends" "$(hits drm_sched_job_complete)" 100000
t_no_losses
t_eq "high water within the limit" "$(($(status_field drm_sched_trace table jobs high_water) <= 16384 + 4 + 64))" 1
