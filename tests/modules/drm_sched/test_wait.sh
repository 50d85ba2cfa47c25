#!/usr/bin/env bash
# description: waits for fences, and what a submitter waited in
# tier1: 6.12
. ./lib.sh
plan 21

wait=dma_fence_wait block=drm_sched_submit_block
ms=000000
load mock_gpu evict_ms=50
trace $wait $block

# Those time out by ticks, of which one may be late.
for kind in single any resv; do
	word=await
	[ $kind = single ] || word+=$kind
	gpu fence $word 0 100
	t_eq "$kind, timed out: one event" "$(ev_get $wait kind) $(ev_get $wait result)" "$kind 0"
	t_range "$kind: how long" "$(ev_get $wait wait_ns)" 50$ms "$(said ns)"
	t_eq "$kind: for which fence" "$(ev_get $wait fence) $(ev_get $wait driver) $(ev_get $wait timeline)" "$(job 0) mock_gpu soft"
done
gpu awaitsync 100
t_eq "syncobj, timed out: one event" "$(ev_get $wait kind) $(ev_get $wait result) $(ev_get $wait tgid)" "syncobj $(said result) $(said pid)"
t_range "syncobj: how long" "$(ev_get $wait wait_ns)" 50$ms "$(said ns)"
gpu entity 2 2 run 500000 job 0 await 0 60000 await 0 60000
t_eq "a job: one event, none for the wait that was over before it began" "$(ev_get $wait fence) $(ev_get $wait driver) $(ev_get $wait timeline)" "$(job 0) drm_sched mock1"
t_eq "a job: result and waiter" "$(ev_get $wait result) $(ev_get $wait tgid) $(ev_get $wait comm)" "$(said result | head -1) $(said pid) gpu"
t_eq "submitting did not block" "$(ev_n $block)" 0

gpu entity 2 1 run 500000 job 0 once wait 0 job 0 await 1 60000
t_eq "submission: waited for a fence" "$(ev_get $block fence) $(ev_n $block 'f["fence_ns"] > 0 && f["fence_ns"] == f["blocked_ns"] && f["blocked_ns"] <= f["total_ns"]')" "$(job 1) 1"
t_eq "submission: who, where" "$(ev_get $block tgid) $(ev_get $block ring) $(ev_get $block dev) $(ev_get $block jobs)" "$(said pid) mock0 mock_gpu 1"

gpu entity 2 1 run 1000 bo 4 bo 4 once validate 0 job 0 await 0 60000
t_range "submission: made room for a buffer" "$(ev_get $block validate_ns)" 50$ms "$(said ns | head -1)"
t_eq "submission: and nothing else" "$(ev_n $block 'f["validate_ns"] == f["blocked_ns"]')" 1

./gpu touch "$work/locking" lock 8000 >/dev/null &
wait_until 30 test -e "$work/locking"
gpu entity 2 1 run 1000 sleep 500 once flags l job 0 await 0 60000
t_eq "submission: waited for a lock" "$(ev_n $block 'f["lock_ns"] > 0 && f["lock_ns"] == f["blocked_ns"]')" 1
wait
t_range "submission: no longer than it took" "$(ev_get $block total_ns)" "$(ev_get $block blocked_ns)" "$(said ns | head -1)"
t_no_losses
