#!/usr/bin/env bash
# description: a program's completions that failed, overflows, events, registrations and channels on soft-RoCE, with its identity
# tier1: 6.12
. ./lib.sh
plan 54

err=ib_wc_error over=ib_cq_overflow qp=ib_qp_error
soft_roce
load mock_ib
trace $err $over $qp ib_qp_event ib_comp_channel ib_mr_reg ib_odp_fault
sweep_anyway

# owned: the condition that an event is verbs' own
owned() { echo "f[\"dev\"] == \"rxe0\" && f[\"user\"] == \"\" && f[\"pid\"] == $(said pid) && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"verbs\" && f[\"cgroup_id\"] > 0"; }

# one STATUS PEER: a single error, complete
one() {
	t_eq "$1: one, the first" "$(ev_n $err) $(ev_get $err status) $(ev_get $err first) $(ev_get $err wr_id)" "1 $1 1 0x1"
	t_eq "$1: whose, and with whom" "$(ev_n $err "$(owned) && f[\"connected\"] && f[\"rgid\"] == \"$GID\" && f[\"lgid\"] == \"$GID\"") $(ev_get $err qp_num) $(ev_get $err rqpn)" "1 $(said qp0) $2"
}

verbs write 20
t_eq "all well: none" "$(ev_n $err) $(ev_n $over) $(ev_n $qp)" "0 0 0"

in_one $over verbs overflow 64
t_eq "64 writes on a CQ of 7: one at once, one summary, which add up to 57" "$(ev_get $over count | xargs) $(ev_sum $over count)" "1 56 57"
t_eq "as many as the program was told" "$(said events)" 57
t_eq "whose, how deep, how full" "$(ev_n $over "$(owned) && f[\"depth\"] == 7 && f[\"used\"] == 7 && f[\"attached\"] == 2")" 2

# counted NAME: by how much the port's counter has grown since the last time
counted() { was=$(($(counter "$1") - ${seen[$1]:-0})) && seen[$1]=$(counter "$1"); }
declare -A seen
counted retry_exceeded_err
verbs retry 1
one RETRY_EXC_ERR "$(said peer)"
counted retry_exceeded_err
t_eq "RETRY_EXC_ERR: as the port counts" "$was" 1
counted retry_rnr_exceeded_err
verbs rnr
one RNR_RETRY_EXC_ERR "$(said qp1)"
counted retry_rnr_exceeded_err
t_eq "RNR_RETRY_EXC_ERR: as the port counts" "$was" 1
verbs access
one REM_ACCESS_ERR "$(said qp1)"
verbs len
t_eq "too long: an error at each end" "$(ev_n $err) $(ev_n $err 'f["first"]')" "2 2"
t_eq "too long: the sender's" "$(ev_get $err status "f[\"qp_num\"] == $(said qp0)") $(ev_get $err rqpn "f[\"qp_num\"] == $(said qp0)")" "REM_OP_ERR $(said qp1)"
t_eq "too long: the receiver's" "$(ev_get $err status "f[\"qp_num\"] == $(said qp1)") $(ev_get $err rqpn "f[\"qp_num\"] == $(said qp1)")" "LOC_QP_OP_ERR $(said qp0)"

verbs retry 30
t_eq "30 sends: one error, 29 flushed after it" "$(ev_get $err status 'f["first"]') $(ev_sum $err count 'f["status"] == "WR_FLUSH_ERR" && f["first_status"] == "RETRY_EXC_ERR"')" "RETRY_EXC_ERR 29"
t_eq "as many as the program saw" "$(grep -c 'send=5' "$work/out")" 29
verbs flush 50
t_eq "moved to ERR: all 50, no error first" "$(ev_sum $err count) $(ev_n $err 'f["first"]') $(ev_get $err first_status | sort -u)" "50 0 SUCCESS"
t_eq "moved to ERR: told, by whom and whose" "$(ev_get $qp source) $(ev_get $qp old_state) $(ev_get $qp qp_num) $(ev_n $qp "$(owned)")" "modify RTS $(said qp0) 1"

# --- one that fails while its owner looks elsewhere: only a sweep can find it ---

