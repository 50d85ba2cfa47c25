#!/usr/bin/env bash
# description: of steps that each suffer a known stall the parts `kstall why` tells are the step; what it says of their causes is shown
# timeout: 400
# once: not tried on the others yet
# requires: python3 tc
. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"

modules drm_sched_trace io_uring_trace mm_migrate_trace ib_cq_trace
causes
"$KSTALL" record -o "$work/trace.dat" --step marker -- ./trainer "${trainer[@]}" "${STEPS-60}" "$causes,all" \
	>"$work/log" 2>"$work/record.err" || bail "record: $(tail -3 "$work/record.err" | xargs)"
"$KSTALL" why -i "$work/trace.dat" --step marker --json >"$work/json" 2>"$work/why.err" || bail "why: $(tail -3 "$work/why.err" | xargs)"
./check.py "$work/log" "$work/json" >"$work/checks"

# What holds whatever the machine does. The rest (which stall, how long) is not all right yet, of work requests above all: it is told.
held="^(# )?(steps|parts are the step|each part once, the largest first|exact, and the shares make 1|no longer than the program measured|no other steps|the total is the steps'): "
grep -E "$held" "$work/checks" >"$work/held"
grep -vE "$held" "$work/checks" | sed 's/^\(# \)*/# told: /' | cut -c1-200
plan "$(($(grep -vc "^#" "$work/held") + 4))"
results "$work/held"
t_range "steps that something else did not make longer than the stall" "$(grep '^step=' "$work/log" | grep -vc noisy)" "${STEPS-60}" 1000

# What would be wrong is seen: time that is nowhere, a step that is inexact, one too many.
spoilt() {
	python3 - "$work/json" "$1" >"$work/spoilt" <<-'END'
		import json, sys
		a = json.load(open(sys.argv[1]))
		s = a["steps"][len(a["steps"]) // 2]
		exec(sys.argv[2])
		json.dump(a, sys.stdout)
	END
	./check.py "$work/log" "$work/spoilt" | grep -E "$held" | grep '^# ' >"$work/spoilt.out"
	[ ! -s "$work/spoilt.out" ]
}
t_fails "a nanosecond less is seen" spoilt 's["parts"][0]["ns"] -= 1'
t_fails "a step that is inexact is seen" spoilt 's["exact"] = False'
t_fails "a step that is not there is seen" spoilt 'a["steps"].remove(s)'
