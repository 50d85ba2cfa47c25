#!/usr/bin/env bash
# description: each step of a recovery is reported with the driver's answer and time, and the whole with its result
# tier1: 6.12
# timeout: 400
. ./lib.sh
plan 17

e=aer_recovery
ended='f["step"] == "recovery"'
trace $e

# steps: "step:answer" of one device, in order; the kernel may reset a link that need not have been
steps() { ev_awk $e "if (f[\"dev\"] == \"$1\") print f[\"step\"] \":\" f[\"answer\"]" | xargs; }

# recovered WORD…: until the whole is over
recovered() {
	ev_clear
	aer "$@" >"$work/out" 2>"$work/err" || bail "aer.py $* failed: $(tail -3 "$work/err" | xargs)"
	over() { snap; [ "$(ev_n $e "$ended")" = 1 ]; }
	wait_until 60 over || diag <"$INSTANCE/trace"
}

# all_of_it: the steps of one recovery fit into it
all_of_it() {
	local sum
	sum=$(ev_sum $e duration_ns "!($ended)")
	[ "$sum" -gt 0 ] && [ "$sum" -le "$(ev_get $e duration_ns "$ended")" ]
}

recovered inject "$NIC" 0x4000 0
t_eq "nonfatal: e1000e is asked, reset and resumed" "$(steps "$NIC")" \
	"error_detected:need_reset slot_reset:recovered resume:- recovery:recovered"
t_eq "nonfatal: whose" "$(ev_awk $e "if (f[\"dev\"] == \"$NIC\") print f[\"id\"], f[\"driver\"], f[\"root_port\"], f[\"state\"]" | sort -u)" \
	"8086:10d3 e1000e $PORT normal"
t_eq "nonfatal: one device was asked" "$(ev_get $e devices "$ended")" 1
t_ok "nonfatal: its steps are part of it" all_of_it
t_eq "nonfatal: no reason of containment" "$(ev_get $e reason | sort -u)" 0x0

recovered inject "$NIC" 0x10 0
t_eq "fatal: e1000e" "$(steps "$NIC")" "error_detected:need_reset slot_reset:recovered resume:- recovery:recovered"
t_eq "fatal: its port has reset the link" "$(steps "$PORT")" "reset:recovered"
t_eq "fatal: the channel was frozen" "$(ev_get $e state | sort -u)" frozen
t_ok "fatal: its steps are part of it" all_of_it
t_eq "the driver lives" "$(basename "$(readlink "/sys/bus/pci/devices/$NIC/driver")")" e1000e

if firmware_reports; then
	recovered firmware "$NIC" 0 0x4000 0
	t_eq "from firmware" "$(steps "$NIC")" "error_detected:need_reset slot_reset:recovered resume:- recovery:recovered"
else
	t_skip "from firmware" "no firmware reports errors here"
fi

recovered monitor pcie_aer_inject_error vb0 COMP_TIME
t_eq "a driver that knows nothing of errors" "$(steps "$DISK")" "error_detected:no_aer_driver recovery:no_aer_driver"
t_eq "says so by name" "$(ev_awk $e 'print f["driver"]' | sort -u)" virtio-pci

# a parameter holds for all
echo 3600000000000 >/sys/module/aer_trace/parameters/aer_recovery_min_ns
suppressed() { status_field aer_trace event $e suppressed; }
ev_clear
aer inject "$NIC" 0x4000 0
three() { [ "$(suppressed)" -ge 4 ]; }
t_ok "min_ns: steps are counted, not reported" wait_until 60 three
snap
t_eq "min_ns: none reported" "$(ev_n $e)" 0
echo 0 >/sys/module/aer_trace/parameters/aer_recovery_min_ns
idle() { [ "$(status_field aer_trace table recoveries in_use)" = 0 ]; }
t_ok "no recovery is left in the table" wait_until 30 idle
t_no_losses
