#!/usr/bin/env bash
# description: kstall why shows when ROCm's queues of a process were off the GPU, and for whom, beside the steps
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 4

make_dat evictions
golden "beside their steps: in one, twice in one, and not over" why-evictions.want "$KSTALL" why -i evictions.dat --slowest 3
same "all of them in JSON" "$("$KSTALL" why --json -i evictions.dat | python3 -c 'import json, sys
for x in json.load(sys.stdin)["evictions"]: print(*x.values())')" \
	"python 1000 3000 8000 khugepaged/45
new 13000 14000 15000 app/100
python 16000 17000 0 task 400"
# a step in which they come six times
{
	sed -n '4,10p' "$here/evictions.txt"
	for i in 1 2 3 4 5 6; do
		printf '%s\n' "${i}0000 2 45 0 dma_fence:dma_fence_enable_signal driver=amdgpu_amdkfd_fence timeline=python context=8 seqno=$i" \
			"${i}1000 2 45 0 dma_fence:dma_fence_signaled driver=amdgpu_amdkfd_fence timeline=python context=8 seqno=$i" \
			"${i}2000 2 45 0 dma_fence:dma_fence_init driver=amdgpu_amdkfd_fence timeline=python context=8 seqno=$((i + 1))"
	done
	printf '%s\n' "90000 0 100 0 kstall:step text=kstall step 1 end" "91000 0 100 0 raw_syscalls:sys_enter id=1"
} >often.txt
python3 "$here/mkdat.py" --session all-first often.txt || bail "no recording"
same "of many in a step the first four" "$("$KSTALL" why -i often.dat | grep '^  !' | tail -n 2)" \
	"  ! after 29.0 us: ROCm's queues of python off for 1.0 us, evicted for khugepaged/45
  ! and 3 times more"
same "the engine says the same of the text" "$("$ENGINE" marker <"$here/evictions.txt" | grep -c '"off_ns"')" 3
