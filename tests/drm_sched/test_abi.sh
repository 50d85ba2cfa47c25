#!/usr/bin/env bash
# description: the events' fields and arguments are what users rely on, and no event is mistaken for one of the kernel's
. ./lib.sh
plan 6

load drm_sched_trace
names=$(basename -a $TRACEFS/events/drm_sched/*/)

t_eq "twelve events" "$(wc -w <<<"$names")" 12
t_ok "fields are those of the snapshot" diff abi/fields.txt <(./abi.sh fields)
t_ok "arguments are those of the snapshot" diff abi/arguments.txt <(./abi.sh arguments)

# What the kernel itself says of the arguments: their number. The first is the probe's data.
if [ -e /sys/kernel/btf/drm_sched_trace ]; then
	bpftool btf dump -B /sys/kernel/btf/vmlinux file /sys/kernel/btf/drm_sched_trace >"$work/btf" 2>/dev/null
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
others=$(find $TRACEFS/events -mindepth 2 -maxdepth 2 -type d ! -path '*/drm_sched/*' -printf '%f\n')
t_eq "no event of the running kernel has one of the names" "$(grep -xFf <(echo "$names") <<<"$others")" ""
