#!/usr/bin/env bash
# description: pages that migrate_pages() and compaction move are reported one by one, and so are those that KVM, a driver of the kernel's own, uses
. ./lib.sh
plan 15

wait=mm_migrate_mmu_notifier_wait call=mm_migrate_notifier batch=mm_migrate_batch
load mock_mm
trace $wait $call $batch
teach
at_exit eval "echo $(</proc/sys/vm/compaction_proactiveness) >/proc/sys/vm/compaction_proactiveness"
echo 0 >/proc/sys/vm/compaction_proactiveness

# The pfns of a region before and after, a line a page: those that changed.
gone() { paste <(said pfn | head -"$1") <(said pfn | tail -"$1") | awk '$1 != $2 { print $1 }' | sort; }
# told REASON: pfns whose move had the driver asked
told() { ev_get $wait pfn "f[\"reason\"] == \"$1\" && f[\"owner_pid\"] == $(said pid) && f[\"callback\"] == \"mock_mm_invalidate\"" | sort "${@:2}"; }

# --- migrate_pages() ---

success=$(vmstat pgmigrate_success)
mm cpu 0 node 0 map 30 anywhere 0 pfns 0 notify 0 interval 100 migrate 0 1 pfns 0
success=$(($(vmstat pgmigrate_success) - success))
t_eq "migrate_pages(): all pages moved" "$(gone 30 | wc -l)" 30
t_eq "migrate_pages(): a wait each" "$(told syscall)" "$(gone 30)"
t_eq "migrate_pages(): the batches are what the kernel counts" "$(ev_sum $batch moved)" "$success"
t_eq "migrate_pages(): its batches" "$(ev_n $batch "f[\"pid\"] == $(said pid) && (f[\"reason\"] != \"syscall\" || f[\"src_node\"] != 0)")" 0

# --- compaction: somebody else moves the pages ---

# Of a region with holes that is half of the node some pages have to move, wherever it lies.
pages=90000
echo 16384 >"$INSTANCE/buffer_size_kb"
ev_disable $SYSTEM/$call
./mm node 0 map $pages holes 0 pfns 0 notify 0 interval 0 tell "$work/mapped" until "$work/compacted" pfns 0 >"$work/out" &
wait_until 120 test -e "$work/mapped"
ev_clear
success=$(vmstat pgmigrate_success)
echo 1 >/proc/sys/vm/compact_memory
snap
success=$(($(vmstat pgmigrate_success) - success))
touch "$work/compacted"
wait $! || bail "mm failed"
ev_enable $SYSTEM/$call
if [ "$(gone $pages | wc -l)" != 0 ]; then
	t_eq "compaction: a wait for each page that moved" "$(comm -23 <(gone $pages) <(told compaction) | head)" ""
	t_eq "compaction: none for any other page" "$(comm -13 <(said pfn | head -$pages | sort -u) <(told compaction -u) | head)" ""
	t_eq "compaction: who does it" "$(ev_n $wait "f[\"reason\"] == \"compaction\" && f[\"pid\"] == $$")" "$(ev_n $wait 'f["reason"] == "compaction"')"
else
	for what in "a wait for each page that moved" "none for any other page" "who does it"; do
		t_skip "compaction: $what" "it moved none of the program's pages"
	done
fi
t_eq "compaction: the batches are what the kernel counts" "$(ev_sum $batch moved)" $success

# --- KVM ---

kvm=kvm_mmu_notifier_invalidate_range_start
if modprobe -q kvm_amd && [ -e /dev/kvm ]; then
	at_exit modprobe -r kvm_amd
	./mm kvm tell "$work/kvm" until "$work/kvm_known" >/dev/null &
	wait_until 60 known $kvm || bail "KVM's callback is not learned"
	touch "$work/kvm_known"
	wait $!
	mm node 0 map 20 pfns 0 kvm move 0 1
	moved="f[\"reason\"] == \"syscall\" && f[\"owner_pid\"] == $(said pid)"
	t_eq "KVM: a wait for each page" "$(ev_get $wait pfn "$moved")" "$(said pfn)"
	t_eq "KVM: its callback" "$(ev_n $wait "$moved && f[\"callback\"] == \"$kvm\" && f[\"callback_module\"] == \"kvm\" && f[\"notifiers\"] == 1")" 20
	t_eq "KVM: each call, with what it was for" "$(ev_n $call "$moved && f[\"callback\"] == \"$kvm\" && f[\"module\"] == \"kvm\" && f[\"via\"] == \"list\"")" 20
	t_eq "KVM: the wait is the call" "$(ev_get $wait callback_ns "$moved")" "$(ev_get $call duration_ns "$moved")"
else
	for what in "a wait for each page" "its callback" "each call, with what it was for" "the wait is the call"; do
		t_skip "KVM: $what" "no virtual machines on this one"
	done
fi
mm map 8 unmap 0 map 8 move 1 1
t_eq "no driver, no wait" "$(ev_n $wait) $(ev_n $call)" "0 0"
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
