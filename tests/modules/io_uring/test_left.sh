#!/usr/bin/env bash
# description: when nothing is in flight the tables are empty: requests of rings that are gone and bios that end without data are not kept
# once: tables are emptied by the same code on each kernel
. ./lib.sh
plan 13

null_blk kst0 memory_backed=1 cache_size=1
trace io_uring_req_done io_uring_block_rq
in_use() { status_field io_uring_trace table "$1" in_use; }
holds() { [ "$(in_use "$1")" = "$2" ]; }
unseen() { sed -n 's/^unseen requests=//p' /sys/kernel/debug/io_uring_trace/status; }

# --- requests that ask for no completion: nobody sees their end ---

mkfifo "$work/hold"
./uring skip 13 1 <"$work/hold" >"$work/out" &
pid=$!
exec 3>"$work/hold"
t_ok "13 that ask for no completion" wait_until 10 grep -q submitted=13 "$work/out"
t_ok "while their ring lives they may be in flight" wait_until 10 holds requests 13
run nops ./uring nops 5 1
run gone ./uring skip 3 0
counts() { [ "$(unseen)" = "$1" ]; }
t_ok "another ring has gone, with 3 of its own" wait_until 10 counts 3
t_eq "of others' rings nothing is taken away" "$(in_use requests)" 13
exec 3>&-
wait $pid
t_ok "the ring is gone, so are they" wait_until 10 holds requests 0
t_eq "... and counted" "$(unseen)" 16
t_ok "nothing is kept of rings either" wait_until 10 holds gone_rings 0

for ((i = 0; i < 40; i++)); do ./uring skip 3 0 >/dev/null & done
wait
t_ok "40 rings at a time" wait_until 20 holds requests 0
# A later ring may have had the memory, and so the places, of an earlier one's requests.
t_range "... each request counted at most once" "$(unseen)" 17 136

# --- a program that ends with requests in flight ---

before=$(unseen)
run pending ./uring pending 7
t_ok "it left 14 in flight, that end with it" wait_until 20 holds requests 0
t_eq "... with a completion" "$(unseen)" "$before"

# --- flushes ---

for ((i = 0; i < 7; i++)); do dd if=/dev/zero of=/dev/kst0 bs=4k count=1 conv=fsync status=none; done
t_ok "7 flushes of a disk's cache: no bio is left" wait_until 30 holds bios 0
t_ok "... nor a request" wait_until 30 holds block_requests 0
