#!/usr/bin/env bash
# description: kstall record keeps the fences by which amdkfd takes a process's queues off the GPU, and no other driver's, where there is amdkfd
# tier1: 6.12
. ./lib.sh
plan 5

KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ ! -e /dev/kfd ] || skip_all "there is amdkfd"
at_exit rm -f /dev/kfd

# evicted NAME: somebody waits for a fence, which is signaled; 120 ms later there is the next one of its context
evicted() {
	# shellcheck disable=SC2016
	"$KSTALL" record -o "$work/$1.dat" -- bash -c 'echo "kstall step 1 begin" >"$KSTALL_MARKER"
		./gpu fence await 0 20 signal 0 sleep 120 fence sleep 20
		echo "kstall step 1 end" >"$KSTALL_MARKER"' >"$work/out" 2>"$work/err" || bail "$(cat "$work/err")"
	"$KSTALL" why -i "$work/$1.dat" --json >"$work/$1.json"
}
evictions() { grep -c '"off_ns"' "$work/$1.json"; }

load mock_gpu soft_driver=amdgpu_amdkfd_fence
evicted without
t_eq "no amdkfd: nobody looks" "$(evictions without)" 0
: >/dev/kfd
evicted with
t_eq "with it: whose, asked by whom, for how long" "$(python3 - "$work/with.json" <<-'END'
	import json, sys
	for x in json.load(open(sys.argv[1]))["evictions"]:
	    print(x["process"], x["by"].split("/")[0], x["asked_ns"] + 15000000 <= x["off_ns"], x["off_ns"] + 120000000 <= x["on_ns"])
END
)" "soft gpu True True"
t_eq "asked by the thread that waited" "$(grep -oE '"by": "gpu/[0-9]+' "$work/with.json" | tr -dc 0-9)" "$(said pid)"
t_eq "beside the step" "$("$KSTALL" why -i "$work/with.dat" | grep -cE '^  ! after [0-9.]+ ms: ROCm.s queues of soft off for 1[0-9.]+ ms, evicted for gpu/')" 1
unload mock_gpu
load mock_gpu
evicted other
t_eq "of another driver: none" "$(evictions other)" 0
