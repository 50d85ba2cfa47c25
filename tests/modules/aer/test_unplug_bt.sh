#!/usr/bin/env bash
# description: aer_rate.bt runs unedited on this kernel's bpftrace, tells of an escalation and counts exactly
# timeout: 400
# once: on each kernel tools/start starts the tools
# known: reset_lock.*pci_rescan_remove_lock.*pciehp_ist
# requires: bpftrace
. ./lib.sh
plan 9

quiet
load aer_trace
../../../tools/aer_rate.bt >"$work/rate" 2>&1 &
tracing=$!
wait_until 90 grep -q MONOTONIC "$work/rate" || bail "aer_rate.bt does not start: $(<"$work/rate")"
aer paced 9 "$NIC" 0x40
aer inject "$NIC" 0x1000 0 0x60000001 0x0123450f 0x00000001 0x23456788
wait_until 60 grep -q recovery: "$work/rate"
aer inject "$NIC" 0x4000 0
twice() { [ "$(grep -c recovery: "$work/rate")" = 2 ]; }
wait_until 60 twice
sleep 65 # what it was a minute ago no longer counts
aer paced 3 "$NIC" 0x40
aer monitor device_del nic0 >/dev/null
wait_until 60 grep -q link "$work/rate"
gone() { [ ! -e "/sys/bus/pci/devices/$NIC" ]; }
wait_until 30 gone
aer monitor device_add e1000e,id=nic0,bus=rp0 >/dev/null
back() { [ "$(readlink "/sys/bus/pci/devices/$NIC/driver")" ]; }
wait_until 60 back
interrupt $tracing
t_eq "ends by itself on Ctrl-C" "$?" 0
t_eq "no warning" "$(grep -i warning "$work/rate")" ""
t_eq "lines when the errors of a minute have doubled" "$(grep -oP "$NIC BadTLP: \K\d+ so far, \d+(?= in the last minute \(e1000e\))" "$work/rate" | xargs)" \
	"1 so far, 1 2 so far, 2 4 so far, 4 8 so far, 8 11 so far, 2"
t_eq "the sum" "$(grep -oP "^@errors\[$NIC, BadTLP\]: \K.*" "$work/rate")" 12
t_eq "a lost packet" "$(grep -oP "$NIC nonfatal error: .*" "$work/rate" | head -1)" \
	"$NIC nonfatal error: status 0x1000 (e1000e), MWr of 01:04.3 at 0x123456788"
t_eq "without its header" "$(grep -oP "$NIC nonfatal error: .*" "$work/rate" | tail -n +2)" "$NIC nonfatal error: status 0x4000 (e1000e)"
t_ok "its recovery" grep -qP "$NIC recovery: recovered after \d+ ms \(e1000e\)" "$work/rate"
t_eq "the link" "$(grep -oP "$PORT link to .*" "$work/rate" | head -1)" "$PORT link to bus ${NIC:5:2}: 0 MT/s x0, was 2500 MT/s x1"
t_no_losses
cat "$work/rate"
