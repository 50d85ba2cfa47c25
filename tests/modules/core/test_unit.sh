#!/usr/bin/env bash
# description: tables and folding keep their promises without any hook; parameters out of range are refused
# arm64: other atomics, another order of memory
# tier1: 6.12
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plan 72

load kstall_test
while IFS= read -r line; do
	case $line in
	"ok "*) t_pass "${line#* - }" ;;
	"not ok "*) t_fail "${line#* - }" ;;
	"#"*) echo "$line" ;;
	esac
done < <(cat $dbg/kstall_test/unit)
unload kstall_test

# refused PARAMETER VALUE RANGE: with one line that names the range
refused() {
	log_mark
	t_fails "$1=$2: the module does not load" insmod ./kstall_test.ko "$1=$2"
	t_eq "$1=$2: one line names the range" "$(log_count "kstall_test: .*refused: want $3")" 1
}
refused max_sleepers 15 "16 to 65536"
refused max_sleepers 65537 "16 to 65536"
refused max_sleepers many "16 to 65536"
t_ok "max_sleepers=16: it loads" insmod ./kstall_test.ko max_sleepers=16
unload kstall_test
