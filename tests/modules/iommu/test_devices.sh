#!/usr/bin/env bash
# description: disks and a network card behind the IOMMU: each of their unmaps is a flush, or waits for one, as the kernel counts them
# timeout: 600
# requires: fio
. ./lib.sh
plan 16

s=iommu_iotlb_sync f=iommu_fq_flush m=dma_map_done u=dma_unmap_done
modprobe -a nvme e1000e || bail "no drivers"
for d in /sys/bus/pci/devices/*; do
	case "$(<"$d/class")/$(<"$d/vendor")/$(<"$d/device")" in
	0x010802/*) NVME=${d##*/} ;;
	*/0x8086/0x10d3) NIC=${d##*/} ;;
	*/0x1af4/0x1042) [ "$(cat "$d"/virtio*/block/*/serial)" != behind ] || DISK=${d##*/} ;;
	esac
done

# domains TYPE: of all three, whose drivers must not hold them meanwhile
domains() {
	local d holder
	for d in $NVME $DISK $NIC; do
		d=/sys/bus/pci/devices/$d
		holder=$(readlink -f "$d/driver")
		echo "${d##*/}" >"$holder/unbind"
		echo "$1" >"$d/iommu_group/type" || bail "no domain of type $1"
		echo "${d##*/}" >"$holder/bind"
	done
	wait_until 30 test -b /dev/nvme0n1 || bail "no NVMe disk"
	disk=/dev/$(basename "/sys/bus/pci/devices/$DISK"/virtio*/block/*)
	net=$(basename "/sys/bus/pci/devices/$NIC"/net/*)
	# nothing is sent but by us
	echo 1 >"/proc/sys/net/ipv6/conf/$net/disable_ipv6"
	ip addr add 10.9.0.1/24 dev "$net"
	ip link set "$net" up
	wait_until 30 link_up || bail "no link"
	ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:01 dev "$net"
}

link_up() { [ "$(<"/sys/class/net/$net/carrier")" = 1 ]; }

read_nvme() {
	fio --name=x --filename=/dev/nvme0n1 --ioengine=libaio --iodepth=4 --direct=1 --rw=randread --bs=16k --number_ios=100 --size=64m \
		--minimal >/dev/null || bail "fio failed"
}
read_virtio() { dd if="$disk" of=/dev/null bs=64k count=16 iflag=direct status=none; }
send() {
	python3 - <<-'END'
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for i in range(50):
		    s.sendto(bytes(1000), ('10.9.0.2', 9))
	END
}

# settled: the devices have nothing mapped that is yet to be unmapped and no unmap waits; then it is in $work/trace
settled() {
	still
	snap
	unmaps=$(grep -c ' unmap: IOMMU' "$INSTANCE/trace")
}

# What an interrupt does that hits one of our probes is counted as missed.
missed() { status_field iommu_trace hook "$1" missed; }

# of DEVICE EVENT KEY: the sum of its
of() { ev_sum "$2" "$3" "f[\"dev\"] == \"$1\""; }

# at_once DEVICE TYPE COMMAND…: a flush for each unmap, in a domain of that type
at_once() {
	local dev=$1 type=$2 before
	shift 2
	settled
	before=$(missed sync)
	ev_clear
	"$@"
	settled
	t_eq "$*, $type: a flush for each of the kernel's unmaps" "$(($(ev_n $s) + $(missed sync) - before))" "$unmaps"
	t_eq "$*, $type: nobody else's" "$(ev_get $s dev | sort -u) $(ev_get $s type | sort -u)" "$dev $type"
}

strictly() {
	local dev=$1 bytes=$2
	shift 2
	at_once "$dev" dma "$@"
	t_range "$*: mapped for it" "$(of "$dev" $m bytes)" "$bytes" $((bytes * 2))
}

leave() {
	ip link set "$net" down
	domains DMA
	modprobe -r nvme e1000e
}

domains DMA
at_exit leave
trace $s $m $u
ev_enable iommu/unmap
strictly "$NVME" 1638400 read_nvme
strictly "$DISK" 1048576 read_virtio
strictly "$NIC" 52100 send
if [ "$DRIVER" = amd_iommu ]; then
	for i in {1..6}; do t_skip "lazily $i" "the emulation has the kernel flush strictly"; done
else
	ev_disable iommu_trace/$s
	domains DMA-FQ
	ev_enable iommu_trace/$f
	lazily() {
		local dev=$1 before
		shift
		settled
		before=$(missed unmap)
		ev_clear
		"$@"
		settled
		t_eq "$*, lazily: each of the kernel's unmaps has waited" "$(($(ev_sum $f entries) + $(missed unmap) - before))" "$unmaps"
		t_eq "$*, lazily: whose" "$(ev_get $f dev | sort -u) $(ev_get $f type | sort -u)" "$dev dma_fq"
	}
	if kernel_since 7.3; then
		# dma_iova_destroy() no longer queues what it unmaps: it waits for a flush of each.
		ev_enable iommu_trace/$s
		at_once "$NVME" dma_fq read_nvme
		ev_disable iommu_trace/$s
	else
		lazily "$NVME" read_nvme
	fi
	lazily "$DISK" read_virtio
	lazily "$NIC" send
fi
t_eq "the status file knows of no other loss" "$(status_losses | grep -E '(recursed|dropped|evicted|unmatched|clamped)=[1-9]')" ""
