#!/usr/bin/env bash
# description: each module's parameters have unit, default and range; loading with a bad value is refused with one line that says why
# once: they are checked by the same code on each kernel
# shellcheck source-path=SCRIPTDIR
. ./lib.sh

mapfile -t modules < <(our_modules)
plan $((2 * ${#modules[@]}))
for dep in gpu_sched ttm ib_uverbs rdma_cm; do modprobe $dep || bail "no $dep"; done

# refused MODULE PARAMETER VALUE REGEX: says what is wrong if it is not, or if the log has not one such line
refused() {
	local n
	if insmod "../../../$1/$1.ko" "$2=$3" 2>/dev/null; then
		rmmod "$1"
		echo "$1 loads with $2=$3"
	fi
	n=$(log_count "^\[[^]]*\] $1: $4$")
	[ "$n" = 1 ] || echo "$1 $2=$3: the log has $n such lines"
}

# What is counted: the unit is in the words. One bad value each; min_ns are all the same, one will do.
for module in "${modules[@]}"; do
	without='' wrong='' min_ns=
	while IFS=: read -r name text; do
		log_mark
		if [[ $text =~ \ \(([0-9]+)\ to\ ([0-9]+),\ default\ [0-9]+\).*\(uint\)$ ]]; then
			wrong+=$(refused "$module" "$name" $((BASH_REMATCH[2] + 1)) "$name=$((BASH_REMATCH[2] + 1)) refused: want ${BASH_REMATCH[1]} to ${BASH_REMATCH[2]}")
		elif [[ $text =~ \ ns,.*\(0\ or\ more,\ default\ [0-9]+\).*\(ullong\)$ ]]; then
			[ -n "$min_ns" ] || wrong+=$(refused "$module" "$name" -1 "\`-1' invalid for parameter \`$name'")
			min_ns=1
		elif [[ $text =~ \ \(0\ or\ 1,\ default\ [01]\).*\(bool\)$ ]]; then
			wrong+=$(refused "$module" "$name" 2 "\`2' invalid for parameter \`$name'")
		else
			without+=" $name"
		fi
	done < <(modinfo -F parm "../../../$module/$module.ko")
	t_eq "$module: each parameter has unit, range and default" "$without" ""
	t_eq "$module: a bad value of each is refused, with one line" "$wrong" ""
done
