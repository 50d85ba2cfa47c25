#!/usr/bin/env bash
# description: recordings that were cut short or spoilt are refused with one line, or read, whatever that does to the libraries
# timeout: 500
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ../../lib.sh
plan 18

work=$(mktemp -d)
at_exit rm -rf "$work"
kstall=$PWD/../../../kstall/kstall golden=$PWD/../golden watched=$PWD/asan/kstall fuzz=$PWD/fuzz.py
[ -x "$kstall" ] || skip_all "kstall is not built here"
# with what notices each access outside of its memory
[ -x "$watched" ] || bail "no asan/kstall"
cd "$work" || exit

# make NAME TEXT OPTION…
make() {
	local name=$1 text=$2
	shift 2
	python3 "$golden/mkdat.py" "$@" "$golden/$text.txt" || bail "no recording $name"
	mv "$text.dat" "$name.dat"
}
make plain layers
make session windows --session all-first
make other calls --big --long 8 --clock boot --uname "Linux node 6.1.0 ppc64"

# spoilt DESC N NAME command…
spoilt() {
	local desc=$1 n=$2 name=$3
	shift 3
	t_eq "$desc: $name" "$("$fuzz" "$n" "$name.dat" "$@" 2>refused)" ""
}

t_eq "a file that is none" "$(head -c 5000 /dev/zero >zero; "$kstall" why -i zero 2>err; echo "$? $(wc -l <err)")" "1 1"
for name in plain session other; do
	t_ok "why reads it: $name" "$kstall" why -i $name.dat --json
	spoilt "why" "$(at_length 60 20)" $name "$kstall" why -i '{}' --json
	spoilt "why, watched" "$(at_length 24 8)" $name "$watched" why -i '{}' --step all
	spoilt "timeline, watched" "$(at_length 12 4)" $name "$watched" timeline -o out '{}'
	spoilt "diff, watched" "$(at_length 12 4)" $name "$watched" diff --step all '{}' $name.dat
done

# calls FIRST NAME: a recording of 3,000 calls that kstall has no name for, as a program makes them that tries numbers
calls() {
	local t=1000 nr
	{
		echo "$t 0 1 0 ftrace:print buf=kstall task 100 100 R -1 app"
		for ((nr = $1; nr < $1 + 3000; nr++)); do
			echo "$((t += 10)) 0 100 0 raw_syscalls:sys_enter id=$nr"
			echo "$((t += 7)) 0 100 0 raw_syscalls:sys_exit id=$nr"
		done
	} >"$2.txt"
	python3 "$golden/mkdat.py" "$2.txt" --session all-first || bail "no recording $2"
}
calls 1000 some
calls 4000 others
t_eq "diff, watched: 6,000 kinds of parts" "$("$watched" diff --step all --json some.dat others.dat 2>&1 | grep -c '"name": "kernel: system call')" 2046
t_eq "no timeline is left half-written" "$(find . -name 'out.*')" ""
