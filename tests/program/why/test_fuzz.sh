#!/usr/bin/env bash
# description: recordings that were cut short or spoilt are refused with one line, or read, whatever that does to the libraries
# timeout: 500
# requires: python3
. ../../lib.sh
plan 6

work=$(mktemp -d)
at_exit rm -rf "$work"
kstall=../../../kstall/kstall
[ -x $kstall ] || skip_all "kstall is not built here"
load mm_migrate_trace
t_ok "a recording" $kstall record -o "$work/trace.dat" -b 64 --step marker -- ./trainer 3 pipe,hog
t_ok "why reads it" $kstall why -i "$work/trace.dat" --json
t_eq "a file that is none" "$(head -c 5000 /dev/zero >"$work/zero"; $kstall why -i "$work/zero" 2>"$work/err"; echo "$? $(wc -l <"$work/err")")" "1 1"
t_eq "why: spoilt ones" "$(./fuzz.py "$(at_length 80 12)" "$work/trace.dat" $kstall why -i '{}' --json)" ""
# with what notices each access outside of its memory
[ -x asan/kstall ] || bail "no asan/kstall"
t_eq "why, watched: spoilt ones" "$(./fuzz.py "$(at_length 60 8)" "$work/trace.dat" asan/kstall why -i '{}' --json)" ""
t_eq "diff, watched: spoilt ones" "$(./fuzz.py "$(at_length 20 4)" "$work/trace.dat" asan/kstall diff "$work/trace.dat" '{}')" ""
