#!/usr/bin/env bash
# description: the flight recorder has what is rare and what took long, of each module in its own ring, and shows it in order
# tier1: 6.12
# takes: 30
# timeout: 400
# requires: python3 trace-cmd
. ./lib.sh
plan 44

# --- the configuration file ---

wrong() { printf '%s\n' "$1" >"$work/conf"; recorder start 2>&1 | cut -d: -f4-; }
t_eq "a wrong line: which, and why" "$(wrong 'ring_kib many')" " no number: many"
t_eq "no threshold without a duration" "$(wrong 'aer:aer_correctable 5ms')" " this event has no duration: aer_correctable"
t_eq "no such setting" "$(wrong 'size 7')" " no such setting: size"

# --- before it is started ---

configure 'ring_kib 64' 'keep 3'
t_eq "status: not started" "$(recorder status | grep -c 'has not been started')" 1
t_eq "snapshot: not started" "$(recorder snapshot 2>&1)" "kstall: the formats of this boot are not in $work/state: kstall recorder start keeps them there"
t_eq "last-boot: there is nothing, and why" "$(recorder last-boot 2>&1 | grep -c 'a reboot leaves alone')" 1

# --- started; modules come before and after ---

load io_uring_trace
at_exit remove_rings
t_ok "start" recorder start
rare=$TRACEFS/instances/kstall-io_uring
t_eq "what is rare is on" "$(cat "$rare"/events/io_uring_trace/io_uring_{sq,cq}_overflow/enable | xargs)" "1 1"
t_eq "what a hot path would pay for is off" "$(cat "$TRACEFS"/instances/kstall*/events/io_uring_trace/io_uring_req_done/enable | sort -u)" 0
t_eq "the kernel filters" "$(cat "$TRACEFS/instances/kstall-slow/events/io_uring_trace/writeback_wait_done/filter")" "wait_ns > 1000000"
load mock_gpu timeout_ms=1000 reset_ms=10
load drm_sched_trace
load aer_trace
t_ok "start again, with more modules" recorder start
t_eq "of the new ones, too" "$(cat "$TRACEFS"/instances/kstall-drm_sched/events/drm_sched/drm_sched_job_timeout/enable)" 1
for _ in 1 2 3; do "$URING" short-submit >/dev/null; done
../../modules/drm_sched/gpu entity 2 1 run 1000 once flags h job 0 await 0 60000 >/dev/null
told() { recorder show --module drm_sched | grep -q job_timeout; }
t_ok "a hang is recorded" wait_until 20 told
recorder show >"$work/show"
t_eq "in order, across modules" "$(awk '{ print $4 }' "$work/show" | grep -E 'sq_overflow|job_timeout' | xargs)" \
	"io_uring_sq_overflow: io_uring_sq_overflow: io_uring_sq_overflow: drm_sched_job_timeout:"
t_eq "of one module" "$(recorder show --module io_uring_trace | grep -c .)" 3
t_eq "since: nothing is that new" "$(recorder show --since 1ns | grep -c .)" 0
# but for the wall clock's time, which is asked anew
t_eq "since: all is newer than that" "$(recorder show --since 1h | cut -c34-)" "$(cut -c34- "$work/show")"
recorder show --json --module io_uring >"$work/json"
t_eq "JSON: field by field what the kernel prints" "$(fields "$work/json")" "$(printed "$rare/trace")"
t_eq "status: recording, each in its ring" "$(recorder status | awk '$2 == "recording" { print $1 }' | sort | xargs)" \
	"kstall-aer kstall-drm_sched kstall-io_uring kstall-slow"

# --- copies ---

printed "$rare/trace" >"$work/printed"
recorder save "$work/saved" >/dev/null
t_eq "save: no others may read it" "$(stat -c %a "$work/saved/trace.dat" "$work/state" "$work"/state/*.dat | sort -u | xargs)" "600 700"
trace-cmd report -i "$work/saved/trace.dat" >"$work/report" 2>"$work/report.err"
t_eq "save: trace-cmd knows every event and field" "$(grep -ciE 'unknown|error|fail' "$work/report" "$work/report.err" | cut -d: -f2 | xargs)" "0 0"
t_eq "save: trace-cmd has the same, field by field" "$(grep sq_overflow "$work/report" | sed 's/: *io_/: io_/' >"$work/r"; sed -E 's/(: [a-z_]+:) +/\1 /' "$work/r" >"$work/r2"; printed "$work/r2")" "$(<"$work/printed")"
recorder show --json "$work/saved/trace.dat" >"$work/json"
t_eq "show FILE: the same" "$(fields "$work/json" | grep sq_overflow)" "$(<"$work/printed")"
t_eq "what was copied is still shown" "$(recorder show --module io_uring | grep -c .)" 3
"$URING" short-submit >/dev/null
t_eq "and so is what comes later" "$(recorder show --module io_uring | grep -c .)" 4
for _ in 1 2 3 4; do recorder snapshot >/dev/null; done
t_eq "so many copies are kept" "$(copies snapshot- | grep -c .)" 3
head -c 5000 "$work/saved/trace.dat" >"$work/half"
t_eq "half a copy is no copy" "$(recorder show "$work/half" 2>&1)" "kstall: $work/half: not a copy of the recorder's, or not all of it"
part=$work/state/.part.many.dat
mkdir "$part"
echo head >"$part/head"
echo cpus 40 >"$part/about"
for c in {0..39}; do head -c 4096 "$KSTALL" >"$part/kstall-slow@$c"; done
(ulimit -n 20; recorder snapshot) >/dev/null 2>"$work/err"
t_range "40 CPUs' pages of one that was killed, and few open files" "$(cat "$work/err")$(stat -c %s "$work/state/many.dat")" $((40 * 4096)) $((50 * 4096))

