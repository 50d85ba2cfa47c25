#!/usr/bin/env bash
# description: packets lost on a link: writes are slow as often as soft-RoCE sent again; when none arrives the queue pair, its peer and its owner are reported
# once: soft-RoCE sends again on each kernel in the same way
. ./lib.sh
plan 23

lat=ib_wr_latency err=ib_wc_error error=ib_qp_error
soft_roce_link
load mock_ib peer=rxe1
trace $lat $err $error
sweep_anyway

# A packet lost is sent again after so long, as the queue pairs are told.
timeout_ns=268435456
slow() { ev_n $lat "f[\"latency_ns\"] >= $timeout_ns"; }
# waited N M: at least N writes waited for most of a timeout, and at most M for all of one. soft-RoCE's timer may have been set for the
# write before, so what is lost is sent again a little sooner, and what has just been sent is sent twice.
waited() {
	[ "$(ev_n $lat "f[\"latency_ns\"] >= $timeout_ns / 2")" -ge "$1" ] && [ "$(slow)" -le "$2" ] && return
	echo "# latencies: $(ev_get $lat latency_ns | sort -n | tail -12 | xargs), sent again: $(retries)"
	return 1
}
# mark: since then retries and exceeded count
mark() { retries=$(counter completer_retry_err) exceeded=$(counter retry_exceeded_err); }
retries() { echo $(($(counter completer_retry_err) - retries)); }
exceeded() { echo $(($(counter retry_exceeded_err) - exceeded)); }

mock open
qp=$(said qp0) peer=$(said qp1)
on_it="f[\"dev\"] == \"rxe0\" && f[\"user\"] == \"mock_ib\" && f[\"qp_num\"] == $qp"

mark
mock step 50 1
t_eq "a good link: 50 writes" "$(ev_n $lat "$on_it && f[\"status\"] == \"SUCCESS\"") $(ev_n $lat)" "50 50"
# An answer that is late on a busy machine may be waited for more than once, and one that comes with the timeout is slow, though
# nothing is sent again.
t_ok "a good link: slow are those that were sent again" waited 0 $(($(retries) + 1))
t_eq "a good link: no error" "$(ev_n $err) $(ev_n $error)" "0 0"

./link loses ok random determ drop 5
mark
mock step 40 1
t_eq "each fifth packet lost: 40 writes" "$(ev_n $lat "$on_it && f[\"status\"] == \"SUCCESS\"") $(ev_n $lat)" "40 40"
t_range "each fifth packet lost: 9 of 49, or more if an answer was late" "$(./link lost)" 9 40
t_range "each fifth packet lost: each was sent again" "$(retries)" "$(./link lost)" 80
t_ok "each fifth packet lost: slow are those that were sent again" waited $((($(./link lost) + 1) / 2)) $(($(retries) + 1))
t_eq "each fifth packet lost: no error" "$(ev_n $err) $(ev_n $error)" "0 0"

# --- a long way, and one that loses by chance ---

./link loses ok
./link netem delay 100ms
mock step 10 1
t_eq "100 ms away: each of 10 writes took longer" "$(ev_n $lat "$on_it && f[\"status\"] == \"SUCCESS\" && f[\"latency_ns\"] >= 100000000") $(ev_n $lat)" "10 10"
./link netem loss 10%
mark
mock step 30 1
t_eq "one of ten lost, by chance: 30 writes, no error" "$(ev_n $lat "$on_it && f[\"status\"] == \"SUCCESS\"") $(ev_n $lat) $(ev_n $err) $(ev_n $error)" "30 30 0 0"
t_range "by chance: each was sent again" "$(retries)" "$(./link netem-lost)" 100
t_ok "by chance: some are slow, if any was lost" waited $(($(./link netem-lost) > 0)) $(($(retries) + 1))
./link netem delay 0

# --- a dead link ---

./link loses drop
mark
mock step 1 8
t_eq "a dead link: one error, one queue pair" "$(ev_n $err 'f["first"]') $(ev_n $err "f[\"first\"] && $on_it && f[\"status\"] == \"RETRY_EXC_ERR\" && f[\"opcode\"] == \"RDMA_WRITE\"")" "1 1"
t_eq "a dead link: with whom" "$(ev_get $err lgid 'f["first"]') $(ev_get $err rgid 'f["first"]') $(ev_get $err rqpn 'f["first"]')" "$GID $GID2 $peer"
t_eq "a dead link: as the port counts" "$(exceeded) $(retries)" "1 6"
t_range "a dead link: after a timeout for each try, of which the first may be short" "$(ev_get $err latency_ns 'f["first"]')" $((6 * timeout_ns)) $((100 * timeout_ns))
settled
t_eq "a dead link: the others are flushed" "$(ev_sum $err count 'f["status"] == "WR_FLUSH_ERR" && f["first_status"] == "RETRY_EXC_ERR"')" 7
wait_until 20 have $error 1 1
t_eq "a dead link: a sweep finds the queue pair in ERR" "$(ev_get $error source) $(ev_get $error qp_num) $(ev_get $error rgid)" "sweep $qp $GID2"

mark
verbs link 10
settled
t_eq "a program's: one error, after which it gave up" "$(ev_n $err 'f["first"]') $(said steps) $(said failed) $(exceeded)" "1 1 4 1"
t_eq "a program's: whose, and with whom" "$(ev_n $err "f[\"first\"] && f[\"comm\"] == \"verbs\" && f[\"tgid\"] == $(said pid) && f[\"qp_num\"] == $(said qp0) && f[\"rqpn\"] == $(said qp1) && f[\"rgid\"] == \"$GID2\" && f[\"status\"] == \"RETRY_EXC_ERR\"")" 1

./link loses ok
echo close >$DO
mock open
mock step 10 1
t_eq "mended: 10 writes, no error" "$(ev_n $lat 'f["status"] == "SUCCESS"') $(ev_n $err)" "10 0"
echo close >$DO
t_no_losses
t_eq "nothing is left in the tables" "$(in_use posts) $(in_use qps) $(in_use flushes)" "0 0 0"
