#!/usr/bin/env bash
# description: N calls are N events, with the right values, whatever kind of hook, task, CPU and context; what is missed is counted
# arm64: other traps, other return probes
# tier1: 6.12
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plan 54

load kstall_target
# shellcheck disable=SC2086 # none, or of test_hooks_other.sh
load kstall_test max_sleepers=16 ${parameters-}
mk_instance core

# --- the status file, before anything is used ---

# Every line's form; what a state may be stands in parentheses.
n='[0-9]+'
line="^(module kstall_test version=[0-9.]+ recorder=(off|kstall) clamped=$n now_mono_ns=$n"
line+="|event kt_[a-z]+ users=$n state=(idle|armed|waiting-for:kstall_target|failed errno=$n) min_ns=$n suppressed=$n"
line+='|event kt_absent state=absent reason="[^"]+"'
line+="|hook [a-z_]+ kind=(tracepoint|entry|pair|direct) target=[a-z_:|]+ state=(idle|armed|waiting-for:kstall_target|failed errno=$n) hits=$n missed=$n recursed=$n last_loss_mono_ns=$n bytes=$n( not_direct=[a-z-]+)?"
line+="|table [a-z]+ state=(idle|allocated) capacity=$n in_use=$n high_water=$n dropped=$n evicted=$n evicted_oldest_ns=$n unmatched=$n last_loss_mono_ns=$n bytes=$n"
line+="|test reentered=$n)$"
status_ok() { [ "$(wc -l <$dbg/kstall_test/status)" = 33 ] && ! grep -nvE "$line" $dbg/kstall_test/status; }
t_ok "status, idle: 33 lines of the documented form" status_ok
t_eq "status: for root only" "$(stat -c %a $dbg/kstall_test/status)" 400
t_ok "idle: no probe is placed" no_probes

# --- function entry, function entry and return; alternatives ---

enable kt_entry kt_pair kt_sleep kt_recurse kt_span kt_tick kt_storm kt_folio kt_timer
t_ok "status, armed: 33 lines of the documented form" status_ok
t_eq "entry: the second name is in use" "$(field hook quick target)" kstall_target:target_quick
t_count "tracepoint of a module: the second name is in use" "$(field hook tick target)" target_tick
t_count "function of vmlinux: the second name is in use" "$(field hook folio target)" folio_wait_writeback
t_count "tracepoint of vmlinux: the second name is in use" "$(field hook timer target)" timer_init

me="f[\"pid\"] == $$ && f[\"tgid\"] == $$ && f[\"comm\"] == \"bash\""
call quick 211 21
t_count "entry: 211 calls" "$(ev_n kt_entry "f[\"id\"] == 21 && !f[\"irq\"] && $me")" 211
t_count "pair: 211 calls, with argument and result" "$(ev_n kt_pair "f[\"id\"] == 21 && f[\"result\"] == 43 && $me")" 211
call irq 53 5
t_count "entry in hardirq: 53 calls" "$(ev_n kt_entry 'f["id"] == 5 && f["irq"]')" 53
t_count "pair in hardirq: 53 calls" "$(ev_n kt_pair 'f["id"] == 5 && f["irq"] && f["result"] == 11')" 53
call quick 101 3 4
t_eq "4 tasks: 101 calls each" "$(ev_awk kt_pair 'f["id"] == 3 && f["result"] == 7' 'pid[f["pid"]]++' \
	END 'for (p in pid) print pid[p]' | xargs)" "101 101 101 101"
t_eq "hits are counted" "$(field hook quick hits) $(field hook quick_pair hits)" "668 668"

call sleep 7 20
t_eq "sleeping pair: 7 calls, none shorter than it slept" \
	"$(ev_n kt_sleep 'f["id"] == 20 && f["result"] == -20 && f["duration_ns"] >= 20000000')" 7

call recurse 3 4
t_eq "recursion: each of the 3 × 5 calls has its own argument and result" \
	"$(ev_awk kt_recurse 'f["id"] == f["result"]' 'seen[f["id"]]++' END 'print seen[0], seen[1], seen[2], seen[3], seen[4]')" "3 3 3 3 3"
