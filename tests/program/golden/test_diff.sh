#!/usr/bin/env bash
# description: kstall diff says what a step has more, and what it has less, with the right sign
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 9

make_dat good bad windows

compare() { "$KSTALL" diff "$@"; }

golden "what the bad one has more" diff.want compare good.dat bad.dat
golden "the other way round" diff-reverse.want compare bad.dat good.dat
golden "JSON" diff.json.want compare --json good.dat bad.dat
golden "with itself: nothing, in order of the names" diff-same.want compare good.dat good.dat
# four windows of the program and three of its child
same "--every" "$(compare --every 1us -p 100 windows.dat windows.dat | sed 1q)" \
	"+0 ns a step: 1.0 us (7 steps of windows.dat), before 1.0 us (7 of windows.dat)"
t_fails "of a process that is not there" "$KSTALL" diff -p 4242 good.dat bad.dat

# As a program makes them that tries system calls: each number is a part.
calls() {
	local t=2000 nr
	echo "1000 0 1 0 ftrace:print buf=kstall task 100 100 R -1 app"
	echo "1001 0 100 0 ftrace:print buf=kstall step 1 begin"
	for nr in {1000..3999}; do
		echo "$((t += 10)) 0 100 0 raw_syscalls:sys_enter id=$nr"
		echo "$((t += 7)) 0 100 0 raw_syscalls:sys_exit id=$nr"
	done
	echo "$((t += 10)) 0 100 0 ftrace:print buf=kstall step 1 end"
}
calls >calls.txt
python3 "$here/mkdat.py" --session all-first calls.txt || bail "no recording"
"$KSTALL" why --json -i calls.dat >calls.json
same "3,000 parts: those beyond 1,024 are one" "$(stated --json <calls.json | grep -vc 'system call')" 3
same "... which has their time" "$(stated --json <calls.json | awk '/ kernel: / { ns += $3 } END { print ns }') $(
	stated --json <calls.json | grep -c '(others)')" "21000 1"
same "diff has them, too" "$(compare --json calls.dat calls.dat | grep -c '"name": "kernel: ')" 1024
