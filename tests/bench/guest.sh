#!/usr/bin/env bash
# Runs in the guest: prints "case SUBJECT NAME VALUE" for each way to listen to what a subject does. See ../vm/bench.
# SUBJECTS="map nop" does only these. PROFILE=rawtracepoint does the first subject again and again with that listener, for ../vm/profile.
# STORES=1 does each N times on two CPUs at once, without a listener and with one, for ../vm/stores.
set -eu
cd "$(dirname "$0")"

T=/sys/kernel/tracing
N=10000
[ -z "${PROFILE-}" ] || N=1000000 # one run, without its start and end
[ -z "${STORES-}" ] || N=200 # all that is written is kept
SUBJECTS=${SUBJECTS:-map notifier job nop record why}
IN_FLIGHT="1 1000 100000" # the request measured is one of them

# --- a subject: what is done N times, and the event that tells of it ---

# subject NAME MODULE SYSTEM EVENT FIELD MARKER command…: FIELD is the event's duration, MARKER a function that one operation calls
# once; the command prints how many instructions one took
subject() {
	subject=$1 module=$2 system=$3 event=$4 field=$5 marker=$6
	shift 6
	operation=("$@")
}

say() { echo "case $subject $1 $2"; }

# The least of $repeats: what else the kernel does now and then is not meant. How far the middle one is from it says how much is chance.
repeats=3
measure() {
	local runs i
	mapfile -t runs < <(for ((i = 0; i < repeats; i++)); do "${operation[@]}"; done | sort -g)
	say "$1" "${runs[0]}"
	[ "$1" != nothing ] || say scatter "$(awk -v least="${runs[0]}" -v middle="${runs[repeats / 2]}" 'BEGIN { print middle - least }')"
}

enable() { echo "$1" >"$T/events/$system/$event/enable"; }

with_ftrace() {
	enable 1
	measure ftrace
	enable 0
}

# The worker disarms when the grace periods are over.
armed() { grep -q state=armed "/sys/kernel/debug/$module/status"; }
disarmed() { while armed; do sleep 0.1; done; }

# in_status KEY: its sum over all hooks and tables
in_status() { grep -oP "^(hook|table) .* $1=\K[0-9]+" "/sys/kernel/debug/$module/status" | awk '{ n += $1 } END { print n + 0 }'; }

# What it holds while it is armed; how long the user who enables it waits, all hooks being in place then.
arming() {
	say module_bytes "$(awk -v m="$module" '$1 == m { print $2 }' /proc/modules)"
	say arming "$(./timed 1 sh -c "echo 1 >$T/events/$system/$event/enable")"
	say armed_bytes "$(in_status bytes)"
	enable 0
}

# with_hist: the kernel's own histogram
with_hist() {
	local trigger=$T/events/$system/$event/trigger
	echo "hist:keys=$field.log2" >"$trigger"
	measure hist
	echo "!hist:keys=$field.log2" >"$trigger"
}

# with_metrics: the histogram that kstall metrics has the kernel make of it
with_metrics() {
	local dir pid trigger events=events/$system/$event/trigger
	[ -x ../../kstall/kstall ] || return 0
	dir=$(mktemp -d)
	../../kstall/kstall metrics --textfile "$dir" &
	pid=$!
	until [ -e "$dir/kstall.prom" ]; do sleep 0.1; done
	trigger=$(sed -n 's/^\(hist:.*\) \[active\]$/\1/p' "$T/instances/kstall_metrics/$events")
	kill $pid
	wait $pid
	[ -n "$trigger" ] || return 0
	disarmed
	echo "$trigger" >"$T/$events"
	measure metrics
	echo "!$trigger" >"$T/$events"
}

# with_bpftrace CASE PROGRAM [command…]: measured while the program is attached; its count must hold every operation measured, $repeats
# times N. The end of an operation may come a little later in another context.
with_bpftrace() {
	local name=$1 program=$2 out seen tracer
	shift 2
	out=$(mktemp)
	bpftrace -e "BEGIN { printf(\"ready\n\"); } $program" >"$out" 2>&1 &
	tracer=$!
	until grep -q ready "$out"; do
		kill -0 $tracer 2>/dev/null || { say "$name" "- $(tail -1 "$out")"; return 0; }
		sleep 0.1
	done
	sleep 5	# bpftrace runs BEGIN before it attaches the rest; under -icount this is 5e9 instructions for it
	"${@:-measure}" "$name"
	kill -INT $tracer
	wait $tracer || true
	seen=$(sed -n 's/^@n: //p' "$out")
	# bpftrace 0.27 does not say what it lost
	[ "$name" != printed ] || say printed_lost $((${seen:-0} - $(grep -cE '^-?[0-9]+$' "$out")))
	[ "${seen:-0}" -ge $((repeats * N)) ] || { echo "# $subject: $name saw only ${seen:-0} of $((repeats * N))"; return 1; }
}

hist='@n = count(); @ = hist'
print='@n = count(); printf("%d\n"'

