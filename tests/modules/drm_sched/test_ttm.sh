#!/usr/bin/env bash
# description: evictions name who caused them and whose buffer it was; swapping says how much
# tier1: 6.12
. ./lib.sh
plan 8

evict=ttm_bo_evict swap=ttm_bo_swap
ms=000000
load mock_gpu evict_ms=50
trace $evict $swap

./gpu bo 3 touch "$work/there" until "$work/done" >"$work/victim" &
wait_until 30 test -e "$work/there" || bail "no victim"
gpu bo 3
touch "$work/done"
wait
t_eq "one eviction" "$(ev_n $evict)" 1
t_eq "by whom, whose" "$(ev_get $evict tgid) $(ev_get $evict owner_tgid) $(ev_get $evict owner_comm)" "$(said pid) $(sed -n 's/^pid=//p' "$work/victim") gpu"
t_eq "what, from where to where" "$(ev_get $evict bytes) $(ev_get $evict from) $(ev_get $evict to) $(ev_get $evict result) $(ev_get $evict dev)" \
	"$((3 << 20)) vram system 0 mock_gpu"
t_range "how long" "$(ev_get $evict duration_ns)" 50$ms 60000$ms

gpu bo 2 bo 1 place 0 free 1 free 0
t_eq "room enough: no eviction" "$(ev_n $evict)" 0
gpu bo 1 populate 0 swapout populate 0
t_eq "swapped out and in" "$(ev_get $swap out | xargs) $(ev_get $swap bytes | xargs)" "1 0 $((1 << 20)) $((1 << 20))"
t_eq "whose" "$(ev_get $swap owner_tgid | xargs) $(ev_get $swap tgid | xargs)" "$(said pid) $(said pid) $(said pid) $(said pid)"
t_no_losses
