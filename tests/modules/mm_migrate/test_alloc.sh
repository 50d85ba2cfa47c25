#!/usr/bin/env bash
# description: a fault or a driver that does not get a large piece of memory, or waits for compaction, is reported as often as the kernel counts it
# tier1: 6.12
# takes: 23
. ./lib.sh
plan 28

fallback=mm_thp_fallback stall=mm_compaction_stall
thp=/sys/kernel/mm/transparent_hugepage
has_thp || skip_all "a kernel without transparent huge pages"
load mock_mm
trace $fallback $stall

# glibc 2.43 asks for huge pages for each heap on arm64: the kernel would count the fallbacks of what reads its counters, too.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=0
setting $thp/enabled madvise
setting $thp/defrag never
setting $thp/khugepaged/scan_sleep_millisecs 600000
setting /proc/sys/vm/compaction_proactiveness 0
setting /proc/sys/vm/compact_unevictable_allowed 0

# grown KEY COMMAND…: by how much the command has the kernel's counter grow
before() { for key; do vmstat "$key"; done >"$work/before"; }
grown() { paste <(for key; do vmstat "$key"; done) "$work/before" | awk '{ print $1 - $2 }' | xargs; }

mm huge 4
t_eq "there are huge pages: nothing" "$(ev_n $fallback "f[\"tgid\"] == $(said pid)")" 0

# A name in a module is searched for in all of its names. The first that the driver does not get may be the hog's.
lookups=$TRACEFS/instances/lookups-$$
mkdir "$lookups" || bail "no second instance"
at_exit rmdir "$lookups"
echo module_address_lookup >"$lookups/set_ftrace_filter"
echo function >"$lookups/current_tracer"

# Free memory in single pages whose neighbours are locked, and of what is left the large pieces taken: there are none, and
# nothing could make one.
free=$(awk '/^MemFree/ { print int($2 / 4) }' /proc/meminfo)
./mm reserve $((free * 92 / 100)) lock 0 holes 0 alloc 9 100 0 tell "$work/fragmented" until "$work/over" >/dev/null 2>"$work/hog.err" &
hog=$!
at_exit eval "kill $hog 2>/dev/null"
wait_until 120 test -e "$work/fragmented" || bail "memory is not fragmented: $(<"$work/hog.err")"

before thp_fault_fallback thp_fault_fallback_charge
mm huge 8
faults="f[\"asked\"] == \"fault\" && f[\"tgid\"] == $(said pid)"
read -r alloc charge < <(grown thp_fault_fallback thp_fault_fallback_charge)
t_range "faults fall back" "$alloc" 1 9
t_eq "as often as the kernel counts it, for want of memory" "$(ev_n $fallback "$faults && f[\"cause\"] == \"alloc\"") $(ev_n $fallback "$faults && f[\"cause\"] == \"charge\"")" "$alloc $charge"
t_eq "which order, and how long it took" "$(ev_n $fallback "$faults && f[\"order\"] == 9 && f[\"duration_ns\"] > 0 && f[\"duration_us\"] == int(f[\"duration_ns\"] / 1000)")" "$alloc"
t_eq "each for itself" "$(ev_n $fallback "$faults && f[\"count\"] == 1 && f[\"first_mono_ns\"] == f[\"last_mono_ns\"]")" "$((alloc + charge))"
t_eq "at different addresses" "$(ev_get $fallback address "$faults" | sort -u | wc -l)" "$alloc"
t_eq "with the flags of the allocation" "$(ev_n $fallback "$faults && f[\"gfp_flags\"] ~ /GFP_TRANSHUGE_LIGHT|__GFP_/")" "$alloc"

mm alloc 9 20 0
named=$(grep -c "^ *mm-.*module_address_lookup" "$lookups/trace")
echo nop >"$lookups/current_tracer"
n=$(grep -oP 'fallbacks=\K\d+' "$work/out")
driver="f[\"asked\"] == \"driver\" && f[\"order\"] == 9 && f[\"tgid\"] == $(said pid)"
t_range "a driver falls back" "$n" 3 20
# what is folded comes 100 ms after the last
summed() { snap; [ "$(ev_sum $fallback count "$driver")" -ge "$n" ]; }
wait_until 20 summed
t_eq "as often as it says" "$(ev_sum $fallback count "$driver && f[\"cause\"] == \"alloc\"")" "$n"
t_eq "the first at once, then in one event" "$(ev_get $fallback count "$driver" | xargs)" "1 $((n - 1))"
t_eq "from when to when" "$(ev_get $fallback first_mono_ns "$driver" | sort -n | xargs -n 1)" "$(ev_get $fallback first_mono_ns "$driver")"
t_eq "... the first in no time" "$(ev_n $fallback "$driver && f[\"count\"] == 1 && f[\"first_mono_ns\"] == f[\"last_mono_ns\"]")" 1
t_eq "... the others not" "$(ev_n $fallback "$driver && f[\"count\"] > 1 && f[\"first_mono_ns\"] < f[\"last_mono_ns\"]")" 1
t_eq "which driver" "$(ev_get $fallback caller "$driver" | sort -u) $(ev_get $fallback caller_module "$driver" | sort -u)" "mock_alloc_piece mock_mm"
t_range "named once, not $n times" "$named" 1 $((n / 2))
t_eq "no fault: no address, no duration" "$(ev_n $fallback "$driver && f[\"address\"] == \"0x0\" && f[\"duration_ns\"] == 0")" 2
# for these pieces; the driver's own list of them may be as much as order 8
t_eq "nobody waited for compaction" "$(ev_n $stall 'f["order"] == 9')" 0

