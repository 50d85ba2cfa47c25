#!/usr/bin/env bash
# description: kstall timeline draws each slice where it belongs, on its track, with its cause and its arrows
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 4

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