# --- 1,000 events around a threshold ---

configure 'ring_kib 1024' 'io_uring_trace:io_uring_req_done 1ns'
recorder start
"$URING" nops 1000 1 >/dev/null
at=$(recorder show --module io_uring | grep -oP 'req_done.* total_ns=\K[0-9]+' | sort -n | sed -n 500p)
configure 'ring_kib 1024' "io_uring_trace:io_uring_req_done ${at}ns"
recorder start
recorder snapshot >/dev/null
rm "$work"/state/snapshot-*
mk_instance "all-$$"
ev_enable io_uring_trace/io_uring_req_done
"$URING" nops 1000 5000 >/dev/null
above() { awk -v at="$at" '{ for (i = 1; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]; if (/req_done/ && v["total_ns"] + 0 > at + 0) print v["user_data"], v["total_ns"] }' "$1"; }
above "$INSTANCE/trace" | sort >"$work/want"
recorder show --module io_uring | grep req_done >"$work/got"
ev_disable io_uring_trace/io_uring_req_done
t_eq "threshold: a thousand requests" "$(ev_count io_uring_req_done)" 1000
t_range "threshold: on both sides of it" "$(wc -l <"$work/want")" 1 999
t_eq "threshold: exactly those above" "$(above "$work/got" | sort)" "$(<"$work/want")"
t_eq "threshold: and no others" "$(wc -l <"$work/got")" "$(wc -l <"$work/want")"

# --- a storm; a quiet module ---

configure 'ring_kib 16' 'kstall_test:kt_tick always'
load kstall_target
load kstall_test
recorder start
"$URING" short-submit >/dev/null
echo tick 3000 5 >/sys/kernel/debug/kstall_target/call
recorder show >"$work/show"
"$URING" short-submit >/dev/null
t_range "storm: the ring is full" "$(grep -c kt_tick "$work/show")" 10 2999
t_eq "storm: what it pushed out is counted" \
	"$(recorder status | awk '$1 == "kstall-kstall_test" { print $6 + $8 }')" 3001
t_eq "storm: the quiet module's events are there" "$(recorder show --module io_uring | grep -c sq_overflow)" 2
unload kstall_test
t_eq "a module that goes takes only its own" "$(recorder show --module io_uring | grep -c sq_overflow) $(recorder show | grep -c kt_tick)" "2 0"

# --- somebody else in the same ring ---

echo 1 >"$rare/events/sched/sched_process_exit/enable"
"$URING" short-submit >/dev/null
t_eq "a second user of the ring" "$(recorder show --module io_uring | grep -c sq_overflow)" 3
echo 0 >"$rare/events/sched/sched_process_exit/enable"

# --- stopped ---

recorder stop
"$URING" short-submit >/dev/null
t_eq "stopped: records no more, shows what there is" "$(recorder show --module io_uring | grep -c sq_overflow)" 3
recorder status >"$work/status"
t_eq "stopped: status says so" "$? $(grep -c recording "$work/status")" "3 0"

# --- memory ---

configure
remove_rings
recorder start
kib=$(cat "$TRACEFS"/instances/kstall-*/buffer_total_size_kb | awk '{ n += $1 } END { print n }')
# whole pages: each CPU's part of a ring can have one more
most=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 512 + 7 * 4 * $(nproc)))
t_range "by default all rings together take 1/512 of memory" "$kib" 7 $most
t_eq "status: how much they take" "$(recorder status | grep ' rings take ')" "7 rings take $kib KiB of memory"

# --- across a crash ---

recorder setup-crash >"$work/setup"
t_eq "setup-crash: nothing is in place" $? 1
if grep -q ' reserve_mem_find_by_name' /proc/kallsyms; then
	t_eq "setup-crash: an entry a ring" "$(grep -o 'reserve_mem=1M:4096:ks_[a-z_]* trace_instance=kstall-[a-z_]*^traceoff@ks_[a-z_]*' "$work/setup" | wc -l)" 7
else
	t_eq "setup-crash: this kernel cannot" "$(grep -c 'cannot keep the rings across a crash' "$work/setup")" 1
fi
t_eq "the table has each event of the modules, and no other" "$(recorder events | sed -nE '/^nv/d; s/^[a-z_]+:([a-z_0-9]+) .*/\1/p' | sort)" \
	"$(cat ../../modules/abi/*.names | grep -oE '^[a-z_0-9]+$' | sort)"
