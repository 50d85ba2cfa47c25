#!/usr/bin/env bash
# description: `kstall why` reads a recording at a cost in proportion to its events, and faster than trace-cmd and perf do
# timeout: 500
# requires: python3 perf trace-cmd
. ../../lib.sh
kstall=$PWD/../../../kstall/kstall
[ -x "$kstall" ] || skip_all "kstall is not built here"
plan 5

work=$(mktemp -d)
at_exit rm -rf "$work"

# cost COMMAND…: milliseconds of processor time that it took. Not the clock on the wall: others run, too.
cost() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round((u.ru_utime + u.ru_stime) * 1000))' "$@"
}
# pipe LOOPS: two processes that take turns
pipe() { echo "perf bench sched pipe -l $1"; }

for loops in 1500 9000; do
	# shellcheck disable=SC2046 # words
	"$kstall" record -b 32768 -o "$work/$loops" -- $(pipe $loops) >"$work/out" 2>&1 || bail "record: $(tail -1 "$work/out")"
	"$kstall" why -i "$work/$loops" --json >"$work/$loops.json"
done
events() { python3 -c 'import json, sys; c = json.load(open(sys.argv[1]))["cost"]; print(c["events"], c["lost"])' "$work/$1.json"; }
read -r few lost_few < <(events 1500)
read -r many lost_many < <(events 9000)
t_range "six times as much happened" $((100 * many / few)) 500 700
t_eq "and nothing was lost" "$lost_few $lost_many" "0 0"

read -r ms_few < <(cost "$kstall" why -i "$work/1500")
read -r ms_many < <(cost "$kstall" why -i "$work/9000")
echo "# why: $few events in $ms_few ms, $many events in $ms_many ms of processor time"
t_range "an event costs no more in a long recording (percent)" $((100 * ms_many * few / (ms_few * many))) 10 130
read -r ms_report < <(cost trace-cmd report "$work/9000")
echo "# trace-cmd report: $ms_report ms for the same file"
t_range "why is faster than trace-cmd report of the same file" "$ms_many" 1 "$ms_report"

# shellcheck disable=SC2046 # words
perf sched record -o "$work/perf" -- $(pipe 9000) >"$work/out" 2>&1 || bail "perf: $(tail -1 "$work/out")"
samples=$(perf report --stats -i "$work/perf" 2>/dev/null | awk '$1 == "SAMPLE" { n = $NF } $2 == "SAMPLE" { n = $NF } END { print n }')
samples=${samples:-$(perf script -i "$work/perf" 2>/dev/null | wc -l)}
read -r ms_perf < <(cost perf sched timehist -i "$work/perf")
echo "# perf sched timehist: $samples events in $ms_perf ms"
t_range "and than perf sched timehist, by event (percent)" $((100 * ms_many * samples / (ms_perf * many))) 1 100
