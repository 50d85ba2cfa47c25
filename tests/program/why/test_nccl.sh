#!/usr/bin/env bash
# description: the profiler plugin marks each collective from its call to its last channel, and `kstall why --step nccl` takes them for steps
# tier1: 6.12
. ../../lib.sh

work=$(mktemp -d)
at_exit rm -rf "$work"
plugin=$PWD/../../../kstall/nccl/libkstall-nccl.so
KSTALL=$PWD/../../../kstall/kstall
export NCCL_PROFILER_PLUGIN=$plugin
[ -e "$plugin" ] || skip_all "the plugin is not built here"
plan 20

# As `kstall nccl ID begin|end`: what came in order, and paired.
pairs() { awk '$1 == "kstall" && $2 == "nccl" { if ($4 == "begin") n[$3]++; else if ($4 == "end" && n[$3] == 1) { n[$3] = 0; print $3 } }' "$1"; }

for version in 4 5 6; do
	: >"$work/marker"
	t_ok "v$version: runs" env KSTALL_MARKER="$work/marker" ./nccl $version 600
	t_eq "v$version: each of 601 collectives has a begin and an end, 600 are on the GPU" \
		"$(pairs "$work/marker" | wc -l) $(wc -l <"$work/marker") $(grep -c ' gpu$' "$work/marker")" "601 1802 600"
	t_eq "v$version: a line has all that was said" "$(head -1 "$work/marker")" \
		"kstall nccl feedfacecafebeef:3:AllReduce:0 begin comm=feedfacecafebeef rank=3 seq=0 func=AllReduce ranks=8"
done
t_eq "a user who cannot write to \$KSTALL_MARKER: NCCL's log has it" "$(KSTALL_MARKER=/nowhere/x ./nccl 6 1 2>&1 >"$work/out" | grep WARN)" \
	"nccl: WARN kstall: cannot write to /nowhere/x: No such file or directory"
t_ok "a marker that takes nothing is no reason to fail" env KSTALL_MARKER=/dev/full ./nccl 6 5

if [ -x "$KSTALL" ] && [ "$(id -u)" = 0 ]; then
	"$KSTALL" record -o "$work/trace.dat" --step nccl -- ./nccl 6 20 >"$work/out" 2>"$work/err" || bail "$(tail -1 "$work/err")"
	t_ok "why" "$KSTALL" why -i "$work/trace.dat" --step nccl --json
	"$KSTALL" why -i "$work/trace.dat" --step nccl --json >"$work/json"
	python3 - "$work/out" "$work/json" >"$work/said" <<-'END'
		import json, sys
		want = dict(l.split(" ", 1) for l in open(sys.argv[1]))
		answer = json.load(open(sys.argv[2]))
		good = 0
		for s in answer["steps"]:
		    t = dict(w.split("=") for w in want.get(s["id"], "begin=0 end=0").split())
		    good += int(t["begin"]) <= s["begin_ns"] <= s["end_ns"] <= int(t["end"])
		print(len(answer["steps"]), good, answer["steps_by"], {s["kind"] for s in answer["steps"]},
		      sum(s["duration_ns"] == sum(p["ns"] for p in s["parts"]) for s in answer["steps"]))
		print(answer["steps"][0]["attributes"])
	END
	t_eq "21 collectives are 21 steps, each when it was" "$(head -1 "$work/said")" "21 21 nccl {'nccl'} 21"
	t_eq "whose" "$(tail -1 "$work/said")" "comm=feedfacecafebeef rank=3 seq=0 func=AllReduce ranks=8"
	# Each waits 2 ms of its thread's processor time for rank 6, of which the plugin takes up to 0.1 ms for a time off the CPU, and sleeps
	# 2 ms from when the timer is set, while something is on the wire. In a guest its CPU clock has been seen to count some of the sleep,
	# which is the wire's then.
	python3 - "$work/json" >"$work/held" <<-'END'
		import json, re, sys
		steps = [s for s in json.load(open(sys.argv[1]))["steps"] if "func=AllReduce" in s["attributes"]]
		def sums(step, name, culprit):
		    return sum(p["ns"] for p in step["parts"] if re.fullmatch(name, p["name"]) and re.fullmatch(culprit, p["culprit"]))
		print(sum(sums(s, "nccl: peer", "rank 6") >= 1900000 for s in steps),
		      sum(sums(s, "nccl: (wire|host ← nccl/[0-9]+: (cpu|sleep: (clock_)?nanosleep))", ".*") >= 1900000 for s in steps),
		      sum(sums(s, "nccl: host ← nccl/[0-9]+: sleep: (clock_)?nanosleep", "") > 0 for s in steps),
		      len(steps))
	END
	t_eq "each is held by rank 6, and by its proxy thread, which sleeps" "$(cat "$work/held")" "20 20 20 20"
	# the one without channels may be among these
	t_range "the table says so, of all and of the slowest three" "$("$KSTALL" why -i "$work/trace.dat" --step nccl | grep -c 'coll      nccl: peer  *rank 6$')" 3 4
	NCCL_PROFILE_EVENT_MASK=2 "$KSTALL" record -o "$work/short.dat" --step nccl -- ./nccl 6 20 busy >"$work/out" 2>"$work/err" || bail "$(tail -1 "$work/err")"
	t_eq "without channels the parts are the caller's" "$("$KSTALL" why -i "$work/short.dat" --step nccl | grep -c ' % *coll ')" 0
	"$KSTALL" record -o "$work/user.dat" --step nccl -- setpriv --reuid 65534 --clear-groups ./nccl 6 20 >"$work/out" 2>"$work/err" || bail "$(tail -1 "$work/err")"
	t_eq "as many of a user who reaches no trace_marker" "$("$KSTALL" why -i "$work/user.dat" --step nccl | sed -n '1s/:.*//p')" "21 steps by nccl"
else
	for what in "why" "21 collectives are 21 steps, each when it was" "whose" "each is held by rank 6, and by its proxy thread, which sleeps" "the table says so, of all and of the slowest three" "without channels the parts are the caller's" "as many of a user who reaches no trace_marker"; do t_skip "$what" "kstall is not built here"; done
fi
t_fails "no plugin" env NCCL_PROFILER_PLUGIN=/nowhere.so ./nccl 6 1
t_eq "no other symbols" "$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | xargs)" "ncclProfiler_v4 ncclProfiler_v5 ncclProfiler_v6"
