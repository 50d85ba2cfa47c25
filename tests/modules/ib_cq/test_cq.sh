#!/usr/bin/env bash
# description: rounds of processing add up to the completions and tell delay, budget and context; a CQ that overflows is reported once and summed up
# tier1: 6.12
. ./lib.sh
plan 20

round=ib_cq_process over=ib_cq_overflow
soft_roce
load mock_ib
trace $round $over

# Of mock_ib's CQs: the MAD layer has its own on every device.
mine() { echo "f[\"cq_id\"] == $(said cq0)"; }

mock write 100 1
t_count "100 writes: the rounds add up" "$(ev_sum $round completed "$(mine)")" 100
n=$(ev_n $round "$(mine)")
t_eq "softirq, budget, whose" "$(ev_n $round "$(mine) && f[\"poll_ctx\"] == \"softirq\" && f[\"budget\"] == 256 && f[\"user\"] == \"mock_ib\" && f[\"dev\"] == \"rxe0\" && f[\"tgid\"] == 0")" "$n"
t_eq "each was seen being scheduled" "$(ev_n $round "$(mine) && f[\"scheduled\"] && f[\"delay_ns\"] > 0")" "$n"
t_eq "the parts make the lag" "$(ev_n $round 'f["delay_ns"] + f["duration_ns"] == f["lag_ns"]')" "$(ev_n $round)"
mock flush 600 1
t_eq "600 at once: two budgets and the rest" "$(ev_get $round completed "$(mine)" | xargs) $(ev_get $round exhausted "$(mine)" | xargs)" "256 256 88 1 1 0"
t_eq "600 at once: the later rounds were scheduled by the earlier" "$(ev_n $round "$(mine) && f[\"scheduled\"]")" 3
mock flush 600 2
t_eq "by a worker: all in one round" "$(ev_sum $round completed "$(mine)") $(ev_get $round budget "$(mine)" | sort -u) $(ev_get $round poll_ctx "$(mine)" | sort -u) $(ev_n $round "$(mine) && f[\"exhausted\"]")" "600 65536 workqueue 0"

in_one $over mock overflow 64 4
t_eq "64 writes on a CQ of 7: one at once, one summary" "$(ev_get $over count | xargs)" "1 56"
t_eq "how deep, how full, whose" "$(ev_n $over "f[\"depth\"] == $(said depth | head -1) && f[\"used\"] == 7 && f[\"attached\"] == 2 && f[\"user\"] == \"mock_ib\" && f[\"cq_id\"] == $(said cq0) && f[\"dev\"] == \"rxe0\" && f[\"syndrome\"] == \"-\" && f[\"tgid\"] == 0")" 2
t_eq "first and last time" "$(ev_n $over 'f["count"] == 1 && f["first_ts_mono_ns"] == f["last_ts_mono_ns"]') $(ev_n $over 'f["count"] == 56 && f["last_ts_mono_ns"] > f["first_ts_mono_ns"]')" "1 1"
t_eq "what fitted was polled directly" "$(said polled) $(ev_get $round completed "$(mine)") $(ev_get $round poll_ctx "$(mine)") $(ev_get $round budget "$(mine)") $(ev_get $round scheduled "$(mine)")" "7 7 direct -1 0"
mock overflow 8 4
t_eq "one too many: one, and no summary" "$(ev_get $over count)" 1
mock overflow 7 4
t_eq "just full: none" "$(ev_n $over)" 0
t_no_losses
t_eq "nothing is left in the tables" "$(in_use scheduled) $(in_use overflows)" "0 0"

echo $((1 << 50)) >/sys/module/ib_cq_trace/parameters/ib_cq_process_min_ns
mock write 20 1
t_eq "min_ns: none took that long" "$(ev_n $round)" 0
t_range "min_ns: they are counted" "$(status_field ib_cq_trace event $round suppressed)" 1 1000
ev_disable ib_cq/$round
ev_disable ib_cq/$over
t_all_idle "disabled: no hook is left"
mock overflow 20 4
t_eq "disabled: no event" "$(ev_n $over) $(ev_n $round)" "0 0"

unload ib_cq_trace
t_fails "bad parameters are refused" insmod "$(ko_of ib_cq_trace)" max_qps=1
