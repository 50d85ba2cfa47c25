# shellcheck shell=bash disable=SC2154 # work: of events.sh
# What the tests share that remove a module under load, beside the lib.sh of its events.

# one_round N EVENT: loaded and removed. A moment of its own each time: everything enabled, enabling still under way, or one event,
# which is most of them because it is quick.
one_round() {
	local enabling=
	insmod "../../../$MODULE/$MODULE.ko" || return
	case $(($1 % 6)) in
	0) ev_enable "$SYSTEM" ;;
	2) ev_enable "$SYSTEM" 2>/dev/null & enabling=$! ;;
	*) ev_enable "$SYSTEM/$2" ;;
	esac
	sleep "0.0$(($1 % 7))"
	rmmod "$MODULE" || return
	[ -z "$enabling" ] || wait $enabling || :
}

# removed_under_load EVENT LEAST: $rounds rounds while what finished() counts goes on, and it got that far
removed_under_load() {
	local begin n
	begin=$(finished)
	for ((n = 0; n < rounds; n++)); do
		one_round $n "$1" 2>>"$work/errors" || break
	done
	t_eq "rmmod under load, ftrace users: succeeds $rounds times" $n "$rounds"
	diag <"$work/errors" | tail -5
	t_range "there was load" $(($(finished) - begin)) "$2" 999999999
}

probed() { awk '{ print $1, $3 }' /sys/kernel/debug/kprobes/list | sort; }
probed >"$work/kprobes"

# leftovers: where kprobes, ftrace and the file systems would still know of the module; kprobes that came since this file was read
leftovers() {
	grep -hE "$MODULE|kstall" /sys/kernel/debug/kprobes/list $TRACEFS/enabled_functions $TRACEFS/set_event /proc/kallsyms
	comm -13 "$work/kprobes" <(probed)
	ls -d "/sys/kernel/debug/$MODULE" "$TRACEFS/events/$SYSTEM" "/sys/module/$MODULE" 2>/dev/null
}
