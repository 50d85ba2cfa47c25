# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# mode TYPE: of the disk's domain, DMA or DMA-FQ; to change it, no driver may hold the disk
mode() {
	rmmod nvme 2>/dev/null
	echo "$1" >"$disk/iommu_group/type"
	modprobe nvme
	until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
}

make_disk() {
	for disk in /sys/bus/pci/devices/*; do
		[ "$(<"$disk/class")" != 0x010802 ] || break
	done
	bdf=${disk##*/}
	modprobe nvme
	ln -s "$top"/tools/*.bt .
	cat >reads <<-END
		fio --name=x --filename=/dev/nvme0n1 --ioengine=libaio --iodepth=16 --direct=1 --rw=randread \\
			--bs=16k --size=64M --number_ios=2000 --minimal | awk -F\\; '{ print "fio: " \$8 " reads a second" }'
		sleep 1
	END
	cat >region <<-END
		for i in 1 2 3; do echo sg 536870912 2097152; echo single 4096 500; done |
			while read -r line; do echo \$line >/sys/kernel/debug/mock_dma/do; done
	END
}

title "iommu_trace: the IOMMU makes the disk slower. What does its DMA wait for?"
make_disk
modprobe mock_dma

run 'modprobe iommu_trace'
part "1. The same 2000 reads from an NVMe disk: each unmapping flushed at once (iommu.strict=1) …"
mode DMA
run "./iommu_sync.bt -c '/bin/sh reads'"
expect "^@flushes\\[$bdf, dmar0\\]: 2000\$" "a flush for each of 2000 reads"
part "2. … and when unmappings wait for a common flush (iommu.strict=0)"
mode DMA-FQ
run "./iommu_sync.bt -c '/bin/sh reads'"
expect "^@flushes_of_all\\[$bdf, dmar0\\]: [0-9]+\$" "flushes of everything"
expect "^@queue_entries\\[$bdf, (timeout|full)\\]: count [0-9]+, " "unmappings in the queue"
tell "@still_us is the time a CPU stood still and waited for the IOMMU. Strictly, once for each read; lazily, \
many unmappings share one flush, and until it comes (10 ms at most) the device can still reach what was unmapped."

part "3. Three regions of 512 MiB, as a training job registers them, and many small ones"
run "./dma_setup.bt -c '/bin/sh region'"
expect '^@map_us\[.*, iommu, 536870912\]:' "the mappings of 512 MiB"
tell "Large pieces make large entries in the IOMMU's page table: half a GiB costs as much as some \
dozens of 4 KiB. Where it costs more, @map_page_table_us says so (memory in small pieces) or @map_addresses_us (those for more than 128 KiB come \
from a tree under a lock; the event iommu_iova_alloc reports each)."

part "4. A device reads where nothing is mapped"
echo 'echo fault 0x0abcd000 1 >/sys/kernel/debug/mock_dma/do; sleep 1' >fault
run "bpftrace -e 'tracepoint:iommu_trace:iommu_fault { printf(\"%s 0x%llx write=%d reason=%d refused by %s\\n\", args->dev, args->addr, args->write, args->reason, args->iommu); }' -c '/bin/sh fault'"
expect '^0000:.* 0xabcd000 write=0 reason=6 refused by dmar0$' "the fault"

run 'rmmod iommu_trace'
rmmod mock_dma
