#!/usr/bin/env bash
# description: the same as map, with direct trampolines where there can be
# timeout: 400
# shellcheck source-path=SCRIPTDIR disable=SC2034 # for test_map.sh
direct=1
. ./test_map.sh