# program LISTENER: bpftrace's, that makes a histogram of the event
program() {
	case $1 in
	tracepoint) echo "tracepoint:$system:$event { $hist(args->$field); }" ;;
	rawtracepoint) echo "rawtracepoint:$event { $hist(arg0); }" ;;
	esac
}

# To be watched: which function is where.
show_functions() {
	sysctl -q net.core.bpf_jit_kallsyms=1
	grep -i ' [tw] ' /proc/kallsyms
}

# After "profile MARKER" it is seen which instructions are executed.
forever() {
	show_functions
	echo "profile $marker"
	while :; do "${operation[@]}" >/dev/null; done
}

profile() {
	[ "$PROFILE" = nothing ] || modprobe "$module"
	case $PROFILE in
	nothing) forever ;;
	ftrace) enable 1 && forever ;;
	*) with_bpftrace - "$(program "$PROFILE")" forever ;;
	esac
	exit 1
}

on_both() {
	local cpu pids=()
	for cpu in 0 1; do
		taskset -c $cpu "${operation[@]}" >/dev/null &
		pids[cpu]=$!
	done
	wait "${pids[@]}"
}

# Between "stores SUBJECT LISTENING OPERATIONS MARKER" and "stored" it is seen what both CPUs write, which have done it before.
stored() {
	until [ "$1" = no ] || armed; do sleep 0.1; done
	on_both
	show_functions
	echo "stores $subject $1 $((2 * N)) $marker"
	sleep 3
	on_both
	echo stored
	sleep 3
}

# bpftrace of Debian's 6.1 has no usable rawtracepoint, and now and then forgets the signal that should end it: there by ftrace.
stores() {
	stored no
	modprobe "$module"
	if [[ $(uname -r) == 6.1.* ]]; then
		enable 1
		stored yes
		enable 0
	else
		repeats=2 # in the run before, a driver's callbacks may have become known only
		with_bpftrace yes "$(program rawtracepoint)" stored
	fi
	exit
}

kstall_cases() {
	[ -z "${PROFILE-}" ] || profile
	[ -z "${STORES-}" ] || stores
	measure nothing
	# shellcheck disable=SC2086 # none, or words
	modprobe "$module" ${parameters-} ${KSTALL_DIRECT:+direct=$KSTALL_DIRECT}
	measure loaded
	arming
	with_ftrace
	disarmed
	measure disabled
	with_hist
	with_metrics
	with_bpftrace tracepoint "tracepoint:$system:$event { $hist(args->$field); }"
	with_bpftrace rawtracepoint "rawtracepoint:$event { $hist(arg0); }"
	say lost "$(($(in_status missed) + $(in_status dropped) + $(in_status evicted)))"
}

# today_cases FUNCTION: what a user would write without kstall, for a function
today_cases() {
	local end="/@s[tid]/ { $hist(nsecs - @s[tid]); delete(@s[tid]); }"
	local tell="/@s[tid]/ { $print, nsecs - @s[tid]); delete(@s[tid]); }"
	with_bpftrace kprobes "kprobe:$1 { @s[tid] = nsecs; } kretprobe:$1 $end"
	with_bpftrace fentry "kfunc:$1 { @s[tid] = nsecs; } kretfunc:$1 $end"
	with_bpftrace printed "kprobe:$1 { @s[tid] = nsecs; } kretprobe:$1 $tell"
}

# hooked HOOK: the function it is attached to
hooked() {
	enable 1
	sed -n "s/^hook $1 .* target=\([a-z_]*\) .*/\1/p" "/sys/kernel/debug/$module/status"
	enable 0
}

# --- entry and return of a function, in one context ---

bench_map() {
	local function marker=dma_map_page_attrs
	# since 6.18 what that calls, and does nothing itself
	! grep -q ' T dma_map_phys$' /proc/kallsyms || marker=dma_map_phys
	modprobe mock_dma
	subject map iommu_trace iommu_trace dma_map_done duration_ns $marker \
		./timed "$N" sh -c "echo single 4096 $N >/sys/kernel/debug/mock_dma/do"
	kstall_cases
	function=$(hooked dma_map)
	rmmod iommu_trace
	today_cases "$function"
	modprobe mock_event
	operation=(./timed "$N" sh -c "echo $N >/sys/kernel/debug/mock_event/do")
	measure static_nothing
	enable 1
	measure static
	rmmod mock_event
}

bench_notifier() {
	modprobe mock_mm
	subject notifier mm_migrate_trace mm_migrate mm_migrate_mmu_notifier_wait wait_ns __mmu_notifier_invalidate_range_start \
		./timed "$N" sh -c "../modules/mm_migrate/mm map 1 notify 0 list 0 storm 1 $N unnotify >/dev/null"
	kstall_cases
	rmmod mm_migrate_trace
	today_cases __mmu_notifier_invalidate_range_start
}

# --- two places, in two contexts ---

