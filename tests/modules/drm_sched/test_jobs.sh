#!/usr/bin/env bash
# description: a job's dispatch, waits for fences and end come once each, with parts that add up and names that are right
# tier1: all
. ./lib.sh
plan 43

load mock_gpu
trace drm_sched_job_dispatch drm_sched_job_complete drm_sched_dep_wait
run=drm_sched_job_dispatch end=drm_sched_job_complete dep=drm_sched_dep_wait
wait_parts='f["hol_ns"] + f["dep_ns"] + f["ring_ns"] == f["wait_ns"] && f["dispatch_ts"] - f["submit_ts"] == f["wait_ns"]'
total_parts='f["wait_ns"] + f["hwq_ns"] + f["run_ns"] == f["total_ns"]'
ms=000000

# --- seven jobs in a queue, the first held by a fence until all are there ---

gpu entity 2 1 run 20000 fence dep 0 job 0 job 0 job 0 job 0 job 0 job 0 job 0 sleep 200 signal 0 await 7 60000
t_count "7 jobs: each dispatched, in order" "$(ev_get $run fence)" "$(jobs)"
t_count "7 jobs: each ended, in order" "$(ev_get $end fence)" "$(jobs)"
t_eq "the parts make the wait" "$(ev_n $run "$wait_parts")" 7
t_eq "the parts make the total" "$(ev_n $end "$total_parts && f[\"result\"] == 0")" 7
t_eq "wait_us" "$(ev_n $run 'f["wait_us"] == int(f["wait_ns"] / 1000)')" 7
t_eq "the end knows of the dispatch" "$(ev_get $end dispatch_ts)" "$(ev_get $run dispatch_ts)"
t_eq "ring, limit, priority" "$(ev_n $run 'f["ring"] == "mock0" && f["limit"] == 2 && f["priority"] == "normal" && f["credits"] == 1')" 7
t_eq "identity" "$(ev_n $run "f[\"dev\"] == \"mock_gpu\" && f[\"dev_node\"] == 0 && f[\"pid\"] == $(said pid) && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"gpu\"")" 7
t_eq "identity at the end" "$(ev_n $end "f[\"pid\"] == $(said pid) && f[\"comm\"] == \"gpu\"")" 7
t_eq "jobs left in the queue" "$(ev_get $run job_count | xargs)" "6 5 4 3 2 1 0"
t_eq "in flight: never more than the limit" "$(ev_n $run 'f["in_flight"] >= 1 && f["in_flight"] <= 2')" 7
t_eq "one fence held one job" "$(ev_n $dep)" 1
t_eq "which, by which" "$(ev_get $dep fence) $(ev_get $dep dep) $(ev_get $dep dep_known)" "$(job 1) $(job 0) 0"
t_eq "whose fence" "$(ev_get $dep dep_driver) $(ev_get $dep dep_timeline) $(ev_get $dep dep_pipelined)" "mock_gpu soft 0"
t_range "for how long, from submission on" "$(ev_get $run wait_ns "$(is 1)")" 50$ms 60000$ms
t_eq "the first job waited for the fence alone" "$(ev_get $run dep_ns "$(is 1)") $(ev_get $run hol_ns "$(is 1)")" "$(ev_get $dep wait_ns) 0"
t_eq "the others waited behind it" "$(ev_n $run "!($(is 1)) && f[\"hol_ns\"] >= 50$ms && f[\"dep_ns\"] == 0")" 6
t_eq "deps and depth" "$(ev_get $run deps | xargs) $(ev_get $run depth | xargs)" "1 0 0 0 0 0 0 1 1 1 1 1 1 1"
t_range "the hardware worked as long as it was told" "$(ev_sum $end run_ns)" 140$ms 10000$ms
t_eq "two places: the third is dispatched when the first has ended, and so on" "$(
	paste <(ev_get $run dispatch_ts) <(ev_awk $end 'printf "%.0f\n", f["submit_ts"] + f["total_ns"]') |
		awk '{ run[NR] = $1; end[NR] = $2 } END { for (i = 3; i <= NR; i++) n += run[i] >= end[i - 2]; print n }')" 5
if [ "$(ev_get $run client_id | sort -u)" = 0 ]; then
	t_skip "client_id" "this kernel's scheduler does not know it"
else
	t_eq "client_id: the same for all of a client" "$(ev_get $run client_id | sort -u | wc -l)" 1
