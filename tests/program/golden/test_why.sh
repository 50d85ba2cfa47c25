#!/usr/bin/env bash
# description: kstall why names the right layer, phase and culprit with the right time, share and unit
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 23

make_dat layers bad windows units
stated "$here/windows.txt" >windows.stated

why() { "$KSTALL" why "$@"; }
json() { why --json "$@"; }

# parts_of DAT OPTION…: in the form in which stated has them
parts_of() { why --json -i "$@" >parts.json && stated --json <parts.json; }

# --- by markers ---

same "each layer has its time, as stated" "$(parts_of layers.dat)" "$(stated "$here/layers.txt")"
golden "the table of it" why-layers.want why -i layers.dat --slowest 17
golden "JSON has its culprits and shares" why-layers.json.want json -i layers.dat
same "the slowest two" "$(why -i layers.dat --slowest 2 | grep '^step')" "step quota of trainer/100: 6.5 us
step job of trainer/100: 4.7 us"
same "three without --slowest" "$(why -i layers.dat | grep -c '^step')" 3
golden "--comm: one process" why-loader.want why -i layers.dat --comm loader
golden "-p: the same by number" why-loader.want why -i layers.dat -p 200
same "-p of both" "$(why -i layers.dat -p 100,200 | sed 1q)" "$(why -i layers.dat | sed 1q)"
golden "a step that lost events has no shares" why-bad.want why -i bad.dat --slowest 4
golden "nor in JSON" why-bad.json.want json -i bad.dat
golden "seconds, milliseconds, microseconds, nanoseconds" why-units.want why -i units.dat

# medians FILE OPTION…: the program's, and that of the steps it prints
medians() {
	json -i "$@" | python3 -c 'import json, statistics, sys
d = json.load(sys.stdin)
print(d["total"]["median_ns"], int(statistics.median(s["duration_ns"] for s in d["steps"])), len(d["steps"]))'
}
same "the median of 17 steps" "$(medians layers.dat)" "2060 2060 17"
same "... of 4: between the two in the middle" "$(medians bad.dat)" "7110 7110 4"

# --- otherwise ---

# which of two windows of the same length is first is not defined
sums() { why "$@" | sed '/^$/,$d'; }
golden "--every: the sums of a program and its child" why-every.want sums -i windows.dat --every 1us -p 100
golden "... and the child's windows, where it is not always there" why-every-103.want why -i windows.dat --every 1us -p 103 --slowest 4
golden "what the program does itself is not the culprit, be it the largest part" why-every-103.json.want json -i windows.dat --every 1us -p 103
golden "--step all" why-all.want why -i windows.dat --step all --comm app
golden "--step nccl: what held the collective, the 10 ns that are left are the host's" why-nccl.want why -i windows.dat --step nccl
same "... and the culprit is the rank that was waited for" "$(json -i windows.dat --step nccl |
	python3 -c 'import json, sys; s = json.load(sys.stdin)["steps"][0]; print(s["culprit"]["name"], s["culprit"]["what"], s["parts"][4]["culprit"])')" \
	"nccl: peer rank 6 rank 12"
sed 's/nccl n0 end.*/nccl n0 lost/' "$here/windows.txt" >lost.txt
python3 "$here/mkdat.py" --session all-first lost.txt || bail "no recording"
same "... collectives without an end are missing, and counted" "$(why -i lost.dat --step nccl | sed -n '1p; $s/.*; //p')" \
	"No step has ended (steps by nccl).
1 collectives are missing: NCCL has not reported their end"
# a call that goes on at the end is no step
same "--step uprobe: from call to call" "$(parts_of windows.dat --step uprobe:/usr/bin/app:train | sed 's/^/f/')" \
	"$(grep '^f' windows.stated)"
same "windows and the whole, as stated" "$(
	for by in "--every=1us" "--step=all"; do
		why --json -i windows.dat -p 100 $by | stated --tid
	done | sed 's/^100-/p/; s/^103-/c/' | sort
)" "$(grep '^[pc]' windows.stated | sort)"

# --- another way in ---

same "the engine says the same of the text" "$("$ENGINE" marker <"$here/layers.txt" | sed 's/"name": "text"/"name": "layers.dat"/')" \
	"$(json -i layers.dat)"
