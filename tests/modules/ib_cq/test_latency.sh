#!/usr/bin/env bash
# description: every signaled work request of a kernel user has one latency, unsignaled and refused ones have none
# tier1: all
. ./lib.sh
plan 20

lat=ib_wr_latency
is_write='f["dev"] == "rxe0" && f["user"] == "mock_ib" && f["tgid"] == 0 && f["port"] == 1 && f["opcode"] == "RDMA_WRITE" && f["status"] == "SUCCESS"'
soft_roce
load mock_ib
trace $lat

mock write 100 1
t_count "100 writes: each" "$(ev_n $lat)" 100
t_eq "whose, what, how it went" "$(ev_n $lat "$is_write && f[\"bytes\"] == 100 && f[\"latency_ns\"] > 0")" 100
t_eq "on the queue pair and CQ that the user has" "$(ev_get $lat qp_num | sort -u) $(ev_get $lat cq_id | sort -u)" "$(said qp0) $(said cq0)"
mock write 100 7
t_count "each seventh signaled, and the last" "$(ev_n $lat) $(said signaled)" "15 15"
mock sigall 101
t_eq "none flagged, but all signaled" "$(ev_n $lat "$is_write && f[\"bytes\"] == 200")" 101
mock refused
t_eq "of three the provider refused two" "$(said post) $(ev_n $lat "$is_write && f[\"bytes\"] == 300")" "-22 1"
mock same 3
t_eq "one id three times: in order" "$(ev_get $lat bytes | xargs)" "1 2 3"
mock reset 5
t_eq "ids that a reset made free: their second requests" "$(said failed) $(ev_get $lat bytes | xargs)" "0 100 100 100 100 100"
mock retry 5
t_eq "failed ones have a latency too" "$(ev_n $lat) $(ev_get $lat status | sort | uniq -c | xargs)" "5 1 RETRY_EXC_ERR 4 WR_FLUSH_ERR"
t_eq "sends" "$(ev_n $lat 'f["opcode"] == "SEND" && f["bytes"] == 64')" 5
t_no_losses
t_eq "nothing is left in the tables" "$(in_use posts) $(in_use qps)" "0 0"

mock same 6
t_eq "more of one id than can be told apart: the oldest are right" "$(ev_get $lat bytes | xargs)" "1 2 3 4"
t_eq "the others are counted" "$(status_field ib_cq_trace table posts unmatched) $(in_use posts)" "2 0"

echo $((1 << 50)) >/sys/module/ib_cq_trace/parameters/ib_wr_latency_min_ns
mock write 11 1
t_eq "min_ns: none took that long" "$(ev_n $lat) $(status_field ib_cq_trace event $lat suppressed)" "0 11"
echo 0 >/sys/module/ib_cq_trace/parameters/ib_wr_latency_min_ns

ev_disable ib_cq/$lat
t_all_idle "disabled: no hook is left"
mock write 10 1
t_eq "disabled: no event" "$(ev_n $lat)" 0
ev_enable ib_cq/$lat
mock write 10 1
t_eq "enabled again: each" "$(ev_n $lat)" 10
t_eq "the provider's functions are hooked by the names it gives" "$(grep -cE '^hook (poll|post) .* target=rdma_rxe:rxe_(poll_cq|post_send) state=armed' $STATUS)" 2
t_eq "and nobody waits" "$(status_field ib_cq_trace event $lat state)" armed
