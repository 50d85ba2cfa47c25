#!/usr/bin/env bash
# description: a recorder that is killed while it saves leaves the old copies or the new one, never half, and no event is lost
# timeout: 600
# once: it asks the program
# tier1: 6.12
# takes: 12
# requires: python3
. ./lib.sh
plan 4

configure 'ring_kib 64' 'keep 1000'
load io_uring_trace
at_exit remove_rings
recorder start
: >"$work/made"
some() { for _ in 1 2; do "$URING" short-submit >/dev/null && echo 1 >>"$work/made"; done; }

# killed COMMAND…: before each of its calls that change a file, or every third, once each; says at how many it was over
killed() {
	local n status=0 copy every
	every=$(at_length 1 3)
	n=$((1 - every))
	while [ $status = 0 ]; do
		n=$((n + every))
		[ $((n % 4)) != 1 ] || some
		status=0
		./killat $n "$KSTALL" recorder "$@" --config "$work/conf" >"$work/out" 2>&1 || status=$?
		for copy in "$work"/state/*.dat; do
			if [ ! -e "$copy" ] || grep -qxF "$copy" "$work/seen"; then continue; fi
			echo "$copy" >>"$work/seen"
			recorder show "$copy" >/dev/null 2>"$work/err" || echo "$n: ${copy##*/}: $(<"$work/err")" >>"$work/half"
		done
	done
	[ $status = 9 ] || echo "$n: exit status $status: $(tail -1 "$work/out")" >>"$work/half"
	echo $n
}

: >"$work/half"
: >"$work/seen"
recorder snapshot >/dev/null # each ring's mark, so that from here on only one ring has something
t_range "killed at each of its writes" "$(killed snapshot)" 10 1000
t_eq "each copy is whole" "$(<"$work/half")" ""
recorder snapshot >/dev/null
t_eq "nothing half done is left" "$(find "$work/state" -name '.part*')" ""
t_eq "every event is in one of them, once" "$(recorder show | grep -c sq_overflow)" "$(wc -l <"$work/made")"
