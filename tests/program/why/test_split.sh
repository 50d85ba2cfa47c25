#!/usr/bin/env bash
# description: the profiler plugin charges each nanosecond of a collective to what held it: the queue, a rank, the wire, the proxy thread
# host: it plays NCCL, with clocks of its own
# tier1: 6.12
# once: it does not ask the kernel
. ../../lib.sh

plan 20

# held DESC WANTED: what a collective is held by of which the lines come; times in us
held() { t_eq "$1" "$(sed 's/#.*//; /^$/d' | ./split | sed 's/^ //' | tail -n 1)" "$2"; }

held "inside a node nobody knows what the kernel waits for" "launch=50000 queued=150000 kernel=600000 late=20000" <<-'END'
	100 begin
	150 handed_over
	300 gpu
	900 through
	920 end
END

held "a ring: data of a rank, a rank that is not ready, the wire, the flush, the GPU" \
	"queued=100000 peer=200000:3 credit=50000:5 wire=150000 flush=30000 gpu=120000" <<-'END'
	0 begin
	0 handed_over
	10 op 0 3 1		# receives of rank 3
	10 step 0 0
	10 state 0 0 recv_peer
	10 op 1 5 1		# sends to rank 5
	10 step 1 0
	10 state 1 0 send_gpu
	100 gpu
	300 state 0 0 recv_flush
	330 state 0 0 recv_gpu
	400 state 1 0 send_peer
	450 state 1 0 send_wire
	600 step_end 1 0
	600 op_end 1
	650 step_end 0 0
	650 op_end 0
	650 through
	650 end
END

held "a rank that is not ready is asked again and again: the first time counts" "credit=900000:5 wire=100000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 5 1
	0 step 0 0
	0 gpu
	0 state 0 0 send_peer
	300 state 0 0 send_peer
	600 state 0 0 send_peer
	900 state 0 0 send_wire
	1000 step_end 0 0
	1000 op_end 0
	1000 through
	1000 end
END

held "a step that cannot be posted is begun again and again" "peer=300000:2 gpu=100000 host=600000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 1
	0 gpu
	0 step 0 0
	200 step 0 0
	400 step 0 0
	600 state 0 0 recv_peer
	900 state 0 0 recv_gpu
	1000 step_end 0 0
	1000 op_end 0
	1000 through
	1000 end
END

held "of several steps the oldest counts" "peer=700000:2 gpu=300000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 2
	0 step 0 0
	0 state 0 0 recv_peer
	0 step 0 1
	0 state 0 1 recv_peer
	0 gpu
	400 state 0 0 recv_gpu
	600 step_end 0 0	# step 1 is the oldest now
	900 state 0 1 recv_gpu
	1000 step_end 0 1
	1000 op_end 0
	1000 through
	1000 end
END

held "... though a later one ends before it" "peer=600000:2 gpu=400000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 2
	0 step 0 0
	0 state 0 0 recv_peer
	0 step 0 1
	0 gpu
	300 step_end 0 1
	600 state 0 0 recv_gpu
	700 step_end 0 0
	1000 op_end 0
	1000 through
	1000 end
END

held "steps are counted on for ever, eight at once" "wire=800000 gpu=200000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 100
	0 step 0 7
	0 state 0 7 send_wire
	0 step 0 8
	0 gpu
	400 step_end 0 7
	400 state 0 8 send_wire
	800 step_end 0 8
	800 op_end 0
	1000 through
	1000 end
END

held "while something is on the wire, that data has not come does not hold it" "peer=100000:2 wire=400000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 1
	0 step 0 0
	0 state 0 0 recv_peer
	0 op 1 3 1
	0 step 1 0
	0 state 1 0 send_wire
	0 gpu
	400 step_end 1 0
	400 op_end 1
	500 step_end 0 0
	500 op_end 0
	500 through
	500 end
END

held "nothing is posted: the host" "gpu=100000 host=900000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 1
	0 gpu
	900 step 0 0
	900 state 0 0 send_gpu
	1000 step_end 0 0
	1000 op_end 0
	1000 through
	1000 end
END

