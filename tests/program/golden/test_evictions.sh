#!/usr/bin/env bash
# description: kstall why shows when ROCm's queues of a process were off the GPU, and for whom, beside the steps
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 3

make_dat evictions
golden "beside their steps: in one, twice in one, and not over" why-evictions.want "$KSTALL" why -i evictions.dat --slowest 3
same "all of them in JSON" "$("$KSTALL" why --json -i evictions.dat | python3 -c 'import json, sys
for x in json.load(sys.stdin)["evictions"]: print(*x.values())')" \
	"python 1000 3000 8000 khugepaged/45
new 13000 14000 15000 app/100
python 16000 17000 0 task 400"
same "the engine says the same of the text" "$("$ENGINE" marker <"$here/evictions.txt" | grep -c '"off_ns"')" 3
