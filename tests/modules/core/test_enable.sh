#!/usr/bin/env bash
# description: events can be enabled and disabled at any moment, before init and after exit too; what cannot be armed says why
# timeout: 400
# once: how events are enabled is the same code on each kernel
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plan 45

hurry
load kstall_target
mk_instance a
a=$INSTANCE
mk_instance b
b=$INSTANCE
call storm 1

# --- what cannot be armed ---

log_mark
load kstall_test
t_eq "symbol missing: the status says so" "$(event_state kt_missing) $(field event kt_missing errno)" "failed 2"
err=$(enable kt_missing 2>&1)
t_ok "symbol missing: enabling fails" test -n "$err"
t_eq "symbol missing: with the reason" "${err##*: }" "No such file or directory"
t_eq "symbol missing: the event is off" "$(cat "$b/events/kstall_test/kt_missing/enable")" 0
t_eq "symbol missing: the log said so once, at load" "$(log_count 'hook missing') $(log_count 'kstall_test: hook missing: cannot attach to kstall_no_such_function: error -2')" "1 1"
t_ok "an event that could do with it works without" enable kt_entry
call quick 7 4
t_eq "and sees its 7 calls" "$(ev_n kt_entry 'f["id"] == 4')" 7
disable kt_entry

err=$(ev_enable kstall_test 2>&1)
t_eq "the whole system: the reason is passed on" "${err##*: }" "No such file or directory"
t_eq "the whole system: all others are enabled" \
	"$(grep -c '^event .* users=1 state=armed' $dbg/kstall_test/status) $(grep -c '^event' $dbg/kstall_test/status)" "11 14"
ev_disable kstall_test
t_eq "the whole system: off again" "$(grep -c '^event .* users=0 state=idle' $dbg/kstall_test/status)" 12
t_eq "absent: the status says why" "$(grep -c '^event kt_absent state=absent reason="no kernel has it"' $dbg/kstall_test/status)" 1
t_eq "absent: there is no such event" "$(ls -d "$b"/events/kstall_test/kt_absent 2>/dev/null)" ""

echo $((1 << 28)) >$params/huge_capacity
err=$(enable kt_huge 2>&1)
t_eq "no memory: enabling fails with the reason" "${err##*: }" "Cannot allocate memory"
t_eq "no memory: one line in the log" "$(log_count 'kstall_test: table huge: no memory for 268435456 records')" 1
t_ok "no memory: nothing stays armed" wait_until 10 nothing_armed
t_ok "no memory: another event on the same hook works" enable kt_entry
err=$(enable kt_huge 2>&1)
t_eq "no memory: still" "${err##*: }" "Cannot allocate memory"
call quick 7 5
t_eq "no memory: the other event sees its 7 calls" "$(ev_n kt_entry 'f["id"] == 5')" 7
echo 64 >$params/huge_capacity
t_ok "no memory: when there is some, it works" enable kt_huge
call quick 7 6
t_eq "no memory: and sees 7 calls" "$(ev_n kt_huge 'f["id"] == 6')" 7
disable kt_huge kt_entry
t_ok "no memory: in the end all is idle" wait_until 10 nothing_armed

# --- two writers ---

# toggle INSTANCE CPU: again and again; says when it could not. Every fifth has ftrace go through all functions of the kernel, twice.
toggle() {
	local events=$1/events/kstall_test file i n
	n=$(at_length 500 100)
	taskset -pc "$2" $BASHPID >/dev/null
	for ((i = 0; i < n; i++)); do
		file=$events/kt_tick/enable
		((i % 5)) || file=$events/kt_span/enable
		{ echo 1 >"$file" && echo 0 >"$file"; } || echo "$2"
	done
}
last=$(($(getconf _NPROCESSORS_ONLN) - 1))
errors=$(toggle "$a" 0 2>&1 & toggle "$b" $last 2>&1; wait)
t_eq "2 CPUs, again and again: never an error" "$errors" ""
t_ok "2 CPUs: in the end nothing is armed" wait_until 10 nothing_armed
t_eq "2 CPUs: no user is left" "$(field event kt_span users) $(field event kt_tick users)" "0 0"
ev_clear
enable kt_entry kt_span
call quick 7 8
call span 7 8
t_eq "2 CPUs: it still works" "$(ev_n kt_entry 'f["id"] == 8') $(ev_n kt_span)" "7 7"

