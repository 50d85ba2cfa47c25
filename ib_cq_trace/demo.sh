# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make demo`; tests/vm/demo-guest has the words it is told in.

# Two soft-RoCE devices on the two ends of a cable, and two users of it: `trainer`, a program with queue pairs of its own, and
# the module mock_ib, which writes like a storage driver does.
make_rdma() {
	local do=/sys/kernel/debug/mock_ib/do

	modprobe -a ib_uverbs rdma_rxe
	ln -s "$top"/tests/ib_cq/verbs trainer
	ln -s "$top"/tests/ib_cq/link .
	ln -s "$top"/scripts/*.bt .
	./link up
	modprobe mock_ib peer=rxe1
	cat >healthy <<-END
		echo write 300 1 >$do
	END
	cat >flapping <<-END
		echo open >$do
		./trainer link 1000000 >/dev/null &
		echo step 60 1 >$do
		./link loses ok random determ drop 5
		echo step 20 1 >$do
		./link loses drop
		ip link set kst1 down
		ip link set kst1 up
		echo step 1 8 >$do
		wait
		sleep 2
		echo close >$do
	END
	cat >small <<-END
		./trainer overflow 64 >/dev/null
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

part "2. A link flaps: it loses each fifth packet, goes down, comes up, and nothing arrives any more"
run "cat flapping"
run "./ib_flap.bt -c '/bin/sh flapping'"
expect ' SLOWER +rxe0 qp [0-9]+ of mock_ib: ' "the driver's queue pair getting slow"
expect ' PORT +rxe0 port 1: PORT_ERR' "the port going down"
expect ' PORT +rxe0 port 1: PORT_ACTIVE' "the port coming up"
expect ' FIRST +rxe0 qp .* to ::ffff:10.9.0.2 qp .*: RETRY_EXC_ERR, of trainer/' "trainer's first error"
expect ' FIRST +rxe0 qp .* to ::ffff:10.9.0.2 qp .*: RETRY_EXC_ERR, of mock_ib/0' "the driver's first error"
tell "The first FIRST is the answer: that queue pair, to that peer, of that process or module. Before it the \
driver's queue pair was SLOWER, by the time after which a lost packet is sent again; so the link was bad \
before it went down. What was flushed after the first errors is not told here."

part "3. Completions that are lost, or late"
run "./ib_errors.bt -c '/bin/sh small'"
expect ' OVERFLOW rxe0 cq .* of 7 entries: 56 lost, of trainer/' "an overflow"
tell "trainer's completion queue has 7 entries; 57 of its 64 completions are gone. A program that does not \
read its device's asynchronous events waits for them for ever."
run "./ib_cq_lag.bt -c '/bin/sh burst'"
expect '^@exhausted\[mock_ib, .*\]: 2$' "exhausted rounds"

run 'rmmod ib_cq_trace'
rmmod mock_ib
./link down
