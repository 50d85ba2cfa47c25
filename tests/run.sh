#!/usr/bin/env bash
# run.sh [DIR/NAME…]: runs tests (all, if none is named) on the running kernel and prints KTAP. `run.sh -l [PREFIX]` lists them.
#
# Groups of directories: modules/ what each module reports; program/ what a person runs: kstall, the tools, the doctor; safety/ that
# nothing dies, and that it would be noticed; packages/ building and installing; mocks/ devices and events that are made up; vm/ the
# guests. A test is called DIR/NAME, whatever group DIR is in.
#
# Exit status as kselftest has it: 0 passed, 1 failed, 4 everything skipped.
#
# To each test's own results it adds what no test can be trusted to say: that there were as many as planned, that the script
# ended well and in time, that the kernel's log stayed clean and that no module of ours stayed loaded. On a kernel that looks for
# bugs (vm/debug-kernel) the last test of a directory also answers for memory that leaked, and for detectors that fell asleep.
#
# KSTALL_BRIEF=1: another kernel does it all at full length (at_length in lib.sh).
# KSTALL_HOST=1: it is no guest: the kernel's log, its memory and its modules are not looked at (vm/host).
# KSTALL_DIRECT=0: modules are loaded with direct=0, by insmod (load in lib.sh) and by modprobe.
set -u
cd "$(dirname "$0")" || exit
unset SUDO_UID SUDO_GID SUDO_USER	# what kstall starts stays root
export KSTALL_TIME_SCALE=${KSTALL_TIME_SCALE:-1} KSTALL_BRIEF=${KSTALL_BRIEF-} KSTALL_DIRECT=${KSTALL_DIRECT-} KSTALL_HOST=${KSTALL_HOST-}

# What must not appear in the kernel's log while a test runs.
dirt='BUG|WARNING|Oops|Call Trace|suspicious RCU|possible circular locking|possible recursive locking|inconsistent lock state'
dirt+='|blocked for more than|soft lockup|hard LOCKUP|rcu.*(stall|self-detected)|general protection|KASAN|UBSAN|ODEBUG'
dirt+='|kmemleak: [0-9]+ new'
kmemleak=/sys/kernel/debug/kmemleak

list() {
	local file name
	for file in */*/test_*.sh; do
		[ -e "$file" ] || continue
		name=${file%.sh} name=${name#*/} name=${name/\/test_//}
		case $name in "${1-}"*) echo "$name" ;; esac
	done
}

# Little is forked here: in an emulated guest a process costs a tenth of a second.

# script_of DIR/NAME: sets script to where it is, in whatever group
script_of() {
	local found=(*/"${1%%/*}/test_${1#*/}.sh")
	script=${found[0]}
}

# read_header SCRIPT: sets timeout, requires, provokes and known from the comments it begins with
read_header() {
	local line
	timeout=300 requires='' provokes='' known=''
	while read -r line && [[ $line == "#"* ]]; do
		case $line in
		"# timeout: "*) timeout=${line#*: } ;;
		"# requires: "*) requires=${line#*: } ;;
		# a report that the test is there to cause, as a regular expression
		"# provokes: "*) provokes=${line#*: } ;;
		# a report, of lockdep, the allocator or kmemleak, that is no fault of ours: an extended regular expression for
		# something in it
		"# known: "*) known=${line#*: } ;;
		esac
	done <"$1"
}

# missing WHAT…: prints the first that this machine does not have
missing() {
	local what
	for what; do
		case $what in
		/*) [ -e "$what" ] ;;
		module:*) modprobe -nq "${what#module:}" ;;
		*) command -v "$what" >/dev/null ;;
		esac || { echo "$what"; return; }
	done
}

# Which of the modules built in this tree are loaded, as " a b ". A mock may have the name of one of the kernel's, which is not
# out of tree (O).
loaded_modules() {
	local module all
	all=$'\n'$(grep '([A-Z]*O' /proc/modules)
	for module in "${ours[@]}"; do
		[[ $all != *$'\n'"$module "* ]] || printf ' %s ' "$module"
	done
}

# --- one test ---

# Runs the script in a session of its own, of which nothing survives, be it in a process group that timeout(1) made: it would
# keep the output open. The last line tells relay how it ended.
start() {
	local script=$1 limit=$2 pid status=0
	cd "${script%/*}" || exit
	setsid timeout -k 30 "$limit" bash "${script##*/}" 2> >(sed -u 's/^/# /') </dev/null &
	pid=$!
	wait $pid || status=$?
	pkill -KILL -s $pid
	echo "@exit $status"
}

