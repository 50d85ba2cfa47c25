#!/usr/bin/env bash
# description: ib_cq_trace's bpftrace tools run unedited on this kernel's bpftrace and say exactly what a program and a module did
# timeout: 400
# once: on each kernel tools/start starts the tools
# requires: bpftrace
# shellcheck source=../../modules/ib_cq/lib.sh
. ../../modules/ib_cq/lib.sh
# shellcheck source=lib.sh
. ./lib.sh
plan 32

soft_roce_link
load mock_ib peer=rxe1
load ib_cq_trace
verbs=$PWD/../../modules/ib_cq/verbs

# do_it COMMAND…: a line of the workload that has mock_ib do it
do_it() { echo "echo $* >$DO; cat $DO"; }

# told NAME KEY N: the N-th value of key= the programs said in a tool's run
told() { grep -oP "\b$2=\K\S+" "$work/$1" | sed -n "${3}p"; }

# --- errors ---

workload "$verbs retry 20" "$(do_it access)" "$verbs overflow 64" "$(do_it flush 100 1)" "sleep 1"
tool ib_errors
t_eq "ib_errors: the first line" "$(grep -m1 Tracing "$work/ib_errors")" "Tracing RDMA errors until Ctrl-C."
pid=$(told ib_errors pid 1)
t_eq "ib_errors: a program's first error, with whom, whose" "$(grep -c " FIRST    rxe0 qp $(told ib_errors qp0 1) to $GID qp $(told ib_errors peer 1): RETRY_EXC_ERR, vendor_err 0, of verbs/$pid\$" "$work/ib_errors")" 1
t_eq "ib_errors: a module's" "$(grep -c " FIRST    rxe0 qp $(told ib_errors qp0 2) to $GID2 qp $(told ib_errors qp1 2): REM_ACCESS_ERR, vendor_err 0, of mock_ib/0\$" "$work/ib_errors")" 1
t_eq "ib_errors: overflows" "$(grep -oP " OVERFLOW rxe0 cq \d+ of 7 entries: \K\d+ lost, of verbs/$(told ib_errors pid 2)\$" "$work/ib_errors" | xargs)" \
	"1 lost, of verbs/$(told ib_errors pid 2) 56 lost, of verbs/$(told ib_errors pid 2)"
t_eq "ib_errors: moved to ERR" "$(grep -cE " ERR      rxe0 qp $(told ib_errors qp0 4) to $GID2 qp $(told ib_errors qp1 4): by modify, [0-9]+ ms old, of mock_ib/0\$" "$work/ib_errors")" 1
t_eq "ib_errors: flushed" "$(value ib_errors "flushed[rxe0, $(told ib_errors qp0 1)]") $(value ib_errors "flushed[rxe0, $(told ib_errors qp0 4)]")" "19 100"

# --- latency ---

workload "$(do_it write 101 1)" "$(do_it retry 5)"
tool ib_lat
t_eq "ib_lat: the first line says from which duration on" "$(grep -m1 Tracing "$work/ib_lat")" "Tracing RDMA work requests of the kernel until Ctrl-C. ib_wr_latency_min_ns=0"
t_eq "ib_lat: histograms" "$(entries ib_lat 'us[mock_ib, WRITE]') $(entries ib_lat 'us[mock_ib, SEND]')" "101 5"
t_eq "ib_lat: by queue pair" "$(stat ib_lat "qp_us[rxe0, $(told ib_lat qp0 1)]" count) $(stat ib_lat "qp_us[rxe0, $(told ib_lat qp0 2)]" count)" "101 5"
t_eq "ib_lat: bytes" "$(value ib_lat 'bytes[mock_ib, WRITE]')" 10100
t_eq "ib_lat: failed" "$(value ib_lat "failed[rxe0, $(told ib_lat qp0 2)]")" 5

# --- a link that gets bad ---

workload "$(do_it open)" "$(do_it step 20 1)" "$LINK loses ok random determ drop 3" "$(do_it step 4 1)" "$LINK loses drop" "$(do_it step 1 4)" \
	"$verbs link 1" "$LINK loses ok" "$(do_it close)"
