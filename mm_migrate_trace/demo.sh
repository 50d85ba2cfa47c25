# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# A program whose steps touch 1 MB of memory that a device uses too: its driver needs 5 ms to stop
# the device for each page that goes. It runs on node 1, its memory is on node 0. Then one that
# returns memory in small pieces, alone and beside three threads.
make_loads() {
	local knob

	ln -s "$top/tests/modules/mm_migrate/mm" trainer
	ln -s trainer cache
	ln -s "$top"/tools/*.bt .
	for knob in scan_delay_ms scan_period_min_ms; do
		echo 50 >/sys/kernel/debug/sched/numa_balancing/$knob
	done
	echo './trainer cpu 2 node 0 map 256 anywhere 0 notify 0 interval 5000 steps 0 100 20' >train
	echo './cache cpu 0 map 16 spin 3 repeat 400 dontneed 0 touch 0 end' >return-memory
}

title "mm_migrate_trace: nothing has changed, but the steps take longer"
modprobe mock_mm
make_loads

run 'modprobe mm_migrate_trace'
part "1. Steps that stretch"
run 'echo 0 >/proc/sys/kernel/numa_balancing; sh train'
before=$(value 'steps, \K\d+')
run 'echo 1 >/proc/sys/kernel/numa_balancing; sh train'
after=$(value 'steps, \K\d+')
[ "${after:-0}" -gt "${before:-0}" ] || expect '^$' "steps that stretch"
tell "The same program: $before ms a step, then $after. What does it wait for?"
run "./mm_stall.bt -c '/bin/sh train'"
expect '^@waiter_us\[trainer, .*, numa\]: count' "trainer's waits for drivers"
expect '^@owner_us\[trainer, .*, mock_mm_invalidate\]: count' "whose callback it waits for"
tell "numa: NUMA balancing moves trainer's pages from node 0 to the node it runs on, one at a \
time, and each time a driver has to let go of the page first. Of the migrations' time almost all \
is in notifiers. Which driver?"
run "./notifier_slow.bt -c '/bin/sh train'"
expect '^@call_us\[mock_mm_invalidate, mock_mm\]:' "the driver's callback"
tell "mock_mm, here a mock, needs 5 ms a page: a GPU that shares the memory. The cure is at the \
other end: bind trainer's memory to its node (numactl), or switch NUMA balancing off."
run 'echo 0 >/proc/sys/kernel/numa_balancing'

part "2. Memory that is given back"
run "./tlb_storm.bt -c '/bin/sh return-memory'"
expect '^@ipis\[cache, .*, mm, 28\]: 1[0-9]{3}$' "400 flushes on 3 CPUs"
tell "System call 28, madvise(): each of cache's 400 calls interrupted the CPUs that run its three \
other threads."

run 'rmmod mm_migrate_trace'
rmmod mock_mm
