#!/usr/bin/env bash
# description: the README is short; it and Documentation/ have each event and tool, link to what there is, and name only what there is
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
# shellcheck disable=SC2016 # backquotes are Markdown's
. ../../lib.sh
plan 13

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
t_eq "Documentation/tools.md: each event, its module and its system" "$(diff <(in_table Documentation/tools.md) <(in_code))" ""
t_eq "a wrong system is seen" "$(diff <(sed "s/^| .aer_trace. | .aer. /| aer_trace | aer_trace /" Documentation/tools.md >"$work"; in_table "$work") <(in_code) |
	grep -c '^< aer_trace aer_trace ')" "$(in_code | grep -c '^aer_trace ')"

# --- tools ---

tools=$(cd tools && printf '%s\n' *.bt | sed 's/\.bt$//')
# table PAGE HEAD: the rows of the table with this head
table() { awk -v head="$2" 'index($0, head) == 1 { on = 1; next } !/^[|]/ { on = 0 } on' "$1"; }
missing() { while read -r tool; do grep -qw -- "$tool" <<<"$1" || echo "$tool"; done <<<"$tools"; }
t_eq "each tool has a question" "$(missing "$(table Documentation/tools.md '| Tool | Question |')")" ""
t_eq "each tool is one that a symptom leads to" "$(missing "$(table README.md '| What you notice | Ask |')")" ""
t_eq "... or is not a tool" "$(grep -oP '\bkstall-\K[a-z]\w+' README.md | sort -u | grep -vxE 'doctor|metrics|dkms|dkms_|recorder|tools|tools_' | grep -vxF "$tools")" ""
t_eq "the sections, in the order in which a stranger needs them" "$(sed -n 's/^## //p' README.md)" "Try it
What you see on which node
From symptom to tool
Which layer ate the step
Install on a node
Documentation"
t_range "words of the README" "$(wc -w <README.md)" 1 1200
screen=$(head -n 45 README.md)
t_eq "the first screen has an answer, where it was tried, the cost, and the commands, that without a module first" "$(
	for line in '^    # kstall why ' '^\*\*Where it was tried\.' '^\*\*What it costs\.' '^    make -C kstall .*kstall why ' \
		'^    sudo make install && sudo modprobe ' '^    make demo$'; do
		grep -nm1 -E "$line" <<<"$screen" || echo "0:$line"
	done | awk -F: '$1 + 0 <= last { print } { last = $1 + 0 }')" ""

# --- links, files, functions ---

anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -d '`,.:'; }
# links PAGE: those of its links that lead nowhere
links() {
	local page=$1 link file
	grep -oP '\]\(\K[^)]+' "$page" | grep -v '^https\?:' | while read -r link; do
		file=$page
		[[ $link == "#"* ]] || file=$(dirname "$page")/${link%%#*}
		[ -e "$file" ] || echo "$page: $link"
		[[ $link != *"#"* ]] || anchors "$file" 2>/dev/null | grep -qxF -- "${link#*#}" || echo "$page: $link"
	done | sort -u
}
t_eq "what the pages link to is there" "$(for page in *.md Documentation/*.md; do links "$page"; done)" ""
sed 's/operate\.md#what-it-does-not-see/operate.md#what-it-sees/; s/(SECURITY\.md)/(SECRECY.md)/' README.md >wrong.md
at_exit rm -f wrong.md "$work"
t_eq "a link that leads nowhere is seen" "$(links wrong.md)" "wrong.md: Documentation/operate.md#what-it-sees
wrong.md: SECRECY.md"
# NAMES: in `…`, what looks like a function, a parameter or a file of ours
unknown_names() {
	grep -oP '`\K(kstall[_.]\w+|max_\w+|\w+\.h|tests/[a-z_/.]+|scripts/[a-z_]+)(?=(\(\))?`)' "$1" | sort -u | while read -r name; do
		[ -e "$name" ] || [ -e "include/kstall/$name" ] || grep -rqwF -- "$name" include ./*_trace || echo "$name"
	done
}
t_eq "design.md names what there is" "$(unknown_names Documentation/design.md)" ""
sed 's/`kstall_class_reg()`/`kstall_klass_reg()`/' Documentation/design.md >"$work"
t_eq "a function that is not there is seen" "$(unknown_names "$work")" kstall_klass_reg

# --- mutants ---

t_eq "the code that tests/mutants always breaks is there" "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/mutants python3 -c '
import areas
for mutant in areas.PINNED:
    for file, code, _ in mutant.edits:
        if code not in open(file, encoding="utf-8").read():
            print(mutant.what, file)')" ""
