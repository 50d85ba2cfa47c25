#!/usr/bin/env bash
# description: only a device that is locked and has a driver is asked for its domain; what lies beside an IOMMU in memory is none
# tier1: 6.12
# timeout: 400
. ./lib.sh
plan 11

s=iommu_iotlb_sync w=iommu_inv_wait
mode DMA
nvme
rmmod mock_dma
load "$MODULE"
mk_instance "kstall-$$"

# A device begins with its name.
probes=$TRACEFS/kprobe_events
# shellcheck disable=SC2016 # ftrace's
echo 'p:kstall/asked iommu_get_domain_for_dev name=+0(+0($arg1)):string' >>$probes
at_exit eval "echo '-:kstall/asked' >>$probes"
ev_enable kstall/asked
# asked: the devices whose domains the module has asked for
asked() { grep -oP 'kworker.* asked: .* name="\K[^"]+' "$INSTANCE/trace" | sort -u; }
was_asked() { asked | grep -qx "$1"; }

# --- no driver ---

ev_enable $SYSTEM/$s
t_ok "a disk, which has a driver, is asked" wait_until 30 was_asked "$NVME"
t_eq "the edu device has none" "$(asked | grep -x "$EDU")" ""
t_eq "nor is any other asked that has none" "$(asked | while read -r dev; do [ -e "/sys/bus/pci/devices/$dev/driver" ] || echo "$dev"; done)" ""
load mock_dma
maps single 4096 10
t_eq "it has got a driver: its first flushes are reported as its" "$(ev_n $s "$edu") $(ev_n $s)" "10 10"
ev_disable $SYSTEM/$s
ev_clear
ev_enable $SYSTEM/$s
t_ok "and from then on it is asked" wait_until 30 was_asked "$EDU"

# --- its driver is being probed, and holds its lock ---

ev_disable $SYSTEM/$s
rmmod mock_dma
insmod ../../mocks/mock_dma/mock_dma.ko hold=1 &
has_driver() { [ -e "/sys/bus/pci/devices/$EDU/driver" ]; }
wait_until 30 has_driver || bail "it is not probed"
ev_clear
ev_enable $SYSTEM/$s
t_ok "while it is probed: enabling does not wait, and others are asked" wait_until 30 was_asked "$NVME"
t_eq "while it is probed: it is not asked" "$(asked | grep -x "$EDU")" ""
echo 0 >/sys/module/mock_dma/parameters/hold
wait $!
t_ok "then it is, though nothing else happens" wait_until 30 was_asked "$EDU"
maps single 4096 10
t_eq "... and its flushes are reported as its" "$(ev_n $s "$edu") $(ev_n $s)" "10 10"

# --- an IOMMU without devices ---

if [ -n "$(status_field iommu_trace hook wait_virtio kind)" ]; then
	ev_enable $SYSTEM/$w
	maps single 4096 1
	t_eq "whom the device waits for" "$(ev_awk $w 'print f["dev"], f["driver"]' | sort -u)" "$IOMMU $DRIVER"
	load virtio_iommu
	snap
	t_eq "one that has no devices: it is not the neighbour" "$(ev_n $w 'f["dev"] == "" && f["driver"] == ""')" 1
else
	for i in 1 2; do t_skip "an IOMMU without devices $i" "this kernel has no virtio-iommu, which one is made up of"; done
fi
