#!/usr/bin/env bash
# description: each tool starts on this kernel and its bpftrace, without a warning, and ends with its program
# timeout: 900
# requires: bpftrace
. ../../events.sh
# shellcheck source=lib.sh
. ./lib.sh
[ -n "${KSTALL_BRIEF-}" ] || skip_all "what each tool says is tested here"

# ibv_lat needs the places of a library's functions: ./test_ibv_lat.sh
mapfile -t tools < <(cd ../../../tools && printf '%s\n' *.bt | sed 's/\.bt$//' | grep -vx ibv_lat)
plan $((${#tools[@]} * 2))

for module in $(our_modules); do
	load "$module"
done
echo true >"$work/workload"
for name in "${tools[@]}"; do
	tool "$name"
	t_ok "$name: says what it does" grep -qE '^(Tracing|Waiting)' "$work/$name"
done
