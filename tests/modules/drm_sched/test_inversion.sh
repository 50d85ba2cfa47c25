#!/usr/bin/env bash
# description: priority inversion is reported when it is provoked, with both jobs, and never otherwise
# tier1: 6.12
. ./lib.sh
plan 10

inv=drm_sched_prio_inversion
load mock_gpu limit=1
trace $inv

gpu entity 3 1 entity 1 2 run 20000 fence dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "high waits for low: once, which for which" "$(ev_get $inv fence) $(ev_get $inv low)" "$(job 2) $(job 1)"
t_eq "high waits for low: what they are" "$(ev_get $inv cause) $(ev_get $inv priority) $(ev_get $inv low_priority) $(ev_get $inv low_tgid)" "dependency high low $(said pid)"
gpu entity 1 1 entity 3 2 run 20000 fence dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "low waits for high: none" "$(ev_n $inv)" 0
gpu entity 2 1 entity 2 2 run 20000 fence dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "like waits for like: none" "$(ev_n $inv)" 0

# the driver prepares a low job for three seconds, meanwhile a high one comes
gpu entity 3 1 entity 1 1 run 5000 once prepare 3000000 job 0 sleep 400 job 1 await 1 60000
t_eq "low takes the last place: once, which by which" "$(ev_get $inv fence) $(ev_get $inv low)" "$(job 1) $(job 0)"
t_eq "low takes the last place: what they are" "$(ev_get $inv cause) $(ev_get $inv priority) $(ev_get $inv low_priority)" "credits high low"
gpu entity 1 1 entity 1 1 run 5000 once prepare 3000000 job 0 sleep 400 job 1 await 1 60000
t_eq "like takes the last place: none" "$(ev_n $inv)" 0
gpu entity 3 1 entity 1 1 run 1000000 job 0 sleep 200 job 0 job 1 await 1 60000 await 2 60000
t_eq "a ring full of low jobs from before is none" "$(ev_n $inv)" 0

echo $((1 << 50)) >/sys/module/drm_sched_trace/parameters/${inv}_min_ns
gpu entity 3 1 entity 1 2 run 20000 fence dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "min_ns: not reported, but counted" "$(ev_n $inv) $(status_field drm_sched_trace event $inv suppressed)" "0 1"
t_no_losses
