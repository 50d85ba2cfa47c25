#!/usr/bin/env bash
# description: an installed tool says what to type when its module is missing, has a --help, hands on signals and arguments, and reports losses
# requires: python3 unshare
# once: it asks the tree, with a bpftrace and a /sys that it makes up
# host: it asks the tree, with a bpftrace and a /sys that it makes up
# tier1: 6.12
. ../../lib.sh
plan 33

work=$(mktemp -d)
at_exit rm -rf "$work"
tools=$(cd ../../../tools && pwd)
mkdir "$work/bin" "$work/sys"
for name in io_uring_lat aer_watch ibv_lat ibv_errors nosuch; do
	ln -s "$tools/kstall-tool" "$work/bin/kstall-$name"
done

# It notes its arguments, traces until a signal comes (its own -c ends at once), changes the status file by the sed script AFTER.
cat >"$work/bin/bpftrace" <<'BPFTRACE'
#!/usr/bin/env bash
printf '%s\n' "$@" >"$WORK/args"
trap 'echo TERM >>"$WORK/signals"; ended=1' TERM
trap 'echo INT >>"$WORK/signals"; ended=1' INT
echo "Tracing"
[[ " $* " != *" -c "* ]] || ended=1
until [ -n "${ended-}" ]; do sleep 0.05; done
sed -i "${AFTER-}" /sys/kernel/debug/io_uring_trace/status
echo "printed at its end"
exit "${STATUS-0}"
BPFTRACE
chmod +x "$work/bin/bpftrace"

# A /sys in which io_uring_trace is loaded, and iommu_trace.
cat >"$work/inside" <<'INSIDE'
mount -t tmpfs none /sys
cp -r "$WORK/sys/." /sys
exec "$@"
INSIDE
mkdir -p "$work"/sys/module/{io_uring_trace/parameters,iommu_trace} "$work/sys/kernel/debug/io_uring_trace"
echo 64 >"$work/sys/module/io_uring_trace/parameters/max_requests"
echo 512 >"$work/sys/module/io_uring_trace/parameters/max_sleepers"
cat >"$work/sys/kernel/debug/io_uring_trace/status" <<'STATUS'
module io_uring_trace version=1 recorder=off clamped=0
event io_uring_req_done users=0 state=idle min_ns=0 suppressed=0
hook submit kind=tracepoint target=io_uring_submit_req state=idle hits=100 missed=5 recursed=0 bytes=0
hook wait kind=pair target=f state=idle hits=0 missed=0 recursed=0 bytes=0
table requests state=idle capacity=64 in_use=0 high_water=64 dropped=384 evicted=0 unmatched=0 bytes=0
reach no program has a ring
STATUS

inside() { WORK=$work PATH=$work/bin:/usr/sbin:/usr/bin:/sbin:/bin exec unshare -m --propagation private bash "$work/inside" "$@"; }

# run NAME COMMAND…: in there; its output is in $work/NAME and NAME.err
run() {
	local name=$1
	shift
	rm -f "$work/signals" "$work/args"
	(inside "$@") >"$work/$name" 2>"$work/$name.err"
}

args() { tail -n +2 "$work/args" | xargs; }

tool=kstall-io_uring_lat

# --- before it starts ---

run missing kstall-aer_watch
t_eq "a module that is not loaded: status" $? 1
t_eq "... one line, and what to type" "$(cat "$work/missing" "$work/missing.err")" \
	"kstall-aer_watch: aer_trace is not loaded: modprobe aer_trace   (if that fails: kstall-doctor)"
t_eq "... bpftrace was not called" "$(ls "$work/args" 2>/dev/null)" ""
rm -r "$work/sys/module/iommu_trace"
run missing kstall-aer_watch
t_eq "two of them" "$(cat "$work/missing.err")" \
	"kstall-aer_watch: aer_trace and iommu_trace are not loaded: modprobe -a aer_trace iommu_trace   (if that fails: kstall-doctor)"
mv "$work/bin/bpftrace" "$work/bpftrace"
run none env "PATH=$work/bin" /usr/bin/python3 "$work/bin/$tool"
t_eq "no bpftrace" "$(cat "$work/none.err")" "$tool: bpftrace is not installed; kstall-doctor says how to get it"
mv "$work/bpftrace" "$work/bin/bpftrace"
run help "$tool" --help
t_eq "--help: status" $? 0
t_ok "... the tool's own, under the name it has" grep -qx "	$tool				until Ctrl-C" "$work/help"
t_eq "... other tools by their names, too" "$(grep -c '\.bt\b' "$work/help")" 0
t_eq "... and what all have in common, the long sample last" "$(grep -oE '^(USAGE|OPTIONS|OVERHEAD|EXAMPLE): ' "$work/help" | xargs)" \
	"USAGE: OPTIONS: OVERHEAD: EXAMPLE:"
run nosuch kstall-nosuch
t_eq "no such tool" "$(cat "$work/nosuch.err")" "kstall-nosuch: there is no $tools/nosuch.bt"
t_eq "each tool's head names the modules whose events it uses" "$(
	for t in "$tools"/*.bt; do
		want=$(sed -n 's/^tracepoint:\([a-z_]*\):.*/\1/p' "$t" | sort -u | while read -r system; do
			grep -lx "#define TRACE_SYSTEM $system" ../../../*_trace/*_events.h | sed 's:.*/\([a-z_]*\)_events.h:\1:'
		done | xargs)
		got=$(sed -n 's/^ \* USAGE: modprobe \(-a \)\?\([a-z_ ]*\),.*/\2/p' "$t")
		[ "$got" = "$want" ] || echo "${t##*/}: $got, not $want"
	done
)" ""
t_eq "each tool can say that nothing happened" "$(grep -LE '^	+printf\("\\n(No|Nobody|Nothing) ' "$tools"/*.bt)" ""

