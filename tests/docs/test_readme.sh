#!/usr/bin/env bash
# description: the README's table has each event, beside the module and system that it belongs to
# once: it asks the tree
. ../lib.sh
plan 2

cd ../..
work=$(mktemp)
at_exit rm -f "$work"
# MODULE SYSTEM EVENT, a line each
in_table() {
	awk -F' *[|] *' '/^[|] Module [|] System [|]/ { on = 1; next } !/^[|]/ { on = 0 }
		on && !/^[|]-/ {
			if ($2 != "") { module = $2; sys = $3 }
			n = split($4, event, / *, */)
			for (i = 1; i <= n; i++) print module, sys, event[i]
		}' "$1" | tr -d '`' | sort
}
in_code() {
	local header module
	for header in *_trace/*_events.h; do
		module=${header%%/*}
		sed -nE "s/^#define TRACE_SYSTEM /s /p; s/^KSTALL_TRACE_EVENT\(([a-z0-9_]+),.*/\1/p" "$header" |
			awk -v m="$module" '$1 == "s" { s = $2; next } { print m, s, $1 }'
	done | sort
}
t_eq "each event, its module and its system" "$(diff <(in_table README.md) <(in_code))" ""
t_eq "a wrong system is seen" "$(diff <(sed "s/^| .aer_trace. | .aer. /| aer_trace | aer_trace /" README.md >"$work"; in_table "$work") <(in_code) |
	grep -c '^< aer_trace aer_trace ')" "$(in_code | grep -c '^aer_trace ')"
