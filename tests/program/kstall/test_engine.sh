#!/usr/bin/env bash
# description: kstall's partition: each nanosecond in one place, from events written by hand
# timeout: 900
# requires: python3
# once: it does not ask the kernel
# host: it does not ask the kernel
# tier1: 6.12
. ../../lib.sh
engine=../../../kstall/engine_test
[ -x $engine ] || skip_all "kstall is not built (make -C kstall)"

python3 cases.py $engine