t_eq "recursion: the inner ones return first and took no longer" \
	"$(ev_awk kt_recurse 'f["id"] && (f["id"] != last + 1 || f["duration_ns"] < ns)' 'bad++' 1 'last = f["id"]; ns = f["duration_ns"]' END 'print bad + 0')" 0

call tick 31 6
t_count "tracepoint of a module: 31 hits" "$(ev_n kt_tick 'f["id"] == 6 && f["count"] == 1')" 31
echo 17 >$dbg/kstall_test/folio
t_count "function of vmlinux: 17 calls of ours among the others" "$(ev_n kt_folio "$me")" 17
echo 19 >$dbg/kstall_test/timer
t_count "tracepoint of vmlinux: 19 hits of ours among the others" "$(ev_n kt_timer "$me")" 19

# --- begin in a task, end in hardirq ---

call span 101 1000
t_eq "span: 101 ends in hardirq, on behalf of the task that began" \
	"$(ev_awk kt_span "f[\"irq\"] && $me && !(f[\"id\"] in seen)" 'seen[f["id"]] = 1; n++' END 'print n, (1000 in seen), (1100 in seen)')" "101 1 1"
t_eq "span: its table is empty and lost nothing" \
	"$(field table spans in_use) $(field table spans dropped) $(field table spans unmatched)" "0 0 0"

# --- min_ns ---

ev_clear
echo 30000000 >$params/kt_sleep_min_ns
call sleep 2 30
echo $((1 << 62)) >$params/kt_sleep_min_ns
call sleep 3 1
echo 0 >$params/kt_sleep_min_ns
t_eq "min_ns: what is long enough is emitted, what is not is not" "$(ev_n kt_sleep) $(ev_n kt_sleep 'f["id"] == 30')" "2 2"
t_eq "min_ns: what is not is counted" "$(field event kt_sleep suppressed)" 3

# --- folding ---

