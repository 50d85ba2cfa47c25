#!/usr/bin/env bash
# description: of steps that each suffer a known stall the parts `kstall why` tells are the step, and the stall is its largest, as long as it was
# tier1: 6.12
# takes: 118
# timeout: 600
# requires: python3 tc
. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"

modules drm_sched_trace io_uring_trace mm_migrate_trace ib_cq_trace
causes
steps=${STEPS-$(at_length 200 45)}
"$KSTALL" record -o "$work/trace.dat" --step marker -- ./trainer "${trainer[@]}" "$steps" "$causes,all" \
	>"$work/log" 2>"$work/record.err" || bail "record: $(tail -n 3 "$work/record.err" "$work/log" | xargs)"
"$KSTALL" why -i "$work/trace.dat" --step marker --json >"$work/json" 2>"$work/why.err" || bail "why: $(tail -3 "$work/why.err" | xargs)"
"$KSTALL" timeline -o "$work/pftrace" "$work/trace.dat" >"$work/timeline" 2>&1 || bail "timeline: $(tail -3 "$work/timeline" | xargs)"
./check.py "$work/log" "$work/json" >"$work/checks"
./pftrace.py "$work/pftrace" "$work/json" "ring mock" "QP " ks_late "steps of trainer" | sed -E 's/^(# )?/\1timeline: /' >>"$work/checks"

plan "$(($(grep -vc "^#" "$work/checks") + 5))"
results "$work/checks"
t_range "steps that something else did not make longer than the stall" "$(grep '^step=' "$work/log" | grep -vc noisy)" "$steps" 1000
t_range "causes that were tried" "$(grep -o '[a-z_]*=[0-9]*-' "$work/log" | cut -d= -f1 | sort -u | grep -vcx fence)" 4 9

# What would be wrong is seen: time that is nowhere, a step that is inexact, one too many.
# spoilt CHECK HOW: then that check is what fails
spoilt() {
	python3 - "$work/json" "$2" >"$work/spoilt" <<-'END'
		import json, sys
		a = json.load(open(sys.argv[1]))
		s = a["steps"][len(a["steps"]) // 2]
		exec(sys.argv[2])
		json.dump(a, sys.stdout)
	END
	! ./check.py "$work/log" "$work/spoilt" >"$work/spoilt.out" && grep -q "^# $1: " "$work/spoilt.out"
}
t_ok "a nanosecond less is seen" spoilt "parts are the step" 's["parts"][0]["ns"] -= 1'
t_ok "a step that is inexact is seen" spoilt "exact, and the shares make 1" 's["exact"] = False'
t_ok "a step that is not there is seen" spoilt "steps" 'a["steps"].remove(s)'

