#!/usr/bin/env bash
# description: each mapping and unmapping for DMA is reported with its size, its path and where its time went
# arm64: SMMUv3's driver
# tier1: 6.12
# timeout: 400
. ./lib.sh
plan 32

m=dma_map_done u=dma_unmap_done
mode DMA
trace $m $u
# test_map_other.sh asks for it
[ -z "${direct-}" ] || echo "$direct" >/sys/module/iommu_trace/parameters/direct

# both KEY…: of all mappings and unmappings, without repetition
both() {
	local e key
	for e in $m $u; do
		for key; do ev_get $e "$key" | sort -u | xargs; done
	done | xargs
}

# fits WHICH: of the mappings and unmappings traced, no parts are longer than the whole
fits() {
	t_eq "$1: the parts fit into the whole" "$(ev_n $m 'f["iova_ns"] + f["map_ns"] > f["duration_ns"]') $(ev_n $u 'f["iova_ns"] + f["map_ns"] + f["sync_ns"] > f["duration_ns"]')" "0 0"
}

for bytes in 4096 65536 1048576; do
	maps single $bytes 3
	t_eq "$bytes bytes: three of each" "$(ev_n $m) $(ev_n $u)" "3 3"
	t_eq "$bytes bytes: what" "$(both dev bytes op dir path p2p nents result)" \
		"$EDU $bytes single to_device iommu 0 1 1 $EDU $bytes single to_device iommu 0 1 1"
	t_eq "$bytes bytes: where" "$(ev_get $m dma_addr) $(ev_get $m dma_addr | tail -1)" "$(ev_get $u dma_addr) $(got addr)"
done
t_eq "by which task" "$(both tgid)" "$$ $$"
t_eq "time for addresses" "$(ev_n $m 'f["iova_ns"] == 0') $(ev_n $u 'f["iova_ns"] == 0')" "0 0"
t_eq "time for the page table" "$(ev_n $m 'f["map_ns"] == 0') $(ev_n $u 'f["map_ns"] == 0')" "0 0"
t_eq "time for the flush, of unmapping" "$(ev_n $u 'f["sync_ns"] == 0')" 0
fits single

maps sg 16777216 4096
t_count "16 MiB in 4096 pieces: one each" "$(ev_n $m) $(ev_n $u)" "1 1"
t_eq "16 MiB: pieces, segments, bytes" "$(ev_get $m nents) $(ev_get $m result) $(ev_get $m bytes)" "4096 $(got segments) 16777216"
t_eq "16 MiB: unmapped as mapped" "$(ev_get $u nents) $(ev_get $u bytes) $(ev_get $u dma_addr)" "$(got segments) 16777216 $(ev_get $m dma_addr)"
t_eq "16 MiB: of what" "$(both op dir path)" "sg from_device iommu sg from_device iommu"
fits "16 MiB"

# Few pieces and many entries of the page table, which are nearly all of the time.
maps sg 67108864 65536
fits "64 MiB in 1024 pieces"

maps sg 536870912 2097152
t_eq "512 MiB in 256 pieces" "$(ev_get $m nents) $(ev_get $m result) $(ev_get $m bytes)" "256 $(got segments) 536870912"
t_eq "512 MiB: unmapped as mapped" "$(ev_get $u nents) $(ev_get $u bytes)" "$(got segments) 536870912"
maps fail $((1 << 50)) 2
t_eq "more than there are addresses for" "$(ev_get $m result | xargs) $(ev_get $m dma_addr | xargs) $(ev_get $m bytes | xargs) $(ev_n $u)" \
	"-5 -5 0x0 0x0 $((1 << 50)) $((1 << 50)) 0"
t_no_losses

nvme
maps single 4096 1
dd if=/dev/nvme0n1 of=/dev/null bs=64k count=8 iflag=direct status=none
snap
disk="f[\"dev\"] == \"$NVME\""
t_count "a disk: bytes read" "$(ev_sum $m bytes "$disk") $(ev_sum $u bytes "$disk")" "524288 524288"
t_eq "a disk: translated" "$(ev_get $m path "$disk" | sort -u)" iommu

mode identity
maps single 65536 5
t_eq "not translated: reported all the same" "$(ev_n $m) $(ev_n $u)" "5 5"
t_eq "not translated: directly, with no parts" "$(both path bytes iova_ns map_ns sync_ns)" "direct 65536 0 0 0 direct 65536 0 0 0"
maps sg 1048576 4096
t_eq "not translated: nothing is merged" "$(ev_get $m nents) $(ev_get $m result) $(ev_get $m bytes) $(ev_get $u nents) $(ev_get $u bytes)" \
	"256 256 1048576 256 1048576"

# shortest EVENT: of what was traced
shortest() { ev_get "$1" duration_ns | sort -n | head -1; }

# What maps nothing takes the same time for one page and for 16384: the module's own look at the list is not part of it.
if echo lazy 4096 1 >$mock/do 2>/dev/null; then
	maps lazy 4096 20
	one="$(shortest $m) $(shortest $u)"
	maps lazy 67108864 20
	t_eq "a list of 16384: all of it" "$(both bytes nents result)" "67108864 16384 16384 67108864 16384 16384"
	all="$(shortest $m) $(shortest $u)"
	t_ok "a list of 16384: the time is the function's ($all ns, of one page $one)" \
		awk -v one="$one" -v all="$all" 'BEGIN { split(one, o); split(all, a); exit a[1] > 2 * o[1] || a[2] > 2 * o[2] }'
else
	for what in "all of it" "the time is the function's"; do t_skip "a list of 16384: $what" "this kernel has no DMA_OPS"; done
fi
mode DMA
t_eq "no call is left in the table" "$(status_field iommu_trace table calls in_use)" 0
