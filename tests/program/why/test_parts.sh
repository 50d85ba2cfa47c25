#!/usr/bin/env bash
# description: of steps that each suffer a known stall the parts that `kstall why` shows are the step, and the stall is its largest, as long as it was
# tier1: 6.12
# takes: 35
# timeout: 600
# requires: python3 tc
. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"

modules drm_sched_trace io_uring_trace mm_migrate_trace ib_cq_trace
causes
steps=${STEPS-$(at_length 200 45)}
# recorded NAME STEPS: NAME.log of trainer, NAME.dat, and NAME.json that `why` makes of it
recorded() {
	"$KSTALL" record -o "$work/$1.dat" --step marker -- ./trainer "${trainer[@]}" "$2" "$causes,all" \
		>"$work/$1.log" 2>"$work/record.err" || bail "record: $(tail -n 3 "$work/record.err" "$work/$1.log" | xargs)"
	"$KSTALL" why -i "$work/$1.dat" --step marker --json >"$work/$1.json" 2>"$work/why.err" || bail "why: $(tail -3 "$work/why.err" | xargs)"
}
recorded trace "$steps"
./check.py "$work/trace.log" "$work/trace.json" >"$work/checks"
# An emulated machine takes minutes to read a timeline in Python: each cause once is enough, and golden/timeline has fixed ones.
if [ -z "$KSTALL_BRIEF" ]; then
	recorded short "$(tr , "\n" <<<"$causes,all" | wc -l)"
	"$KSTALL" timeline -o "$work/pftrace" "$work/short.dat" >"$work/timeline" 2>&1 || bail "timeline: $(tail -3 "$work/timeline" | xargs)"
	./pftrace.py "$work/pftrace" "$work/short.json" "ring mock" "QP " ks_late "steps of trainer" | sed -E 's/^(# )?/\1timeline: /' >>"$work/checks"
fi

plan "$(($(grep -vc "^#" "$work/checks") + 5))"
results "$work/checks"
t_range "steps that something else did not make longer than the stall" "$(grep '^step=' "$work/trace.log" | grep -vc noisy)" "$steps" 1000
t_range "causes that were tried" "$(grep -o '[a-z_]*=[0-9]*-' "$work/trace.log" | cut -d= -f1 | sort -u | grep -vcx fence)" 4 9

# What would be wrong is seen: time that is nowhere, a step that is inexact, one too many.
# spoilt CHECK HOW: then that check is what fails
spoilt() {
	python3 - "$work/trace.json" "$2" >"$work/spoilt" <<-'END'
		import json, sys
		a = json.load(open(sys.argv[1]))
		s = a["steps"][len(a["steps"]) // 2]
		exec(sys.argv[2])
		json.dump(a, sys.stdout)
	END
	! ./check.py "$work/trace.log" "$work/spoilt" >"$work/spoilt.out" && grep -q "^# $1: " "$work/spoilt.out"
}
t_ok "a nanosecond less is seen" spoilt "parts are the step" 's["parts"][0]["ns"] -= 1'
t_ok "a step that is inexact is seen" spoilt "exact, and the shares make 1" 's["exact"] = False'
t_ok "a step that is not there is seen" spoilt "steps" 'a["steps"].remove(s)'