INSTANCE=$a enable kt_entry
t_eq "users are counted" "$(field event kt_entry users)" 2
disable kt_entry kt_span
call quick 7 9
t_eq "one leaves, the other still sees all" "$(INSTANCE=$a ev_n kt_entry 'f["id"] == 9') $(ev_n kt_entry 'f["id"] == 9')" "7 0"
INSTANCE=$a disable kt_entry

# --- enabled before init ran ---

# Parameters come a little later than events.
go_on() { wait_until 30 eval "echo 0 >$params/hold"; }
at_exit eval "echo 0 2>/dev/null >$params/hold"
events_there() { [ -e "$b/events/kstall_test/kt_entry/enable" ]; }
unload kstall_test
ev_clear
insmod ./kstall_test.ko hold=1 &
t_ok "the module is loaded, its init runs" wait_until 10 events_there
t_ok "enabling before it is done succeeds" enable kt_entry kt_tick
t_fails "it is not done yet" test -e $dbg/kstall_test/status
go_on
wait $!
call quick 7 10
call tick 7 10
t_eq "init is done: all is seen" "$(ev_n kt_entry 'f["id"] == 10') $(ev_n kt_tick 'f["id"] == 10')" "7 7"
t_eq "users are counted" "$(field event kt_entry users) $(field event kt_tick users)" "1 1"

# --- enabled after exit ran ---

echo 1 >$params/hold
rmmod kstall_test &
gone() { [ ! -e $dbg/kstall_test ]; }
t_ok "exit undoes everything though 2 events are enabled" wait_until 10 gone
t_ok "no probe is left" wait_until 10 no_probes
enable kt_pair kt_span 2>/dev/null
disable kt_entry 2>/dev/null
t_ok "enabling after exit arms nothing" wait_until 10 no_probes
go_on
wait $!
t_eq "and does not disturb the end" $? 0

# --- enabled, and init fails ---

insmod ./kstall_test.ko hold=1 fail_init=1 2>/dev/null &
t_ok "an init that will fail runs" wait_until 10 events_there
t_ok "enabling succeeds" enable kt_entry kt_span
go_on
wait $!
t_fails "init has failed" is_loaded kstall_test
t_ok "no probe is left" wait_until 10 no_probes

# --- unloaded while others enable ---

# meddle INSTANCE: enables what there is, as long as the file busy exists
busy=$(mktemp)
at_exit rm -f "$busy"
meddle() {
	while [ -s "$busy" ]; do
		echo 1 >"$1/events/kstall_test/kt_entry/enable"
		echo 1 >"$1/events/kstall_test/kt_span/enable"
		echo 0 >"$1/events/kstall_test/kt_entry/enable"
	done 2>/dev/null
}
echo yes >"$busy"
meddle "$a" &
failed='' unseen=0
for ((i = 1; i <= 50; i++)); do
	insmod ./kstall_test.ko || failed+=" insmod:$i"
	enable kt_pair
	((i % 5)) || {
		ev_clear
		call quick 7 $((100 + i))
		[ "$(ev_n kt_pair "f[\"id\"] == $((100 + i))")" = 7 ] || unseen=$((unseen + 1))
	}
	rmmod kstall_test || failed+=" rmmod:$i"
done
: >"$busy"
wait
t_eq "50 times unloaded under load, enabled, and while another enables" "$failed" ""
t_eq "until then it worked" $unseen 0
t_ok "no probe is left" wait_until 10 no_probes
load kstall_test
enable kt_pair
ev_clear
call quick 7 11
t_eq "it still works" "$(ev_n kt_pair 'f["id"] == 11')" 7
disable kt_pair
call calm
t_ok "in the end nothing is armed" wait_until 10 nothing_armed