tool ib_flap
qp="rxe0 qp $(told ib_flap qp0 1)"
t_eq "ib_flap: the first line says from which duration on" "$(grep -m1 Tracing "$work/ib_flap")" \
	"Tracing RDMA links that get slow and fail until Ctrl-C. ib_wr_latency_min_ns=0"
desc="ib_flap: a lost packet makes it slower, by a timeout"
if grep -qP " SLOWER   $qp of mock_ib: \d+ us" "$work/ib_flap" || ! grep -q ' SLOWER ' "$work/ib_flap"; then
	slower=$(grep -oP " SLOWER   $qp of mock_ib: \K\d+" "$work/ib_flap" | tail -1)
	if [ "${slower:-0}" -ge 268435 ]; then t_pass "$desc"; else t_skip "$desc" "the machine itself was that slow"; fi
else
	t_fail "$desc"
fi
t_eq "ib_flap: the first error, after how many" "$(grep -A1 " FIRST    $qp to $GID2 qp $(told ib_flap qp1 1): RETRY_EXC_ERR, of mock_ib/0\$" "$work/ib_flap" |
	grep -oP '^ +[0-9]{7,} us after its posting; the \K[0-9]+')" 24
t_eq "ib_flap: a program's" "$(grep -c " FIRST    rxe0 qp $(told ib_flap qp0 2) to $GID2 qp $(told ib_flap qp1 2): RETRY_EXC_ERR, of verbs/$(told ib_flap pid 1)\$" "$work/ib_flap")" 1
t_eq "ib_flap: by queue pair" "$(stat ib_flap "us[rxe0, $(told ib_flap qp0 1)]" count)" 24

# --- lag ---

workload "$(do_it flush 600 1)"
tool ib_cq_lag
t_eq "ib_cq_lag: rounds" "$(entries ib_cq_lag 'delay_us[mock_ib]') $(entries ib_cq_lag 'round_us[mock_ib]')" "3 3"
t_eq "ib_cq_lag: completions" "$(stat ib_cq_lag 'completed[mock_ib]' total)" 600
t_eq "ib_cq_lag: exhausted" "$(value ib_cq_lag "exhausted[mock_ib, $(told ib_cq_lag cq0 1)]")" 2

# --- registration ---

workload "$verbs mr 131072"
tool ib_mr
pid=$(told ib_mr pid 1)
t_eq "ib_mr: histogram" "$(entries ib_mr "reg_us[verbs, $pid, memory]")" 1
t_eq "ib_mr: bytes" "$(value ib_mr "reg_bytes[verbs, $pid, memory]")" 131072
t_eq "ib_mr: failed, by errno" "$(value ib_mr "failed[verbs, $pid, 14]")" 1
t_eq "ib_mr: the first line" "$(grep -m1 Tracing "$work/ib_mr")" "Tracing RDMA memory registration until Ctrl-C. ib_mr_reg_min_ns=0"

# --- programs that ask libibverbs for names ---

cat >"$work/ask" <<'END'
import ctypes, os
lib = ctypes.CDLL("libibverbs.so.1")
for status in (12, 5, 5, 5):
    lib.ibv_wc_status_str(status)
lib.ibv_event_type_str(3)
print("pid=%d" % os.getpid())
END
# -c is for that process alone.
workload "exec /usr/bin/python3 $work/ask"
tool ibv_errors
pid=$(told ibv_errors pid 1)
t_eq "ibv_errors: what, in order" "$(grep -oP " STATUS \K\S+(?= of python3/$pid\$)" "$work/ibv_errors" | xargs)" "RETRY_EXC_ERR WR_FLUSH_ERR WR_FLUSH_ERR WR_FLUSH_ERR"
t_eq "ibv_errors: counted" "$(value ibv_errors "statuses[python3, $pid, WR_FLUSH_ERR]") $(value ibv_errors "statuses[python3, $pid, RETRY_EXC_ERR]")" "3 1"
t_eq "ibv_errors: events" "$(grep -c " EVENT  QP_ACCESS_ERR of python3/$pid\$" "$work/ibv_errors")" 1
