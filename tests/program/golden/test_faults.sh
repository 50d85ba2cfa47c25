#!/usr/bin/env bash
# description: kstall why shows errors of NVIDIA's GPUs and switches beside the step in which they came
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 3

make_dat faults
golden "beside their step, with NVIDIA's advice" why-faults.want "$KSTALL" why -i faults.dat
same "all of them in JSON" "$("$KSTALL" why --json -i faults.dat | python3 -c 'import json, sys
for f in json.load(sys.stdin)["faults"]: print(f["at_ns"], f["kind"], f["code"], f["device"], f["action"] or "-")')" \
	"950 Xid 63 0000:19:00.0 none: a row was remapped
3000 Xid 119 0000:19:00.0 reset the GPU
3500 Xid 999 0000:19:00.0 -
4000 SXid 20034 0000:05:00.0 -"
same "the engine says the same of the text" "$("$ENGINE" marker <"$here/faults.txt" | grep -c '"code"')" 4
