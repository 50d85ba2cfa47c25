# shellcheck shell=bash
# What the tests of drm_sched_trace share, on top of ../lib.sh.

# shellcheck source=../lib.sh
. ../lib.sh

work=$(mktemp -d)
at_exit rm -rf "$work"


# trace EVENT…: loads the module and records these events in an instance of this test's own
trace() {
	local event
	load drm_sched_trace
	mk_instance "kstall-$$"
	for event; do
		ev_enable "drm_sched/$event"
	done
}

# gpu WORD…: ./gpu, its output in $work/out; what it traced is then in $work/trace, where the helpers below look
gpu() {
	ev_clear
	./gpu "$@" >"$work/out" 2>"$work/err" || bail "gpu $* failed: $(xargs <"$work/err")"
	snap
}

snap() { cat "$INSTANCE/trace" >"$work/trace"; }

# said KEY: the value of key= in what gpu said, each time it did
said() { grep -oP "\b$1=\K\S+" "$work/out"; }

# job N: ctx:seqno of the job or fence gpu numbered N
job() { awk -v n="$1" '($1 == "job" || $1 == "fence") && $2 == n { for (i = 3; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
	print v["ctx"] ":" v["seqno"] }' "$work/out"; }

# jobs: ctx:seqno of all jobs with a handle, in the order of submission
jobs() { awk '$1 == "job" { split($4, c, "="); split($5, s, "="); print c[2] ":" s[2] }' "$work/out"; }

# Runs awk code over the fields f["key"] of each line of an event; f["comm"] is its last word only.
ev_awk() {
	awk -v e=" $1: " 'index($0, e) {
		split("", f)
		for (i = 5; i <= NF; i++)
			if (split($i, kv, "=") == 2)
				f[kv[1]] = kv[2]
		'"$2"'
	} END { '"${3-}"' }' "$work/trace"
}

# ev_n EVENT [CONDITION]: how many of them; the condition is awk, on f["key"]
ev_n() { ev_awk "$1" "if (${2-1}) n++" 'print n + 0'; }

# ev_sum EVENT KEY [CONDITION]
ev_sum() { ev_awk "$1" "if (${3-1}) n += f[\"$2\"]" 'printf "%.0f\n", n'; }

# ev_get EVENT KEY [CONDITION]: the values, in order
ev_get() { ev_awk "$1" "if (${3-1}) print f[\"$2\"]"; }

# is N: the condition that an event is about the job gpu numbered N
is() { echo "f[\"fence\"] == \"$(job "$1")\""; }

# Lines of the status file that say that something was lost.
status_losses() {
	grep -E '(missed|recursed|dropped|evicted|unmatched|clamped)=[1-9]' /sys/kernel/debug/drm_sched_trace/status
}

# t_no_losses: the module lost nothing, invented nothing and tripped over nothing. While events are enabled.
t_no_losses() { t_eq "the status file knows of no loss" "$(status_losses)" ""; }

# in_use TABLE: records in it
in_use() { status_field drm_sched_trace table "$1" in_use; }