mkfifo "$work/stay"
./verbs fail 2 <"$work/stay" >"$work/out" &
verbs=$!
exec 5>"$work/stay"
failed_both() { [ "$(grep -c send= "$work/out")" = 2 ]; }
wait_until 30 failed_both || bail "verbs does not fail"
wait_until 30 have $qp "f[\"qp_num\"] == $(said qp0)" 1
t_eq "found by a sweep" "$(ev_get $qp source "f[\"qp_num\"] == $(said qp0)")" sweep
t_eq "whose, and with whom" "$(ev_n $qp "$(owned) && f[\"rqpn\"] == $(said peer) && f[\"rgid\"] == \"$GID\" && f[\"first_status\"] == \"RETRY_EXC_ERR\"")" 1

# --- events of its other queue pair, as a provider reports them ---

ev_clear
t_ok "an event of the program's queue pair" mock_do event_of 3 "$(said qp1)"
snap
t_eq "an event: what" "$(ev_get ib_qp_event event) $(ev_get ib_qp_event state) $(ev_get ib_qp_event qp_num)" "QP_ACCESS_ERR RTS $(said qp1)"
t_eq "an event: whose, and with whom" "$(ev_n ib_qp_event "$(owned) && f[\"port\"] == 1 && f[\"connected\"] && f[\"rgid\"] == \"$GID\" && f[\"rqpn\"] == $(said peer)")" 1
t_eq "ERR by event" "$(ev_get $qp source) $(ev_get $qp event) $(ev_get $qp old_state) $(ev_get $qp qp_num) $(ev_n $qp "$(owned)")" "event QP_ACCESS_ERR RTS $(said qp1) 1"
exec 5>&-
wait $verbs

# --- channels ---

verbs channel 7
t_eq "7 completion events" "$(ev_n ib_comp_channel) $(ev_n ib_comp_channel "f[\"dev\"] == \"rxe0\" && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"verbs\" && f[\"queued\"] == 0 && f[\"lost\"] == 0")" "7 7"
t_eq "each lay there for 50 ms" "$(ev_n ib_comp_channel 'f["wait_ns"] >= 40000000 && f["wait_ns"] < 60000000000')" 7
t_eq "of one CQ" "$(ev_get ib_comp_channel cq_id | sort -u | wc -l)" 1
verbs channels 14
t_eq "14 events at a time, of as many CQs: each is timed" "$(ev_n ib_comp_channel 'f["wait_ns"] >= 50000000 && f["lost"] == 0') $(ev_get ib_comp_channel cq_id | sort -u | wc -l)" "14 14"
t_eq "and tells how many are left" "$(ev_get ib_comp_channel queued | xargs)" "$(seq 13 -1 0 | xargs)"

# Who waits for an event when this one is enabled reads it unseen.
ev_disable ib_cq/ib_comp_channel
./verbs waiting 5 <"$work/stay" >"$work/out" &
verbs=$!
exec 5>"$work/stay"
# its child, in read()
waits() { grep -qs ib_uverbs "/proc/$(pgrep -P $verbs)/wchan"; }
wait_until 30 waits || bail "nobody waits for an event"
ev_enable ib_cq/ib_comp_channel
ev_clear
echo go >&5
wait $verbs
t_eq "six events, the first to who waited when tracing began" $? 0
exec 5>&-
snap
t_eq "... the other five are not taken for those before them" "$(ev_n ib_comp_channel) $(ev_get ib_comp_channel queued | sort -u | xargs) $(in_use channels)" "5 0 0"

# --- registration ---

verbs mr 131072
t_eq "two registrations, one failed" "$(ev_get ib_mr_reg result | xargs)" "0 -14"
t_eq "what, where, how" "$(ev_n ib_mr_reg "f[\"dev\"] == \"rxe0\" && f[\"addr\"] == \"$(said addr)\" && f[\"bytes\"] == 131072 && f[\"access\"] == \"LOCAL_WRITE|REMOTE_READ\" && f[\"kind\"] == \"memory\" && f[\"lkey\"] == $(said lkey) && f[\"duration_ns\"] > 0")" 1
t_eq "whose" "$(ev_n ib_mr_reg "f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"verbs\"")" 2
t_eq "the failed one" "$(ev_n ib_mr_reg 'f["lkey"] == 0 && f["access"] == "LOCAL_WRITE"') $(said errno)" "1 14"

