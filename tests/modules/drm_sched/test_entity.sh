#!/usr/bin/env bash
# description: entities that change rings, are waited for, or are killed with jobs in their queues
# tier1: 6.12
. ./lib.sh
plan 9

move=drm_sched_entity_migrate kill=drm_sched_entity_kill
load mock_gpu
trace $move $kill

gpu entity 2 3 entity 2 1 fence run 1000 job 0 await 1 60000 dep 0 job 1 job 0 await 3 60000 signal 0 await 2 60000
t_eq "migration: one, with the job that goes elsewhere" "$(ev_get $move fence)" "$(job 3)"
t_eq "migration: from where to where" "$(ev_get $move from_ring) $(ev_get $move ring)" "mock0 mock1"
t_eq "migration: whose" "$(ev_get $move tgid)" "$(said pid)"

gpu entity 2 1 run 1000 fence dep 0 job 0 job 0 job 0 sleep 30 fini 0 signal 0 await 1 60000 await 2 60000 await 3 60000
t_eq "kill: three jobs lost" "$(ev_get $kill op) $(ev_get $kill jobs_lost)" "fini 3"
t_eq "kill: which entity, whose" "$(ev_get $kill fence_ctx) $(ev_get $kill ring) $(ev_get $kill tgid)" "$(job 1 | cut -d: -f1) mock0 $(said pid)"
t_range "kill: how long" "$(ev_get $kill duration_ns)" 1 "$(said ns | sed -n 4p)"

gpu entity 2 1 run 300000 job 0 job 0 job 0 job 0 flush 0 await 3 60000
t_eq "flush: waited, nothing lost" "$(ev_get $kill op) $(ev_get $kill jobs_lost) $(ev_n $move)" "flush 0 0"
t_range "flush: how long" "$(ev_get $kill duration_ns)" 1 "$(awk '$1 == "flush" { sub("ns=", "", $2); print $2 }' "$work/out")"
t_no_losses
