#!/usr/bin/env bash
# description: Documentation/cost.txt, and the table in cost.md, are those of the figures in cost.json
# requires: python3
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 3

cd ../../..
json=Documentation/cost.json
t_eq "cost.txt" "$(diff Documentation/cost.txt <(tests/bench/report $json))" ""
# table PAGE: the table whose columns are kernels
table() { awk '/^\| \| 6\.1 / { on = 1 } !/^\|/ { on = 0 } on' "$1"; }
t_eq "cost.md" "$(diff <(table Documentation/cost.md) <(tests/bench/report --page $json))" ""
t_eq "another figure is seen" "$(diff <(table Documentation/cost.md | sed '0,/[0-9]/s//x/') <(tests/bench/report --page $json) | grep -c '^<')" 1
