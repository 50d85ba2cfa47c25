#!/usr/bin/env bash
# description: full submission rings, refused entries and overflowing completion rings are counted exactly, with their cause
# tier1: 6.12
. ./lib.sh
plan 26

trace io_uring_sq_full io_uring_sq_overflow io_uring_cq_overflow
full=io_uring_sq_full
over=io_uring_sq_overflow
cq=io_uring_cq_overflow

# overflow CONDITION: what io_uring_sq_overflow said of it
overflow() { ev_awk $over "if ($1) print f[\"to_submit\"], f[\"submitted\"], f[\"sq_entries\"], f[\"queued\"], f[\"wait_ns\"]"; }

# --- full: 16 times in a storm, then nothing of it is left ---

uring sq-full 4 16
t_eq "full 16 times: the counts add up at the ring's end" "$(ev_sum $full count)" 16
t_eq "full: the first is reported at once, alone" "$(ev_get $full count | head -1)" 1
t_eq "full: entries and to_submit" "$(ev_n $full 'f["sq_entries"] != 4 || f["to_submit"] != 4')" 0
t_eq "full: first and last are in order" "$(ev_n $full 'f["first_mono_ns"] > f["last_mono_ns"] || !f["first_mono_ns"]')" 0
t_eq "full: identity" "$(ev_n $full "f[\"tgid\"] != $(said pid) || f[\"comm\"] != \"uring\" || f[\"sqpoll\"]")" 0
t_eq "full is not refused" "$(ev_n $over) $(ev_n $cq)" "0 0"

uring nops 7 1
t_eq "seven entries of eight: not full" "$(ev_n $full)" 0

# --- refused ---

uring short-submit
t_eq "short_submit: 3 of 6" "$(overflow 'f["cause"] == "short_submit"')" "6 $(said submitted) 8 6 0"
t_eq "short_submit: nothing else" "$(ev_n $over)" 1
t_eq "short_submit: identity" "$(ev_n $over "f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 1

uring bad-index
t_eq "dropped_sqe: the kernel dropped one" "$(said dropped)" 1
t_eq "dropped_sqe: and says so" "$(overflow 'f["cause"] == "dropped_sqe"')" "6 $(said submitted) 8 6 0"
t_eq "dropped_sqe: nothing else" "$(ev_n $over)" 1

# --- SQPOLL: five waits, each at least 50 ms by construction ---

uring sqpoll-wait 5 50
t_eq "sqpoll_wait: each of five" "$(ev_n $over 'f["cause"] == "sqpoll_wait" && f["sqpoll"] && f["sq_entries"] == 8')" 5
t_eq "sqpoll_wait: as long as the program says" \
	"$(paste -d' ' <(ev_get $over wait_ns) <(said wait_ns) | awk '$1 >= 50000000 && $1 <= $2' | wc -l)" 5
t_eq "sqpoll_wait: blamed on the submitter" "$(ev_n $over "f[\"pid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 5
echo 10000000000 >/sys/module/io_uring_trace/parameters/${over}_min_ns
uring sqpoll-wait 2 1
t_eq "sqpoll_wait: not below min_ns, but counted" "$(ev_n $over) $(status_field io_uring_trace event $over suppressed)" "0 2"

# --- completions: 12 of 16 do not fit ---

uring cq-overflow 100 reap
t_eq "CQ: begin and flushed add up to 12 of 16" "$(ev_sum $cq overflowed)" "$(said overflowed)"
t_eq "CQ: one episode" "$(ev_get $cq phase | xargs)" "begin flushed"
t_range "CQ: lasted as long as the program slept" "$(ev_get $cq duration_ns 'f["phase"] == "flushed"')" 100000000 "$(said ns)"
t_eq "CQ: entries, first user_data, none lost" \
	"$(ev_n $cq "f[\"cq_entries\"] == 4 && f[\"user_data\"] == $(said first) && f[\"dropped\"] == 0 && f[\"seen_by_waiter\"] == 0")" 2
t_eq "CQ: identity" "$(ev_n $cq "f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 2

# Nobody reaps: the kernel drops the list when the ring ends, some time after the program.
run out ./uring cq-overflow 100 leave
flushed() { snap && [ "$(ev_n $cq 'f["phase"] == "flushed"')" = 1 ]; }
t_ok "CQ, left behind: ends with the ring" wait_until 30 flushed
t_eq "CQ, left behind: adds up" "$(ev_sum $cq overflowed)" 12
t_eq "CQ, left behind: blamed on the program" "$(ev_n $cq "f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\"")" 2
t_no_losses
