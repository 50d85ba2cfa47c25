#!/usr/bin/env bash
# description: kstall-doctor --node finds what slows a node down, on a made-up one, and names only events that exist
# once: it asks about a machine that it makes up
# host: it asks about a machine that it makes up
# tier1: 6.12
# requires: python3
. ../../lib.sh
. lib.sh
plan 15

node=$(mktemp -d)
at_exit rm -rf "$node"

# device BDF CLASS NODE {IRQ CPUS}…: with a link at half its width
device() {
	local d=/sys/bus/pci/devices/$1
	put "$d/class" "$2"
	put "$d/numa_node" "$3"
	shift 3
	while [ $# -gt 0 ]; do
		put "$d/msi_irqs/$1" msix
		put "/proc/irq/$1/effective_affinity_list" "$2"
		shift 2
	done
	put "$d/current_link_speed" "16.0 GT/s PCIe"
	put "$d/max_link_speed" "16.0 GT/s PCIe"
	put "$d/current_link_width" 8
	put "$d/max_link_width" 16
}

# finds DESC NAME VALUE COST SEEN: the three lines about a setting
finds() {
	local want got
	want=$(printf '  costs %s: %s\n          %s' "$2" "$3" "$4")
	got=$(grep -A 1 -F "  costs $2: " "$report" | cut -c 1-"${#want}")
	if [[ $got == "  costs $2: $3"*"$4"* ]] && { [ -z "$5" ] || grep -A 2 -F "  costs $2: " "$report" | grep -q "seen in: .*$5"; }; then
		t_pass "$1"
	else
		t_fail "$1" "want: $want … $5" "got:" "$(grep -A 2 -F " $2: " "$report")"
	fi
}

put /proc/sys/kernel/osrelease 6.12.0-test
put /proc/cmdline "root=/dev/sda"
put /sys/kernel/iommu_groups/0/type DMA
put /sys/kernel/iommu_groups/1/type identity
put /sys/kernel/mm/transparent_hugepage/enabled "[always] madvise never"
put /sys/kernel/mm/transparent_hugepage/defrag "[always] defer defer+madvise madvise never"
put /proc/sys/kernel/numa_balancing 1
put /proc/sys/vm/zone_reclaim_mode 1
put /proc/sys/vm/swappiness 60
put /proc/swaps "$(printf 'Filename\n/dev/sda2 partition 1 0 -2')"
put /proc/sys/vm/nr_hugepages 512
put /proc/meminfo "$(printf 'MemTotal: 1056964608 kB\nHugePages_Free: 512')"
put /proc/sys/vm/dirty_ratio 20
put /proc/sys/vm/dirty_background_ratio 10
put /proc/sys/vm/dirty_bytes 0
put /proc/sys/vm/dirty_background_bytes 0
put /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor powersave
put /sys/devices/system/cpu/cpu0/cpuidle/state0/latency 0
put /sys/devices/system/cpu/cpu0/cpuidle/state1/latency 133
put /sys/devices/system/cpu/cpu0/cpuidle/state2/latency 900
put /sys/devices/system/cpu/cpu0/cpuidle/state2/disable 1
put /sys/devices/system/cpu/isolated 2-3
put /sys/devices/system/cpu/nohz_full "(null)"
put /sys/devices/system/node/node0/cpulist 0-1
put /sys/devices/system/node/node1/cpulist 2-3
put /proc/sys/net/core/rmem_max 212992
put /proc/sys/net/core/wmem_max 212992
device 0000:17:00.0 0x030200 0 40 1
device 0000:65:00.0 0x020700 1 41 0-1
device 0000:66:00.0 0x010802 1 50 0 51 1 52 2 53 3 # one for each CPU, which nobody can move
device 0000:67:00.0 0x020000 1 60 0 61 1 62 ''
put /sys/class/infiniband/mlx5_0/ports/1/state "4: ACTIVE"
put /sys/class/infiniband/mlx5_1/ports/1/state "1: DOWN"
put /sys/module/nvidia/version 1
"$top/scripts/events-doc" --list >"$report"
mkdir -p "$node/usr/share/kstall"
cp "$report" "$node/usr/share/kstall/modules"

doctor --root "$node" --node
finds "strict IOMMU" "IOMMU" "DMA 1, identity 1 groups" "DMA is strict translation" iommu_iotlb_sync
finds "huge pages with defrag" "transparent huge pages" "enabled=always defrag=always" "each page fault may compact" compaction:
finds "NUMA balancing" "NUMA balancing" "1, 2 nodes" "pages are unmapped" ib_odp_fault
finds "zone_reclaim_mode" "vm.zone_reclaim_mode" 1 "an allocation reclaims" vmscan:
finds "swap" swap "1 devices, vm.swappiness=60" "anonymous memory" ttm_bo_swap
finds "dirty limits: 20 % of 1008 GiB" "dirty limits" "writers are held at 201.6 GiB, writeback starts at 100.8 GiB" "a checkpoint" writeback_throttle
finds "idle reserved pages" "huge pages" "512 reserved, 512 free" "512 lie idle" ""
finds "governor" "CPU governor" "powersave 1" "a thread that wakes up" ib_cq_process
finds "C-states that are allowed" "C-states" "the deepest that is allowed takes 133 us" "an interrupt" ib_cq_process
finds "an interrupt on the wrong node, and only that" "interrupts" "0000:65:00.0 (InfiniBand, node 1) irq 41 on CPU 0-1" "all of a device's" ib_cq_process
t_says "a device with vectors on each node is fine, one with some on the other node only is not" \
	'interrupts: 0000:65[^;]*; 0000:67:00.0 \(network, node 1\) irq 60 on CPU 0, 1 more on others$'
finds "narrow links" "PCIe links" "0000:17:00.0 (GPU) at 16.0 GT/s PCIe x8 of 16.0 GT/s PCIe x16; 0000:65:00.0" "below what" pcie_link_change
finds "a port that is down, no peer memory" RDMA "mlx5_1 port 1 is DOWN" "traffic goes" ib_port_event

# A module that is not in this tree may come later.
t_eq "each event of ours it names exists" "$(grep -oE '"[a-z_ :]+"\)?,?$|"[a-z_ :]+"$' "$top/tools/kstall-doctor" |
	grep -oE '\b(aer|drm|ttm|ib|io_uring|iommu|dma|pcie|writeback)_[a-z_]+\b' | sort -u |
	grep -vxF -e ib_core -f <(sed -n 's/^event //p' "$node/usr/share/kstall/modules"))" ""

put /proc/sys/kernel/numa_balancing 0
put /sys/kernel/mm/transparent_hugepage/defrag "always defer [defer+madvise] madvise never"
put /proc/irq/41/effective_affinity_list 2
put /proc/irq/61/effective_affinity_list 2-3
doctor --root "$node" --node
t_says "what was mended is fine" '^  fine  transparent huge pages: enabled=always defrag=defer\+madvise$' '^  fine  NUMA balancing: 0, 2 nodes$' "^  fine  interrupts: of 4 devices: some or all on their own node's CPUs$"
