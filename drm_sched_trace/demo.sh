# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make demo`; tests/vm/demo-guest has the words it is told in.

# Two programs that take 40 steps of 10 ms on ring mock0, seen from outside: `trainer` sends a job and
# waits for it, 40 times; its ring is busy with another client in the one case, in the other each job
# waits for one of `loader` on ring mock1.
make_loads() {
	local gpu=$top/tests/drm_sched/gpu i

	ln -s "$gpu" trainer
	ln -s "$gpu" neighbour
	ln -s "$gpu" loader
	ln -s "$top"/scripts/*.bt .
	cat >step-times <<-'END'
		#!/bin/sh
		# the jobs' times, as the program saw them
		awk '$1 == "await" { split($3, ns, "="); n++; sum += ns[2] }
			END { printf "trainer: %d steps, %d ms each\n", n, sum / n / 1000000 }'
	END
	# ring: the neighbour's jobs take their turns on the same ring
	{
		echo 'rm -f started'
		echo './neighbour entity 2 1 run 10000 jobs 82 0 touch started sleep 1000 >/dev/null &'
		echo 'while [ ! -e started ]; do sleep 0.01; done'
		printf './trainer entity 2 1 run 1000'
		for ((i = 0; i < 40; i++)); do printf ' job 0 await %d 60000' $i; done
		echo ' | ./step-times; wait'
	} >ring-bound
	# dependency: the loader's jobs take their time on another ring
	{
		printf './loader entity 2 2 run 20000'
		for ((i = 0; i < 40; i++)); do printf ' job 0'; done
		echo ' touch started sleep 1000 >loader.out &'
		printf '%s\n' "while [ \"\$(grep -c ^job loader.out)\" != 40 ]; do sleep 0.01; done"
		printf '%s\n' "set --; for h in \$(sed -n 's/^job.*handle=\\([0-9]*\\).*/\\1/p' loader.out); do set -- \"\$@\" dep @\$h job 0 await \$((\$# / 7)) 60000; done"
		echo './trainer entity 2 1 run 1000 "$@" | ./step-times; wait'
	} >dependency-bound
	chmod +x step-times
}

title "drm_sched_trace: the GPU is slow, says the program. Is it?"
modprobe mock_gpu
make_loads

run 'modprobe drm_sched_trace'
part "Two programs that wait for their jobs; nothing tells them apart from outside"
run 'sh ring-bound; sh dependency-bound'
