#!/usr/bin/env bash
# description: kstall's partition: streams of events, each with the right answer worked out by hand
# requires: python3
# once: it does not ask the kernel
# host: it does not ask the kernel
# tier1: 6.12
. ../../lib.sh
engine=../../../kstall/engine_test
[ -x $engine ] || skip_all "kstall is not built (make -C kstall)"

python3 streams.py $engine streams/*.txt
