#!/usr/bin/env bash
# description: the same as hooks, with the other kind of hook: return probes, or direct hooks where those are the rule
# shellcheck source-path=SCRIPTDIR disable=SC2034 # for test_hooks.sh
parameters=direct=$((${KSTALL_DIRECT:-1} ^ 1))
. ./test_hooks.sh
