# shellcheck shell=bash
# shellcheck disable=SC2034 # for ../../events.sh
# What the tests of iommu_trace share, on top of ../../events.sh. They need QEMU's "edu" device, for which mock_dma maps memory; the
# guests in */guest.conf have one.

MODULE=iommu_trace
SYSTEM=iommu_trace
# shellcheck source=../../events.sh
. ../../events.sh

for d in /sys/bus/pci/devices/*; do
	[ "$(<"$d/vendor") $(<"$d/device")" != "0x1234 0x11e8" ] || EDU=${d##*/}
done
[ -n "${EDU-}" ] || skip_all "no edu device"
load mock_dma
mock=/sys/kernel/debug/mock_dma

# The only IOMMU there is, and its driver.
IOMMU=$(find /sys/class/iommu/ -mindepth 1 -printf '%f\n' | sort | head -1)
case $IOMMU in
dmar*) DRIVER=intel_iommu ;;
ivhd*) DRIVER=amd_iommu ;;
smmu3.*) DRIVER=arm_smmu ;;
*) DRIVER=viommu ;;
esac

# mode TYPE: of the edu device's domain, as in its group's type: DMA, DMA-FQ, identity
mode() {
	rmmod mock_dma
	echo "$1" >"/sys/bus/pci/devices/$EDU/iommu_group/type" || bail "no domain of type $1"
	insmod ../../mocks/mock_dma/mock_dma.ko || bail "no mock_dma"
}

# maps WORD…: mock_dma does it; what it traced is then in $work/trace
maps() {
	ev_clear
	echo "$*" >$mock/do || bail "mock_dma: $*"
	snap
}

# got KEY: what mock_dma got last
got() { grep -oP "\b$1=\K\S+" $mock/last; }

edu="f[\"dev\"] == \"$EDU\""

# known N: the module has looked at the devices, of which N are in domains of their own
known() { [ "$(status_field iommu_trace table domains in_use)" -ge "$1" ]; }

# still: until nothing has been traced for a second
still() {
	local n=
	until [ "$(grep -c . "$INSTANCE/trace")" = "$n" ]; do
		n=$(grep -c . "$INSTANCE/trace")
		sleep 1
	done
}

# The disk is there before the kernel has read its partition table.
nvme() {
	modprobe nvme
	wait_until 30 test -b /dev/nvme0n1 || bail "no NVMe disk"
	NVME=$(basename "$(readlink -f /sys/class/nvme/nvme0/device)")
	still
}

# count_calls FUNCTION…: from now on, apart from the module; calls FUNCTION says how often. They may end in *.
count_calls() {
	calls=$TRACEFS/instances/calls-$$
	mkdir "$calls" || bail "no second instance"
	at_exit rmdir "$calls"
	printf '%s\n' "$@" >"$calls/set_ftrace_filter" || bail "no function $*"
	echo function >"$calls/current_tracer"
}
calls() { grep -cE ": $1 <-" "$calls/trace"; }
