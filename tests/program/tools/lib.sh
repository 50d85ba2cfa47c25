# shellcheck shell=bash disable=SC2154 # work: of ../../events.sh
# What tests of the bpftrace tools share, beside the lib.sh of the events they show.

# workload COMMAND…: what the tools watch, a line each. An end that its program has learned of may not have been traced yet.
workload() { printf '%s\n' "$@" "sleep 1" >"$work/workload"; }

# warnings NAME: what bpftrace complained of. Not that two CPUs made the first entry of a key at once, which 0.23 says at random and
# nobody can help (https://github.com/bpftrace/bpftrace/issues/4068); it loses one of the two.
warnings() { { grep -hi warning "$work/$1" "$work/$1.err"; grep -v ^Attached "$work/$1.err"; } | grep -v ' WARNING: File exists$'; }

# tool NAME [ARGUMENT…]: its output while the workload ran is then in $work/NAME
tool() {
	"../../../tools/$1.bt" -c "/bin/sh $work/workload" "${@:2}" >"$work/$1" 2>"$work/$1.err"
	t_eq "$1: runs without a warning" "$? $(warnings "$1")" "0 "
}

# value NAME KEY: of the line "@KEY: value"
value() { sed -n "s/^@${2//[\[\]]/\\&}: //p" "$work/$1"; }

# entries NAME KEY: the entries of the histogram "@KEY:"
entries() {
	awk -v key="@$2:" 'index($0, key) == 1 { on = 1; next } !/^\[/ { on = 0 } on { sub(/.*[])] +/, ""); n += $1 } END { print n + 0 }' \
		"$work/$1"
}

# stat NAME KEY count|average|total: of what stats() prints, before and since 0.21
stat() { value "$1" "$2" | grep -oP "\b$3( =)? \K\d+"; }
