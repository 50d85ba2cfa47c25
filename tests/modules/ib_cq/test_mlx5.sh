#!/usr/bin/env bash
# description: what is hooked of mlx5 by name is there in this kernel's driver, which may come, go and be absent; nothing more can be tested without a device
# requires: module:mlx5_ib
. ./lib.sh
plan 7

! is_loaded mlx5_core || skip_all "mlx5 is in use here"
modprobe ib_uverbs || skip_all "no module ib_uverbs"
at_exit modprobe -qr mlx5_ib ib_uverbs
states() { for hook in mlx5_cq_event mlx5_cq_error mlx5e_cq_event; do status_field ib_cq_trace hook $hook state; done | xargs; }
they_are() { [ "$(states)" = "$*" ]; }

trace ib_cq_overflow
t_eq "the module depends on RDMA's core alone" "$(modinfo -F depends "$(ko_of ib_cq_trace)")" ib_core
t_eq "without mlx5 the event is armed" "$(status_field ib_cq_trace event ib_cq_overflow state)" armed
t_eq "and the hooks wait" "$(states)" "waiting-for:mlx5_ib waiting-for:mlx5_core waiting-for:mlx5_core"
modprobe mlx5_ib || bail "mlx5_ib cannot be loaded"
wait_until 20 they_are armed armed armed
t_eq "the functions of errors of CQs are there" "$(states)" "armed armed armed"
t_eq "post_send() that can be hooked is beside the one that cannot" "$(grep -oP ' \Kmlx5_ib_post_send(_nodrain)?(?=\s)' /proc/kallsyms | sort | xargs) $(grep -c '^mlx5_ib_post_send \[mlx5_ib\]' "$TRACEFS/available_filter_functions")" \
	"mlx5_ib_post_send mlx5_ib_post_send_nodrain 1"
t_ok "mlx5 can go" modprobe -r mlx5_ib
wait_until 20 they_are waiting-for:mlx5_ib waiting-for:mlx5_core waiting-for:mlx5_core
t_eq "the hooks wait again" "$(states)" "waiting-for:mlx5_ib waiting-for:mlx5_core waiting-for:mlx5_core"
