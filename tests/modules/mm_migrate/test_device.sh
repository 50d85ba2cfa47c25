#!/usr/bin/env bash
# description: a driver that moves pages in phases, or has them made present, is reported with how many, how long and its name
# arm64: names on its stacks
# tier1: 6.12
. ./lib.sh
plan 19

device=mm_migrate_device wait=mm_migrate_mmu_notifier_wait
load mock_mm
trace $device $wait mm_migrate_notifier
teach
mine() { echo "f[\"owner_pid\"] == $(said pid) && f[\"phase\"] == \"$1\""; }

mm map 32 notify 0 list 2000 vma 0
t_eq "32 pages move" "$(said "done")" 32
t_eq "in three phases, in order" "$(ev_get $device phase "f[\"owner_pid\"] == $(said pid)" | xargs)" "setup pages finalize"
t_eq "of which" "$(ev_n $device "f[\"start\"] == \"$(said start)\" && f[\"pages\"] == 32 && f[\"done\"] == 32 && f[\"from_device\"] == 0 && f[\"result\"] == 0")" 3
t_eq "by which function" "$(ev_get $device caller "$(mine setup)") $(ev_get $device caller_module "$(mine setup)") $(ev_get $device caller_module "$(mine finalize)")" "mock_vma_pages mock_mm mock_mm"
t_range "the first waited for the notifier" "$(ev_get $device notifier_ns "$(mine setup)")" 2000000 "$(ev_get $device duration_ns "$(mine setup)")"
t_eq "which says why it was called" "$(ev_get $wait reason 'f["event"] == "migrate"' | sort -u)" device
t_eq "how long" "$(ev_n $device 'f["duration_ns"] > 0 && f["duration_us"] == int(f["duration_ns"] / 1000)')" "$(ev_n $device)"

mm reserve 48 notify 0 interval 0 hmm 0
t_eq "48 pages are made present" "$(said "done") $(ev_get $device phase "f[\"owner_pid\"] == $(said pid)")" "48 hmm"
t_eq "of which, by whom" "$(ev_get $device pages "$(mine hmm)") $(ev_get $device "done" "$(mine hmm)") $(ev_get $device caller "$(mine hmm)") $(ev_get $device result "$(mine hmm)")" "48 48 mock_hmm 0"
mm reserve 8 notify 0 interval 0 protect 0 unmap 0 hmm_fails 0
t_eq "nothing is mapped there: an error" "$(ev_get $device result "$(mine hmm)") $(ev_get $device "done" "$(mine hmm)")" "-14 0"

# --- the device's own memory: a program that touches it has the driver fetch the page ---

if ./mm map 1 to_device 0 >/dev/null 2>&1; then
	mm map 24 to_device 0 expect 0
	fault="$(mine fault)"
	t_eq "24 pages go to the device" "$(said "done") $(ev_sum $device "done" "$(mine pages) && f[\"from_device\"] == 0")" "24 24"
	t_eq "24 faults fetch them, one by one" "$(ev_n $device "$fault && f[\"from_device\"] == 1 && f[\"pages\"] == 1 && f[\"done\"] == 1 && f[\"result\"] == 0")" 24
	t_eq "of which addresses" "$(ev_get $device start "$fault")" "$(for i in {0..23}; do printf '0x%x\n' $(($(said start) + i * 4096)); done)"
	t_eq "which driver" "$(ev_get $device caller "$fault" | sort -u) $(ev_get $device caller_module "$fault" | sort -u)" "mock_to_ram mock_mm"
	t_eq "each as long as it takes to copy, and has its three phases" "$(ev_n $device "$fault && f[\"duration_ns\"] >= 2000000") $(ev_n $device 'f["from_device"] == 1 && f["phase"] != "fault" && f["caller"] == "mock_to_ram"')" "24 72"
	t_eq "their identity is the program's" "$(ev_n $device "$fault && f[\"pid\"] == $(said pid) && f[\"comm\"] == \"mm\"")" 24
	t_ok "a fault that is not the device's takes no record of a pool, where hooks are direct" \
		grep -qE '^hook fault (kind=direct .* bytes=0|kind=pair .* not_direct=(off|kernel))$' /sys/kernel/debug/mm_migrate_trace/status
else
	for what in "24 pages go to the device" "24 faults fetch them, one by one" "of which addresses" "which driver" \
		"each as long as it takes to copy, and has its three phases" "their identity is the program's" "a fault that is not the device's takes no record of a pool"; do
		t_skip "$what" "this kernel has no device memory (CONFIG_DEVICE_PRIVATE)"
	done
fi
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
