#!/usr/bin/env bash
# description: the same as hooks, with direct trampolines where there can be
# shellcheck source-path=SCRIPTDIR disable=SC2034 # for test_hooks.sh
parameters='direct=1'
. ./test_hooks.sh
