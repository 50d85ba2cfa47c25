#!/usr/bin/env bash
# description: every completion of a kernel user that failed comes once, the first error apart from the flushed ones, with the peer
# tier1: 6.12
. ./lib.sh
plan 25

err=ib_wc_error
peer="f[\"connected\"] == 1 && f[\"lgid\"] == \"$GID\" && f[\"rgid\"] == \"$GID\""
soft_roce
load mock_ib
trace $err

# one EVENT STATUS: a single error of a status, complete
one() {
	t_eq "$1: one, the first" "$(ev_n $err) $(ev_get $err status) $(ev_get $err first_status) $(ev_get $err first) $(ev_get $err count)" "1 $1 $1 1 1"
	t_eq "$1: whose, and with whom" "$(ev_n $err "$peer && f[\"dev\"] == \"rxe0\" && f[\"port\"] == 1 && f[\"tgid\"] == 0 && f[\"user\"] == \"mock_ib\"") $(ev_get $err qp_num) $(ev_get $err rqpn) $(ev_get $err cq_id)" \
		"1 $(said qp0) $2 $(said cq0)"
	t_eq "$1: its handler, no pointer" "$(ev_get $err 'done') $(ev_get $err wr_id)" "mock_ib_done[mock_ib] 0x0"
}

mock write 50 1
t_eq "all well: none" "$(ev_n $err)" 0
mock retry 1
one RETRY_EXC_ERR "$(said peer)"
mock rnr
one RNR_RETRY_EXC_ERR "$(said qp1)"
mock access
one REM_ACCESS_ERR "$(said qp1)"

in_one $err mock retry 200
t_eq "retries ran out: one error" "$(ev_get $err status 'f["first"]')" RETRY_EXC_ERR
t_eq "what follows is flushed, and says after what" "$(ev_get $err first_status 'f["status"] == "WR_FLUSH_ERR"' | sort -u)" RETRY_EXC_ERR
t_eq "flushed: the first at once, the rest in one" "$(ev_get $err count 'f["status"] == "WR_FLUSH_ERR"' | xargs)" "1 198"
t_eq "flushed: with the peer" "$(ev_n $err "$peer && f[\"rqpn\"] == $(said peer)")" 3
t_eq "flushed: first and last time" "$(ev_n $err 'f["count"] == 198 && f["last_ts_mono_ns"] > f["first_ts_mono_ns"]')" 1

in_one $err mock flush 600 1
t_eq "moved to ERR: no first error" "$(ev_n $err 'f["first"]') $(ev_get $err first_status | sort -u)" "0 SUCCESS"
t_count "moved to ERR: all 600" "$(ev_sum $err count) $(ev_n $err)" "600 2"
in_one $err mock flush 600 2
t_eq "by a worker: all 600" "$(ev_sum $err count) $(ev_n $err)" "600 2"

ev_enable ib_cq/ib_wr_latency
mock retry 3
t_eq "with ib_wr_latency: opcode" "$(ev_get $err opcode 'f["first"]')" SEND
t_eq "and latency, the same as there" "$(ev_get $err latency_ns 'f["first"]')" "$(ev_get ib_wr_latency latency_ns 'f["status"] == "RETRY_EXC_ERR"')"
ev_disable ib_cq/ib_wr_latency

# --- every status there is, each on a queue pair of its own, with a vendor_err ---

names=(LOC_LEN_ERR LOC_QP_OP_ERR LOC_EEC_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR MW_BIND_ERR BAD_RESP_ERR LOC_ACCESS_ERR REM_INV_REQ_ERR
	REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR LOC_RDD_VIOL_ERR REM_INV_RD_REQ_ERR REM_ABORT_ERR INV_EECN_ERR
	INV_EEC_STATE_ERR FATAL_ERR RESP_TIMEOUT_ERR GENERAL_ERR)
each_status() {
	local i
	for i in "${!names[@]}"; do
		echo "status $((i + 1)) $((i + 101))" >$DO || return
	done
}
run out each_status
t_eq "every status: once, by its name, with the provider's code" "$(ev_awk $err 'print f["status"] "/" f["vendor_err"] "/" f["first"] "/" f["count"]' | xargs)" \
	"$(for i in "${!names[@]}"; do echo "${names[i]}/$((i + 101))/$((i != 4))/1"; done | xargs)"

t_no_losses
t_eq "nothing is left in the tables" "$(in_use qps) $(in_use flushes)" "0 0"
ev_disable ib_cq/$err
t_all_idle "disabled: no hook is left"
mock retry 3
t_eq "disabled: no event" "$(ev_n $err)" 0
