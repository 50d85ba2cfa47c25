#!/usr/bin/env bash
# description: a link that goes down and comes back is reported once each, from what to what
# tier1: 6.12
# timeout: 400
# known: reset_lock.*pci_rescan_remove_lock.*pciehp_ist
. ./lib.sh
plan 10

e=pcie_link_change
trace $e
echo 100 >/sys/module/aer_trace/parameters/link_poll_ms
known() { [ "$(status_field aer_trace table links in_use)" -ge 3 ]; }
t_ok "the links are known" wait_until 10 known
sleep 1
snap
t_eq "nothing changes: no event" "$(ev_n $e)" 0

link() { ev_awk $e 'print f["dev"], f["id"], f["bus"], f["from_mts"] "x" f["from_width"], f["to_mts"] "x" f["to_width"]'; }
now="2500x1"
bus=$(printf %02x "$((16#${NIC:5:2}))")

# a button is pressed, and the slot waits 5 s before it does anything
errors $e 1 monitor device_del nic0
t_eq "unplugged: down" "$(link)" "$PORT 1b36:000c $bus $now 0x0"
gone() { [ ! -e "/sys/bus/pci/devices/$NIC" ]; }
t_ok "the device is gone" wait_until 30 gone
t_eq "what the port could do" "$(ev_get $e max_mts) $(ev_get $e max_width)" \
	"$(awk '{ print $1 * 1000 }' "/sys/bus/pci/devices/$PORT/max_link_speed") $(<"/sys/bus/pci/devices/$PORT/max_link_width")"
means=poll
if [ "$(status_field aer_trace hook link state)" = armed ]; then
	means=hotplug
	echo 0 >/sys/module/aer_trace/parameters/link_poll_ms
fi
errors $e 1 monitor device_add e1000e,id=nic0,bus=rp0
t_eq "plugged in: up" "$(link)" "$PORT 1b36:000c $bus 0x0 $now"
t_eq "plugged in: how it is known" "$(ev_get $e means)" $means
echo 100 >/sys/module/aer_trace/parameters/link_poll_ms
back() { [ "$(readlink "/sys/bus/pci/devices/$NIC/driver")" ]; }
t_ok "the device is back" wait_until 60 back
sleep 1
snap
t_eq "one event, though two may have seen it" "$(ev_n $e)" 1
t_no_losses
