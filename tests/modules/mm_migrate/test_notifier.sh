#!/usr/bin/env bash
# description: each wait for mmu_notifiers comes once, with the right pages, reason, callback and module, and as long as it was
# tier1: all
. ./lib.sh
plan 34

wait=mm_migrate_mmu_notifier_wait call=mm_migrate_notifier
ms=000000
load mock_mm
trace $wait $call
teach
list='f["callback"] == "mock_mm_list_start"' interval='f["callback"] == "mock_mm_invalidate"'
whole='f["wait_ns"] >= f["callback_ns"] && f["wait_us"] == int(f["wait_ns"] / 1000)'

# moved CONDITION: that the event is about the migrated pages, in which nothing else is invalidated
moved='f["reason"] == "syscall" && f["event"] == "clear"'

# --- 4 migrations of 40 pages, to and fro, each callback takes 2 ms ---

mm cpu 0 node 0 map 40 notify 0 list 2000 repeat 2 pfns 0 move 0 1 pfns 0 move 0 0 end counts
t_eq "4 times 40 pages: moved" "$(said moved | xargs)" "40 40 40 40"
t_count "4 times 40 pages: a wait each" "$(ev_n $wait "$moved")" 160
t_eq "4 times 40 pages: their pfns, in order" "$(ev_get $wait pfn "$moved")" "$(said pfn)"
t_eq "4 times 40 pages: each as long as its callback" "$(ev_n $wait "$moved && f[\"callback_ns\"] >= 2$ms && $whole")" 160
t_eq "4 times 40 pages: whose callback" "$(ev_n $wait "$moved && $list && f[\"callback_module\"] == \"mock_mm\" && f[\"notifiers\"] == 1")" 160
t_eq "4 times 40 pages: one page each, from node 0 and from node 1" "$(ev_n $wait "$moved && f[\"pages\"] == 1 && f[\"src_node\"] == 0") $(ev_n $wait "$moved && f[\"pages\"] == 1 && f[\"src_node\"] == 1")" "80 80"
t_eq "4 times 40 pages: identity" "$(ev_n $wait "$moved && f[\"pid\"] == $(said pid) && f[\"comm\"] == \"mm\" && f[\"cpu_node\"] == 0")" 160
t_eq "4 times 40 pages: owner" "$(ev_n $wait "$moved && f[\"owner_pid\"] == $(said pid) && f[\"owner_comm\"] == \"mm\"")" 160
t_eq "4 times 40 pages: blockable, no error" "$(ev_n $wait "$moved && f[\"blockable\"] == 1 && f[\"result\"] == 0")" 160
t_eq "4 times 40 pages: the range is the page" "$(ev_get $wait start "$moved" | sort -u | wc -l) $(ev_get $wait start "$moved" | head -1)" "40 $(said start)"
t_count "every call of the callback is an event" "$(ev_n $call "$list && f[\"module\"] == \"mock_mm\" && f[\"via\"] == \"list\"")" "$(said list)"
t_eq "and every one in a wait" "$(ev_sum $wait notifiers)" "$(said list)"
t_eq "the waits' slowest callbacks are the calls" "$(ev_get $wait callback_ns | sort)" "$(ev_get $call duration_ns | sort)"
t_eq "the callback knows the reason" "$(ev_n $call "$moved && f[\"owner_pid\"] == $(said pid)")" 160

# --- intervals: only what overlaps them ---

mm node 0 map 16 map 16 notify 1 interval 1000 move 0 1 counts unnotify
t_eq "another range: nobody is asked" "$(ev_n $wait) $(ev_n $call) $(said interval)" "0 0 0"
mm node 0 map 16 map 16 notify 1 interval 1000 move 1 1 counts unnotify
t_eq "its own range: each page" "$(ev_n $wait "$moved && $interval && f[\"callback_ns\"] >= 1$ms && $whole") $(said interval)" "16 16"
t_eq "via interval" "$(ev_n $call 'f["via"] == "interval" && f["result"] == 0')" 16

# --- several: who is the slowest ---