cp "$work/sys/kernel/debug/io_uring_trace/status" "$work/status"
sed -i 's/^event io_uring_req_done .*/event io_uring_req_done state=absent reason="no io_uring here"\nevent other state=absent reason="so"/' \
	"$work/sys/kernel/debug/io_uring_trace/status"
run absent "$tool" -c /bin/true
t_eq "an event of its that this kernel cannot have" "$(cat "$work/absent.err")" "$tool: io_uring_req_done cannot be had here: no io_uring here"
cp "$work/status" "$work/sys/kernel/debug/io_uring_trace/status"

# --- while it runs ---

run plain "$tool" -c /bin/true -v "an argument"
t_eq "arguments are bpftrace's, behind the program" "$(head -n 1 "$work/args") $(args)" "$tools/io_uring_lat.bt -c /bin/true -v an argument"
STATUS=7 run status "$tool" -c /bin/true
t_eq "its exit status is bpftrace's" $? 7
echo library | run unsafe kstall-ibv_lat -c /bin/true library 1 2
t_eq "a program's first line may have options" "$(xargs <"$work/args")" "--unsafe $tools/ibv_lat.bt library 1 2"

# sent SIGNAL: to the launcher alone
sent() {
	rm -f "$work/signals" "$work/sent" # the shell in the background empties it only later
	inside "$tool" >"$work/sent" 2>&1 &
	wait_until 60 grep -q Tracing "$work/sent" || bail "it does not start: $(cat "$work/sent")"
	kill -"$1" $!
	wait $!
}
for signal in INT TERM; do
	# a shell's background job ignores SIGINT, unless it sets a handler
	sent $signal
	t_eq "SIG$signal: status" $? 0
	t_ok "... bpftrace has printed everything" grep -q "printed at its end" "$work/sent"
done
rm -f "$work/signals"
set -m # a group of its own
inside "$tool" >"$work/group" 2>&1 &
set +m
wait_until 60 grep -q Tracing "$work/group" || bail "it does not start: $(cat "$work/group")"
kill -INT -- -$!
wait $!
t_ok "SIGINT for the group, as of a terminal: bpftrace has printed everything" grep -q "printed at its end" "$work/group"
t_eq "... it has had one of them, not two" "$(grep -c INT "$work/signals")" 1

# --- programs: what the children of -c's do counts, too ---

cat >"$work/script" <<JOB
	echo first >>$work/job.out
	/bin/sh -c 'sleep 0.2; echo second >>$work/job.out'
JOB
run job kstall-ibv_errors -f json -c "/bin/sh $work/script"
t_eq "it starts when bpftrace traces, and its end is bpftrace's" "$? $(xargs <"$work/job") $(xargs <"$work/job.out")" \
	"0 Tracing printed at its end first second"
t_eq "... which does not look for that process alone" "$(args)" "-f json"
run job kstall-ibv_errors -c /nosuch -o "$work/out"
t_eq "one that cannot be started" "$(cat "$work/job.err")" "kstall-ibv_errors: [Errno 2] No such file or directory: '/nosuch'"
t_eq "... -o" "$(xargs <"$work/out") $(cat "$work/job")" "Tracing printed at its end "

# --- losses ---

lost="s/hits=100 missed=5/hits=200 missed=12/; s/dropped=384 evicted=0/dropped=484 evicted=3/"
table="events lost: table requests of io_uring_trace"
run none "$tool" -c /bin/true
t_eq "nothing happened: what the module cannot see" "$(tail -n +3 "$work/none")" "No hook of io_uring_trace was hit. Its reach here: no program has a ring"
AFTER=s/hits=100/hits=101/ run none "$tool" -c /bin/true
t_eq "nothing lost: not a word" "$(tail -n +3 "$work/none")" ""
AFTER=$lost run lost "$tool" -c /bin/true
t_eq "losses of this run, and what to raise" "$(tail -n +3 "$work/lost")" "7 events lost: hook submit of io_uring_trace: was hit inside another probe
100 $table: was full, raise max_requests (64 now)
3 $table: was nearly full, and what had been in it for longest had to go, raise max_requests (64 now)"
AFTER="s/hits=0 missed=0/hits=9 missed=2/" run lost "$tool" -c /bin/true
t_eq "... of a pair" "$(tail -n +3 "$work/lost")" \
	"2 events lost: hook wait of io_uring_trace: more tasks slept in it than it has room for, or it was hit inside another probe, raise max_sleepers (512 now)"
AFTER=$lost run json "$tool" -f json -c /bin/true
t_eq "... as JSON" "$(tail -n +3 "$work/json" | python3 -c 'import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["type"], o["data"]["events"], o["data"]["where"], o["data"].get("raise"), o["data"].get("now"), sep=",")')" \
	"$(printf 'kstall_lost,%s\n' '7,hook submit,None,None' '100,table requests,max_requests,64' '3,table requests,max_requests,64')"
AFTER=$lost run out "$tool" -o "$work/out" -c /bin/true
t_eq "... with -o" "$(grep -c 'events lost' "$work/out") $(grep -c 'events lost' "$work/out.err")" "3 0"
rm "$work/sys/kernel/debug/io_uring_trace/status"
run out "$tool" -c /bin/true
t_ok "no status file: it says that it does not know" grep -q "^$tool: /sys/kernel/debug/io_uring_trace/status cannot be read, so it is not known" "$work/out.err"
