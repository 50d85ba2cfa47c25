# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make demo`; tests/vm/demo-guest has the words it is told in.

# A soft-RoCE device on a network that leads nowhere, and two users of it: `trainer`, a program with
# queue pairs of its own, and the module mock_ib, which writes like a storage driver does.
make_rdma() {
	local do=/sys/kernel/debug/mock_ib/do

	modprobe -a ib_uverbs rdma_rxe dummy
	ip link add dummy0 type dummy
	ip addr add 10.9.0.1/24 dev dummy0
	ip link set dummy0 up
	rdma link add rxe0 type rxe netdev dummy0
	until grep -q ffff:0a09:0001 /sys/class/infiniband/rxe0/ports/1/gids/1; do sleep 0.1; done
	modprobe mock_ib
	ln -s "$top"/tests/ib_cq/verbs trainer
	ln -s "$top"/scripts/*.bt .
	cat >healthy <<-END
		echo write 300 1 >$do
	END
	# the peer of one of its connections is gone
	cat >flapping <<-END
		echo write 100 1 >$do
		echo retry 8 >$do
		ip link set dummy0 down
		ip link set dummy0 up
		./trainer retry 40 >/dev/null
		sleep 2
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

part "2. A peer goes away"
run "./ib_errors.bt -c '/bin/sh flapping'"
expect ' FIRST .* RETRY_EXC_ERR, .* of trainer/' "trainer's first error"
expect ' FIRST .* RETRY_EXC_ERR, .* of mock_ib/0' "the driver's first error"
expect ' PORT .* PORT_ERR' "the port going down"
tell "Of 48 requests that failed, two are to be looked at: the first of each queue pair, whose retries ran \
out, with the peer it tried to reach and the process or module that owns it. The rest was flushed after them."
run "./ib_lat.bt -c '/bin/sh flapping'"
expect '^@failed\[rxe0, .*\]: 8$' "the requests that failed"
tell "And it was slow before it failed: the queue pair that sent to nobody shows in @qp_us, its retries as a \
hump of their own in @us."

part "3. Completions that are lost, or late"
run "./ib_errors.bt -c '/bin/sh small'"
expect ' OVERFLOW rxe0 cq .* of 7 entries: 56 lost, of trainer/' "an overflow"
tell "trainer's completion queue has 7 entries; 57 of its 64 completions are gone. A program that does not \
read its device's asynchronous events waits for them for ever."
run "./ib_cq_lag.bt -c '/bin/sh burst'"
expect '^@exhausted\[mock_ib, .*\]: 2$' "exhausted rounds"

run 'rmmod ib_cq_trace'
rmmod mock_ib
rdma link delete rxe0
