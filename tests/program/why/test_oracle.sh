#!/usr/bin/env bash
# description: a step's states are right to the nanosecond: another program works them out from what trace-cmd prints
# timeout: 900
# requires: python3 trace-cmd
# tier1: 6.12

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e $TRACEFS/kprobe_events ] || skip_all "no kprobe events"
here=$PWD
cd "$work" || exit

# agrees NAME FILE OPTION...: the oracle does, about every step
agrees() {
	local name=$1 file=$2 said
	shift 2
	said=$(python3 "$here/oracle.py" "$KSTALL" "$file" "$@" 2>wrong) || said="not so"
	if [ "$said" = "not so" ]; then t_fail "$name: $*" "$(head -n 6 wrong)"; else t_pass "$name: $*"; fi
	echo "# $said"
}

# has NAME FILE EXPRESSION: the recording has it: what its threads met with, in events
has() { t_ok "$1" grep -qE "$3" <(trace-cmd report -R -i "$2" 2>/dev/null); }

if [ -n "$KSTALL_BRIEF" ]; then seeds=1 rounds=6; else seeds='1 2 3' rounds=20; fi
plan $((7 * $(wc -w <<<"$seeds")))
for seed in $seeds; do
	"$KSTALL" record -o "$seed.dat" --step marker -- "$here/comings" "$seed" "$rounds" 2>err
	t_eq "$seed: recorded" "$? $(cat err)" "0 "
	has "$seed: threads that come" "$seed.dat" 'task_newtask:.*clone_flags=(0x)?3d0f00'
	has "$seed: ... are preempted" "$seed.dat" 'sched_switch:.* prev_comm=comings .*prev_state=256 '
	has "$seed: ... exec" "$seed.dat" 'sched_process_exec:'
	agrees "$seed" "$seed.dat" --step marker
	agrees "$seed" "$seed.dat" --step all
	agrees "$seed" "$seed.dat" --every 10ms
done
