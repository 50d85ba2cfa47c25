#!/usr/bin/env bash
# description: a job that hangs is reported once, with its ring's reset, and nothing is reported of jobs that do not
# tier1: 6.12
. ./lib.sh
plan 13

late=drm_sched_job_timeout reset=drm_sched_reset end=drm_sched_job_complete
ms=000000
load mock_gpu timeout_ms=4000 reset_ms=50
trace $late $reset $end

gpu entity 2 1 run 1000 jobs 5 0 job 0 await 0 60000
t_eq "no hang: no timeout, no reset" "$(ev_n $late) $(ev_n $reset) $(ev_n $end)" "0 0 6"

gpu entity 2 1 run 1000 once flags h job 0 job 0 await 0 60000 await 1 60000
told() { snap; [ "$(ev_n $late)" -ge 1 ]; }
wait_until 10 told # its handler returns after it has ended the jobs
t_eq "hang: one timeout, of that job" "$(ev_get $late fence)" "$(job 0)"
t_eq "hang: whose" "$(ev_get $late tgid) $(ev_get $late comm) $(ev_get $late ring) $(ev_get $late dev)" "$(said pid) gpu mock0 mock_gpu"
# the scheduler starts its clock a little before it tells of the dispatch
t_range "hang: age" "$(ev_get $late age_ns)" 3900$ms 60000$ms
t_range "hang: the handler" "$(ev_get $late handler_ns)" 50$ms 60000$ms
t_eq "hang: one reset, for that job" "$(ev_get $reset fence)" "$(job 0)"
t_eq "hang: whose, and the driver blamed it" "$(ev_get $reset tgid) $(ev_get $reset ring) $(ev_get $reset guilty)" "$(said pid) mock0 1"
t_eq "hang: both jobs were on the ring" "$(ev_get $reset jobs)" 2
t_range "hang: the reset is part of the handler" "$(ev_get $reset reset_ns)" 50$ms "$(ev_get $late handler_ns)"
t_eq "hang: both jobs ended" "$(ev_get $end fence | sort)" "$(jobs | sort)"
# 6.12 says -ECANCELED of all that a reset gives up, the others what the driver says
t_ok "hang: with an error" grep -qxE -- '-62|-125' <(ev_get $end result "$(is 0)")

gpu entity 2 1 run 1000 job 0 await 0 60000
t_eq "the ring works again" "$(ev_get $end result) $(ev_n $late) $(ev_n $reset)" "0 0 0"
t_no_losses
