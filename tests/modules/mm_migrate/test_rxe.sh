#!/usr/bin/env bash
# description: soft-RoCE's on-demand paging: a driver of the kernel's own with an interval notifier, its calls and its page faults
# tier1: 6.12
# The first for soft_roce, the second for all else.
# shellcheck source=../ib_cq/lib.sh
. ../ib_cq/lib.sh
rmdir "$work"
. ./lib.sh

wait=mm_migrate_mmu_notifier_wait call=mm_migrate_notifier device=mm_migrate_device
rxe=rxe_ib_invalidate_range
verbs=../ib_cq/verbs
soft_roce
[ "$($verbs odp 1 | grep -oP '^errno=\K\d+')" = 0 ] || skip_all "this kernel's soft-RoCE has no on-demand paging"
plan 8

trace $wait $call $device
# Each has its notifier learned; then none of its calls is missed.
run out $verbs odp 1
wait_until 60 known $rxe || bail "$rxe is not learned"
run out $verbs odp 24

addr=$(said addr | head -1) end=$(printf 0x%x $(($(said addr | head -1) + 24 * 4096)))
mine="f[\"owner_comm\"] == \"verbs\" && f[\"start\"] == \"$addr\""
t_eq "its pages are taken away: one wait, for its callback" "$(ev_get $wait callback "$mine") $(ev_get $wait callback_module "$mine") $(ev_get $wait notifiers "$mine")" "$rxe rdma_rxe 1"
t_eq "of which, and why" "$(ev_get $wait end "$mine") $(ev_get $wait event "$mine") $(ev_get $wait reason "$mine")" "$end clear none"
t_eq "whose" "$(ev_get $wait owner_pid "$mine")" "$(ev_get $wait pid "$mine")"
t_eq "the call is reported" "$(ev_get $call callback "$mine") $(ev_get $call module "$mine") $(ev_get $call via "$mine")" "$rxe rdma_rxe interval"
t_eq "the wait is the call" "$(ev_get $wait callback_ns "$mine")" "$(ev_get $call duration_ns "$mine")"
hmm="f[\"phase\"] == \"hmm\" && f[\"result\"] == 0 && f[\"done\"] == f[\"pages\"]"
t_range "before, each was made present" "$(ev_sum $device "done" "$hmm")" 24 1000
t_eq "nothing was lost" "$(status_losses)" ""
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