fi

# --- a chain of 50 over two rings: each job lasts longer than a ring takes to look at the next ---

words=(entity 2 1 entity 2 2 run 20000 fence)
for ((i = 0; i < 50; i++)); do words+=(dep "$i" job $((i % 2))); done
gpu "${words[@]}" sleep 200 signal 0 await 50 60000
t_eq "chain of 50: depth" "$(ev_get $run depth | xargs)" "$(seq 50 | xargs)"
t_eq "chain of 50: each was held once, by the one before it" "$(ev_get $dep dep)" "$({ job 0; jobs; } | head -50)"
t_eq "chain of 50: known, and whose" "$(ev_n $dep "f[\"dep_known\"] && f[\"dep_tgid\"] == $(said pid) && f[\"dep_comm\"] == \"gpu\" && f[\"dep_priority\"] == \"normal\"")" 49
t_eq "chain of 50: by the other ring" "$(ev_n $dep 'f["dep_driver"] == "drm_sched" && f["dep_timeline"] ~ /^mock[01]$/ && f["dep_timeline"] != f["ring"]')" 49
t_eq "chain of 50: the waits make dep_ns" "$(ev_sum $run dep_ns)" "$(ev_sum $dep wait_ns)"
t_eq "chain of 50: the parts make the wait" "$(ev_n $run "$wait_parts")" 50

# --- on one ring a job waits only until the other is dispatched ---

gpu entity 2 1 entity 1 1 run 1000 fence dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "same ring: pipelined, and which job" "$(ev_get $dep dep "$(is 2)") $(ev_get $dep dep_pipelined "$(is 2)") $(ev_get $dep dep_known "$(is 2)")" "$(job 1) 1 1"
t_eq "priorities" "$(ev_get $run priority | xargs)" "normal high"
gpu entity 2 1 entity 3 1 run 1000 fence once flags n dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "same ring, not to be pipelined" "$(ev_get $dep dep "$(is 2)") $(ev_get $dep dep_pipelined "$(is 2)")" "$(job 1) 0"
t_eq "priority low" "$(ev_get $run priority | xargs)" "normal low"
gpu entity 2 1 entity 2 2 run 1000 fence dep 0 job 0 once flags g dep 1 job 1 sleep 200 signal 0 await 2 60000
t_eq "gang: who depends on being scheduled leads" "$(ev_get $run gang_leader | xargs)" "0 1"
t_eq "gang: held by which job" "$(ev_get $dep dep "$(is 2)")" "$(job 1)"

# --- jobs that do not end well ---

gpu entity 2 1 run 1000 once flags f job 0 await 0 60000
t_eq "refused by the hardware: its error" "$(ev_get $end result) $(ev_n $run)" "-5 1"
gpu entity 2 1 entity 2 2 run 1000 fence dep 0 job 0 job 0 job 0 sleep 30 fini 0 signal 0 await 1 60000 await 2 60000 await 3 60000
t_eq "killed: none was dispatched" "$(ev_n $run)" 0
t_eq "killed: all three ended, with their error" "$(ev_get $end fence | sort) $(ev_n $end 'f["result"] == -3 && f["dispatch_ts"] == 0 && f["wait_ns"] == f["total_ns"]')" "$(jobs | sort) 3"
t_eq "killed: what held the first" "$(ev_get $dep fence) $(ev_get $dep dep) $(ev_get $dep result)" "$(job 1) $(job 0) -125"
t_range "killed: after how long" "$(ev_get $end total_ns "$(is 1)")" 30$ms 60000$ms

# --- two programs ---

gpu entity 2 4 run 2000 jobs 5 0 job 0 await 0 60000
t_eq "without handles" "$(ev_n $run 'f["ring"] == "mock2"') $(ev_n $end "$total_parts")" "6 6"
t_no_losses
t_eq "nothing is left in the tables" "$(in_use jobs) $(in_use waits)" "0 0"

# --- min_ns ---

echo $((1 << 50)) >/sys/module/drm_sched_trace/parameters/drm_sched_job_dispatch_min_ns
gpu entity 2 1 run 0 jobs 11 0 job 0 await 0 60000
t_eq "min_ns: none is that long" "$(ev_n $run) $(ev_n $end)" "0 12"
t_eq "min_ns: they are counted" "$(status_field drm_sched_trace event $run suppressed)" 12
