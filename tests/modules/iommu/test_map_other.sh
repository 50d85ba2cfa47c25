#!/usr/bin/env bash
# description: the same as map, with the other kind of hook: return probes, or direct hooks where those are the rule
# timeout: 400
# shellcheck source-path=SCRIPTDIR disable=SC2034 # for test_map.sh
direct=$((${KSTALL_DIRECT:-1} ^ 1))
. ./test_map.sh
