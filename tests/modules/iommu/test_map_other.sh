#!/usr/bin/env bash
# description: the same as map, with the other kind of hook: direct trampolines, or return probes where direct=1 is the rule
# timeout: 400
# shellcheck source-path=SCRIPTDIR disable=SC2034 # for test_map.sh
direct=$((${KSTALL_DIRECT:-0} ^ 1))
. ./test_map.sh
