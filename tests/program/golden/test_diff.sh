#!/usr/bin/env bash
# description: kstall diff says what a step has more, and what it has less, with the right sign
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 6

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
