#!/usr/bin/env bash
# description: ibv-offsets finds the functions of a provider's library, and ibv_lat.bt times each request of programs that use it
# timeout: 700
# requires: bpftrace ib_write_lat
# shellcheck source=../../modules/ib_cq/lib.sh
. ../../modules/ib_cq/lib.sh
# shellcheck source=lib.sh
. ./lib.sh
plan 7

soft_roce
ip link set lo up
tools=../../../tools

t_eq "a device that is not there" "$($tools/ibv-offsets nosuch 2>&1)" "ibv-offsets: no such device, or no provider for it (Debian: ibverbs-providers)"
read -r library post poll < <($tools/ibv-offsets rxe0)
t_eq "the library" "${library##*/}" "$(cd /usr/lib/x86_64-linux-gnu/libibverbs && ls librxe-*.so)"
t_eq "two functions in it" "$(printf '%s\n' "$post" "$poll" | sort -u | grep -cE '^0x[0-9a-f]+$')" 2

$tools/ibv_lat.bt "$library" "$post" "$poll" >"$work/ibv_lat" 2>"$work/ibv_lat.err" &
bpftrace=$!
wait_until 300 grep -q ^Tracing "$work/ibv_lat" || bail "bpftrace does not start: $(xargs <"$work/ibv_lat.err")"

run out both_ends ib_write_lat -n 100
interrupt $bpftrace
t_eq "it ends well" "$?" 0
t_eq "100 writes of each of two processes" "$(grep -oP '^@qp_us\[ib_write_lat, \d+, \d+\]: .*\bcount( =)? \K\d+' "$work/ibv_lat" | xargs)" "100 100"
t_eq "and histograms of them" "$(grep -oP '^@us\[\K.*(?=\]:)' "$work/ibv_lat" | while read -r key; do entries ibv_lat "us[$key]"; done | xargs)" "100 100"
t_eq "none failed, none was posted with an id on its way" "$(grep -cE '^@(failed|same_id)' "$work/ibv_lat")" 0
