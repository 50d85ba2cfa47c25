#!/usr/bin/env bash
# description: a TLB flush that interrupts other CPUs is reported once, with how many and why; one that interrupts nobody is not
# tier1: 6.12
# takes: 35
. ./lib.sh
plan 14

tlb=mm_tlb_shootdown
trace $tlb
grep -q invlpgb /proc/cpuinfo && skip_all "TLBs are flushed by broadcast here"
own() { echo "f[\"pid\"] == $(said pid) && f[\"start\"] == \"$(said start)\""; }

mm cpu 0 map 16 unmap 0
t_eq "nobody else runs: none" "$(ev_n $tlb "$(own)")" 0
# A CPU where the program has been, and where another runs by now, has nothing to flush; since 6.14 it stays in the program's
# mask, and is interrupted once a second to be taken out of it.
./mm cpu 0 spin 3 tell "$work/spinning" until "$work/enough" >/dev/null &
wait_until 60 test -e "$work/spinning"
for _ in 1 2 3 4 5; do
	mm cpu 1 cpu 2 cpu 3 cpu 0 map 16 unmap 0
	[ "$(ev_n $tlb "$(own)")" != 0 ] || break
done
touch "$work/enough"
wait $!
t_eq "it ran on other CPUs before: none" "$(ev_n $tlb "$(own)")" 0
# A CPU that runs a kernel thread at that moment is rightly spared: then once more.
for n in 1 2 3; do
	for _ in 1 2 3; do
		mm cpu 0 map 16 spin "$n" unmap 0
		[ "$(ev_get $tlb cpus "$(own)")" != "$n" ] || break
	done
	t_eq "munmap, threads on $n other CPUs: one flush of 16 pages on as many" \
		"$(ev_get $tlb cpus "$(own)") $(ev_get $tlb pages "$(own)") $(ev_get $tlb kind "$(own)") $(ev_get $tlb freed_tables "$(own)")" "$n 16 mm 0"
done
t_eq "munmap: the system call" "$(ev_get $tlb syscall "$(own)") $(ev_get $tlb reason "$(own)")" "11 none"
t_eq "munmap: whose" "$(ev_n $tlb "$(own) && f[\"owner_pid\"] == $(said pid) && f[\"owner_comm\"] == \"mm\" && f[\"comm\"] == \"mm\"")" 1
t_eq "munmap: how long" "$(ev_n $tlb "$(own) && f[\"duration_ns\"] > 0 && f[\"duration_us\"] == int(f[\"duration_ns\"] / 1000)")" 1
mm cpu 0 map 16 spin 3 repeat 20 dontneed 0 touch 0 end
t_eq "20 times MADV_DONTNEED" "$(ev_n $tlb "$(own) && f[\"cpus\"] <= 3 && f[\"pages\"] == 16 && f[\"syscall\"] == 28")" 20
t_range "20 times MADV_DONTNEED: the CPUs" "$(ev_sum $tlb cpus "$(own)")" 55 60
# Then a CPU that idles with the address space still loaded, where the program began, is interrupted too.
mm cpu 0 map 512 spin 2 unmap 0
t_eq "512 pages: all is flushed, and the page table goes" "$(ev_n $tlb "f[\"pid\"] == $(said pid) && f[\"pages\"] == 0 && f[\"cpus\"] >= 2 && f[\"freed_tables\"] == 1 && f[\"syscall\"] == 11")" 1
mm cpu 0 node 0 map 10 spin 3 move 0 1
t_range "a migration: its reason" "$(ev_n $tlb "f[\"pid\"] == $(said pid) && f[\"reason\"] == \"syscall\"")" 1 10
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
