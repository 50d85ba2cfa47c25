#!/usr/bin/env bash
# description: perftest's programs on soft-RoCE: nothing is reported where all goes well, and what they register and set up is seen
# timeout: 700
# requires: ib_send_bw ib_write_lat
. ./lib.sh
plan 9

soft_roce
ip link set lo up
trace ib_wc_error ib_cq_overflow ib_qp_error ib_qp_event ib_mr_reg

for args in "ib_send_bw -n 300 -s 4096" "ib_write_lat -n 200 -s 64"; do
	# shellcheck disable=SC2086 # several words
	run out both_ends $args
	program=${args%% *}
	t_eq "$program: ran" "$(awk -v n="${args#* -n }" '$2 == n + 0 && NF > 3 { print "ran"; exit }' "$work/server")" ran
	t_eq "$program: no error" "$(ev_n ib_wc_error) $(ev_n ib_cq_overflow) $(ev_n ib_qp_event 'f["event"] ~ /ERR|FATAL/')" "0 0 0"
	t_eq "$program: no queue pair failed by itself" "$(ev_n ib_qp_error 'f["source"] != "modify"')" 0
	t_eq "$program: memory of each end" "$(ev_n ib_mr_reg "f[\"comm\"] == \"$program\" && f[\"dev\"] == \"rxe0\" && f[\"result\"] == 0 && f[\"kind\"] == \"memory\"") $(ev_get ib_mr_reg tgid "f[\"result\"] == 0" | sort -u | wc -l)" "2 2"
done
t_no_losses
