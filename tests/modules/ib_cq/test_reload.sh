#!/usr/bin/env bash
# description: provider, ib_uverbs, device and the module itself may come late, go and come back, under load too
# once: drm_sched/reload and mm_migrate/reload have targets come and go on each kernel
. ./lib.sh
plan 21

modprobe -qr rdma_rxe
modprobe -qr rdma_ucm ib_uverbs
for module in rdma_rxe ib_uverbs; do
	! is_loaded $module || skip_all "somebody uses RDMA here"
done
state() { status_field ib_cq_trace event "$1" state; }
lat=ib_wr_latency

trace $lat ib_cq_overflow ib_wc_error ib_mr_reg ib_qp_error
t_eq "without ib_uverbs the event waits for it" "$(state ib_cq_overflow)" waiting-for:ib_uverbs
t_eq "the others do not" "$(state $lat) $(state ib_wc_error) $(state ib_mr_reg)" "armed armed armed"
t_eq "and nothing was loaded for it" "$(is_loaded ib_uverbs; echo $?) $(is_loaded rdma_rxe; echo $?)" "1 1"
t_eq "no device: the status file says so" "$(grep -c '^reach no RDMA device' $STATUS)" 1

for round in 1 2; do
	soft_roce
	modprobe -q mock_ib || insmod ../../mocks/mock_ib/mock_ib.ko || bail "no mock_ib"
	t_eq "round $round: they came, the event is armed" "$(state ib_cq_overflow)" armed
	mock write 30 1
	t_eq "round $round: every request" "$(ev_n $lat)" 30
	mock overflow 20 4
	settled
	t_eq "round $round: every completion that did not fit" "$(ev_sum ib_cq_overflow count)" 13
	rmmod mock_ib
	end_soft_roce
	t_eq "round $round: they can go" "$(is_loaded rdma_rxe; echo $?) $(is_loaded ib_uverbs; echo $?)" "1 1"
done
t_eq "the event waits again" "$(state ib_cq_overflow)" waiting-for:ib_uverbs
t_no_losses

# --- under load ---

soft_roce
load mock_ib
load_it() { while [ ! -e "$work/stop" ]; do echo "write 50 3" >$DO || break; done 2>/dev/null; }
load_it &
# A program that finds its device gone may wait for a completion that never comes.
program() { while [ ! -e "$work/stop" ]; do timeout -s KILL 20 ./verbs write 100; done; }
program >"$work/program" 2>&1 &
both() { have $lat 1 21 && grep -q ^qp0= "$work/program"; }
wait_until 60 both || bail "no load"
t_ok "the module can go under load" rmmod ib_cq_trace
load ib_cq_trace
ev_enable ib_cq/$lat
wait_until 20 have $lat 1 21
t_range "and come back" "$(ev_n $lat)" 21 100000
t_ok "the device can go under load" rdma link delete rxe0
touch "$work/stop"
wait
t_eq "and no request stays in the tables" "$(in_use posts)" 0
t_fails "then there is none" mock_do write 1 1
ev_disable ib_cq/$lat
t_all_idle "disabled: no hook is left"
t_eq "nobody sweeps" "$(grep -c '^sweep' $STATUS)" 0
