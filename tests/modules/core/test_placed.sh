#!/usr/bin/env bash
# description: a hook that is placed by address stands where it was put, moves, and loses its place with the module it stands in
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plan 21

hurry
load kstall_target
load kstall_test
mk_instance core
place() { echo "$1" >$dbg/kstall_test/place; }
states() { echo "$(event_state kt_placed) $(field hook placed state) $(field hook placed target)"; }
seen() { ev_n kt_placed "f[\"id\"] == $1"; }

t_eq "nobody listens, it has no place" "$(states)" "idle idle a_place"
t_ok "enabling without a place succeeds" enable kt_placed
t_eq "it waits for one" "$(states)" "waiting-for:a_place waiting-for:a_place a_place"
place 1
t_eq "placed while the event is enabled: armed" "$(states)" "armed armed kstall_target:target_quick"
call quick 5 11
call recurse 1 2
t_eq "5 calls" "$(seen 11)" 5
place 2
t_eq "it moves" "$(states)" "armed armed kstall_target:target_recurse"
ev_clear
call quick 5 11
call recurse 1 2
t_eq "where it was nothing is seen, where it is all" "$(seen 11) $(ev_n kt_placed) $(ev_sum kt_placed id)" "0 3 3"
t_eq "nothing was lost" "$(field hook placed missed)" 0
place 0
t_eq "it can be taken away" "$(states)" "waiting-for:a_place waiting-for:a_place a_place"
t_ok "no probe is left" wait_until 10 no_probes
place 4
t_eq "a place that is not there is none" "$(states)" "waiting-for:a_place waiting-for:a_place a_place"
place 3
t_eq "vmlinux is a place too" "$(states)" "armed armed folio_wait_writeback"
ev_clear
echo 3 >$dbg/kstall_test/folio
t_range "its calls are seen" "$(ev_n kt_placed)" 3 1000000

disable kt_placed
t_ok "disabled: nothing is armed" wait_until 10 nothing_armed
place 1
t_eq "placed while nobody listens" "$(states)" "idle idle kstall_target:target_quick"
t_ok "and not armed" no_probes
enable kt_placed
t_eq "enabled: armed there" "$(states)" "armed armed kstall_target:target_quick"
t_ok "its module can be unloaded" unload kstall_target
t_eq "then it has no place" "$(states)" "waiting-for:a_place waiting-for:a_place a_place"
insmod ./kstall_target.ko
t_eq "nor when it is back: what stands there now may be another function" "$(states)" "waiting-for:a_place waiting-for:a_place a_place"
place 1
ev_clear
call quick 7 12
t_eq "until it is given its place" "$(seen 12) $(field hook placed missed)" "7 0"
