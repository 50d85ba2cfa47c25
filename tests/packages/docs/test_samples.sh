#!/usr/bin/env bash
# description: the sample output in a tool's head, which is its manual page's, and that in Documentation/tools.md are what the programs can print
# requires: python3
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 8

samples=$PWD/samples
cd ../../..
work=$(mktemp -d)
at_exit rm -rf "$work"

t_eq "each tool's sample" "$("$samples" tools/*.bt 2>&1)" ""
t_eq "the page's" "$("$samples" --page Documentation/tools.md 2>&1)" ""
t_ok "it has some" grep -qE '^    # (\./|kstall-)\w+(\.bt)? -c ' Documentation/tools.md

# planted DESC TOOL SED LINE…: the program, so changed below its head, prints something else than these lines of the sample
planted() {
	local desc=$1 tool=$2 sed=$3
	shift 3
	sed "/^BEGIN/,\$$sed" "tools/$tool.bt" >"$work/$tool.bt"
	t_eq "$desc is seen" "$("$samples" "$work/$tool.bt")" "$(printf "$tool.bt: %s\n" "$@")"
}
planted "a renamed map" ttm_evict s/@evict_us/@took_us/ "@evict_us[trainer, 298]: count 1, average 23093, total 23093" \
	"@evict_us[loader, 296]: count 1, average 24854, total 24854" "@evict_us is no map of it"
planted "a renamed heading" drm_deps 's/Held, in us/Held for, in us/' "Held, in us [process, pid, ring, by process, pid, driver, timeline]:"
planted "a renamed label" notifier_slow 's/"numa_scan"/"scan"/' \
	"@owner_us[mock_mm_invalidate, trainer, 256, numa_scan]: count 4, average 6003, total 24014"
planted "a key less" ib_mr 's/@failed\[args->comm, args->tgid, /@failed[args->comm, /' "@failed[verbs, 359, 14]: 1"
planted "a line told otherwise" drm_stalls 's/old, handled in/old, handled within/' \
	"03:44:46 timeout   mock0 job 26:1 of trainer/313, 2021 ms old, handled in 105 ms"
