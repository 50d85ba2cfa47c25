#!/usr/bin/env bash
# description: direct hooks come and go, and the module with them, while their functions are called all the time, in each preemption mode
# timeout: 600
# shellcheck source-path=SCRIPTDIR
. ./lib.sh

preempt=$dbg/sched/preempt
modes=none
[ ! -w $preempt ] || modes=$(sed 's/[()]//g' $preempt)
read -ra modes <<<"$modes"
# KSTALL_ARMINGS: so often in all modes together, and a tenth of it removed
rounds=$(at_length 8 3) removals=$(at_length 4 2)
if [ -n "${KSTALL_ARMINGS-}" ]; then
	rounds=$(((KSTALL_ARMINGS + ${#modes[@]} - 1) / ${#modes[@]})) removals=$(((rounds + 9) / 10))
fi
plan $((3 * ${#modes[@]} + 2))

load kstall_target
load kstall_test direct=1
hurry
[ "${#modes[@]}" = 1 ] || at_exit eval "echo $(sed 's/.*(\(.*\)).*/\1/' $preempt) >$preempt"

# Nothing is forked where it goes round: that is most of what a round takes in a guest.
never=$(mktemp -u)
mkfifo "$never"
at_exit rm "$never"
pause() { read -rt "$1" _ <>"$never" || :; }

# More callers than CPUs, so that some are preempted anywhere, and interrupts on top of them. In the long form they rest, so that the
# guest's clock can jump over the waits for a grace period.
rest() { [ -z "${KSTALL_ARMINGS-}" ] || pause 0.02; }
# shellcheck disable=SC2086 # call's words
caller() { while :; do for call; do call $call; done; rest; done; }
export -f call caller pause rest
export dbg never

# The lowest priority: what comes and goes has to get its turn, too.
load=()
for ((i = 0; i < 3; i++)); do nice -n 19 bash -c 'caller "quick 200 1" "recurse 3 5"' & load+=($!); done
nice -n 19 bash -c 'caller "irq 50 1"' & load+=($!)
calm() { kill "${load[@]}" && wait "${load[@]}"; }
at_exit eval "kill ${load[*]} 2>/dev/null; wait"

# come_and_go N: armed and disarmed; every third time a listener is still being added when the other one goes
come_and_go() {
	local i
	for ((i = 0; i < $1; i++)); do
		enable kt_pair || return
		[ $((i % 3)) != 0 ] || enable kt_recurse || return
		[ $((i % 4)) != 0 ] || echo $((i / 4 % 2)) >$params/direct || return
		pause "0.0$((i % 4))"
		disable kt_pair kt_recurse || return
		[ $((i % 2)) != 0 ] || wait_until 60 hook_is quick_pair idle || return
	done
}

# removed N: so often unloaded while armed
removed() {
	local i
	for ((i = 0; i < $1; i++)); do
		enable kt_pair kt_recurse || return
		pause "0.0$((i % 4))"
		rmmod kstall_test || return
		insmod ./kstall_test.ko direct=1 || return
	done
}

INSTANCE=$TRACEFS
for mode in "${modes[@]}"; do
	[ "${#modes[@]}" = 1 ] || echo "$mode" >$preempt
	t_ok "preempt=$mode: $rounds times armed and disarmed" come_and_go "$rounds"
	t_ok "preempt=$mode: there was load" [ "$(field hook quick_pair hits)" -gt 100 ]
	t_ok "preempt=$mode: $removals times removed while armed" removed "$removals"
done
echo 1 >$params/direct
enable kt_pair
before=$(field hook quick_pair hits)
more() { [ "$(field hook quick_pair hits)" -gt $((before + 1000)) ]; }
t_ok "in the end it counts, as ever" wait_until 30 more
disable kt_pair
wait_until 60 hook_is quick_pair idle
call quick 100 1
before=$(field hook quick_pair hits)
call quick 100 1
t_eq "... and no more" "$(field hook quick_pair hits)" "$before"
calm 2>/dev/null || : # what a killed child leaves
