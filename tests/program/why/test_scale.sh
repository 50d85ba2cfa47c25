#!/usr/bin/env bash
# description: ten times as many threads, open steps, windows, events cost `kstall why` at most twelve times as much; memory does not grow with events
# timeout: 900
# requires: python3
# once: it does not ask the kernel
. ../../lib.sh
engine=../../../kstall/engine_test
[ -x $engine ] || skip_all "kstall is not built (make -C kstall)"

work=$(mktemp -d)
at_exit rm -rf "$work"

# cost OPTIONS: microseconds of processor time, which the guest counts in instructions, and KiB of memory
cost() {
	python3 -c 'import resource, subprocess, sys
with open(sys.argv[1]) as f:
    subprocess.run(sys.argv[2:], stdin=f, stdout=subprocess.DEVNULL, check=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round((u.ru_utime + u.ru_stime) * 1000000), u.ru_maxrss)' "$work/stream" $engine "$1"
}

# ten KIND N OPTIONS
ten() {
	local few many kib_few kib_many
	python3 load.py "$1" $(($2 / 10)) >"$work/stream"
	read -r few kib_few < <(cost "$3")
	python3 load.py "$1" "$2" >"$work/stream"
	read -r many kib_many < <(cost "$3")
	echo "# $1: $(($2 / 10)) take $((few / 1000)) ms and $kib_few KiB, $2 take $((many / 1000)) ms and $kib_many KiB"
	t_range "$2 $1 cost at most 12 times as much as a tenth (percent)" $((100 * many / few)) 1 1200
}

plan $(($(grep -vc '^#' scale.list) + 1))
while read -r kind many options; do
	ten "$kind" "$many" "$options"
done < <(grep -v '^#' scale.list)

# What the job's threads did last is kept, 2^18 pieces of it (KS_LOG): both have more.
for events in 1000000 2000000; do
	python3 load.py events $events >"$work/stream"
	read -r _ "kib_$events" < <(cost marker)
done
# shellcheck disable=SC2154 # read
t_range "a million events more need no more memory, but for the names of 2,000 steps (KiB)" $((kib_2000000 - kib_1000000)) -4096 4096
