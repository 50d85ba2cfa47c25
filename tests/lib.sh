# shellcheck shell=bash
# What test scripts use. A test is tests/<group>/<dir>/test_<name>.sh, and is called <dir>/<name>:
#
#	#!/usr/bin/env bash
#	# description: what it protects, in one line
#	# timeout: 600                     (seconds, default 300)
#	# requires: fio module:null_blk /sys/kernel/btf/vmlinux
#	# once: it asks the tree           (why one kernel is enough for vm/run)
#	# host: it asks the tree           (why it needs no guest)
#	# tier1: 6.12                      (it is in tier 1, on these kernels, or: all)
#	# arm64: SMMUv3                    (why it is run on arm64, too, as those of all kernels are)
#	# takes: 30                        (seconds, of one that takes more than 7)
#	. ../../lib.sh
#	plan 2
#	load io_uring_trace
#	t_eq "status says unused" "$(status_field io_uring_trace event io_uring_req_done users)" 0
#	t_ok "fio works" fio --name=x …
#
# It runs in its own directory, as root, started by run.sh, which counts the results against the plan, and the kernel's
# log and modules left loaded against the test. No test may depend on how fast the machine is.

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TRACEFS=/sys/kernel/tracing
INSTANCE=$TRACEFS

t_count=0 t_failed=0 t_cleanup=()

# --- results ---

# plan N: so many results follow
plan() { printf 'KTAP version 1\n1..%d\n' "$1"; }

diag() { sed 's/^/# /'; }

t_pass() { t_count=$((t_count + 1)); echo "ok $t_count - $1"; }

