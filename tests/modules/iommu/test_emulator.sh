#!/usr/bin/env bash
# description: flushes are those that the emulated IOMMU itself says it was asked for, strictly and lazily
# timeout: 400
. ./lib.sh
log=$(grep -lx log /sys/class/virtio-ports/*/name) || skip_all "no log of the emulator"
log=/dev/$(basename "${log%/name}")
plan 10

s=iommu_iotlb_sync w=iommu_inv_wait m=dma_map_done f=iommu_fq_flush
monitor() { python3 ../aer/aer.py monitor "$@" >/dev/null; }
declare -A events=([intel_iommu]='vtd_inv_desc_*' [amd_iommu]='amdvi_*_inval' [viommu]='virtio_iommu_*map')
cat "$log" >>"$work/log" &
at_exit kill $!

# said REGEX: lines of the emulator that say so, those of a wait for what came before left out
said() { grep -v '_wait_sw ' "$work/log" | grep -cE "^$1 "; }
# heard N REGEX: in the end it has said it N times, if it is what happened
heard() {
	wait_until 30 enough "$@"
	said "$2"
}
enough() { [ "$(said "$2")" -ge "$1" ]; }
# emulated WORD…: mock_dma does it; what the emulator says meanwhile is in $work/log
emulated() {
	monitor trace-event "${events[$DRIVER]}" on
	: >"$work/log"
	maps "$@"
}
quiet() { monitor trace-event "${events[$DRIVER]}" off; }

mode DMA
trace $s $w $m
emulated single 4096 100
quiet
t_eq "100 flushes" "$(ev_n $s)" 100
case $DRIVER in
intel_iommu)
	t_eq "a command each" "$(heard 100 vtd_inv_desc_iotlb_pages)" 100
	t_eq "no other command, and none that is not reported" "$(said 'vtd_\w+') $(ev_sum $w commands)" "100 100"
	waits() { grep -c ^vtd_inv_desc_wait_sw "$work/log"; }
	all_waits() { [ "$(waits)" -ge "$(ev_n $w)" ]; }
	wait_until 30 all_waits
	t_eq "each is waited for" "$(waits)" "$(ev_n $w)"
	t_eq "the same addresses" "$(ev_get $s start)" "$(grep -oP '^vtd_inv_desc_iotlb_pages .* addr \K\S+' "$work/log")"
	emulated sg 536870912 2097152
	quiet
	t_eq "512 MiB: the same commands" "$(heard "$(ev_sum $w commands)" 'vtd_\w+')" "$(ev_sum $w commands)"
	t_eq "512 MiB: the same address and size" "$(ev_awk $s 'print f["start"], f["pages"]')" \
		"$(awk '/^vtd_inv_desc_iotlb_pages / { print $7, $9 }' "$work/log" | while read -r addr mask; do echo "$addr $((1 << mask))"; done)"
	;;
amd_iommu)
	# the emulator says that it wants mappings flushed, too
	t_eq "a command each, and one for each mapping" "$(heard 200 amdvi_pages_inval)" $(($(ev_n $s) + $(ev_n $m)))
	t_eq "no other command" "$(said 'amdvi_\w+')" 200
	t_range "each is waited for" "$(ev_n $w)" 200 10000
	for i in 1 2 3; do t_skip "the same addresses $i" "this emulator does not say"; done
	;;
viommu)
	t_eq "a request each" "$(heard 100 virtio_iommu_unmap)" 100
	t_eq "and one for each mapping" "$(heard 100 virtio_iommu_map)" "$(ev_n $m)"
	t_range "each is waited for" "$(ev_n $w)" 100 10000
	sent=$(grep -oP '^virtio_iommu_unmap .* virt_start=\K\S+' "$work/log")
	if [ "$(ev_get $s pages | sort -u)" = 0 ]; then
		t_skip "the same addresses" "the driver does not say"
	else
		t_eq "the same addresses" "$(ev_get $s start)" "$sent"
	fi
	t_eq "the same addresses as unmapped" "$(ev_get $m dma_addr)" "$sent"
	emulated sg 536870912 2097152
	quiet
	bytes() {
		local from to n=0
		while read -r from to; do
			n=$((n + to - from + 1))
		done < <(sed -n "s/^virtio_iommu_$1 .* virt_start=\(\w*\) virt_end=\(\w*\).*/\1 \2/p" "$work/log")
		echo $n
	}
	all() { [ "$(bytes unmap)" = 536870912 ]; }
	wait_until 30 all
	t_eq "512 MiB: mapped and unmapped, flushed once" "$(bytes map) $(bytes unmap) $(ev_n $s)" "536870912 536870912 1"
	;;
esac
t_no_losses

if [ "$DRIVER" = intel_iommu ]; then
	mode DMA-FQ
	at_exit mode DMA
	ev_disable "$SYSTEM/$w"
	ev_disable "$SYSTEM/$m"
	ev_enable "$SYSTEM/$f"
	emulated single 4096 300
	flushed() { snap; [ "$(ev_sum $f entries)" -ge 300 ]; }
	wait_until 30 flushed || { echo single 4096 1 >$mock/do; wait_until 30 flushed; }
	quiet
	snap
	# A flush by the timer's interrupt that hit one of our probes is counted as missed.
	told=$(($(ev_n $s) + $(status_field iommu_trace hook flush_all missed)))
	t_eq "lazily: all of the domain, as often as the emulator says" "$(heard $told 'vtd_inv_desc_iotlb_(domain|global)')" "$told"
	t_eq "lazily: nothing else" "$(said 'vtd_\w+')" "$told"
else
	for i in 1 2; do t_skip "lazily $i" "this emulator has one command for all"; done
fi
