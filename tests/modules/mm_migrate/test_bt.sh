#!/usr/bin/env bash
# description: mm_migrate_trace's bpftrace tools run unedited on this kernel's bpftrace and say exactly what a program did
# once: on each kernel tools/start starts the tools
# requires: bpftrace
. ./lib.sh
# shellcheck source=../../program/tools/lib.sh
. ../../program/tools/lib.sh
plan 23

load mock_mm
load mm_migrate_trace
for name in trainer loader; do ln -s "$PWD/mm" "$work/$name"; done
trainer=$work/trainer loader=$work/loader

# The tools start with the callbacks unknown, as they are on a node: another user keeps them known.
mk_instance "kstall-$$"
ev_enable mm_migrate/mm_migrate_notifier
teach

# pid_of TOOL N: of the N-th program in the workload
pid_of() { grep -oP '^pid=\K.*' "$work/$1" | sed -n "$2p"; }

# --- what migrations cost ---

workload "$trainer node 0 map 12 notify 0 interval 3000 move 0 1 unnotify" "$loader node 1 map 7 mbind 0 0"
tool mm_stall
one=$(pid_of mm_stall 1) two=$(pid_of mm_stall 2)
t_eq "mm_stall: the first lines say what and from which duration on" "$(grep -c '_min_ns=0$' "$work/mm_stall") $(grep -c '^Tracing migrations' "$work/mm_stall")" "3 1"
t_eq "mm_stall: who waited, how often" "$(stat mm_stall "waiter_us[trainer, $one, syscall]" count)" 12
t_range "mm_stall: for how long" "$(stat mm_stall "waiter_us[trainer, $one, syscall]" total)" 36000 60000000
t_eq "mm_stall: for which driver" "$(stat mm_stall "owner_us[trainer, $one, mock_mm_invalidate]" count)" 12
t_eq "mm_stall: pages, nodes" "$(value mm_stall "moved[trainer, $one, syscall, 0, 1]") $(value mm_stall "moved[loader, $two, mbind, 1, 0]")" "12 7"
t_range "mm_stall: of the batches' time" "$(stat mm_stall "notifier_us[trainer, $one, syscall]" total)" 36000 "$(stat mm_stall "batch_us[trainer, $one, syscall]" total)"

# --- slow callbacks ---

workload "$trainer node 0 map 9 notify 0 list 100 notify 0 interval 2000 move 0 1 counts unnotify"
tool notifier_slow
list=$(grep -oP '\blist=\K\d+' "$work/notifier_slow") interval=$(grep -oP '\binterval=\K\d+' "$work/notifier_slow")
t_eq "notifier_slow: histograms of each" "$(entries notifier_slow 'call_us[mock_mm_list_start, mock_mm]') $(entries notifier_slow 'call_us[mock_mm_invalidate, mock_mm]')" "$list $interval"
t_range "notifier_slow: which is slow" "$(stat notifier_slow "owner_us[mock_mm_invalidate, trainer, $(pid_of notifier_slow 1), syscall]" average)" 2000 6000000

# --- pins ---

workload "$trainer reserve 20 pin 0 1 reserve 12 pin 1 1" "$loader map 20 unmap 0 pin 0 1"
tool mm_pin
one=$(pid_of mm_pin 1)
t_eq "mm_pin: for which driver, how often" "$(stat mm_pin "pin_us[trainer, $one, mock_mm]" count)" 2
t_eq "mm_pin: pages, of which none had to move" "$(value mm_pin "pages[trainer, $one, mock_mm]") $(value mm_pin "moved[trainer, $one, mock_mm]")" "32 0"
t_eq "mm_pin: one that fails" "$(value mm_pin "failed[loader, $(pid_of mm_pin 2), mock_mm, 14]")" 1

# --- pages that a driver moves ---

workload "$trainer map 32 notify 0 list 2000 vma 0"
tool mm_device
one=$(pid_of mm_device 1)
t_eq "mm_device: pages of each phase" \
	"$(for phase in setup pages final; do value mm_device "pages[trainer, $one, mock_mm, $phase]"; done | xargs)" "32 32 32"
t_range "mm_device: the first waits for notifiers" "$(value mm_device "notifier_us[trainer, $one, mock_mm, setup]")" 2000 60000000

# --- huge pages ---

if has_thp; then
	setting /sys/kernel/mm/transparent_hugepage/enabled madvise
	workload "$trainer want 100" "$loader huge 1"
	tool thp_fallback
	t_eq "thp_fallback: who, why" "$(value thp_fallback "fault[trainer, $(pid_of thp_fallback 1), unsuitable_vma]")" 1
else
	for what in "runs without a warning" "who, why"; do t_skip "thp_fallback: $what" "a kernel without transparent huge pages"; done
fi

# --- shootdowns ---

if grep -q invlpgb /proc/cpuinfo; then
	for what in which CPUs length; do t_skip "tlb_storm: $what" "TLBs are flushed by broadcast here"; done
else
	workload "$trainer cpu 0 map 16 spin 3 repeat 11 dontneed 0 touch 0 end unmap 0"
	tool tlb_storm
	pid=$(pid_of tlb_storm 1)
	t_eq "tlb_storm: by system call" "$(stat tlb_storm "flush_us[trainer, $pid, mm, 28]" count) $(stat tlb_storm "flush_us[trainer, $pid, mm, 11]" count)" "11 1"
	# a CPU that runs a kernel thread at that moment is spared
	t_range "tlb_storm: interrupts" "$(value tlb_storm "ipis[trainer, $pid, mm, 28]")" 30 33
fi
t_eq "nothing was lost" "$(status_losses)" ""
