#!/usr/bin/env bash
# description: asynchronous events of queue pairs and ports, and entry into ERR, by whom and from where, once each
# tier1: 6.12
. ./lib.sh

event=ib_qp_event error=ib_qp_error
soft_roce
load mock_ib
plan 25
trace $event $error
sweep_anyway

has_core=$(status_field ib_cq_trace hook core_qp_event state)
mock write 10 1
t_eq "all well: none" "$(ev_n $event) $(ev_n $error)" "0 0"
mock flush 5 1
t_eq "moved to ERR: once, by whom" "$(ev_n $error) $(ev_get $error source) $(ev_get $error event) $(ev_get $error old_state)" "1 modify - RTS"
t_eq "whose, and with whom" "$(ev_get $error qp_num) $(ev_get $error rqpn) $(ev_get $error cq_id) $(ev_n $error "f[\"dev\"] == \"rxe0\" && f[\"port\"] == 1 && f[\"user\"] == \"mock_ib\" && f[\"connected\"] && f[\"lgid\"] == \"$GID\" && f[\"rgid\"] == \"$GID\"")" \
	"$(said qp0) $(said qp1) $(said cq0) 1"
t_eq "how old" "$(ev_n $error 'f["age_ns"] > 0')" 1

if [ "$has_core" = failed ]; then
	for desc in "an event: once" "its queue pair" "a fatal one: ERR by event" "from where" "a harmless one"; do
		t_skip "$desc" "this kernel has no function that all events pass"
	done
else
	mock event 3
	t_eq "an event: once" "$(ev_get $event event) $(ev_get $event state)" "QP_ACCESS_ERR RTS"
	t_eq "its queue pair" "$(ev_get $event qp_num) $(ev_get $event rqpn) $(ev_n $event 'f["user"] == "mock_ib" && f["dev"] == "rxe0"')" "$(said qp0) $(said qp1) 1"
	t_eq "a fatal one: ERR by event" "$(ev_get $error source) $(ev_get $error event) $(ev_get $error qp_num)" "event QP_ACCESS_ERR $(said qp0)"
	t_eq "from where" "$(ev_get $error old_state)" RTS
	mock event 4
	t_eq "a harmless one" "$(ev_get $event event) $(ev_n $error)" "COMM_EST 0"
fi

# --- one that fails and whose owner says nothing: only the counters of the port grow ---

wait_until 20 grep -q '^sweep rxe0 state=watching' $STATUS || bail "the first sweep does not end"
mock fail 1
wait_until 20 have $error 1 1
t_eq "retries ran out: a sweep finds it" "$(ev_get $error source) $(ev_get $error qp_num) $(ev_get $error rqpn)" "sweep $(said qp0) $(said peer)"
echo close >$DO
t_eq "destroyed: not reported again" "$(snap; ev_n $error)" 1

# --- those that were there before anybody looked ---

ev_disable ib_cq/$event
ev_disable ib_cq/$error
mock fail 1
ev_enable ib_cq/$error
wait_until 20 have $error 1 1
t_eq "failed before: the first sweep finds it, and its peer" "$(ev_get $error source) $(ev_get $error qp_num) $(ev_get $error rqpn) $(ev_get $error rgid) $(ev_get $error lgid)" \
	"sweep $(said qp0) $(said peer) $GID $GID"
echo close >$DO

idle=$work/idle
watching() { grep '^sweep rxe0 state=watching' $STATUS >"$idle"; }
stopped() { [ "$(sweep state)" = idle ]; }
ev_disable ib_cq/$error
wait_until 20 stopped || bail "sweeps go on"
mock open
rts=$(said qp0) sweeps=$(sweep sweeps)
ev_enable ib_cq/$error
wait_until 20 swept $((sweeps + 1)) || bail "the sweep does not end"
mock error
t_eq "in RTS before: a sweep learns it" "$(ev_n $error) $(ev_get $error source) $(ev_get $error old_state) $(ev_get $error qp_num)" "1 modify RTS $rts"
echo close >$DO

# --- no more than allowed ---

