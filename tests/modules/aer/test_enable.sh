#!/usr/bin/env bash
# description: the module changes nothing until it is used, comes and goes under load, and records what is rare
# timeout: 600
. ./lib.sh
plan 16

status=/sys/kernel/debug/aer_trace/status
quiet

load aer_trace
t_eq "unused: nothing armed, nothing allocated" "$(grep -cE 'state=(armed|allocated)' $status)" 0
t_eq "whose errors it can see" "$(sed -n 's/^reach //p' $status)" \
	"$(find /sys/bus/pci/devices/*/ -maxdepth 1 -name aer_dev_fatal | wc -l) of $(find /sys/bus/pci/devices/*/ -maxdepth 1 -name current_link_speed | wc -l) PCIe devices report errors; 2 of 2 root ports to the kernel, the others to firmware"
mk_instance "kstall-$$"
for event in aer_correctable aer_uncorrectable aer_recovery pcie_link_change; do
	ev_enable aer/$event
	t_eq "$event: alone" "$(status_field aer_trace event $event state) $(grep -c '^event .*state=armed' $status)" "armed 1"
	ev_disable aer/$event
done
t_eq "disabled: nothing armed, nothing allocated" "$(grep -cE 'state=(armed|allocated)' $status)" 0

# errors come all the time, though not more than the kernel's log can take; the module comes and goes
ev_enable aer
at_exit eval 'is_loaded aer_trace && ev_disable aer'
while [ ! -e "$work/stop" ] && python3 ./aer.py storm 100 "$NIC" 0x41; do :; done &
load=$!
# shellcheck disable=SC2016 # eval's
at_exit eval 'kill $load 2>/dev/null'
for round in 1 2 3; do
	sleep 2
	t_ok "rmmod under load, round $round" rmmod aer_trace
	insmod ../../../aer_trace/aer_trace.ko || bail "cannot load it again"
	ev_enable aer
done
goes_on() { snap; [ "$(ev_sum aer_correctable count)" -ge 2 ]; }
wait_until 60 goes_on
t_range "it goes on counting" "$(ev_sum aer_correctable count)" 2 10000000
touch "$work/stop" # it would leave what it runs behind if it was killed
wait $load
still() { local n; n=$(counted aer_dev_correctable RxErr); sleep 2; [ "$n" = "$(counted aer_dev_correctable RxErr)" ]; }
wait_until 60 still
ev_disable aer
t_ok "unloaded" unload aer_trace

recorder=$TRACEFS/instances/kstall
[ -d "$recorder" ] || at_exit rmdir "$recorder"
load aer_trace recorder=1
t_eq "recorder: armed though nobody enabled them" "$(grep -c '^event .*state=armed' $status)" 4
aer inject "$NIC" 0x4000 0x40
INSTANCE=$recorder
both() { snap; [ "$(ev_n aer_correctable) $(ev_n aer_uncorrectable) $(ev_n aer_recovery 'f["step"] == "recovery"')" = "1 1 1" ]; }
t_ok "recorder: an error of each kind, and the recovery" wait_until 60 both
t_eq "recorder: whose" "$(ev_get aer_correctable dev) $(ev_get aer_uncorrectable dev)" "$NIC $NIC"
t_no_losses