folded() { [ "$(ev_sum kt_storm count "f[\"id\"] == $1")" = "$2" ]; }
call object 42 7
t_eq "folding: the first is there at once, on its own" "$(ev_awk kt_storm 'f["id"] == 7 && !n++' 'print f["count"]')" 1
t_ok "folding: the sum of counts is 42" wait_until 10 folded 7 42
t_eq "folding: a summary has the identity too" "$(ev_n kt_storm "f[\"id\"] == 7 && f[\"count\"] > 1 && $me")" \
	"$(ev_n kt_storm 'f["id"] == 7 && f["count"] > 1')"
call object 5 9
call free 1 9
t_ok "folding: at the object's end the sum is reported" folded 9 5
call object 5 11
disable kt_storm
t_ok "folding: at disabling the sum is reported" folded 11 5

# --- more sleepers than the pool has room for ---

enable kt_block
t_eq "nothing was missed before" "$(field hook block missed) $(field hook block last_loss_mono_ns)" "0 0"
before=$(status_mono)
call block 20
t_eq "20 sleep, 16 have a place: 4 are counted as missed" "$(field hook block hits) $(field hook block missed)" "16 4"
call release
t_eq "the 16 are reported when they return" "$(ev_awk kt_block 'f["id"] == f["result"] && f["id"] < 16' 'seen[f["id"]] = 1' END 'print length(seen)')" 16
call block 20
call release
t_eq "their places are free again" "$(ev_n kt_block) $(field hook block missed)" "32 8"
t_range "the status says when some were last missed" "$(field hook block last_loss_mono_ns)" "$before" "$(status_mono)"
# The file's reader would notice it; who asks later, with the time before asking, tells whether it had been noticed by then.
noticed() {
	local before
	call block 20
	call release
	sleep 1.5
	before=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
	[ "$(field hook block last_loss_mono_ns)" -lt "$before" ]
}
t_ok "which is noticed within about a second, unasked" wait_until 60 noticed
missed=$(field hook block missed) last=$(field hook block last_loss_mono_ns) hits=$(field hook block hits)
ev_clear

# --- disarmed while tasks are inside ---

call block 3
disable kt_block
t_ok "disarmed while 3 sleep inside" wait_until 10 hook_is block idle
enable kt_block
call release
t_eq "armed anew before they return: they are not reported, nothing is" "$(ev_n kt_block)" 0
t_eq "hits and missed are not forgotten, nor when" \
	"$(field hook block hits) $(field hook block missed) $(field hook block last_loss_mono_ns)" "$((hits + 3)) $missed $last"
call block 3
disable kt_block
call release
t_ok "the listener gone" wait_until 10 hook_is block idle
t_eq "... not even then" "$(field hook block missed) $(field hook block last_loss_mono_ns)" "$missed $last"

# --- hooks that are reached from inside an event ---

disable kt_folio kt_timer
wait_until 10 hook_is folio idle
wait_until 10 hook_is timer idle
t_ok "a listener without ftrace or perf" eval "echo 1 >$dbg/kstall_test/reenter"
t_ok "it arms the hook" wait_until 10 hook_is folio armed
t_ok "and the tracepoint" wait_until 10 hook_is timer armed
missed=$(field hook folio missed) recursed=$(field hook timer recursed) before=$(status_mono)
echo 13 >$dbg/kstall_test/folio
echo 13 >$dbg/kstall_test/timer
t_eq "re-entering: once for each event" "$(sed -n 's/^test reentered=//p' $dbg/kstall_test/status)" 26
t_eq "function: what was reached from inside is counted as missed" $(($(field hook folio missed) - missed)) 13
t_eq "tracepoint: what was reached from inside is counted as recursed" $(($(field hook timer recursed) - recursed)) 13
t_range "tracepoint: and when" "$(field hook timer last_loss_mono_ns)" "$before" "$(status_mono)"
echo 0 >$dbg/kstall_test/reenter
t_ok "the listener gone, the hook goes" wait_until 10 hook_is folio idle

# --- a tracepoint's probe that still runs ---

enable kt_tick
wait_until 10 hook_is tick armed
echo 1 >/sys/module/kstall_test/parameters/linger
at_exit eval "echo 0 >/sys/module/kstall_test/parameters/linger"
taskset -c 1 bash -c "echo tick 1 1 >$dbg/kstall_target/call" &
lingers() { grep -qx "test lingering" $dbg/kstall_test/status; }
wait_until 10 lingers || bail "the probe does not run"
gone=$(mktemp -u)
at_exit rm -f "$gone"
disable kt_tick &
# reading the status file waits, too
{ wait_until 10 hook_is tick idle && touch "$gone"; } &
sleep 0.5
t_fails "a probe that still runs: its hook does not go" test -e "$gone"
echo 0 >/sys/module/kstall_test/parameters/linger
t_ok "... before it has returned" wait_until 10 test -e "$gone"
wait

# --- synchronous: nothing is lost between enabling and the first call ---

disable kt_entry kt_pair kt_sleep kt_recurse kt_span kt_tick
t_ok "all disabled: nothing is armed, no table and no probe is there" wait_until 10 nothing_armed
hurry
ev_clear
for ((i = 1; i <= 20; i++)); do
	enable kt_pair
	call quick 7 $i
	disable kt_pair
	call quick 7 $i
done
t_eq "ftrace: 20 times enabled, 7 calls, disabled: 7 events each time" \
	"$(ev_awk kt_pair 1 'seen[f["id"]]++' END 'for (i = 1; i <= 20; i++) n += seen[i] == 7; print n')" 20
if command -v perf >/dev/null; then
	for ((i = 1; i <= 5; i++)); do
		perf stat -x, -e kstall_test:kt_pair -- bash -c "echo quick 7 1 >$dbg/kstall_target/call" 2>&1 | cut -d, -f1
	done >"${tmp:=$(mktemp)}"
	at_exit rm -f "$tmp"
	t_eq "perf stat: 5 times 7 calls: 7 events each time" "$(xargs <"$tmp")" "7 7 7 7 7"
else
	t_skip "perf stat: 5 times 7 calls: 7 events each time" "no perf"
fi
t_ok "in the end nothing is armed" wait_until 10 nothing_armed