# Passes a test's output on, indented as KTAP has it and line by line, so that a guest that dies has shown everything.
relay() {
	local line
	while IFS= read -r line; do
		case $line in
		"@exit "*) status=${line#@exit } && continue ;;
		"1..0 # SKIP"*) planned=0 reason=${line#1..0 # SKIP} ;;
		"1.."*) planned=${line#1..} planned=${planned%% *} line=1..$((planned + 1)) ;;
		"ok "*"# SKIP"*) results=$((results + 1)) skips=$((skips + 1)) ;;
		"ok "*) results=$((results + 1)) ;;
		"not ok "*) results=$((results + 1)) failures=$((failures + 1)) ;;
		"KTAP version "* | "#"*) ;;
		*) line="# $line" ;;
		esac
		echo "    $line"
	done
}

# final WHY: this is no chance, and the test is not run once more (vm/results.sh)
final() { echo "    # final: $1"; }

extra() {
	results=$((results + 1))
	[ "$1" = ok ] || failures=$((failures + 1))
	echo "    $1 $results - $2"
}

check_end() {
	case $status in
	0 | 4) ;;
	124 | 137) extra "not ok" "ends within $1 s" && final "it hung" ;;
	1) [ "$failures" -gt 0 ] || extra "not ok" "ends well (exit status 1)" ;;
	*) extra "not ok" "ends well (exit status $status)" ;;
	esac
	if [ -z "$planned" ]; then
		extra "not ok" "says how many results it will have"
	elif [ "$planned" != "$2" ]; then
		extra "not ok" "has as many results as planned ($2 of $planned)"
	fi
}

# log_since MARK: the kernel's log since the last line that has it; not in the shell, which is slow with some MB
log_since() {
	dmesg | awk -v mark="$1" 'index($0, mark) { n = 0; on = 1 } on { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }'
}

# without BEGIN END WHAT: the log on standard input but for the reports, each from BEGIN to END, that have WHAT in them; extended
# regular expressions
without() {
	awk -v begin="$1" -v end="$2" -v what="$3" 'what == "" { print; next }
		$0 ~ begin { open = 1 }
		!open { print; next }
		{ report = report $0 "\n" }
		$0 ~ end { if (report !~ what) printf "%s", report; open = 0; report = "" }
		END { printf "%s", report }'
}

# without_known: leaves out what is known, each report up to its stack's end.
# KCSAN watches our modules only, but what the kernel's headers make of each TRACE_EVENT() is in them: there
# trace_trigger_soft_disabled() (linux/trace_events.h) reads 8 bytes of flags that the kernel sets meanwhile.
without_known() {
	if [ -n "$lost" ]; then cat; else sed -E '/kmemleak: [0-9]+ new/d'; fi |
		without 'WARNING: possible (circular|recursive) locking|allocation fail|vmalloc error|failed to allocate ring buffer' '</TASK>' "$known" |
		without 'BUG: KCSAN:' '======$' '(trace_event_raw_event|perf_trace)_.*at unknown origin, with read to [^ ]* of 8 bytes'
}

