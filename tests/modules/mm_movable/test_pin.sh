#!/usr/bin/env bash
# description: pins for long are reported with what they cost, and pages that move because they are pinned or their memory is removed
# tier1: 6.12
# requires: fio
cd ../mm_migrate || exit
# shellcheck source=../mm_migrate/lib.sh
. ./lib.sh
plan 20

pin=mm_pin wait=mm_migrate_mmu_notifier_wait batch=mm_migrate_batch
grep -q '^Node 1, zone  Movable' /proc/zoneinfo || skip_all "no movable memory"
load mock_mm
trace $pin $wait $batch mm_migrate_notifier
teach
mine() { echo "f[\"tgid\"] == $(said pid)"; }

# --- pages that were there, in movable memory ---

mm node 1 map 64 pfns 0 notify 0 list 1000 pin 0 1 pfns 0
t_eq "64 pages: one pin" "$(said "done") $(ev_get $pin pages "$(mine)") $(ev_get $pin pinned "$(mine)") $(ev_get $pin result "$(mine)")" "64 64 64 0"
t_eq "64 pages: whose, where" "$(ev_get $pin start "$(mine)") $(ev_get $pin owner_pid "$(mine)") $(ev_get $pin write "$(mine)")" "$(said start) $(said pid) 1"
t_eq "64 pages: the caller" "$(ev_get $pin caller "$(mine)") $(ev_get $pin caller_module "$(mine)") $(ev_get $pin via "$(mine)")" "mock_pin_pages mock_mm pin"
t_eq "64 pages: all had to move" "$(ev_get $pin moved "$(mine)") $(ev_get $pin move_failed "$(mine)")" "64 0"
t_eq "64 pages: in as many batches and waits as it takes, with that reason" \
	"$(ev_sum $batch moved "$(mine) && f[\"reason\"] == \"longterm_pin\"") $(ev_n $wait "$(mine) && f[\"reason\"] == \"longterm_pin\"")" "64 64"
t_eq "64 pages: which" "$(ev_get $wait pfn "f[\"reason\"] == \"longterm_pin\"" | sort)" "$(said pfn | head -64 | sort)"
t_range "64 pages: the time in the driver" "$(ev_get $pin notifier_ns "$(mine)")" 64000000 "$(ev_get $pin duration_ns "$(mine)")"
t_eq "they are elsewhere now" "$(comm -12 <(said pfn | head -64 | sort) <(said pfn | tail -64 | sort) | wc -l)" 0

# --- pages that were not ---

mm reserve 20 pin 0 1
t_eq "20 pages that were not there: none moves" "$(ev_get $pin pinned "$(mine)") $(ev_get $pin moved "$(mine)")" "20 0"
mm reserve 20 pin 0 3
t_eq "by pin_user_pages_fast()" "$(ev_sum $pin pinned "$(mine)") $(ev_get $pin via "$(mine)" | sort -u)" "20 fast"
mm map 20 pin 0 0 pin 0 2
t_eq "pins that do not last are not reported" "$(said "done" | xargs) $(ev_n $pin "$(mine)")" "20 20 0"
mm map 20 unmap 0 pin 0 1
t_eq "a pin that fails" "$(said errno) $(ev_get $pin result "$(mine)") $(ev_get $pin pinned "$(mine)")" "14 -14 0"

# --- by a function that is built in ---

fio --name=pin --ioengine=io_uring --fixedbufs=1 --rw=write --bs=4k --size=64k --filename="$work/pinned" >"$work/out" || bail "fio: $(<"$work/out")"
fio="f[\"comm\"] == \"fio\""
snap
t_range "io_uring's buffers: a pin" "$(ev_n $pin "$fio")" 1 1000
t_eq "io_uring's buffers: by whom" "$(ev_n $pin "$fio && f[\"caller\"] ~ /^io_/ && f[\"caller_module\"] == \"\"")" "$(ev_n $pin "$fio")"

# --- memory that is removed ---

./mm node 1 map 500 pfns 0 notify 0 interval 200 tell "$work/mapped" until "$work/removed" >"$work/out" &
wait_until 60 test -e "$work/mapped"
block=$((0x$(</sys/devices/system/memory/block_size_bytes) / 4096))
# The blocks with its pages, those with most of them first; one may be busy with something else.
candidates=$(said pfn | while read -r pfn; do echo $((pfn / block)); done | sort -n | uniq -c | sort -rn | awk '{ print $2 }')
remove() {
	for memory in $candidates; do
		ev_clear
		! echo offline >/sys/devices/system/memory/memory"$memory"/state || return 0
	done 2>/dev/null
	return 1
}
remove && at_exit eval "echo online_movable >/sys/devices/system/memory/memory$memory/state"
t_eq "memory is removed" $? 0
snap
there=$(said pfn | while read -r pfn; do [ $((pfn / block)) != "$memory" ] || echo "$pfn"; done)
hotplug="f[\"reason\"] == \"memory_hotplug\" && f[\"owner_pid\"] == $(said pid)"
touch "$work/removed"
wait $!
t_range "some of its pages were in it" "$(wc -w <<<"$there")" 1 500
t_eq "a wait for each of them" "$(comm -23 <(sort <<<"$there") <(ev_get $wait pfn "$hotplug" | sort))" ""
t_eq "it is not the program that waits" "$(ev_n $wait "$hotplug && f[\"pid\"] != $(said pid) && f[\"callback\"] == \"mock_mm_invalidate\"")" "$(ev_n $wait "$hotplug")"
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
