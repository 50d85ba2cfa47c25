# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# Two soft-RoCE devices on the two ends of a cable, and three users of it: `trainer`, a program with a library as any
# (perftest's ib_write_bw), `loader`, one without, and the module mock_ib, which writes like a storage driver does.
make_rdma() {
	local do=/sys/kernel/debug/mock_ib/do

	modprobe -a ib_uverbs rdma_rxe
	ln -s "$(command -v ib_write_bw)" trainer
	ln -s "$top"/tests/modules/ib_cq/verbs loader
	ln -s "$top"/tests/modules/ib_cq/link "$top"/tests/modules/ib_cq/retries.so .
	ln -s "$top"/tools/*.bt "$top"/tools/ibv-offsets .
	./link up
	modprobe mock_ib peer=rxe1
	cat >healthy <<-END
		echo write 300 1 >$do
	END
	cat >flapping <<-END
		echo open >$do
		echo step 60 1 >$do
		./link flap
		./start-trainer
		./link loses ok random determ drop 5
		echo step 40 1 >$do
		./link loses drop
		sleep 1
		echo step 1 8 >$do
		./end-trainer
		sleep 1
		echo close >$do
	END
	# Watched from within too. It writes to the cable's other end, one write at a time, until one fails.
	cat >start-trainer <<-'END'
		#!/bin/sh
		: >trainer.lat
		./ibv_lat.bt $(./ibv-offsets rxe0) >trainer.lat 2>/dev/null &
		echo $! >lat.pid
		until grep -q ^Tracing trainer.lat; do sleep 0.1; done
		./trainer -d rxe1 -x 1 >/dev/null 2>&1 &
		until ss -ltn | grep -q :18515; do sleep 0.1; done
		LD_PRELOAD=./retries.so \
			./trainer -d rxe0 -x 1 -n 10000000 -s 64 -t 1 -Q 1 -u 16 127.0.0.1 >/dev/null 2>&1 &
		echo $! >trainer.pid
		until rdma resource show qp | grep -q 'rxe0/1.* RTS .*trainer'; do sleep 0.1; done
		sleep 1
	END
	cat >end-trainer <<-'END'
		#!/bin/sh
		while kill -0 $(cat trainer.pid); do sleep 0.1; done 2>/dev/null
		kill -INT $(cat lat.pid)
		while kill -0 $(cat lat.pid); do sleep 0.1; done 2>/dev/null
	END
	chmod +x start-trainer end-trainer
	cat >small <<-END
		./loader overflow 64 >/dev/null
		sleep 1
	END
	cat >burst <<-END
		echo flush 600 1 >$do
	END
}

title "ib_cq_trace: the job hangs, and every rank blames another. Which queue pair failed first?"
make_rdma

run 'modprobe ib_cq_trace'
part "1. What is normal? A storage driver's writes, from posting to completion"
run "./ib_lat.bt -c '/bin/sh healthy'"
expect '^@qp_us\[rxe0, .*\]: count 300,' "the latency of 300 writes"

part "2. A link flaps: it goes down, comes up, loses each fifth packet, and then all of them"
run "cat flapping"
run "./ib_flap.bt -c '/bin/sh flapping'"
expect ' SLOWER +rxe0 qp [0-9]+ of mock_ib: ' "the driver's queue pair getting slow"
expect ' PORT +rxe0 port 1: PORT_ERR' "the port going down"
expect ' PORT +rxe0 port 1: PORT_ACTIVE' "the port coming up"
expect ' FIRST +rxe0 qp .* to ::ffff:10.9.0.2 qp .*: RETRY_EXC_ERR, of trainer/' "trainer's first error"
expect ' FIRST +rxe0 qp .* to ::ffff:10.9.0.2 qp .*: RETRY_EXC_ERR, of mock_ib/0' "the driver's first error"
tell "The first FIRST is the answer: that queue pair, to that peer, of that process or module. Before it the \
driver's queue pair was SLOWER, by the time after which a lost packet is sent again: the link that went down \
came back bad. What was flushed after the first errors is left out here."
part "3. And the trainer's queue pair before it failed? Its library knows, and ibv_lat.bt has looked there"
run "cat trainer.lat"
expect '^\[256K, 512K\) +[1-9]' "the trainer's writes that were sent again"
expect '^@failed\[trainer, [0-9]+, [0-9]+, 12\]: 1$' "the trainer's write that failed"
tell "Good writes are at the top; those in [256K, 512K) were lost once and sent again after 268 ms; the last one \
was lost each time, until it failed with status 12, RETRY_EXC_ERR."

part "4. Completions that are lost, or late"
run "./ib_errors.bt -c '/bin/sh small'"
expect ' OVERFLOW rxe0 cq .* of 7 entries: 56 lost, of loader/' "an overflow"
tell "loader's completion queue has 7 entries; 57 of its 64 completions are gone. A program that does not \
read its device's asynchronous events waits for them for ever."
run "./ib_cq_lag.bt -c '/bin/sh burst'"
expect '^@exhausted\[mock_ib, .*\]: 2$' "exhausted rounds"

run 'rmmod ib_cq_trace'
rmmod mock_ib
./link down