# The log since the mark that run_one left in it.
check_log() {
	local log bad
	log=$(log_since "kstall-test: $1" | without_known)
	if [ -z "$log" ]; then
		extra "not ok" "kernel log is clean (it is too small to tell)"
		final "the kernel's log"
		return
	fi
	bad=$(grep -nEm1 "$dirt" <<<"$log")
	if [ -n "$provokes" ]; then
		if [[ ${bad#*:} =~ $provokes ]]; then
			extra ok "the kernel reports: $provokes"
			return
		fi
		extra "not ok" "the kernel reports: $provokes"
	elif [ -z "$bad" ]; then
		[ "$planned" = 0 ] || extra ok "kernel log is clean"
		return
	else
		extra "not ok" "kernel log is clean"
		final "the kernel's log"
	fi
	[ -n "$bad" ] || return 0
	# from the first such line on: the stack belongs to it
	tail -n +"${bad%%:*}" <<<"$log" | head -40 | sed 's/^/    # /'
}

# How much there is that nothing points to any more gets into the log. It has to be some seconds old, and one look may be deceived.
scan_memory() {
	sleep 6
	echo scan >$kmemleak
	echo scan >$kmemleak
}

# What it is, but for what is known.
leaks() {
	awk -v known="$known" 'function tell() { if (object != "" && (known == "" || object !~ known)) printf "%s", object; object = "" }
		/^unreferenced object/ { tell() } { object = object $0 "\n" } END { tell() }' $kmemleak
}

check_memory() {
	[ -w $kmemleak ] || return 0
	scan_memory
	lost=$(leaks)
	# nor does the last look tell more than the first
	[ -z "$lost" ] || { echo scan >$kmemleak; lost=$(leaks); }
	[ -z "$lost" ] || printf '%s\n' "$lost" | head -200 | sed 's/^/    # /'
	echo clear >$kmemleak
	# after its first report lockdep looks no more
	[ -n "$reported" ] || ! grep -qsE '^ debug_locks: +0' /proc/lockdep_stats || extra "not ok" "lockdep is awake"
}

# check_modules BEFORE: what was loaded by the test has to be unloaded by it
check_modules() {
	local module left=
	for module in $(loaded_modules); do
		[[ $1 == *" $module "* ]] || left+=" $module"
	done
	[ -n "$left" ] || return 0
	extra "not ok" "leaves no module loaded (${left# })"
	final "a module"
	# shellcheck disable=SC2086 # a list; twice, for modules that use each other
	rmmod $left 2>/dev/null || rmmod $left 2>&1 | sed 's/^/    # /'
}

# check_kernel [the last of its directory]: what the test has left behind
check_kernel() {
	check_modules "$modules"
	[ -z "$1$provokes" ] || check_memory
	check_log "$name"
}

# run_one DIR/NAME [the last of its directory]
run_one() {
	local name=$1 script modules lacks timeout requires provokes known
	local planned='' results=0 failures=0 skips=0 status='' reason='' lost=''
	script_of "$name"
	read_header "$script"
	reported+=$provokes$known
	timeout=$((timeout * KSTALL_TIME_SCALE))
	echo "# start: $name"
	# shellcheck disable=SC2086 # a list
	lacks=$([ -z "$requires" ] || missing $requires)
	if [ -n "$lacks" ]; then
		planned=0 reason=" needs $lacks"
		echo "    1..0 # SKIP$reason"
	else
		[ -n "$KSTALL_HOST" ] || modules=$(loaded_modules)
		[ -n "$KSTALL_HOST" ] || echo "kstall-test: $name" >/dev/kmsg
		relay < <(start "$script" "$timeout")
		check_end "$timeout" "$results"
		[ -n "$KSTALL_HOST" ] || check_kernel "$2"
	fi
	conclude "$name"
}

conclude() {
	number=$((number + 1))
	if [ "$failures" -gt 0 ]; then
		failed=$((failed + 1))
		echo "not ok $number - $1"
	elif [ "$planned" = 0 ]; then
		skipped=$((skipped + 1))
		echo "ok $number - $1 # SKIP$reason"
	else
		passed=$((passed + 1))
		echo "ok $number - $1"
	fi
}

# --- all of them ---

if [ "${1-}" = -l ]; then
	list "${2-}"
	exit
fi
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 4; }
[ $# -gt 0 ] || mapfile -t all < <(list)
[ $# -gt 0 ] || set -- "${all[@]}"
for test; do
	script_of "$test"
	[ -e "$script" ] || { echo "run.sh: no test is called $test (run.sh -l lists them)" >&2; exit 1; }
done

mapfile -t ours < <(find .. -name '*.ko' -printf '%f\n' | sed 's/\.ko$//; s/-/_/g')
[ -z "$KSTALL_DIRECT" ] || [ -n "$KSTALL_HOST" ] || for module in ../*_trace; do
	echo "options ${module#../} direct=$KSTALL_DIRECT"
done >/etc/modprobe.d/kstall-direct.conf
number=0 passed=0 failed=0 skipped=0 reported=''
printf 'KTAP version 1\n1..%d\n' $#
# for what is lost already nobody here has to answer
[ -n "$KSTALL_HOST" ] || [ ! -w $kmemleak ] || { scan_memory; echo clear >$kmemleak; }
while [ $# -gt 0 ]; do
	test=$1 next=${2-} last=
	[ "${test%%/*}" = "${next%%/*}" ] || last=1
	run_one "$test" "$last"
	shift
done
echo "# Totals: pass:$passed fail:$failed skip:$skipped"
[ $failed = 0 ] || exit 1
[ $passed -gt 0 ] || exit 4
