#!/usr/bin/env bash
# description: a task whose name reads like fields, or like what the kernel prints around an event, neither hides an event nor forges one
# tier1: 6.12
# requires: python3
. ./lib.sh
plan 10

configure 'ring_kib 64'
load io_uring_trace
at_exit remove_rings
recorder start

names=('a [001] b' 'a=b pid=7' '-1 [000] d..1. ' 'x cgroup_id=1' '2: io_uring: a=' '-1 [0] d 1.1: ' '-1[0]d 1.1:a: ' $'new\nline')
want=
for name in "${names[@]}"; do
	cp "$URING" "$work/$name"
	"$work/$name" short-submit >/dev/null &
	want+="$! $(printf %q "$name")"$'\n'
	wait $!
done
line=${want%?} line=${line##*$'\n'}

# said FILE: pid and comm of each event
said() {
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line, object_pairs_hook=lambda p: dict(p) if len({k for k, _ in p}) == len(p) else sys.exit("a key twice"))
    if "pid" in e.get("fields", ()):
        print(e["fields"]["pid"], e["fields"]["comm"], sep="\t")' "$1" | while IFS=$'\t' read -r pid comm; do
		echo "$pid $(printf %q "$comm")"
	done
}

recorder show >"$work/show"
t_eq "each event is shown" "$(grep -c ' io_uring_sq_overflow: ' "$work/show")" ${#names[@]}
# of the name with a new line in it: what is before it, where the kernel prints the task, and what is behind it, among the fields
t_eq "what is not understood is counted" "$(grep '^#' "$work/show")" "# 2 lines of the rings are not understood: not shown"
recorder show --json >"$work/json"
t_eq "JSON: whose each is" "$(said "$work/json")" "$(grep -vxF "$line" <<<"${want%?}")"
t_eq "JSON: what cannot be separated is there as text" "$(grep -c '"fields": {}, "text": "dev=.* comm=new"}' "$work/json")" 1
t_eq "JSON: and is counted" "$(grep -c 'note.*1 records have a text in which fields cannot be separated' "$work/json")" 1

recorder save "$work/saved" >/dev/null
recorder show --json "$work/saved/trace.dat" >"$work/json"
diag <"$work/json"
t_eq "a copy has all of them" "$(grep -c '"event": "io_uring_sq_overflow"' "$work/json")" ${#names[@]}
t_eq "a copy: whose each is" "$(said "$work/json" | head -n $((${#names[@]} - 1)))" "$(grep -vxF "$line" <<<"${want%?}")"
t_eq "a copy: new lines, too" "$(grep -c '"comm": "new\\u000aline"' "$work/json")" 1
t_eq "a copy: nothing is not understood" "$(grep -c note "$work/json")" 0

# --- a trigger, of a task that is called what the kernel prints of another one ---

configure 'ring_kib 64' 'trigger io_uring_trace:io_uring_sq_overflow'
"$KSTALL" recorder watch --config "$work/conf" 2>"$work/watch.err" &
watch=$!
at_exit eval "kill $watch 2>/dev/null; wait $watch"
on() { [ "$(cat "$TRACEFS/instances/kstall-trigger/events/io_uring_trace/io_uring_sq_overflow/enable")" = 1 ]; }
wait_until 30 on || bail "no trigger: $(cat "$work/watch.err")"
name=': ib_qp_error: '
cp "$URING" "$work/$name"
"$work/$name" short-submit >/dev/null
caused() { copies snapshot- | grep -v -- '-save\.dat$'; }
wait_until 30 caused
t_eq "a copy is called by its cause" "$(caused | sed 's/.*Z-[0-9]*-//')" io_uring_sq_overflow.dat
