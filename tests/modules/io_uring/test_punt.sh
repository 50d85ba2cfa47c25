#!/usr/bin/env bash
# description: io_uring_wq_punt says for each request that goes to a worker why
# tier1: 6.12
# requires: module:null_blk
. ./lib.sh
plan 10

trace io_uring_wq_punt
ev=io_uring_wq_punt

uring io read $SCRATCH 7 4096 7 70001 async
t_eq "IOSQE_ASYNC: force_async, each of seven" "$(ev_get $ev user_data 'f["reason"] == "force_async"' | xargs)" "$(seq 70001 70007 | xargs)"
t_eq "IOSQE_ASYNC: opcode, fd and identity" \
	"$(ev_n $ev "f[\"opcode\"] == \"READ\" && f[\"fd\"] == $(said fd) && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 7
t_eq "pending_reqs: at least oneself, at most all" "$(ev_n $ev 'f["pending_reqs"] >= 1 && f["pending_reqs"] <= 7')" 7

# What does not fit into one bio is refused if it must not block.
uring io read $SCRATCH 3 2097152 1 71 scattered
t_eq "too large to be tried without blocking: would_block" "$(ev_get $ev user_data 'f["reason"] == "would_block"' | xargs)" "71 72 73"
t_eq "pending_reqs: alone" "$(ev_n $ev 'f["pending_reqs"] == 1')" 3

# More than there are workers, and before all have one nobody listens any more.
null_blk ks_slow irqmode=2 completion_nsec=200000000
echo 0 >/sys/block/ks_slow/queue/read_ahead_kb
./uring io read /dev/ks_slow 64 4096 64 101 buffered async workers=2 >"$work/slow" &
most_wait() { [ "$(status_field io_uring_trace table requests in_use)" -gt 8 ]; }
t_ok "two workers: many wait for one" wait_until 30 most_wait
ev_disable $SYSTEM/$ev
is_idle() { [ "$(status_field io_uring_trace table requests state)" = idle ]; }
t_ok "nobody listens: nobody is followed" wait_until 30 is_idle
wait $!
ev_enable $SYSTEM/$ev
uring io read $SCRATCH 3 2097152 1 71 scattered
t_eq "pending_reqs: those are forgotten" "$(ev_get $ev pending_reqs | xargs)" "1 1 1"

uring io read $SCRATCH 5 4096 1 81
t_eq "direct I/O that does not block: none" "$(ev_n $ev)" 0
t_no_losses
