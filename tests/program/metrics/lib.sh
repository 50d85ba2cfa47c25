# shellcheck shell=bash
# What the tests of `kstall metrics` share.

# shellcheck source=../../lib.sh
. ../../lib.sh

KSTALL=$PWD/../../../kstall/kstall
work=$(mktemp -d)
at_exit rm -rf "$work"
page=$work/dir/kstall.prom err=$work/err
counting=$TRACEFS/instances/kstall_metrics

# metrics [option…]: starts it in the background, a pass every 200 ms, root without a capability, as the service has it; messages go to $err
metrics() {
	setpriv --no-new-privs --inh-caps=-all --bounding-set=-all "$KSTALL" metrics --every 200ms "$@" 2>>"$err" &
	pid=$!
}

# ends_metrics SIGNAL
ends_metrics() {
	kill "-$1" "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
}
pid=

# Without it the modules could not be unloaded: one that starts takes the instance over, and ends it.
clean_up() {
	[ -z "$pid" ] || ends_metrics TERM
	[ -d "$counting" ] || return 0
	metrics --textfile "$work"
	page=$work/kstall.prom
	wait_until 30 has_sample kstall_metrics_passes_total
	ends_metrics TERM
}

# sample NAME [LABEL…]: the value of the only sample with these labels
sample() {
	python3 - "$page" "$@" <<-'END'
		import sys
		name, want = sys.argv[2], sys.argv[3:]
		found = []
		for line in open(sys.argv[1]):
		    head, _, value = line.rstrip("\n").rpartition(" ")
		    if head.split("{")[0] == name and all(w in head for w in want):
		        found.append(value)
		print(*found)
	END
}

has_sample() { [ -n "$(sample "$@")" ]; }

# next_pass: what happened before this is in the page
next_pass() {
	local n
	n=$(sample kstall_metrics_passes_total)
	wait_until 30 later_than "$n"
}
later_than() { [ "$(sample kstall_metrics_passes_total)" -gt $((${1:-0} + 1)) ]; }