bench_job() {
	local repeats=9 # its workers are woken when it pleases the scheduler
	local run=drm_sched_job_run end=drm_sched_job_done key=args-\>fence_context,args-\>fence_seqno
	local events=$T/events/gpu_scheduler jobs="jobs $N 0 flush 0" i
	# of a look for a while: many whose beginning and end it holds
	[ -z "${PROFILE-}" ] || for ((i = 0; i < 500; i++)); do jobs[i]="jobs 20 0 flush 0"; done
	modprobe mock_gpu
	if [ -e "$events/drm_run_job" ]; then
		run=drm_run_job end=drm_sched_process_job key=args-\>fence
	fi
	subject job drm_sched_trace drm_sched drm_sched_job_complete run_ns drm_sched_entity_push_job \
		./timed "$N" sh -c "../modules/drm_sched/gpu entity 2 1 run 0 ${jobs[*]} >/dev/null"
	kstall_cases
	rmmod drm_sched_trace
	with_bpftrace tracepoints "tracepoint:gpu_scheduler:$run { @s[$key] = nsecs; }
		tracepoint:gpu_scheduler:$end /@s[$key]/ { $hist(nsecs - @s[$key]); delete(@s[$key]); }"
}

bench_nop() {
	local submit=io_uring_submit_req n
	[ -e "$T/events/io_uring/$submit" ] || submit=io_uring_submit_sqe
	subject nop io_uring_trace io_uring_trace io_uring_req_done total_ns io_submit_sqes ./nops "$N"
	parameters='max_requests=131072'
	kstall_cases
	# shellcheck disable=SC2317 # called by what comes next
	in_flight() {
		local operation
		for n in $IN_FLIGHT; do
			operation=(./nops "$N" $((n - 1)))
			measure "$1_$n"
		done
	}
	with_bpftrace pair "rawtracepoint:io_uring_req_done { $hist(arg0); }" in_flight
	say lost_100000 "$(($(in_status missed) + $(in_status dropped) + $(in_status evicted)))"
	enable 1
	say entry_bytes "$(awk '$1 == "table" && $2 == "requests" { for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
		printf "%.0f\n", v["bytes"] / v["capacity"] }' /sys/kernel/debug/io_uring_trace/status)"
	enable 0
	rmmod io_uring_trace
	# bpftrace 0.17 knows the first name, 0.27 the second, 0.23 both; a map that is full would be cheap, and lose
	export BPFTRACE_MAP_KEYS_MAX=131072 BPFTRACE_MAX_MAP_KEYS=131072
	with_bpftrace tracepoints "tracepoint:io_uring:$submit { @s[args->req] = nsecs; }
		tracepoint:io_uring:io_uring_complete /@s[args->req]/ { $hist(nsecs - @s[args->req]); delete(@s[args->req]); }" in_flight
	with_bpftrace printed "tracepoint:io_uring:$submit { @s[args->req] = nsecs; }
		tracepoint:io_uring:io_uring_complete /@s[args->req]/ { $print, nsecs - @s[args->req]); delete(@s[args->req]); }"
}

# --- the program ---

kstall=../../kstall/kstall

# recorded RATE FILE: what record takes beside its job of $seconds, in us of processor time
recorded() {
	local TIMEFORMAT='%U %S'
	{ time $kstall record -o "$2" -- ./calls "$1" $seconds >"$2.own"; } 2>"$2.spent"
	awk -v own="$(<"$2.own")" '{ printf "%d\n", ($1 + $2) * 1000000 - own }' "$2.spent"
}

# On one CPU. Without calls there is what record does in any case, at its start and its end: some 0.6 s, and more when nothing is in
# the page cache yet. So the first run is not counted, and of the others the least is.
bench_record() {
	local subject=record rate seconds=5 file events
	[ -x $kstall ] || return 0
	file=$(mktemp /dev/shm/recording.XXXXXX)
	recorded 0 "$file" >/dev/null
	for rate in 0 100000; do
		say "us_$rate" "$(for ((i = 0; i < repeats; i++)); do recorded $rate "$file"; done | sort -g | head -n 1)"
		events=$($kstall why -i "$file" --step all --json | sed -n 's/.*"cost": { "events": \([0-9]*\),.*"lost": \([0-9]*\).*/\1 \2/p')
		say "events_$rate" "${events% *}"
		say "lost_$rate" "${events#* }"
	done
	rm "$file"*
}

# cost KIND N OPTIONS: what the answer takes, as processor time, which is instructions; its waits for a disk are not in it
cost() {
	local TIMEFORMAT='%U %S'
	python3 ../program/why/load.py "$1" "$2" >"$work/stream"
	{ time ../../kstall/engine_test "$3" <"$work/stream" >/dev/null; } 2>"$work/spent"
	awk '{ printf "%.0f\n", ($1 + $2) * 1000000000 }' "$work/spent"
}

bench_why() {
	local subject=why work kind many options
	[ -x ../../kstall/engine_test ] || return 0
	work=$(mktemp -d)
	while read -r kind many options; do
		say "${kind}_tenth" "$(cost "$kind" $((many / 10)) "$options")"
		say "${kind}_$many" "$(cost "$kind" "$many" "$options")"
	done < <(grep -v '^#' ../program/why/scale.list)
	rm -r "$work"
}

for s in $SUBJECTS; do
	("bench_$s")
done
