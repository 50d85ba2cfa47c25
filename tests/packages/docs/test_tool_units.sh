#!/usr/bin/env bash
# description: each tool prints times in the unit that it names
# requires: python3
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 7

tools=$(realpath ../../../tools)
work=$(mktemp -d)
at_exit rm -rf "$work"

./tool_units.py "$tools"/*.bt >"$work/out" 2>"$work/found"
t_eq "no complaints" "$(<"$work/out")" ""
t_eq "tools without a time" "$(sed -n 's/^0 //p' "$work/found" | xargs)" "ibv_errors.bt iommu_faults.bt"

# sees DESC TOOL 'sed script' COMPLAINT: so broken, it complains
sees() {
	sed "$3" "$tools/$2.bt" >"$work/$2.bt"
	if cmp -s "$tools/$2.bt" "$work/$2.bt"; then bail "$2.bt has no such line: $3"; fi
	t_eq "seen: $1" "$(./tool_units.py "$work/$2.bt" 2>&1 | grep -v '^[0-9]')" "$2.bt: $4"
}

sees "a histogram in ns" iommu_sync 's:\(hist(args->duration_ns\) / 1000:\1:' '@sync_us is printed as another unit'
sees "a sum that is not divided" iommu_sync 's:print(@still_us, 0, 1000):print(@still_us):' '@still_us is printed as another unit'
sees "a variable in ms" wakeup_lat '0,/) \/ 1000;/s//) \/ 1000000;/' "\$us has {'ms'}"
sees "a line's text" drm_stalls 's/after %llu ms/after %llu us/' '"us" stands behind args->total_ns / 1000000'
sees "the text above" iommu_sync 's/in us \[device/in ms [device/' '@sync_us is printed under "Time of a flush, in ms [device]:"'
