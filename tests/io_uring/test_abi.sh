#!/usr/bin/env bash
# description: the events' fields and arguments are what users rely on, and no event is mistaken for one of the kernel's
. ./lib.sh
plan 7

load io_uring_trace
names=$(find $TRACEFS/events/io_uring_trace -mindepth 1 -type d -printf '%f\n' | sort)

t_eq "eight events" "$(wc -w <<<"$names")" 8
t_ok "fields are those of the snapshot" diff abi/fields.txt <(./abi.sh fields)
t_ok "arguments are those of the snapshot" diff abi/arguments.txt <(./abi.sh arguments)

# What the kernel itself says of the arguments: their number. The first is the probe's data.
if [ -e /sys/kernel/btf/io_uring_trace ]; then
	bpftool btf dump -B /sys/kernel/btf/vmlinux file /sys/kernel/btf/io_uring_trace >"$work/btf" 2>/dev/null
	for name in $names; do
		pointer=$(grep -oP "TYPEDEF 'btf_trace_$name' type_id=\K\d+" "$work/btf")
		proto=$(grep -oP "^\[$pointer\] PTR .*type_id=\K\d+" "$work/btf")
		echo "$name $(grep -oP "^\[$proto\] FUNC_PROTO .*vlen=\K\d+" "$work/btf")"
	done >"$work/counted"
	t_eq "BTF has as many arguments" "$(cat "$work/counted")" \
		"$(awk -F'[(]' '{ print $1, gsub(/,/, ",", $2) + 2 }' abi/arguments.txt)"
else
	t_skip "BTF has as many arguments" "this kernel's modules have no BTF"
fi

# A raw tracepoint is found by its bare name.
t_eq "no more than 12 arguments, the data included" "$(awk -F, 'NF + 1 > 12' abi/arguments.txt)" ""
others=$(find $TRACEFS/events -mindepth 2 -maxdepth 2 -type d ! -path '*/io_uring_trace/*' -printf '%f\n')
t_eq "no event of the running kernel has one of the names" "$(grep -xFf <(echo "$names") <<<"$others")" ""
if [ -e "tracepoints.$(uname -r)" ]; then
	t_eq "no tracepoint of the kernel's modules has one of the names" "$(grep -xFf <(echo "$names") "tracepoints.$(uname -r)")" ""
else
	t_skip "no tracepoint of the kernel's modules has one of the names" "tracepoints.$(uname -r) has not been made"
fi
