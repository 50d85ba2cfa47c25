#!/usr/bin/env bash
# description: the events' fields, arguments and names of values are what users rely on, and no event is mistaken for one of the kernel's
# tier1: 6.12
. ../../lib.sh

mapfile -t modules < <(cd ../../.. && printf '%s\n' *_trace)
kernels=tracepoints.$(uname -r) # made by make
[ -s "$kernels" ] || bail "no $kernels"
plan $((${#modules[@]} * 8))

# counted MODULE: "EVENT N" for each, N the arguments that BTF knows, the first of which is the probe's own data
counted() {
	bpftool btf dump -B /sys/kernel/btf/vmlinux file "/sys/kernel/btf/$1" 2>/dev/null | awk -v names="${names//$'\n'/ }" '
		{ id = $1 }
		/ TYPEDEF .btf_trace_/ { name = $3; gsub(/^.btf_trace_|.$/, "", name); sub(/.*type_id=/, ""); pointer[name] = "[" $1 "]" }
		/ PTR / { sub(/.*type_id=/, ""); proto[id] = "[" $1 "]" }
		/ FUNC_PROTO / { sub(/.*vlen=/, ""); n[id] = $1 }
		END { split(names, list); for (i = 1; i in list; i++) print list[i], n[proto[pointer[list[i]]]] }'
}

for module in "${modules[@]}"; do
	load "$module"
	system=$(system_of "$module")
	names=$(basename -a "$TRACEFS/events/$system"/*/)

	t_ok "$module: fields are those of the snapshot" diff "$module.fields" <(./abi.sh fields "$module")
	t_ok "$module: arguments are those of the snapshot" diff "$module.arguments" <(./abi.sh arguments "$module")
	t_ok "$module: values have the names of the snapshot" diff "$module.names" <(./abi.sh names "$module")
	if [ -e "/sys/kernel/btf/$module" ]; then
		t_eq "$module: BTF has as many arguments" "$(counted "$module")" \
			"$(awk -F'[(]' '{ print $1, gsub(/,/, ",", $2) + 2 }' "$module.arguments")"
	else
		t_skip "$module: BTF has as many arguments" "this kernel's modules have no BTF"
	fi

	# bpftrace 0.23 reads those from a wrong address.
	t_eq "$module: no strings of variable length" "$(grep __data_loc "$module.fields")" ""
	# bpftrace 0.27 does not offer raw tracepoints that have more.
	t_eq "$module: no more than five arguments" "$(awk -F, 'NF > 5' "$module.arguments")" ""
	# A raw tracepoint is found by its bare name.
	others=$(find $TRACEFS/events -mindepth 2 -maxdepth 2 -type d ! -path "*/$system/*" -printf '%f\n')
	t_eq "$module: no event of the running kernel has one of the names" "$(grep -xFf <(echo "$names") <<<"$others")" ""
	t_eq "$module: no tracepoint of the kernel's modules has one" "$(grep -xFf <(echo "$names") "$kernels")" ""
done