held "the rank that was waited for longest" "peer=1000000:6" <<-'END'
	0 begin
	0 handed_over
	0 op 0 4 1
	0 step 0 0
	0 state 0 0 recv_peer
	0 op 1 6 1
	0 step 1 0
	0 state 1 0 recv_peer
	0 gpu
	400 step_end 0 0
	400 op_end 0
	1000 step_end 1 0
	1000 op_end 1
	1000 through
	1000 end
END

held "... since there was something to wait for on the GPU" "queued=1000000 peer=100000:6" <<-'END'
	0 begin
	0 handed_over
	0 op 0 4 1
	0 step 0 0
	0 state 0 0 recv_peer
	900 op 1 6 1
	900 step 1 0
	900 state 1 0 recv_peer
	1000 gpu
	1010 step_end 0 0
	1100 step_end 1 0
	1100 through
	1100 end
END

held "... by two channels together" "peer=1000000:4" <<-'END'
	0 begin
	0 handed_over
	0 op 0 4 1
	0 step 0 0
	0 state 0 0 recv_peer
	0 op 1 4 1
	0 step 1 0
	0 state 1 0 recv_peer
	0 op 2 6 1
	0 step 2 0
	0 state 2 0 recv_peer
	0 gpu
	600 step_end 0 0
	600 step_end 1 0
	1000 step_end 2 0
	1000 through
	1000 end
END

ranks() { for i in $(seq 0 $(($1 - 1))); do printf '%s\n' "0 op $i $((i + 20)) 1" "0 step $i 0" "0 state $i 0 recv_peer"; done; }
ended() { for i in $(seq 0 $(($1 - 1))); do printf '%s\n' "$(((i + 1) * 100)) step_end $i 0" "$(((i + 1) * 100)) op_end $i"; done; }
held "of eight ranks the last" "peer=800000:27" < <(
	printf '%s\n' "0 begin" "0 handed_over"; ranks 8; echo "0 gpu"; ended 8; printf '%s\n' "800 through" "800 end"
)
held "of more than there is room for none" "peer=900000" < <(
	printf '%s\n' "0 begin" "0 handed_over"; ranks 9; echo "0 gpu"; ended 9; printf '%s\n' "900 through" "900 end"
)

held "what the thread does not see as it is off its CPU is the host's" "peer=500000:2 host=500000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 1
	0 step 0 0
	0 state 0 0 recv_peer
	0 gpu
	1000 off 500
	1000 step_end 0 0
	1000 op_end 0
	1000 through
	1000 end
END

# 2,000,000,000 ns on the GPU are 2 s here from the second time on
clocks="0 begin
0 gpu 1000000000
1000000 through 2000000000
1000000 end"

held "it is on the GPU since the GPU's clock says so; a thread that looks late is the host" "queued=100000 peer=10000:2 host=290000" <<-END
	$clocks
	2000000 begin
	2000000 handed_over
	2000000 op 0 2 1
	2000000 step 0 0
	2000000 state 0 0 recv_peer
	2000400 off 290
	2000400 gpu 3000100000
	2000400 step_end 0 0
	2000400 op_end 0
	2000400 through
	2000400 end
END

held "... and holds nobody when it is through there" "queued=100000 kernel=200000 late=700000" <<-END
	$clocks
	2000000 begin
	2000000 handed_over
	2000100 gpu 3000100000
	2001000 through 3000300000
	2001000 end
END

held "a clock that does not count nanoseconds says nothing (RCCL)" "queued=400000 kernel=600000" <<-'END'
	0 begin
	0 gpu 100000000
	1000000 through 200000000
	1000000 end
	2000000 begin
	2000000 handed_over
	2000400 gpu 300010000
	2001000 through 300060000
	2001000 end
END

held "of a clock that goes slower than ours no more than two seconds are between the two" "queued=90000 kernel=900000 late=10000" <<-END
	$clocks
	2000000 gpu 2999990000
	3000000 gpu 3999980000
	4000000 gpu 4999970000
	5000000 begin
	5000000 handed_over
	5000100 gpu 6000060000
	5001000 through 6000960000
	5001000 end
END

held "an operation that NCCL does not end is over with its collective, without a name" "peer=100000 late=100000" <<-'END'
	0 begin
	0 handed_over
	0 op 0 2 1
	0 step 0 0
	0 state 0 0 recv_peer
	0 gpu
	100 through
	200 end
END
