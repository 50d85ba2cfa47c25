#!/usr/bin/env bash
# description: kstall's directories include each other in no circle, and the engine only base; no function is longer than 60 lines
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 6

cd ../../../kstall || exit

# includes: "DIRECTORY OTHER", a line each
includes() {
	grep -rEo '^#include "[a-z]+/' --include='*.[ch]' . | sed -nE 's|^\./([a-z]+)/.*"([a-z]+)/$|\1 \2|p' | awk '$1 != $2' | sort -u
}
t_eq "they include each other" "$([ "$(includes | wc -l)" -ge 5 ] && echo yes)" yes
t_ok "... in no circle" tsort <(includes)
t_fails "a circle is seen" tsort <(includes; echo base engine)
t_eq "the engine includes base" "$(includes | sed -n 's/^engine //p' | xargs)" base

# long LINES FILE…: the functions that have more
long() {
	awk -v most="$1" '/^\{/ { begin = FNR } /^\}$/ { if (FNR - begin - 1 > most) print FILENAME ":" begin }' "${@:2}"
}
mapfile -t sources < <(find . ../include/kstall ../*_trace -name '*.[ch]' ! -name '*.mod.c')
t_eq "no function has more than 60 lines" "$(long 60 "${sources[@]}")" ""
t_eq "those of more than 30 are seen" "$([ "$(long 30 "${sources[@]}" | wc -l)" -ge 5 ] && echo yes)" yes
