#!/usr/bin/env bash
# description: drm_sched_trace's bpftrace tools run unedited on this kernel's bpftrace and say exactly what programs did
# once: on each kernel tools/start starts the tools
# requires: bpftrace
# shellcheck source=../../modules/drm_sched/lib.sh
. ../../modules/drm_sched/lib.sh
# shellcheck source=lib.sh
. ./lib.sh
plan 26

# One job at a time: a program of BPF that is interrupted is not interrupted by another; that one is skipped, and nobody counts it.
load mock_gpu timeout_ms=2000 reset_ms=50 evict_ms=50 limit=1
load drm_sched_trace
for name in trainer loader; do ln -s "$PWD/../../modules/drm_sched/gpu" "$work/$name"; done
trainer=$work/trainer loader=$work/loader

# pid_of NAME: of the N-th program in the workload
pid_of() { grep -oP '^pid=\K.*' "$work/$1" | sed -n "$2p"; }

# --- where jobs wait: 7 of a queue held by a fence, 5 more, and one killed ---

seven='job 0 job 0 job 0 job 0 job 0 job 0 job 0'
workload "$trainer entity 2 1 run 20000 fence dep 0 $seven sleep 400 signal 0 await 7 60000" \
	"$loader entity 2 2 run 1000 $(printf 'job 0 await %d 60000 ' 0 1 2 3 4)" \
	"$trainer entity 2 2 fence dep 0 job 0 fini 0"
tool drm_wait
pid=$(pid_of drm_wait 1)
t_eq "drm_wait: the first line says what and from which duration on" \
	"$(grep -m1 Tracing "$work/drm_wait")" "Tracing GPU jobs until Ctrl-C. drm_sched_job_dispatch_min_ns=0"
t_eq "drm_wait: histograms by ring" "$(entries drm_wait 'wait_us[mock0]') $(entries drm_wait 'wait_us[mock1]')" "7 5"
for part in hol dep ring hwq run; do
	t_eq "drm_wait: $part" "$(stat drm_wait "${part}_us[trainer, $pid, mock0]" count) $(stat drm_wait "${part}_us[loader, $(pid_of drm_wait 2), mock1]" count)" "7 5"
done
# The ring's worker may look at a job some time after it came.
t_range "drm_wait: the first was held by a fence" "$(stat drm_wait "dep_us[trainer, $pid, mock0]" total)" 100000 60000000
t_range "drm_wait: the others were behind it" "$(stat drm_wait "hol_us[trainer, $pid, mock0]" total)" $((6 * 100000)) 600000000
t_range "drm_wait: they ran" "$(stat drm_wait "run_us[trainer, $pid, mock0]" total)" $((7 * 20000)) 600000000
t_eq "drm_wait: killed" "$(value drm_wait "killed[trainer, $(pid_of drm_wait 3), mock1]")" 1

# --- who blocks whom ---

workload "$trainer entity 2 1 run 1000 fence dep 0 job 0 sleep 400 signal 0 await 1 60000"
tool drm_deps
pid=$(pid_of drm_deps 1)
t_range "drm_deps: held by a program's own fence" "$(stat drm_deps "held_us[trainer, $pid, mock0, , 0, mock_gpu, soft]" total)" 100000 60000000
workload "$trainer entity 2 2 entity 2 1 run 30000 fence dep 0 job 0 dep 1 run 1000 job 1 sleep 200 signal 0 await 2 60000"
tool drm_deps
pid=$(pid_of drm_deps 1)
t_range "drm_deps: held by a job" "$(stat drm_deps "held_us[trainer, $pid, mock0, trainer, $pid, drm_sched, mock1]" total)" 30000 60000000

# --- who waits for a fence, what a submission waits for ---

workload "$trainer fence await 0 100" "$loader entity 2 1 run 100000 job 0 once wait 0 job 0 await 1 60000"
tool fence_wait
pid=$(pid_of fence_wait 2)
t_eq "fence_wait: a program's own fence, and a job's" "$(entries fence_wait 'wait_us[mock_gpu, soft]') $(entries fence_wait 'wait_us[drm_sched, mock0]')" "1 2"
t_range "fence_wait: who waited" "$(stat fence_wait "waiter_us[trainer, $(pid_of fence_wait 1), mock_gpu, soft]" total)" 50000 60000000
t_range "fence_wait: asleep in a submission" "$(stat fence_wait "asleep_us[loader, $pid, mock0]" total)" 50000 60000000
t_eq "fence_wait: all of it for a fence" "$(value fence_wait "fence_us[loader, $pid, mock0]") $(value fence_wait "lock_us[loader, $pid, mock0]")" \
	"$(stat fence_wait "asleep_us[loader, $pid, mock0]" total) 0"

# --- evictions, swapping ---

workload "$loader bo 3 touch $work/full until $work/done >$work/loader.out &" \
	"until [ -e $work/full ]; do sleep 0.1; done" "$trainer bo 3" "touch $work/done" "wait" "$trainer bo 1 populate 0 swapout populate 0"
tool ttm_evict
t_eq "ttm_evict: whose, by whom, from where to where" \
	"$(value ttm_evict "evicted_kib[trainer, $(pid_of ttm_evict 1), loader, $(sed -n 's/^pid=//p' "$work/loader.out"), vram, system]")" 3072
t_eq "ttm_evict: swapped" "$(grep -oP '\d\d:\d\d:\d\d \K(in |out) \d+ KiB of \w+' "$work/ttm_evict" | xargs)" "out 1024 KiB of trainer in 1024 KiB of trainer"

# --- stalls ---

workload "$trainer entity 2 1 run 1000 once flags h job 0 await 0 60000" \
	"$trainer entity 3 1 entity 1 2 run 20000 fence dep 0 job 0 dep 1 job 1 sleep 200 signal 0 await 2 60000" \
	"$loader entity 2 2 fence dep 0 job 0 job 0 job 0 fini 0"
tool drm_stalls
t_eq "drm_stalls: what happened to whom" "$(sed -nE 's/^[0-9:]{8} ([a-z]+) +(mock[0-9]).*\b(of|by) ([a-z]+)\/.*/\1 \2 \4/p' "$work/drm_stalls" | sort | uniq -c | xargs)" \
	"1 failed mock0 trainer 3 failed mock1 loader 1 inversion mock1 trainer 1 killed mock1 loader 1 reset mock0 trainer 1 timeout mock0 trainer"
