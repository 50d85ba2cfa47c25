#!/usr/bin/env bash
# description: two modules on the same helpers do not disturb each other; the flight recorder keeps rare events of both
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plan 19

hurry
uring=../io_uring/uring
recorder=$TRACEFS/instances/kstall
[ -d "$recorder" ] || at_exit rmdir "$recorder"
recorded() { INSTANCE=$recorder ev_n "$@"; }

load kstall_target
load kstall_test recorder=1
load io_uring_trace recorder=1
t_eq "recorder: its events are armed though nobody enabled them" \
	"$(event_state kt_tick) $(event_state kt_storm) $(event_state kt_entry)" "armed armed idle"
t_eq "recorder: the status says so" "$(sed -n 's/.*\(recorder=[a-z]*\).*/\1/p' $dbg/kstall_test/status)" recorder=kstall
call tick 5 5
call object 3 5
$uring short-submit >/dev/null
stormed() { [ "$(INSTANCE=$recorder ev_sum kt_storm count)" = "$1" ]; }
t_eq "recorder: 5 ticks, one overflow" "$(recorded kt_tick) $(recorded io_uring_sq_overflow)" "5 1"
t_ok "recorder: a storm of 3" wait_until 10 stormed 3

# --- both armed, one user each ---

mk_instance both
enable kt_pair kt_span kt_folio
ev_enable io_uring_trace
at_exit eval 'is_loaded io_uring_trace && ev_disable io_uring_trace'
$uring nops 11 7001 >/dev/null
call quick 7 1
call span 7 1
echo 7 >$dbg/kstall_test/folio
t_eq "both armed: 11 requests" "$(ev_n io_uring_req_done)" 11
t_eq "both armed: 7 calls each" "$(ev_n kt_pair) $(ev_n kt_span) $(ev_n kt_folio)" "7 7 7"
t_eq "one function, hooked by both: armed in both" \
	"$(field hook folio state) $(status_field io_uring_trace hook wait_folio state)" "armed armed"

disable kt_pair kt_span kt_folio
disarmed() { [ "$(field hook folio state)" = idle ]; }
t_ok "one is disabled" wait_until 10 disarmed
t_eq "the other stays armed" "$(status_field io_uring_trace hook wait_folio state)" armed
$uring nops 11 7001 >/dev/null
t_eq "and sees 11 more requests" "$(ev_n io_uring_req_done)" 22
t_ok "one is unloaded" unload kstall_test
# the kernel clears the buffers that the module has been recorded into
ev_clear
$uring nops 11 7001 >/dev/null
$uring short-submit >/dev/null
t_eq "the other sees 11 more, and more than that" "$(ev_n io_uring_req_done 'f["opcode"] == "NOP" && f["user_data"] > 7000')" 11
t_eq "and records on" "$(recorded io_uring_sq_overflow)" 1
load kstall_test recorder=1
ev_disable io_uring_trace
call tick 5 6
t_eq "it comes back: records again" "$(recorded kt_tick)" 5

unload io_uring_trace
enable kt_pair
call quick 7 2
t_eq "the other is unloaded: 7 calls" "$(ev_n kt_pair 'f["id"] == 2')" 7
disable kt_pair
t_eq "no users are left but the recorder" "$(grep -c 'users=[1-9]' $dbg/kstall_test/status)" 2
t_ok "unloaded while it records" unload kstall_test
t_ok "no probe is left" wait_until 10 no_probes
t_eq "the recorder stays" "$(ls "$recorder/trace")" "$recorder/trace"
