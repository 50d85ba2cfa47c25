#!/usr/bin/env bash
# description: kstall why shows what RDMA ports count beside the steps that it may belong to, and of each port in all
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 3

make_dat ports
golden "beside their steps, the most first; a port that counts nothing; a line that is none" why-ports.want "$KSTALL" why -i ports.dat --slowest 4
same "all of them in JSON" "$("$KSTALL" why --json -i ports.dat | python3 -c 'import json, sys
for p in json.load(sys.stdin)["ports"]:
    print(p["port"], *("{counter}={count}@{from_ns}-{to_ns}".format(**c) for c in p["changes"]))')" \
	"mlx5_0/1 out_of_sequence=12@900000000-1900000000 np_cnp_sent=3@900000000-1900000000 \
out_of_sequence=7@1900000000-2900000000 packet_seq_err=1@1900000000-2900000000 local_ack_timeout_err=2@1900000000-2900000000 \
roce_adp_retrans=5@1900000000-2900000000 rnr_nak_retry_err=4@1900000000-2900000000
mlx5_1/1
mlx5_9"
same "the engine says the same of the text" "$("$ENGINE" marker <"$here/ports.txt" | grep -c '"counter"')" 7
