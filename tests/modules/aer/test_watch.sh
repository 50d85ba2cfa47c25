#!/usr/bin/env bash
# description: aer_watch.bt runs unedited on this kernel's bpftrace and counts the errors and the DMA of a device exactly, before and since its first error
# timeout: 400
# once: on each kernel tools/start starts the tools
# requires: bpftrace
# known: pci_scan_single_device
. ./lib.sh
plan 9

quiet
load iommu_trace
trace aer_correctable
ev_enable iommu_trace/dma_map_done
ev_enable iommu_trace/dma_unmap_done
disk=/dev/$(basename "/sys/bus/pci/devices/$DISK"/virtio*/block/vd*)
[ -b "$disk" ] || bail "no disk at $DISK"

../../../tools/aer_watch.bt >"$work/watch" 2>&1 &
tracing=$!
wait_until 90 grep -q MONOTONIC "$work/watch" || bail "aer_watch.bt does not start: $(<"$work/watch")"

# entries MAP: of its histogram for the disk; as many as ftrace has seen are in $seen
entries() {
	awk -v key="@$1[$DISK]:" 'index($0, key) == 1 { on = 1; next } !/^\[/ { on = 0 } on { sub(/.*[])] +/, ""); n += $1 } END { print n + 0 }' \
		"$work/watch"
}
reads() {
	dd if="$disk" of=/dev/null bs=16k count="$1" iflag=direct status=none
	snap
	seen=$(($(ev_n dma_map_done "f[\"dev\"] == \"$DISK\"") + $(ev_n dma_unmap_done "f[\"dev\"] == \"$DISK\"")))
}
reads 20
before=$seen
aer paced 3 "$DISK" 0x40
wait_until 30 grep -q "^@errors\[$DISK, BadTLP\]" "$work/watch"
reads 30
# all the while, so that some of it falls into the second of the error
touch "$work/reading"
while [ -e "$work/reading" ]; do dd if="$disk" of=/dev/null bs=16k count=5 iflag=direct status=none; sleep 0.2; done &
reading=$!
# one that comes in the instant between two seconds is in the lines of neither
told() { grep -q "^@dma_us\[$DISK\]" "$work/watch"; }
for errors in 1 2 3 4 5; do
	aer paced 1 "$DISK" 0x1
	! wait_until 10 told || break
done
rm "$work/reading"
wait $reading
reads 10
aer inject "$NIC" 0x1000 0 0x60000001 0x0123450f 0x00000001 0x23456788
wait_until 60 grep -q recovery: "$work/watch"
sleep 2
snap
interrupt $tracing
t_eq "ends by itself on Ctrl-C" "$?" 0
t_eq "no warning" "$(grep -i warning "$work/watch")" ""
t_range "the disk's DMA goes through the kernel" "$before" 40 1000
t_eq "errors" "$(grep -oP "^@all_errors\[$DISK, (BadTLP|RxErr)\]: \K.*" "$work/watch" | sort -n | xargs)" "$(printf '%s\n' $errors 3 | sort -n | xargs)"
t_eq "DMA before the first error" "$(entries before_us)" "$before"
t_eq "DMA since" "$(entries since_us)" $((seen - before))
t_ok "DMA in a second with an error" grep -qzP "\n@dma_calls\[$DISK\]: [1-9]\d*\n(.*\n)*@dma_us\[$DISK\]: \d+\n" "$work/watch"
t_ok "another's loss and recovery, as they come" grep -qP "^\d\d:\d\d:\d\d $NIC recovery: recovered after \d+ ms \(e1000e\)" "$work/watch"
t_eq "a loss" "$(grep -oP "^@lost\[$NIC, nonfatal\]: \K.*" "$work/watch")" 1
cat "$work/watch"
