#!/usr/bin/env bash
# description: `kstall why` live, without its modules, with events lost, and of tasks that come, go, change, or never run
# timeout: 400
# requires: python3

. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
load mock_gpu
late_disk || bail "no slow disk"

: >"$work/checks"
# checked WHAT ARGUMENT…: what check.py says, under that name
checked() {
	local what=$1
	shift
	./check.py "$@" >"$work/check" 2>&1 || [ -s "$work/check" ] || echo "# check.py: failed" >"$work/check"
	sed -E "s/^(# )?/\1$what: /" "$work/check" >>"$work/checks"
}

# one WHAT EXPRESSION FILE: a Python expression on the answer a
one() {
	local said
	said=$(python3 -c 'import json, sys; a = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$2" "$3" 2>&1)
	echo "$1: $said" >>"$work/checks"
	[ "$said" = True ] || echo "# $1: $2 of $(head -c 600 "$3")" >>"$work/checks"
}

# recorded NAME OPTION… -- COMMAND…
recorded() {
	local name=$1
	shift
	"$KSTALL" record -o "$work/$name.dat" "$@" >"$work/$name.out" 2>"$work/$name.err" || bail "record: $(tail -3 "$work/$name.err")"
	answer "$name" --step marker
}
answer() { "$KSTALL" why -i "$work/$1.dat" "${@:2}" --json >"$work/$1.json" 2>"$work/$1.why" || bail "why: $(tail -3 "$work/$1.why")"; }

# --- no module is loaded: what only that would have seen is in the remainder ---

recorded blind --step marker -- ./trainer -o "$work/blind" -d /dev/ks_late 12 gpu_running,fsync,pipe,hog
checked "no module" "$work/blind" "$work/blind.json" "gpu_running=unexplained: ioctl" "fence=unexplained: ioctl"
one "no module: and that is said" '{"gpu", "io_uring", "memory", "iommu", "rdma"} <= {u["layer"] for u in a["unseen"]}' "$work/blind.json"

# --- live, with and without a marker that others see ---

load drm_sched_trace
for marker in /sys/kernel/tracing/trace_marker /dev/null; do
	"$KSTALL" why --step marker --json -- ./trainer -o "$work/live" -m $marker 12 gpu_running,pipe,hog >"$work/live.json" 2>"$work/live.err" ||
		bail "live: $(tail -3 "$work/live.err")"
	checked "live, ${marker##*/}" "$work/live" "$work/live.json"
	one "live, ${marker##*/}: source" 'a["source"]["kind"] == "live" and a["cost"]["lost"] == 0' "$work/live.json"
done

# --- threads that come and go, programs, a pid that is used again, a processor that goes ---

# One process, or what is left of it goes on.
going() {
	while :; do
		echo 0 >"$1"
		sleep 0.2
		echo 1 >"$1"
		sleep 0.2
	done
}
last=/sys/devices/system/cpu/cpu$(($(nproc) - 1))/online
going "$last" 2>"$work/going" &
going=$!
recorded churn --step marker -- taskset -c 0 ./trainer -o "$work/churn" 40 threads,exec,again,pipe
kill $going
wait $going 2>/dev/null
online() { [ "$(<"$last")" = 1 ] || echo 1 >"$last"; }
wait_until 60 online
checked "churn" "$work/churn" "$work/churn.json"
answer churn --step all

# --- an uninterruptible sleep in a migration (mm_migrate_trace is not loaded), while another's requests end on the same processor ---

if [ -d /sys/devices/system/node/node1 ]; then
	load mock_mm
	load io_uring_trace
	setting /proc/sys/kernel/numa_balancing 0
	while :; do taskset -c 0 dd if=/dev/ks_late of=/dev/null bs=4k count=5 iflag=direct status=none; done &
	requests=$!
	recorded requests --step marker -- taskset -c 0 ./trainer -o "$work/requests" 30 notifier
	kill $requests
	wait $requests 2>/dev/null
	wait_until 60 eval '! pgrep -x dd'
	checked "another's requests" "$work/requests" "$work/requests.json" "notifier=migration"
fi

# --- a task that never runs ---

sleep 1000 &
asleep=$!
at_exit eval "kill $asleep 2>/dev/null"
"$KSTALL" record -o "$work/asleep.dat" -p $asleep --time 1s >"$work/asleep.out" 2>&1 || bail "record: $(tail -3 "$work/asleep.out")"
answer asleep --step all -p $asleep
one "asleep: all the time" 'len(a["steps"]) == 1 and [p["state"] for p in a["steps"][0]["parts"]] == ["blocked"] and a["steps"][0]["parts"][0]["ns"] == a["steps"][0]["duration_ns"] > 0' "$work/asleep.json"

# --- the recorder does not read for a while, and its buffer is small ---

"$KSTALL" record -o "$work/lossy.dat" -b 16 --step marker -- ./trainer -o "$work/lossy" 400 pipe=1000,hog=1000 >"$work/lossy.out" 2>&1 &
recorder=$!
begun() { [ "$(grep -c '^step=' "$work/lossy")" -gt 20 ]; }
ended() { [ "$(grep -c '^step=' "$work/lossy")" -ge 350 ]; }
wait_until 60 begun
kill -STOP $recorder
wait_until 100 ended
kill -CONT $recorder
wait $recorder || bail "record: $(tail -3 "$work/lossy.out")"
answer lossy --step marker
# Stalls of a millisecond: what is first, and how long it is, is chance.
checked "lossy" --lossy "$work/lossy" "$work/lossy.json"
sed -i -E '/^(# )?(# )?lossy: (# )?(size of|first is|nothing else)/d' "$work/checks"
one "lossy: it is said" 'a["cost"]["lost"] > 0' "$work/lossy.json"

plan "$(grep -vc '^#' "$work/checks")"
results "$work/checks"
