#!/usr/bin/env bash
# description: a step's states are right to the nanosecond: another program works them out from what trace-cmd prints
# timeout: 900
# requires: python3 trace-cmd
# tier1: 6.12
# takes: 22

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e $TRACEFS/kprobe_events ] || skip_all "no kprobe events"
here=$PWD
cd "$work" || exit

# agrees NAME FILE OPTIONS...: the oracle does, about every step
agrees() {
	local name=$1 file=$2 options compared
	shift 2
	python3 "$here/oracle.py" "$KSTALL" "$file" "$@" >said 2>wrong
	for options; do
		if compared=$(grep "^right $options: " said); then t_pass "$name: $options"; else t_fail "$name: $options" "$(head -n 6 wrong)"; fi
		echo "# $compared"
	done
}

# has NAME FILE EXPRESSION: the recording has it: what its threads met with, in events
has() { t_ok "$1" grep -qE "$3" <(trace-cmd report -R -i "$2" 2>/dev/null); }

if [ -n "$KSTALL_BRIEF" ]; then seeds=1 rounds=6; else seeds='1 2 3' rounds=20; fi
plan $((7 * $(wc -w <<<"$seeds") + $(at_length 11 7)))
for seed in $seeds; do
	"$KSTALL" record -o "$seed.dat" --step marker -- "$here/comings" "$seed" "$rounds" 2>err
	t_eq "$seed: recorded" "$? $(cat err)" "0 "
	has "$seed: threads that come" "$seed.dat" 'task_newtask:.*clone_flags=(0x)?3d0f00'
	has "$seed: ... are preempted" "$seed.dat" 'sched_switch:.* prev_comm=comings .*prev_state=256 '
	has "$seed: ... exec" "$seed.dat" 'sched_process_exec:'
	agrees "$seed" "$seed.dat" "--step marker" "--step all" "--every 10ms"
done

# threads that were there before; a number that others have in between; a process that waits for its GPU while it exits
load mock_gpu
load drm_sched_trace
printf -v gpu '%q ' "$tests/modules/drm_sched/gpu" entity 2 1 run 20000 jobs 3 0
mkfifo go ask tell answer
export TRACEFS
python3 "$here/again.py" outside . &
outside=$!
at_exit eval "kill $outside 2>/dev/null"
sh -c "read -r _ <go; $here/comings 4 12 && $gpu >/dev/null && exec python3 $here/again.py job ." &
shell=$!
at_exit eval "kill $shell 2>/dev/null"
python3 -c 'import time; time.sleep(1000)' &
asleep=$!
at_exit kill $asleep
"$KSTALL" record -o before.dat -p "$asleep,$shell" 2>err &
kstall=$!
wait_until 60 session_begun || bail "record does not begin: $(cat err)"
echo >go
wait $shell
t_eq "before: the job" $? 0
kill -INT $kstall
wait $kstall
t_eq "before: recorded" "$? $(cat err)" "0 "
trace-cmd report -R -i before.dat 2>/dev/null >before.txt
t_range "before: how often a number is used again" "$(grep -oE 'task_newtask: +pid=[0-9]+' before.txt | sort | uniq -c | sort -n | awk 'END { print $1 }')" 7 1000
t_ok "before: a process sleeps while it exits" \
	grep -qE 'sched_switch:.* prev_comm=gpu .*prev_state=2 ' <(sed -n '/sched_process_exit: .*comm=gpu /,$p' before.txt)
agrees before before.dat "--step marker" "--step all" "--every 50ms"

[ -z "$KSTALL_BRIEF" ] || exit 0

# threads that come and go while the recorder begins, beside processes of theirs that were there before and are not recorded
"$here/comings" 5 1000 &
comings=$!
at_exit eval "kill $comings 2>/dev/null"
"$KSTALL" record -o midway.dat --time 2s -p $comings 2>err
t_eq "midway: recorded" "$? $(cat err)" "0 "
kill $comings
agrees midway midway.dat "--step marker" "--step all" "--every 50ms"