verbs odp 5
if [ "$(said errno)" != 0 ]; then
	for desc in registered "5 faults" "each a page, for writing" "taken away" "whose"; do
		t_skip "on demand: $desc" "this kernel's soft-RoCE has no on-demand paging"
	done
else
	t_eq "on demand: registered" "$(ev_get ib_mr_reg kind 'f["addr"] == "'"$(said addr)"'"') $(ev_get ib_mr_reg bytes 'f["kind"] == "odp"')" "odp 20480"
	t_eq "on demand: 5 faults" "$(ev_n ib_odp_fault 'f["op"] == "map" && f["result"] >= 1')" 5
	t_eq "on demand: each a page, for writing" "$(ev_n ib_odp_fault 'f["op"] == "map" && f["write"]')" 5
	t_range "on demand: taken away" "$(ev_n ib_odp_fault 'f["op"] == "invalidate"')" 1 5
	t_eq "on demand: whose" "$(ev_n ib_odp_fault "f[\"tgid\"] == $(said pid) && f[\"dev\"] == \"rxe0\"")" "$(ev_n ib_odp_fault)"
fi

# --- what soft-RoCE has not, or not on every kernel: mock_ib does as mlx5 would ---

mock dmabuf 65536
t_eq "a dma-buf" "$(ev_n ib_mr_reg "f[\"dev\"] == \"rxe0\" && f[\"kind\"] == \"dmabuf\" && f[\"addr\"] == \"0x2000\" && f[\"bytes\"] == 65536 && f[\"access\"] == \"LOCAL_WRITE|REMOTE_READ\" && f[\"lkey\"] == $(said lkey) && f[\"tgid\"] == $(said pid) && f[\"result\"] == 0 && f[\"duration_ns\"] > 0") $(ev_n ib_mr_reg)" "1 1"
mock dmabuf 4096 2
t_eq "a dma-buf that is not there" "$(ev_get ib_mr_reg kind) $(ev_get ib_mr_reg result) $(ev_get ib_mr_reg lkey)" "dmabuf -9 0"

verbs mockodp 5
mine="f[\"dev\"] == \"rxe0\" && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"verbs\" && f[\"addr\"] == \"0x10000000\" && f[\"bytes\"] == 20480"
t_eq "a fault of 5 pages" "$(ev_n ib_odp_fault "$mine && f[\"op\"] == \"map\" && f[\"write\"] && f[\"result\"] == 5 && f[\"duration_ns\"] > 0")" 1
t_eq "taken away, and at the end" "$(ev_n ib_odp_fault "$mine && f[\"op\"] == \"invalidate\" && f[\"result\"] == 0")" 2
t_eq "nothing else" "$(ev_n ib_odp_fault)" 3

# --- ports ---

ev_enable ib_cq/ib_port_event
ip link set dummy0 down
wait_until 10 have ib_port_event 'f["event"] == "PORT_ERR"' 1
t_eq "link down" "$(ev_get ib_port_event state 'f["event"] == "PORT_ERR"') $(ev_get ib_port_event port 'f["event"] == "PORT_ERR"')" "DOWN 1"
ip link set dummy0 up
wait_until 10 have ib_port_event 'f["event"] == "PORT_ACTIVE"' 1
t_eq "link up" "$(ev_get ib_port_event state 'f["event"] == "PORT_ACTIVE"')" ACTIVE
ip addr add 10.9.0.2/24 dev dummy0
wait_until 10 have ib_port_event 'f["event"] == "GID_CHANGE"' 1
t_range "an address more" "$(ev_n ib_port_event 'f["event"] == "GID_CHANGE" && f["dev"] == "rxe0" && f["tgid"] == 0')" 1 20

t_no_losses
t_eq "nothing is left in the tables" "$(in_use qps) $(in_use flushes) $(in_use overflows) $(in_use channels)" "0 0 0 0"
verbs channels 16
t_eq "16 completion events at a time: the two there was no room for are counted" "$(ev_n ib_comp_channel 'f["lost"] == 2') $(ev_get ib_comp_channel queued | xargs) $(status_field ib_cq_trace table channels unmatched) $(in_use channels)" "14 $(seq 15 -1 2 | xargs) 2 0"
ev_disable ib_cq
t_all_idle "disabled: no hook is left"
verbs retry 2
t_eq "disabled: no event" "$(ev_n $err)" 0
