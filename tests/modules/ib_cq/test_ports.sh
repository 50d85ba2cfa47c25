#!/usr/bin/env bash
# description: what a lossy link makes the port count stands beside the step in kstall why, and a good link counts nothing
# tier1: 6.12
# once: it does not ask the kernel's version
. ./lib.sh
plan 6

KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
soft_roce_link
load mock_ib peer=rxe1
mock open

# recorded NAME: 40 writes are a step, recorded to $work/NAME.dat
recorded() {
	# shellcheck disable=SC2016
	DO=$DO "$KSTALL" record -o "$work/$1.dat" -- bash -c '
		echo "kstall step writes begin" >"$KSTALL_MARKER"
		echo "step 40 1" >"$DO" && cat "$DO"
		echo "kstall step writes end" >"$KSTALL_MARKER"' >"$work/$1.out" 2>&1
}
# counted NAME COUNTER: of rxe0, in all
counted() {
	"$KSTALL" why -i "$work/$1.dat" --json | python3 -c 'import json, sys
print(sum(c["count"] for p in json.load(sys.stdin)["ports"] if p["port"] == "rxe0/1" for c in p["changes"] if c["counter"] == sys.argv[1]))' "$2"
}

recorded good || bail "$(cat "$work/good.out")"
t_eq "a good link: each port is named" "$("$KSTALL" why -i "$work/good.dat" --json | python3 -c 'import json, sys
print(sorted(p["port"] for p in json.load(sys.stdin)["ports"]))')" "['rxe0/1', 'rxe1/1']"
t_eq "a good link: nothing lost" "$("$KSTALL" why -i "$work/good.dat" | sed -n '/^RDMA ports: /p')" \
	"RDMA ports: rxe0/1: nothing lost, repeated or slowed down; rxe1/1: nothing lost, repeated or slowed down"

./link loses ok random determ drop 5
was=$(counter completer_retry_err)
recorded lossy || bail "$(cat "$work/lossy.out")"
now=$(counter completer_retry_err)
t_range "a lossy link: sent again" $((now - was)) 1 80
t_eq "a lossy link: as often as the port says" "$(counted lossy completer_retry_err)" $((now - was))
t_eq "a lossy link: beside the step" "$("$KSTALL" why -i "$work/lossy.dat" | grep -c '^  ! rxe0/1 in the .* around it: .*completer_retry_err')" 1
t_eq "what the ports carry is not counted" "$("$KSTALL" why -i "$work/lossy.dat" --json | grep -c '"counter": "\(sent_pkts\|rcvd_pkts\|rdma_sends\)"')" 0
