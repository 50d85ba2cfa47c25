#!/usr/bin/env bash
# description: kstall why reads calls of the GPU's library from a recording, by the names of their events
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 4

make_dat gpucalls
same "their parts" "$("$KSTALL" why -i gpucalls.dat --json | stated --json)" "$(stated "$here/gpucalls.txt")"
same "how much was copied, and what was called last" "$("$KSTALL" why -i gpucalls.dat | grep -oE '3 MiB, held.*|since .*' | sort -u)" \
	"3 MiB, held its caller
since cuEventSynchronize"
python3 "$here/mkdat.py" --session all-first --rename gpu_begin_0_cuStreamSynchronize.sp=stack "$here/gpucalls.txt" || bail "no recording"
same "a version with another field: it is said" "$("$KSTALL" why -i gpucalls.dat --json | grep -o 'gpu_begin has no field sp')" "gpu_begin has no field sp"
same "... and of that function nothing is shown" "$("$KSTALL" why -i gpucalls.dat --json | grep -c 'gpu_wait: cuStream')" 0
