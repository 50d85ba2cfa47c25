# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# Two programs that take 40 steps of 10 ms on ring mock0, seen from outside: `trainer` sends a job and
# waits for it, 40 times; its ring is busy with another client in the one case, in the other each job
# waits for one of `loader` on ring mock1.
make_loads() {
	local gpu=$top/tests/modules/drm_sched/gpu i

	for i in trainer neighbour loader compositor; do ln -s "$gpu" $i; done
	ln -s "$top"/tools/*.bt .
	cat >step-times <<-'END'
		#!/bin/sh
		# the jobs' times, as the program saw them
		awk '$1 == "await" { split($3, ns, "="); n++; sum += ns[2] }
			END { printf "trainer: %d steps, %d ms each\n", n, sum / n / 1000000 }'
	END
	# ring: the neighbour's jobs take their turns on the same ring
	{
		echo 'rm -f started finished'
		echo './neighbour entity 2 1 run 9000 jobs 82 0 touch started until finished >/dev/null &'
		echo 'while [ ! -e started ]; do sleep 0.01; done'
		printf './trainer entity 2 1 run 1000'
		for ((i = 0; i < 40; i++)); do printf ' job 0 await %d 60000' $i; done
		echo ' | ./step-times; touch finished; wait'
	} >ring-bound
	# dependency: the loader's jobs take their time on another ring
	{
		echo 'rm -f finished'
		printf './loader entity 2 2 run 23000'
		for ((i = 0; i < 40; i++)); do printf ' job 0'; done
		echo ' until finished >loader.out &'
		printf '%s\n' "while [ \"\$(grep -c ^job loader.out)\" != 40 ]; do sleep 0.01; done"
		printf '%s\n' "set --; for h in \$(sed -n 's/^job.*handle=\\([0-9]*\\).*/\\1/p' loader.out); do set -- \"\$@\" dep @\$h job 0 await \$((\$# / 7)) 60000; done"
		echo './trainer entity 2 1 run 1000 "$@" | ./step-times; touch finished; wait'
	} >dependency-bound
	cat >memory <<-'END'
		./loader bo 2 touch full until again place 0 touch done >/dev/null &
		while [ ! -e full ]; do sleep 0.01; done
		./trainer bo 3 touch again until done place 0 >/dev/null
		wait
	END
	cat >stalls <<-'END'
		./trainer entity 2 1 run 1000 once flags h job 0 await 0 60000 >/dev/null
		./trainer entity 3 1 run 20000 fence dep 0 job 0 touch low sleep 300 signal 0 sleep 300 >trainer.out &
		while [ ! -e low ]; do sleep 0.01; done
		./compositor entity 1 2 run 1000 dep @$(sed -n 's/^job.*handle=\([0-9]*\).*/\1/p' trainer.out) job 0 await 0 60000 >/dev/null
		./loader entity 2 2 fence dep 0 job 0 job 0 job 0 fini 0 >/dev/null
		wait
	END
	chmod +x step-times
}

title "drm_sched_trace: the GPU is slow, says the program. Is it?"
modprobe mock_gpu timeout_ms=2000 reset_ms=100 evict_ms=20
make_loads

run 'modprobe drm_sched_trace'
part "1. Two programs; nothing tells them apart from outside"
run 'sh ring-bound'
expect '^trainer: 40 steps' "40 steps"
run 'sh dependency-bound'
expect '^trainer: 40 steps' "40 steps"
tell "Each sends a job to ring mock0 and waits for it, 40 times. Where do the jobs wait?"
run "./drm_wait.bt -c '/bin/sh ring-bound'"
expect '^@ring_us\[trainer, .*, mock0\]: count 40,' "the waits of 40 jobs for their ring"
tell "Of trainer's time almost all is ring: its jobs were ready, but a neighbour's ran. The ring is full; \
this needs a faster GPU or fewer programs on it."
run "./drm_wait.bt -c '/bin/sh dependency-bound'"
expect '^@dep_us\[trainer, .*, mock0\]: count 40,' "the waits of 40 jobs for fences"
tell "Here it is dep: the ring stood idle while trainer's jobs waited for fences. A faster GPU would change \
nothing. Whose fences?"
run "./drm_deps.bt -c '/bin/sh dependency-bound'"
expect '^@held_us\[trainer, .*, mock0, loader, .*, drm_sched, mock1\]: count' "trainer's jobs held by loader's"
tell "Those of jobs that loader sends to ring mock1."

part "2. Who pushes whom out of the GPU's memory?"
run "./ttm_evict.bt -c '/bin/sh memory'"
expect '^@evicted_kib\[trainer, .*, loader, .*, vram, system\]: ' "evictions of loader's buffers by trainer"

part "3. Hangs, inversions, killed jobs, as they happen"
run "./drm_stalls.bt -c '/bin/sh stalls'"
expect ' timeout +mock0 job .* of trainer/' "a timeout"
expect ' inversion .* of compositor/.* \(high\) .* for .* of trainer/.* \(low\)' "an inversion"
expect ' killed .* by loader/' "killed jobs"

run 'rmmod drm_sched_trace'
rmmod mock_gpu
