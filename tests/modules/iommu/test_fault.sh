#!/usr/bin/env bash
# description: what the IOMMU refuses is reported, Intel's from its registers, others' from their drivers' reports, and storms are summed up
# tier1: 6.12
# timeout: 400
. ./lib.sh
plan 12

e=iommu_fault
mode DMA
trace $e
ev_enable iommu/io_page_fault

# told N: events say so
told() { snap; [ "$(ev_sum $e count)" -ge "$1" ]; }

maps report 0x12345678 1
t_eq "a driver's report" "$(ev_awk $e 'print f["dev"], f["source"], f["reason"], f["write"], f["pasid"], f["addr"], f["count"]')" \
	"$EDU report - 0 -1 0x12345678 1"
t_eq "no task's" "$(ev_awk $e 'print f["pid"], f["tgid"], f["cgroup_id"]')" "0 0 0"
# nothing is being summed up any more
over() { [ "$(status_field iommu_trace table faults in_use)" = 0 ]; }
# A storm that is held up for 100 ms is two: once more.
for _ in 1 2 3; do
	wait_until 30 over
	maps report 0x1000 200 w
	wait_until 30 told 200
	[ "$(ev_get $e count | xargs)" != "1 199" ] || break
done
t_eq "a storm: one, and the rest" "$(ev_get $e count | xargs)" "1 199"
t_eq "a storm: as many as the kernel's" "$(ev_sum $e count)" "$(grep -c ' io_page_fault: ' "$INSTANCE/trace")"
t_eq "a storm: what, when" "$(ev_awk $e 'print f["write"], f["addr"], f["raw"], (f["last_mono_ns"] >= f["first_mono_ns"])' | sort -u)" "1 0x1000 0x1 1"

if [ "$DRIVER" = intel_iommu ]; then
	count_calls dmar_fault # what the kernel prints is ratelimited
	: >"$calls/trace"
	for rw in "" w; do
		wait_until 30 over
		maps fault 0x0abcd000 1 $rw
		wait_until 30 told 1
		t_eq "refused${rw:+, writing}" "$(ev_awk $e 'print f["dev"], f["iommu"], f["source"], f["reason"], f["write"], f["pasid"], f["addr"], f["count"]')" \
			"$EDU $IOMMU intel no_$([ -n "$rw" ] && echo write || echo read)_permission $([ -n "$rw" ] && echo 1 || echo 0) -1 0xabcd000 1"
	done
	maps fault 0x0abce000 2
	wait_until 30 told 2
	t_eq "refused again: all are counted" "$(ev_sum $e count)" 2
	t_eq "refused again: where" "$(ev_get $e addr | sort -u)" 0xabce000
	t_eq "each fault had an interrupt of its own" "$(calls dmar_fault)" 4
	t_eq "not as the drivers' tracepoint" "$(grep -c ' io_page_fault: ' "$INSTANCE/trace")" 0
else
	for i in {1..6}; do t_skip "refused by Intel's $i" "this is not Intel's"; done
fi
t_no_losses
