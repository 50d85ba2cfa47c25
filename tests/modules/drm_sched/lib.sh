# shellcheck shell=bash
# shellcheck disable=SC2034 # for ../../events.sh
# What the tests of drm_sched_trace share, on top of ../../events.sh.

MODULE=drm_sched_trace
SYSTEM=drm_sched
# shellcheck source=../../events.sh
. ../../events.sh

# gpu WORD…: ./gpu, its output in $work/out
gpu() { run out ./gpu "$@"; }

# job N: ctx:seqno of the job or fence gpu numbered N
job() { awk -v n="$1" '($1 == "job" || $1 == "fence") && $2 == n { for (i = 3; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
	print v["ctx"] ":" v["seqno"] }' "$work/out"; }

# jobs: ctx:seqno of all jobs with a handle, in the order of submission
jobs() { awk '$1 == "job" { split($4, c, "="); split($5, s, "="); print c[2] ":" s[2] }' "$work/out"; }

# is N: the condition that an event is about the job gpu numbered N
is() { echo "f[\"fence\"] == \"$(job "$1")\""; }

# in_use TABLE: records in it
in_use() { status_field drm_sched_trace table "$1" in_use; }