mm node 0 map 8 notify 0 interval 500 notify 0 list 5000 notify 0 interval 500 move 0 1 counts unnotify
t_eq "three callbacks a page" "$(ev_n $wait "$moved && f[\"notifiers\"] == 3 && f[\"callback_ns\"] >= 5$ms && f[\"wait_ns\"] >= 6$ms")" 8
# In the order of the trace the calls come before their wait.
slowest=$(awk '/ mm_migrate_(notifier|mmu_notifier_wait): / { for (i = 1; i <= NF; i++) { split($i, kv, "="); f[kv[1]] = kv[2] }
	if (/ mm_migrate_notifier: /) { if (f["duration_ns"] > max) { max = f["duration_ns"]; who = f["callback"] } }
	else { n += f["callback_ns"] == max && f["callback"] == who; waits++; max = 0 } } END { print (n == waits), (waits >= 8) }' "$work/trace")
t_eq "the slowest of them is reported" "$slowest" "1 1"
t_eq "three events a page" "$(ev_n $call "$moved")" 24
t_eq "and as many as there were calls" "$(ev_n $call "$list") $(ev_n $call "$interval")" "$(said list) $(said interval)"

# --- what is no migration ---

mm map 64 notify 0 list 0 dontneed 0 touch 0 protect 0 unmap 0
t_eq "MADV_DONTNEED, mprotect, munmap: no reason" "$(ev_get $wait reason | sort -u)" none
start=$(said start) end=$(printf 0x%x $(($(said start) + 64 * 4096)))
t_eq "which, in order" "$(ev_get $wait event "f[\"start\"] == \"$start\" && f[\"end\"] == \"$end\"" | xargs)" "clear protection_vma unmap"

mm map 4 notify 0 interval 0
t_eq "an address space ends: the interval is released, then unmapped" "$(ev_get $call event | xargs) $(ev_get $wait event | xargs)" "release unmap unmap"

# --- other reasons ---

mm node 0 map 16 notify 0 list 100 mbind 0 1
t_eq "mbind" "$(said moved) $(ev_n $wait 'f["reason"] == "mbind" && f["event"] == "clear"')" "16 16"
mm node 0 map 1 notify 0 list 100 pfns 0 offline 0
t_eq "soft offlining of a page" "$(ev_get $wait pfn 'f["reason"] == "memory_failure"')" "$(said pfn)"
if has_thp; then
	mm node 0 huge 1 pfns 0 notify 0 list 0 move 0 1
	t_eq "a huge page is one wait of 512 pages" "$(ev_get $wait pfn "$moved") $(ev_get $wait pages "$moved")" "$(said pfn | head -1) 512"
else
	t_skip "a huge page is one wait of 512 pages" "a kernel without them"
fi
mm map 8 notify 0 interval 100 vma 0
t_eq "a driver moves pages" "$(said "done") $(ev_n $wait 'f["event"] == "migrate"')" "8 1"

# --- one that was there before; two-pass ones ---

ev_disable mm_migrate
./mm node 0 map 4 notify 0 list 0 notify 0 interval 1000 tell "$work/there" until "$work/go" move 0 1 counts unnotify >"$work/out" &
wait_until 60 test -e "$work/there"
ev_enable mm_migrate
ev_clear
touch "$work/go"
wait $!
snap
t_eq "registered before the event is enabled: no call is missed" "$(ev_n $call "$interval") $(ev_n $call "$list")" "$(said interval) $(said list)"

if ./mm map 1 notify 0 two_pass 0 >/dev/null 2>&1; then
	./mm map 1 notify 0 two_pass 0 tell "$work/two" until "$work/two_go" >/dev/null &
	wait_until 60 known mock_mm_two_pass_finish
	touch "$work/two_go"
	wait $!
	mm node 0 map 8 notify 0 two_pass 1000 move 0 1 counts unnotify
	t_eq "two passes: both, the second is slow" "$(ev_n $call 'f["callback"] == "mock_mm_two_pass_start"') $(ev_n $call "f[\"via\"] == \"finish\" && f[\"duration_ns\"] >= 1$ms")" "$(said interval) $(said finish)"
	t_eq "two passes: the wait counts one, and names the slow one" "$(ev_n $wait "$moved && f[\"notifiers\"] == 1 && f[\"callback\"] == \"mock_mm_two_pass_finish\"")" 8
else
	t_skip "two passes: both, the second is slow" "this kernel has no two-pass notifiers"
	t_skip "two passes: the wait counts one, and names the slow one" "this kernel has no two-pass notifiers"
fi

# --- min_ns ---

echo $((1 << 50)) >/sys/module/mm_migrate_trace/parameters/${wait}_min_ns
mm node 0 map 7 notify 0 list 0 move 0 1 counts
t_eq "min_ns: no wait is that long, they are counted" "$(ev_n $wait) $(status_field mm_migrate_trace event $wait suppressed)" "0 $(said list)"
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