max=/sys/module/ib_cq_trace/parameters/qp_sweep_max
was=$(cat $max)
echo 1 >$max
wait_until 20 watching || bail "the sweep does not end"
sweeps=$(sweep sweeps "$idle") asked=$(sweep asked "$idle") cut=$(sweep cut "$idle")
# when the counters have grown, and at the look after that; where a look comes while they grow there is one more
swept_twice() { watching && [ "$(sweep sweeps "$idle")" -ge $((sweeps + 2)) ]; }
mock fail 1
t_ok "errors, again: at least two sweeps" wait_until 20 swept_twice
t_eq "qp_sweep_max: each asks one queue pair, and is cut" "$(($(sweep asked "$idle") - asked)) $(($(sweep cut "$idle") - cut))" "$(($(sweep sweeps "$idle") - sweeps)) $(($(sweep sweeps "$idle") - sweeps))"
echo close >$DO
echo 0 >$max
sweeps=$(sweep sweeps)
mock fail 1
sleep 3
t_eq "qp_sweep_max 0: no sweep" "$(sweep sweeps) $(sweep left)" "$sweeps 0"
echo close >$DO
echo "$was" >$max

# --- queue pairs with counters of their own: the port's do not grow ---

sweeps=$(sweep sweeps)
# by counters that grow it would be twice
swept_thrice() { [ "$(sweep sweeps)" -ge $((sweeps + 3)) ]; }
if rdma statistic qp set link rxe0/1 auto type on; then
	t_ok "counters of their own: one sweep follows the other" wait_until 20 swept_thrice
	rdma statistic qp set link rxe0/1 auto off
else
	t_skip "counters of their own: one sweep follows the other" "rdma cannot set them"
fi

# --- no faster than allowed: 10 queue pairs, then a pause of a tenth of a second ---

ev_disable ib_cq/$error
mkfifo "$work/stay"
./verbs errors 45 <"$work/stay" >"$work/out" &
verbs=$!
exec 5>"$work/stay"
wait_until 30 grep -q ready "$work/out" || bail "verbs does not work"
ev_clear
ev_enable workqueue/workqueue_execute_start
ev_enable ib_cq/$error
wait_until 20 have $error 1 45
ev_disable workqueue/workqueue_execute_start
t_eq "45 that failed before: the first sweep finds them all, whose" "$(ev_n $error "f[\"source\"] == \"sweep\" && f[\"comm\"] == \"verbs\" && f[\"tgid\"] == $(said pid)") $(ev_get $error qp_num | sort -u | wc -l)" "45 45"
t_eq "no run of its worker asks more than 10" "$(awk '/workqueue_execute_start: .*iq_sweep_work/ { runs++; n = 0 } / ib_qp_error: / && ++n > 10 { more++ }
	END { print more + 0, (runs >= 5) }' "$INSTANCE/trace")" "0 1"
exec 5>&-
wait $verbs

t_range "the time a sweep took" "$(sweep busy_ns)" 1 1000000000000
t_eq "the sweep counts what it asks" "$(awk '/^sweep rxe0/ { sub(/.*asked=/, ""); print ($1 > 0) }' $STATUS)" 1
t_no_losses

# --- ports ---

ev_enable ib_cq/ib_port_event
ev_clear
for n in 8 11 12 13 17 20; do
	echo "port $n 1" >$DO
done
wait_until 10 have ib_port_event 1 6
t_eq "ports: each event" "$(ev_get ib_port_event event | sort | xargs)" "CLIENT_REREGISTER DEVICE_FATAL DEVICE_SPEED_CHANGE LID_CHANGE PKEY_CHANGE SM_CHANGE"
t_eq "ports: what the port is now" "$(ev_n ib_port_event "f[\"dev\"] == \"rxe0\" && f[\"port\"] == 1 && f[\"state\"] == \"ACTIVE\" && f[\"lid\"] == 0 && f[\"speed\"] && f[\"width\"]")" 5
t_eq "ports: none of a device as a whole" "$(ev_n ib_port_event 'f["event"] == "DEVICE_FATAL" && f["port"] == 0 && f["state"] == "-" && f["speed"] == "-"')" 1
