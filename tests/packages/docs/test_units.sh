#!/usr/bin/env bash
# description: each service is understood by systemd, waits for tracefs, and can do little else than its work
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
# requires: systemd-analyze
. ../../lib.sh
units=(../../../packaging/systemd/*.service)
plan $((3 * ${#units[@]}))

work=$(mktemp -d)
at_exit rm -rf "$work"
for unit in "${units[@]}"; do
	name=${unit##*/}
	# the program is installed elsewhere, or nowhere
	sed 's:/usr/bin/kstall:/bin/true:' "$unit" >"$work/$name"
	t_eq "$name: understood" "$(systemd-analyze verify --man=no "$work/$name" 2>&1 | grep -F "$name")" ""
	t_ok "$name: comes after tracefs" grep -qE '^After=(.* )?sys-kernel-tracing\.mount( |$)' "$unit"
	# of 10.0, in tenths
	t_ok "$name: confined" systemd-analyze security --offline=true --threshold=25 "$work/$name"
done
