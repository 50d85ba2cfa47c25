#!/usr/bin/env bash
# description: kstall top shows what a Prometheus answers: node by node, the slowest first, in seconds a second
# host: it asks a server that the test starts
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
! "$KSTALL" top --fleet http://127.0.0.1:1 2>&1 | grep -q 'was built without' || skip_all "kstall is built without top: libcurl and json-c are missing"
plan 4

python3 "$here/prometheus.py" port &
at_exit kill $!
wait_until 30 test -s port
unset http_proxy all_proxy HTTP_PROXY ALL_PROXY

top_of() { "$KSTALL" top --fleet "http://127.0.0.1:$(cat port)" "$@"; }
golden "a table" top.want top_of
golden "JSON" top.json.want top_of --json
same "--slowest" "$(top_of --slowest 1)" "$(sed '5,$d' "$here/top.want")
and 2 more"
same "what is no Prometheus" "$("$KSTALL" top --fleet "http://127.0.0.1:$(cat port)/other" 2>&1)" \
	"kstall: http://127.0.0.1:$(cat port)/other has no metrics of kstall"
