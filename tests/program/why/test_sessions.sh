#!/usr/bin/env bash
# description: sessions side by side harm neither each other nor the kernel; whatever ends them, nothing is left in tracefs
# timeout: 600
# requires: python3 unshare
# tier1: 6.12
# takes: 35
# known: failed to allocate ring buffer on CPU

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e $TRACEFS/kprobe_events ] || skip_all "no kprobe events"
cd "$work" || exit
ln -s "$tests/program/why/caller" .

# left: what sessions have in tracefs, the groups of events without the IDs
left() {
	(cd $TRACEFS/instances && printf '%s\n' kstall-????????-*) | grep -v '[*]' | sed -E 's/-[0-9a-f]{8}-/-ID-/'
	cat $TRACEFS/{kprobe,uprobe}_events | sed -nE 's/^[pr][0-9]*:(kstall)_[0-9a-f]{8}\/.*/events/p' | sort -u
}
nothing_left() { [ -z "$(left)" ]; }

# complaint FILE: its first line that begins with "kstall: "
complaint() { grep -hm1 '^kstall: ' "$@"; }

plan "$(at_length 41 36)"

# --- two at the same function's file: the second would have been a sibling of the first's probe, which the kernel frees ---

./caller &
caller=$!
at_exit kill $caller
"$KSTALL" why -p $caller --step "uprobe:$work/caller:step_a" --time 8s --json >a.json 2>a.err &
a=$!
wait_until 60 session_begun || bail "the first session does not begin"
"$KSTALL" why -p $caller --step "uprobe:$work/caller:step_b" --time 2s --json >b.json 2>b.err
t_eq "two uprobes: the second's status" "$? $(cat b.err)" "0 "
t_eq "... and the first goes on" "$(left | sort -u | xargs)" "events kstall-ID-all kstall-ID-job"
wait $a
t_eq "... and ends well" "$? $(cat a.err)" "0 "
# steps FILE: how long the shortest is in ms, the longest but ten
steps() { python3 -c 'import json, sys
ns = sorted(s["duration_ns"] for s in json.load(open(sys.argv[1]))["steps"])
print(ns[0] // 10**6, ns[len(ns) // 2] // 10**6) if ns else print("none")' "$1"; }
read -r least half < <(steps a.json)
t_range "the first has its own function's steps" "$half" 10 49
read -r least half < <(steps b.json)
t_range "the second has its own, too" "$least" 50 1000
t_ok "nothing is left" nothing_left

# --- killed ---

"$KSTALL" record -o killed.dat -- sleep 1000 2>killed.err &
kstall=$!
wait_until 60 session_begun || bail "record does not begin"
kill -9 $kstall
wait $kstall 2>/dev/null
t_ok "after kill -9 the guardian removes everything" wait_until 60 nothing_left
pkill -x sleep

"$KSTALL" record -o killed.dat -- sleep 1000 2>killed.err &
kstall=$!
wait_until 60 session_begun || bail "record does not begin"
pkill -9 -x kstall-guard
kill -9 $kstall
wait $kstall 2>/dev/null
pkill -x sleep
t_eq "the guardian killed, too: all of it is left" "$(left | sort -u | xargs)" "events kstall-ID-all kstall-ID-job"
"$KSTALL" record -o other.dat -p $caller 2>other.err &
other=$!
# shellcheck disable=SC2016 # for eval
wait_until 60 eval '[ "$(left | grep -c -- "-all\$")" = 1 ] && session_begun' || bail "the next session does not begin"
t_eq "the next one removes it, and says so" "$(complaint other.err | sed -E 's/[0-9a-f]{8}/ID/')" "kstall: session ID had no owner any more: removed"
t_eq "... once" "$(grep -c . other.err)" 1
"$KSTALL" record -o third.dat --time 1s -p $caller 2>third.err
t_eq "one that lives is left alone" "$? $(cat third.err)" "0 "
t_eq "... and has what it had" "$(left | sort -u | xargs)" "events kstall-ID-all kstall-ID-job"
kill -INT $other
wait $other
t_eq "... until it ends" "$? $(left)" "0 "

# --- another tracer has the session's events enabled ---

another_tracer() {
	local events
	"$KSTALL" record -o other.dat -p $caller 2>other.err &
	other=$!
	wait_until 60 session_begun || bail "record does not begin"
	events=$(echo $TRACEFS/events/kstall_*/step)
	echo 1 >"$events/enable"
	kill -INT $other
	wait $other
	t_eq "another tracer has an event enabled: it is left, and that is said" "$? $(left) $(complaint other.err | sed -E 's/[0-9a-f]{8}/ID/')" \
		"0 events kstall: another tracer has events of session ID enabled: the next kstall removes them when nobody has"
	"$KSTALL" record -o third.dat --time 1s -p $caller 2>third.err
	t_eq "... the next one leaves it alone" "$(cat third.err) $(left)" " events"
	echo 0 >"$events/enable"
	"$KSTALL" record -o third.dat --time 1s -p $caller 2>third.err
	t_eq "... until nobody has" "$(complaint third.err | sed -E 's/[0-9a-f]{8}/ID/') $(left)" \
		"kstall: session ID had no owner any more: removed "
}
[ -n "$KSTALL_BRIEF" ] || another_tracer

# --- without standard files: the guardian's must not take their numbers ---

"$KSTALL" record -o closed.dat -- true <&- >&- 2>closed.err
t_eq "standard input and output are closed" "$? $(cat closed.err) $(left)" "0  "
t_ok "... and there is a recording" test -s closed.dat

# --- a child that has the marker open ---

# shellcheck disable=SC2016 # for the child
"$KSTALL" record -o held.dat --time 2s -- sh -c 'exec 3>"$KSTALL_MARKER"; exec sleep 1001' 2>held.err &
kstall=$!
wait_until 60 grep -q 'waits for its end' held.err || bail "record does not end"
holder=$(pgrep -fx 'sleep 1001')
t_eq "a child holds the buffer: that is said" "$(complaint held.err | sed -E 's/[0-9a-f]{8}/ID/')" \
	"kstall: process $holder still has the trace_marker of session ID open: the buffer is removed when it closes it"
t_eq "... nothing but that buffer is left" "$(left)" "kstall-ID-job"
t_eq "... and nothing in it is enabled" "$(cat $TRACEFS/instances/kstall-*-job/events/enable)" 0
"$KSTALL" record -o third.dat --time 1s -p $caller 2>third.err
t_eq "... which the next one leaves alone" "$(cat third.err) $(left)" " kstall-ID-job"
kill "$holder"
t_ok "... and it goes with the child" wait_until 60 nothing_left
wait $kstall
t_eq "... as kstall does" $? 143

# --- what cannot work is one sentence and status 1 ---

timeout 100 unshare -pf --mount-proc "$KSTALL" why --every 500ms -- true >ns.out 2>ns.err
t_eq "in a PID namespace of its own" "$? $(grep -c . ns.out) $(complaint ns.err | sed -E 's/process [0-9]+/process N/')" \
	"1 0 kstall: the kernel's tracing calls process N what is 1 here: run it in the host's PID namespace (--pid=host)"
if echo 0 >/proc/sys/kernel/ftrace_enabled; then
	"$KSTALL" why --every 500ms -- true >off.out 2>off.err
	t_eq "kernel.ftrace_enabled=0" "$? $(grep -c . off.out) $(complaint off.err)" \
		"1 0 kstall: the kernel takes a kprobe on markers, and it does not fire: kernel.ftrace_enabled is 0"
	echo 1 >/proc/sys/kernel/ftrace_enabled
else
	t_skip "kernel.ftrace_enabled=0" "this kernel refuses it (7.3)"
fi
echo 0 >/sys/kernel/debug/kprobes/enabled
"$KSTALL" why --every 500ms -- true >off.out 2>off.err
t_eq "kprobes/enabled is 0" "$? $(grep -c . off.out) $(complaint off.err)" \
	"1 0 kstall: the kernel takes a kprobe on markers, and it does not fire: /sys/kernel/debug/kprobes/enabled is 0"
echo 1 >/sys/kernel/debug/kprobes/enabled
mkdir dir
"$KSTALL" record -o dir/ -- touch ran 2>dir.err
t_eq "the output is a directory: before the job runs" "$? $(complaint dir.err) $(ls ran 2>&1)" \
	"1 kstall: dir/: Is a directory ls: cannot access 'ran': No such file or directory"
t_ok "nothing is left" nothing_left

# limited N: how it ends with so many open files; right is a recording of 5 steps
limited() {
	local status=0
	rm -f few.dat
	(ulimit -n "$1"; exec "$KSTALL" record -o few.dat --step marker -- "$tests/program/why/trainer" -o few 5 none) >few.out 2>few.err || status=$?
	if [ $status = 0 ] && [ "$("$KSTALL" why -i few.dat --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["steps"]))')" = 5 ]; then
		echo right
	elif [ $status = 1 ] && [ "$(wc -l <few.err)" = 1 ] && [ ! -e few.dat ]; then
		echo refused
	else
		echo "limit $1: status $status: $(head -c 300 few.err)"
	fi
}
# eight a CPU, and some
enough=$((28 + 8 * $(nproc --all)))
# shellcheck disable=SC2046 # numbers
for n in $(at_length "$(seq -s ' ' 10 $enough)" "20 $enough"); do limited "$n"; done | sort | uniq -c | sed 's,^ *,,' >limits
t_eq "few open files: a recording or a sentence" "$(grep -v 'right$\|refused$' limits)" ""
t_range "... a recording where there are enough" "$(sed -n 's/ right$//p' limits)" 1 99
t_range "... a sentence where there are not" "$(sed -n 's/ refused$//p' limits)" 1 99
rm -f few.*
(ulimit -Sn 30 && "$KSTALL" record -o soft.dat -- true) 2>soft.err
t_eq "... a low soft limit is raised" "$? $(cat soft.err)" "0 "

# --- a container's file, not the host's of that name ---

mkdir -p root
cp caller root/job
cp /bin/true /job
at_exit rm -f /job
chroot root /job &
inside=$!
at_exit kill $inside
# of_job OPTION…: its status, what it says, and whether all steps are those of step_b, of 50 ms
of_job() {
	local status=0
	"$KSTALL" why "$@" --step uprobe:/job:step_b --time 3s --json >inside.json 2>inside.err || status=$?
	echo "$status $(sed -E 's/process [0-9]+/process N/g' inside.err) $([ $status != 0 ] || echo $(($(steps inside.json | cut -d' ' -f1) >= 50)))"
}
t_eq "a function of a container's file" "$(of_job -p $inside)" "0  1"
cp caller /job # so that the wrong one has that function
[ -n "$KSTALL_BRIEF" ] || t_eq "... of a process called by its name" "$(of_job --comm job)" "0  1"
mkdir -p other
cp caller other/job
chroot other /job &
elsewhere=$!
at_exit kill $elsewhere
is_called_job() { [ "$(cat /proc/$elsewhere/comm)" = job ]; }
wait_until 60 is_called_job || bail "there is no other job"
t_eq "... two containers' files" "$(of_job --comm job) $(<inside.json)" \
	"1 kstall: /job is one file in the root of process N, and another in that of process N: trace them one by one (-p)  "
rm root/job
[ -n "$KSTALL_BRIEF" ] || t_eq "... of which one is gone" "$(of_job --comm job)" "0  1"
t_eq "... and nothing else of that name is taken for it" "$(of_job -p $inside) $(<inside.json)" \
	"1 kstall: /job: in the root of no process of the job: No such file or directory  "

# --- a storm; a process that is killed gets no memory any more, of which the kernel warns where it makes a ring buffer ---

killed=0
for i in $(seq "$(at_length 40 5)"); do
	case $((RANDOM % 3)) in
	0) "$KSTALL" record -o "storm.$i" --time 2s -p $caller ;;
	1) "$KSTALL" why --every 200ms -- sleep 1 ;;
	2) "$KSTALL" why -p $caller --step "uprobe:$work/caller:step_a" --time 1s ;;
	esac >/dev/null 2>"storm.$i.err" &
	sleep 0.$((RANDOM % 10))
	[ $((RANDOM % 3)) != 0 ] || { pkill -9 -n -x kstall && killed=$((killed + 1)); }
done
while pgrep -x kstall >/dev/null; do sleep 0.2; done
t_ok "a storm of sessions, some of them killed, leaves nothing" wait_until 60 nothing_left
find . -name 'storm.*.??????' | while read -r file; do [ ! -e "${file%.*}" ] || echo "$file"; done >both
t_eq "... no unfinished recording beside a finished one" "$(<both)" ""
t_range "... and of others as many as were killed, at most" "$(find . -name 'storm.*.??????' | wc -l)" 0 $killed