# t_fail DESC [why…]
t_fail() {
	t_count=$((t_count + 1)) t_failed=$((t_failed + 1))
	echo "not ok $t_count - $1"
	shift
	[ $# = 0 ] || printf '%s\n' "$@" | diag
}

# t_skip DESC REASON: this one result cannot be had here
t_skip() { t_count=$((t_count + 1)); echo "ok $t_count - $1 # SKIP $2"; }

# skip_all REASON: nothing of this test can run here; before plan
skip_all() { printf 'KTAP version 1\n1..0 # SKIP %s\n' "$1"; exit 4; }

# bail REASON: the test cannot go on, and that is a failure
bail() { echo "Bail out! $*"; exit 1; }

# t_ok DESC command…: it succeeds
t_ok() {
	local desc=$1 out status=0
	shift
	out=$("$@" 2>&1) || status=$?
	if [ $status = 0 ]; then t_pass "$desc"; else t_fail "$desc" "exit $status: $*" "$out"; fi
}

# t_fails DESC command…: it does not
t_fails() {
	local desc=$1 out
	shift
	if out=$("$@" 2>&1); then t_fail "$desc" "succeeded: $*" "$out"; else t_pass "$desc"; fi
}

# t_eq DESC GOT WANT
t_eq() {
	if [ "$2" = "$3" ]; then t_pass "$1"; else t_fail "$1" "got:  $2" "want: $3"; fi
}

# t_count DESC GOT WANT: how many events there were, or which. One that is lost or invented is never chance: no second try.
t_count() {
	t_eq "$@"
	[ "$2" = "$3" ] || echo "# final: events were lost or invented"
}

# t_range DESC GOT LOW HIGH: whole numbers, bounds included
t_range() {
	if [[ $2 =~ ^-?[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
		t_pass "$1"
	else
		t_fail "$1" "got:  $2" "want: $3 … $4"
	fi
}

# --- cleaning up ---

# at_exit command…: runs when the test ends, however it ends; the last registered first
at_exit() { t_cleanup+=("$(printf '%q ' "$@")"); }

t_end() {
	local status=$? i
	trap - EXIT
	for ((i = ${#t_cleanup[@]} - 1; i >= 0; i--)); do
		eval "${t_cleanup[i]}"
	done
	[ $status != 0 ] || [ $t_failed = 0 ] || status=1
	exit $status
}
trap t_end EXIT
trap 'exit 143' TERM INT

# at_length FULL BRIEF: so much of what is repeated, where it is not this kernel that does it at full length (vm/run)
at_length() { if [ -n "${KSTALL_BRIEF-}" ]; then echo "$2"; else echo "$1"; fi; }

# --- waiting ---

# wait_until SECONDS command…: until it succeeds; the seconds are for a fast machine
wait_until() {
	local deadline=$((SECONDS + $1 * ${KSTALL_TIME_SCALE:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -le $deadline ] || return 1
		sleep 0.1
	done
}

# interrupt PID: Ctrl-C for a child; waits for its end and returns its status. bpftrace 0.17 forgets one that does not come
# while it sleeps (poll_perf_events() in its src/bpftrace.cpp), until the next line is to be printed: that may be never.
# A program that sleeps there seconds later gets it again.
interrupt() {
	local n=0
	kill -INT "$1"
	while kill -0 "$1" 2>/dev/null; do
		sleep 0.2
		[ $((n += 1)) -ge 50 ] || continue
		n=0
		! grep -qE '^(ep_poll|do_epoll_wait)' "/proc/$1/wchan" 2>/dev/null || kill -INT "$1" 2>/dev/null
	done
	wait "$1"
}

# --- modules ---

# our_modules: all that this tree has, one a line; for tests in a directory of their own
our_modules() { (cd "$tests/.." && printf '%s\n' *_trace/Kbuild | cut -d/ -f1); }

# system_of MODULE: what its events are filed under
system_of() { sed -n 's/^#define TRACE_SYSTEM //p' "$tests/../$1/$1_events.h"; }

is_loaded() { grep -q "^$1 " /proc/modules; }

# ko_of MODULE: where this tree has it; nothing if it is the kernel's
ko_of() {
	local ko
	for ko in "$tests"/{..,*}/*/"$1.ko"; do
		[ ! -e "$ko" ] || { echo "$ko"; return; }
	done
}

# load MODULE [parameters]: the one built in this tree, else the kernel's; unloaded when the test ends
load() {
	local module=$1 ko dep
	shift
	! is_loaded "$module" || bail "$module is loaded already"
	ko=$(ko_of "$module")
	if [ -n "$ko" ]; then
		for dep in $(modinfo -F depends "$ko" | tr , ' '); do
			modprobe "$dep" || bail "cannot load $dep"
		done
		# The caller's word is the last.
		[ -z "${KSTALL_DIRECT-}" ] || ! modinfo -F parm "$ko" | grep -q ^direct: || set -- "direct=$KSTALL_DIRECT" "$@"
		insmod "$ko" "$@" || bail "cannot load $module"
	else
		modprobe "$module" "$@" || bail "cannot load $module"
	fi
	at_exit unload_if_loaded "$module"
}

# vendors_ko MODULE FILE: the kernel's own but for the mark that says so, and for the signature
vendors_ko() {
	local file dep
	file=$(modinfo -n "$1")
	case $file in
	*.xz) xz -dc "$file" ;;
	*) cat "$file" ;;
	esac | python3 -c '
import sys
ko = sys.stdin.buffer.read().replace(b"\0intree=Y\0", b"\0intren=Y\0")
magic = b"~Module signature appended~\n"
if ko.endswith(magic):
    end = len(ko) - len(magic) - 12
    ko = ko[:end - int.from_bytes(ko[end + 8:end + 12], "big")]
sys.stdout.buffer.write(ko)' >"$2"
	modprobe -qr "$1"
	! is_loaded "$1" || skip_all "somebody uses $1"
	for dep in $(modinfo -F depends "$2" | tr , ' '); do
		modprobe "$dep"
	done
}

unload() { rmmod "$1"; }

unload_if_loaded() { ! is_loaded "$1" || rmmod "$1"; }

# status_field MODULE event|hook|table NAME FIELD: the value in a line such as "hook submit kind=tracepoint hits=12"
status_field() {
	awk -v kind="$2" -v name="$3" -v field="$4=" '
		$1 == kind && $2 == name {
			for (i = 3; i <= NF; i++)
				if (index($i, field) == 1) { print substr($i, length(field) + 1); exit }
		}' "/sys/kernel/debug/$1/status"
}

# --- settings ---

# setting FILE VALUE: until the test ends. What was there may be a list, with [brackets] around the one that is chosen.
setting() {
	local old
	[ -e "$1" ] || return 0
	old=$(<"$1") old=${old#*[} old=${old%]*}
	at_exit eval "echo $old >$1"
	echo "$2" >"$1"
}

# --- disks ---

# null_blk NAME [key=value…]: a disk /dev/NAME without a medium, as fast or slow as the settings say, by the guest's clock
null_blk() {
	local dir=/sys/kernel/config/nullb/$1 setting
	shift
	modprobe null_blk nr_devices=0 || bail "no null_blk"
	[ -d /sys/kernel/config/nullb ] || mount -t configfs configfs /sys/kernel/config
	mkdir "$dir" || bail "cannot make $dir"
	at_exit rmdir "$dir"
	for setting in size=64 "$@"; do
		echo "${setting#*=}" >"$dir/${setting%%=*}" || bail "null_blk: $setting"
	done
	echo 1 >"$dir/power"
	at_exit eval "echo 0 >$dir/power"
	wait_until 10 test -b "/dev/${dir##*/}" || bail "no /dev/${dir##*/}"
}

# slow_disk: /dev/ks_slow, which keeps what is written to it, 64 KiB in 10 ms, one request at a time
slow_disk() {
	null_blk ks_slow memory_backed=1 irqmode=2 completion_nsec=10000000 submit_queues=1 hw_queue_depth=1
	echo 64 >/sys/block/ks_slow/queue/max_sectors_kb
}

# --- ftrace ---

# mk_instance NAME: a trace instance for this test alone; the helpers below use it
mk_instance() {
	INSTANCE=$TRACEFS/instances/$1
	mkdir "$INSTANCE" || bail "cannot make trace instance $1"
	at_exit rmdir "$INSTANCE"
}

# ev_enable SYSTEM/EVENT or SYSTEM
ev_enable() { echo 1 >"$INSTANCE/events/$1/enable"; }
ev_disable() { echo 0 >"$INSTANCE/events/$1/enable"; }

# ev_lines EVENT: its lines in the trace
ev_lines() { grep " $1: " "$INSTANCE/trace"; }
ev_count() { grep -c " $1: " "$INSTANCE/trace"; }

# ev_values EVENT KEY: the value of key= in each of its lines
ev_values() { ev_lines "$1" | grep -oP "\b$2=\K\S+"; }

ev_clear() { : >"$INSTANCE/trace"; }
