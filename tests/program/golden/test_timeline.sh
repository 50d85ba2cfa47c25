#!/usr/bin/env bash
# description: kstall timeline draws each slice where it belongs, on its track, with its cause and its arrows
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 10

make_dat layers windows

# draw BEGIN OPTION…: as lines
draw() {
	local begin=$1
	shift
	"$KSTALL" timeline "$@" -o out.pftrace >said && python3 "$here/slices.py" out.pftrace "$begin"
}

golden "threads, steps, requests and jobs" timeline-layers.want draw 5000000000 layers.dat
golden "--comm: a program, its thread and its child" timeline-windows.want draw 7000000000 --comm app windows.dat
same "it says how many other tracks there are" "$(sed -E 's/[0-9]+ slices/N slices/' said)" \
	"out.pftrace: N slices of threads, 0 other tracks; open it in https://ui.perfetto.dev"
"$KSTALL" timeline layers.dat >said
same "to out.pftrace without -o" "$(sed -E 's/[0-9]+ slices/N slices/' said) $(ls out.pftrace)" \
	"out.pftrace: N slices of threads, 10 other tracks; open it in https://ui.perfetto.dev out.pftrace"

# --- the file ---

is_whole() { cmp "$1" whole.pftrace && echo yes; }
"$KSTALL" timeline -o whole.pftrace layers.dat >said
echo before >kept.pftrace
python3 "$here/mkdat.py" --without sched "$here/windows.txt" || bail "no recording"
t_fails "a recording that is refused when it is read" "$KSTALL" timeline -o kept.pftrace windows.dat
same "... leaves the file that was there, and no other" "$(cat kept.pftrace) $(ls kept.pftrace*)" "before kept.pftrace"
ln -s kept.pftrace link.pftrace
"$KSTALL" timeline -o link.pftrace layers.dat >said
same "a link stays one" "$(readlink link.pftrace) $(is_whole kept.pftrace)" "kept.pftrace yes"
mkfifo pipe
cat pipe >through &
"$KSTALL" timeline -o pipe layers.dat >said
wait $!
same "a pipe stays one" "$([ -p pipe ] && is_whole through)" yes
(umask 027 && "$KSTALL" timeline -o mode.pftrace layers.dat >said)
same "its mode is the user's" "$(stat -c %a mode.pftrace)" 640
same "no directory: one line" "$("$KSTALL" timeline -o no/dir layers.dat 2>&1)" "kstall: no/dir: No such file or directory"
