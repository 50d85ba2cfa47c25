#!/usr/bin/env bash
# description: what `make tour` looks for in a tool's output is something that a tool it runs prints
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
cd ../../..

# quoted DEMO: the maps it expects, a line each
quoted() { sed -nE 's/^(expect|.*value) ["'\'']?\^?@([a-z_]+).*/\2/p' "$1" | sort -u; }

# known DEMO NAME: a tool that it runs, or a program it shows, has that map
known() {
	local tool
	while read -r tool; do
		! grep -qE "^[^*]*@$2\b" "tools/${tool#./}" || return 0
	done < <(grep -oE '\./[a-z_]+\.bt' "$1" | sort -u)
	grep -qE "^run .*@$2 = " "$1"
}

# unknown DEMO: what it expects and nothing prints
unknown() {
	local name
	for name in $(quoted "$1"); do
		known "$1" "$name" || echo "$name"
	done
}

demos=(*_trace/demo.sh)
plan $((${#demos[@]} + 4))
for demo in "${demos[@]}"; do
	t_eq "$demo" "$(unknown "$demo")" ""
done
work=$(mktemp -d)
at_exit rm -rf "$work"
sed 's/@throttled_us/@throttled_ms/' io_uring_trace/demo.sh >"$work/demo.sh"
t_eq "a tool's map that is called otherwise is seen" "$(unknown "$work/demo.sh")" throttled_ms
t_ok "the demos expect maps at all" test "$(cat "${demos[@]}" >"$work/all"; quoted "$work/all" | wc -l)" -gt 10
t_eq "make tour has each stop" "$(sed -n 's/^tour="\(.*\)"$/\1/p' tests/vm/demo | xargs -n1 | sort)" \
	"$(find . -path ./tests -prune -o -name demo.sh -printf '%P\n' | sed 's,/demo\.sh$,,' | sort)"
# In a new checkout nothing is built yet.
# shellcheck disable=SC2016 # a dollar of the demo's
only=$(sed -n 's/.*KSTALL_ONLY=${small:+\([^}]*\)}.*/\1/p' tests/vm/demo)
t_eq "make demo builds the program" "$(grep -ow program <<<"$only") $(make -n -o build_modules -C tests build ONLY=program 2>&1 | grep -c -- '-C \.\./kstall$')" "program 1"