before compact_stall
mm alloc 9 10 1
pid=$(said pid) grown=$(grown compact_stall)
t_range "a driver that tries hard waits for compaction" "$(ev_n $stall "f[\"pid\"] == $pid")" 1 100000
t_eq "as often as the kernel counts it" "$(ev_n $stall "f[\"result\"] != \"skipped\" && (f[\"result\"] != \"deferred\" || $(uname -r | cut -d. -f1) < 7)")" "$grown"
asked="f[\"pid\"] == $pid && f[\"order\"] == 9"
t_eq "the caller" "$(ev_get $stall caller "$asked" | sort -u) $(ev_get $stall caller_module "$asked" | sort -u)" "mock_alloc_piece mock_mm"
t_eq "how long" "$(ev_n $stall 'f["duration_ns"] > 0 && f["duration_us"] == int(f["duration_ns"] / 1000)')" "$(ev_n $stall)"

# What `kstall why` makes of such a program: all its time, and of that the stalls, but for what is reported more closely inside them.
kstall=../../../kstall/kstall
if [ -x $kstall ]; then
	$kstall record -b 2048 -o "$work/trace.dat" -- ./mm alloc 9 10 1 >"$work/out" 2>"$work/record" || bail "record: $(tail -n 3 "$work/record")"
	pid=$(said pid)
	$kstall why -i "$work/trace.dat" --step all --json >"$work/json"
	stalls=$(trace-cmd report -i "$work/trace.dat" 2>/dev/null | grep "mm_compaction_stall.* pid=$pid " | grep -oP ' duration_ns=\K\d+' | awk '{ n += $1 } END { print n + 0 }')
	read -r exact whole parts alone inside < <(python3 -c '
import json, sys
s = max(json.load(open(sys.argv[1]))["steps"], key=lambda s: s["pid"] == int(sys.argv[2]))
def of(*layers): return sum(p["ns"] for p in s["parts"] if p["layer"] in layers)
# these happen elsewhere, too; and while it could not run it was not in there
inside = of("compaction", "migration", "notifier", "tlb", "cpu")
print(s["exact"], s["duration_ns"], sum(p["ns"] for p in s["parts"]), of("compaction"), inside)' "$work/json" "$pid")
	t_eq "kstall why: the parts are the whole" "$exact $parts" "True $whole"
	t_range "kstall why: compaction is no longer than the stalls (ns)" "$alone" 1 $((stalls * 21 / 20))
	t_range "kstall why: ... nor shorter, with what is reported more closely in them (ns)" "$inside" $((stalls * 19 / 20)) "$whole"
else
	for what in "the parts are the whole" "compaction is no longer than the stalls (ns)" "... nor shorter, with what is reported more closely in them (ns)"; do t_skip "kstall why: $what" "kstall is not built here"; done
fi

touch "$work/over"
wait $hog

# --- huge pages there are, but not for everybody ---

mm want 100
t_eq "a mapping that is too small for a huge page" "$(ev_n $fallback "f[\"tgid\"] == $(said pid) && f[\"cause\"] == \"unsuitable_vma\" && f[\"asked\"] == \"fault\"")" 1
cgroup=/sys/fs/cgroup/kstall-$$
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $cgroup || bail "no cgroup"
at_exit rmdir $cgroup
echo 1500K >$cgroup/memory.max
before thp_fault_fallback thp_fault_fallback_charge
mm enter $cgroup poke 5
t_eq "a cgroup that may not have it: as often as the kernel counts it" "$(ev_n $fallback "f[\"tgid\"] == $(said pid) && f[\"cause\"] == \"charge\"") $(grown thp_fault_fallback thp_fault_fallback_charge)" "5 5 5"
t_no_losses
t_eq "nothing is left in the table" "$(status_field mm_migrate_trace table tasks in_use)" 0
