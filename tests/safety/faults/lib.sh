# shellcheck shell=bash source-path=SCRIPTDIR
# A module that runs out of memory: at each place where it allocates, itself or through what it calls, the first allocation fails
# in one try and the second in another, while it is loaded and while its events are enabled. Either gets an error, or it works all
# the same, or the status file says what is missing.
# On the debug kernel only, whose detectors see what an error's path forgets. Not by its failslab: that counts per task, and a worker
# arms; it knows no places, and no per-CPU memory.
. ../../lib.sh

dbg=/sys/kernel/debug

# fail 1: an allocation of the module under test that has not failed yet; fail 0: none any more. failures: made since
fail() { echo "$module $1" >$dbg/kstall_fault; }
failures() { read -r REPLY <$dbg/kstall_fault; }

# Something of the module is armed. Builtin commands only, as this is asked after each failure.
armed() {
	local status
	status=$(<$dbg/"$module"/status)
	[[ $status == *state=armed* || $status == *state=allocated* ]]
}
idle() { ! armed; }

wrong() { complaints+=("$*"); }

# Loads it again and again until an attempt meets no failure.
fail_loading() {
	local n error
	for ((n = 1; n < 1000; n++)); do
		fail 1
		error=$(insmod "$ko" 2>&1)
		failures
		fail 0
		if [ -z "$error" ]; then
			rmmod "$module" || wrong "load $n: stays"
		else
			[[ $error == *"annot allocate memory"* ]] || wrong "load $n: $error"
			! is_loaded "$module" || wrong "load $n: stays after an error"
		fi
		[ "$REPLY" != 0 ] || break
	done
	[ -z "$error" ] || wrong "load: $error without a failure"
	t_eq "loading: allocations failed at each place" "$(printf '%s\n' "${complaints[@]}")" ""
	t_range "there were $((n - 1))" $((n - 1)) 1 998
}

# What a listener has to see: an error, or every hook that the event needs is armed.
fail_enabling() {
	local event=$1 enable=$2 n error enabled tries=0 refused=0
	for ((n = 1; n < 1000; n++)); do
		fail 1
		error=$( { echo 1 >"$enable"; } 2>&1)
		failures
		fail 0
		tries=$((tries + REPLY))
		read -r enabled <"$enable"
		if [ -z "$error" ]; then
			[ "$enabled" = 1 ] || wrong "$event $n: no error, and it is $enabled"
			grep -q "^event $event .*state=\(armed\|waiting\)" $dbg/"$module"/status ||
				wrong "$event $n: $(grep "^event $event " $dbg/"$module"/status)"
			echo 0 >"$enable"
		else
			refused=$((refused + 1))
			[[ $error == *"annot allocate memory"* ]] || wrong "$event $n: $error"
			[ "$enabled" = 0 ] || wrong "$event $n: an error, and it is $enabled"
		fi
		if armed; then
			wait_until 20 idle || wrong "$event $n: stays: $(grep -E 'state=(armed|allocated)' $dbg/"$module"/status)"
		fi
		[ "$REPLY" != 0 ] || break
	done
	# without one it works
	[ -z "$error" ] || wrong "$event: $error without a failure"
	counts+=" $event=$tries/$refused"
	total=$((total + tries))
}

# faults MODULE [TARGET…]: what it hooks has to be there
faults() {
	local event enable dep events total=0
	module=$1 complaints=() counts=
	shift
	plan 6
	echo 1 >/sys/kernel/rcu_expedited
	at_exit eval 'echo 0 >/sys/kernel/rcu_expedited'
	modprobe -a "$@" || bail "cannot load what it hooks"
	ko=$(find ../../.. -maxdepth 2 -name "$module.ko" -print -quit)
	for dep in $(modinfo -F depends "$ko" | tr , ' '); do modprobe "$dep"; done
	load kstall_fault
	fail_loading

	complaints=()
	load "$module"
	mk_instance faults
	mapfile -t events < <(awk '$1 == "event" && !/state=absent/ { print $2 }' $dbg/"$module"/status)
	for event in "${events[@]}"; do
		enable=$(ls -d "$INSTANCE"/events/*/"$event"/enable)
		fail_enabling "$event" "$enable"
	done
	echo "# failures / of them refused:$counts"
	t_eq "enabling: allocations failed at each place" "$(printf '%s\n' "${complaints[@]}")" ""
	t_range "there were $total" $total 1 99999
	t_ok "it can be unloaded" rmmod "$module"
	t_eq "no probe is left" "$(grep -F "[$module]" $dbg/kprobes/list $TRACEFS/enabled_functions)" ""
}
