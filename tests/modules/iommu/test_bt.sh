#!/usr/bin/env bash
# description: iommu_sync.bt, dma_setup.bt and iommu_faults.bt run unedited on this kernel's bpftrace and count exactly
# timeout: 400
# once: on each kernel tools/start starts the tools
# requires: bpftrace
. ./lib.sh
plan 20

mode DMA
load iommu_trace

# tool NAME WORD…: while mock_dma does what the further words say, a line each
tool() {
	local name=$1 tracing line
	shift
	"../../../tools/$name.bt" >"$work/$name" 2>&1 &
	tracing=$!
	wait_until 90 grep -q MONOTONIC "$work/$name" || bail "$name.bt does not start: $(<"$work/$name")"
	for line; do echo "$line" >$mock/do || bail "mock_dma: $line"; done
	sleep 1
	interrupt $tracing
	t_eq "$name: ends by itself on Ctrl-C, without a warning" "$? $(grep -i warning "$work/$name")" "0 "
	cat "$work/$name"
}

# value NAME KEY: of the line "@KEY: value"
value() { sed -n "s/^@${2//[\[\]]/\\&}: //p" "$work/$1"; }

# entries NAME KEY: the entries of the histogram "@KEY:"
entries() {
	awk -v key="@$2:" 'index($0, key) == 1 { on = 1; next } !/^\[/ { on = 0 } on { sub(/.*[])] +/, ""); n += $1 } END { print n + 0 }' \
		"$work/$1"
}

tool iommu_sync "single 4096 17" "sg 536870912 2097152"
t_eq "iommu_sync: flushes" "$(value iommu_sync "flushes[$EDU, $IOMMU]")" 18
t_eq "iommu_sync: their times" "$(entries iommu_sync "sync_us[$EDU]")" 18
t_eq "iommu_sync: their sizes" "$(entries iommu_sync "pages[$EDU]")" 18
t_eq "iommu_sync: by whom" "$(grep -oP "^@by\[[^,]*, $$\]: \K.*" "$work/iommu_sync")" 18
mode DMA-FQ
tool iommu_sync "single 4096 100"
mode DMA
t_eq "iommu_sync: lazily, unmaps that waited" "$(grep -oP "^@queue_entries\[$EDU, timeout\]: .*total( =)? \K\d+" "$work/iommu_sync")" 100

tool iommu_faults "report 0x12345678 1" "report 0x1000 200 w"
t_eq "iommu_faults: a line at once" "$(grep -oP "^[0-9:]{8} \K$EDU may not read.*" "$work/iommu_faults")" "$EDU may not read 0x12345678: not_said (0)"
t_eq "iommu_faults: of a storm all are counted" "$(value iommu_faults "faults[$EDU, not_said, write]")" 200
if [ "$DRIVER" = intel_iommu ]; then
	tool iommu_faults "fault 0x0abcd000 1"
	t_eq "iommu_faults: why" "$(grep -oP '^[0-9:]{8} \K.*' "$work/iommu_faults")" "$EDU may not read 0xabcd000: no_read_permission (6)"
else
	for i in "it ends" "why"; do t_skip "iommu_faults: $i" "this is not Intel's"; done
fi

mk_instance "kstall-$$"
ev_enable iommu_trace/dma_map_done
tool dma_setup "single 4096 17" "single 5000 3" "sg 1048576 4096" "sg 536870912 2097152" "fail $((1 << 50)) 4"
t_eq "dma_setup: those that failed" "$(value dma_setup "failed[$EDU, 5]")" 4
t_eq "dma_setup: 4 KiB" "$(entries dma_setup "map_us[$EDU, iommu, 4096]") $(entries dma_setup "unmap_us[$EDU, iommu, 4096]")" "20 20"
t_eq "dma_setup: 512 MiB" "$(entries dma_setup "map_us[$EDU, iommu, 536870912]") $(entries dma_setup "unmap_us[$EDU, iommu, 536870912]")" "1 1"
bytes=$((17 * 4096 + 3 * 5000 + 1048576 + 536870912))
t_eq "dma_setup: bytes" "$(value dma_setup "map_bytes[$EDU, iommu]") $(value dma_setup "unmap_bytes[$EDU, iommu]")" "$bytes $bytes"
part() { value dma_setup "$1_us[$EDU]"; }
t_ok "dma_setup: the parts fit into the whole" \
	[ $(($(part unmap_addresses) + $(part unmap_page_table) + $(part unmap_flush))) -le "$(part unmap_total)" ]
snap
# Most take less than a microsecond on a real machine: rounded one by one they would add up to nothing.
t_eq "dma_setup: the whole is the sum of what each took" "$(part map_total)" $(($(ev_sum dma_map_done duration_ns "f[\"dev\"] == \"$EDU\"") / 1000))
# Lazily, the timer's interrupt may hit one of our probes: that flush is counted as missed, and what waited comes with the next.
t_eq "the status file knows of no other loss" "$(status_losses | grep -vE '^hook (flush_all|timer) ')" ""
