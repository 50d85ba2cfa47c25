#!/usr/bin/env bash
# description: the README has each event beside its module and system, each tool, and names only what there is; so does design.md
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
# shellcheck disable=SC2016 # backquotes are Markdown's
. ../../lib.sh
plan 10

cd ../../..
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

# --- tools ---

tools=$(cd tools && printf '%s\n' *.bt | sed 's/\.bt$//')
# table HEAD: the rows of the table with this head
table() { awk -v head="$1" 'index($0, head) == 1 { on = 1; next } !/^[|]/ { on = 0 } on' README.md; }
missing() { while read -r tool; do grep -qw -- "$tool" <<<"$1" || echo "$tool"; done <<<"$tools"; }
t_eq "each tool has a question" "$(missing "$(table '| Tool | Question |')")" ""
t_eq "each tool is one that a symptom leads to" "$(missing "$(table '| What you notice | Ask |')")" ""
t_eq "... or is not a tool" "$(grep -oP '\bkstall-\K[a-z]\w+' README.md | sort -u | grep -vxE 'doctor|metrics|dkms|dkms_|recorder|tools|tools_' | grep -vxF "$tools")" ""
t_eq "the table of nodes is above the installation" "$(grep -nE '^## (What you see on which node|From symptom to tool|Install on a node)$' README.md |
	sed 's/.*## //' | xargs)" "What you see on which node From symptom to tool Install on a node"
screen=$(head -n 40 README.md)
t_eq "the first screen has the cost, the commands, that without a module first, and a picture" "$(for line in '^\*\*What it costs\.' '^    make demo$' \
	'^    make -C kstall .*kstall why ' \
	'^    sudo make install && sudo modprobe ' '^    \[.*\|@+ *\|$'; do grep -qE "$line" <<<"$screen" || echo "$line"; done)" ""

# --- links, files, functions ---

t_eq "what it links to is there" "$(
	for page in README.md Documentation/design.md; do
		grep -oP '\]\(\K[^)]+' $page | while read -r link; do
			case $link in
			"#"*) grep '^#' $page | sed 's/^#* //' | tr '[:upper:] ' '[:lower:]-' | tr -d '`,.' | grep -qx "${link#\#}" || echo "$page: $link" ;;
			*) [ -e "$link" ] || echo "$page: $link" ;;
			esac
		done
	done
)" ""
# NAMES: in `…`, what looks like a function, a parameter or a file of ours
unknown_names() {
	grep -oP '`\K(kstall[_.]\w+|max_\w+|\w+\.h|tests/[a-z_/.]+|scripts/[a-z_]+)(?=(\(\))?`)' "$1" | sort -u | while read -r name; do
		[ -e "$name" ] || [ -e "include/kstall/$name" ] || grep -rqwF -- "$name" include ./*_trace || echo "$name"
	done
}
t_eq "design.md names what there is" "$(unknown_names Documentation/design.md)" ""
sed 's/`kstall_class_reg()`/`kstall_klass_reg()`/' Documentation/design.md >"$work"
t_eq "a function that is not there is seen" "$(unknown_names "$work")" kstall_klass_reg
