# shellcheck shell=bash source-path=SCRIPTDIR
# For the tests of the helpers: kstall_target's functions, and kstall_test's events on them.
. ../../lib.sh

dbg=/sys/kernel/debug
params=/sys/module/kstall_test/parameters

# call WHAT [COUNT [ARG [THREADS]]]: see kstall_target.c
call() { echo "$*" >$dbg/kstall_target/call; }

# enable EVENT…, disable EVENT…: in $INSTANCE
enable() { local e; for e; do echo 1 >"$INSTANCE/events/kstall_test/$e/enable" || return; done; }
disable() { local e; for e; do echo 0 >"$INSTANCE/events/kstall_test/$e/enable" || return; done; }

# ev_n EVENT [CONDITION]: how many of its lines in the trace are so; f["id"] is a field
ev_n() { ev_awk "$1" "${2:-1}" 'n++' END 'print n + 0'; }

# ev_sum EVENT FIELD [CONDITION]
ev_sum() { ev_awk "$1" "${3:-1}" "n += f[\"$2\"]" END 'print n + 0'; }

# ev_awk EVENT CONDITION ACTION [CONDITION ACTION]…
ev_awk() {
	# Numbers become numbers: a string "0" would be true.
	local program='{ delete f; for (i = 1; i <= NF; i++) if (k = index($i, "=")) {
		v = substr($i, k + 1); f[substr($i, 1, k - 1)] = v ~ /^-?[0-9]+$/ ? v + 0 : v } }'
	program="!/ $1: / { next } $program"
	shift
	while [ $# -gt 0 ]; do
		[ "$1" = END ] && program+=" END { $2 }" || program+=" $1 { $2 }"
		shift 2
	done
	awk "$program" "$INSTANCE/trace"
}

# field KIND NAME FIELD: of the status file
field() { status_field kstall_test "$@"; }
# status_mono: CLOCK_MONOTONIC
status_mono() { sed -n 's/.* now_mono_ns=//p' $dbg/kstall_test/status; }
event_state() { field event "$1" state; }
# An event is armed or idle as soon as somebody wants it to be; a hook when it is.
# Nothing is forked: test_direct_load.sh asks thousands of times.
hook_is() {
	local status
	mapfile -t status <$dbg/kstall_test/status
	[[ "${status[*]}" =~ "hook $1 kind="[^\ ]*" target="[^\ ]*" state=$2 " ]]
}

# no_probes: nothing is placed on the target. Enabling waits for the hooks, disabling does not.
no_probes() { ! grep -q 'target_' $dbg/kprobes/list $TRACEFS/enabled_functions; }
nothing_armed() { ! grep -qE '^(event|hook).*state=armed|^table.*state=allocated' $dbg/kstall_test/status && no_probes; }

# log_count PATTERN: lines in the kernel's log since log_mark
log_mark() { mark="kstall-test: mark $RANDOM$RANDOM"; echo "$mark" >/dev/kmsg; }
log_count() { dmesg | sed "1,/$mark/d" | grep -c "$1"; }

# Grace periods are most of the time that arming takes in a guest.
hurry() {
	local before
	before=$(cat /sys/kernel/rcu_expedited)
	echo 1 >/sys/kernel/rcu_expedited
	at_exit eval "echo $before >/sys/kernel/rcu_expedited"
}
