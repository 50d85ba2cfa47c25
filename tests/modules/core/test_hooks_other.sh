#!/usr/bin/env bash
# description: the same as hooks, with the other kind of hook: direct trampolines, or return probes where direct=1 is the rule
# shellcheck source-path=SCRIPTDIR disable=SC2034 # for test_hooks.sh
parameters=direct=$((${KSTALL_DIRECT:-0} ^ 1))
. ./test_hooks.sh
