#!/usr/bin/env bash
# description: a direct hook goes at once while calls are in its function; nobody but rmmod waits for these, nor takes them for dead
# tier1: 6.12
# timeout: 400
# shellcheck source-path=SCRIPTDIR
. ./lib.sh

load kstall_target
load kstall_test direct=1 bounded=1
mk_instance core
hurry
enable kt_block
[ "$(field hook block kind)" = direct ] || skip_all "no direct trampolines on this kernel"
plan 25

# done_in SECONDS command…: it ends in time; one that does not may be beyond signals
done_in() {
	local pid
	"${@:2}" >/dev/null 2>&1 &
	pid=$!
	wait_until "$1" eval "! kill -0 $pid" && wait $pid
}
drains() { grep -oP '^draining block function=target_block calls=\K[0-9]+(?= since_mono_ns=[1-9])' $dbg/kstall_test/status; }
pinned() { [ "$(awk '$1 == "kstall_test" { print $3 }' /proc/modules)" = "$1" ]; }
drained() { [ -z "$(drains)" ]; }
log_mark

# --- disabled while two calls are in it, which do not return ---

call block 2
t_ok "disabling does not wait" done_in 20 disable kt_block
t_ok "the hook goes" wait_until 20 hook_is block idle
t_ok "nor does a reader of the status file" done_in 20 cat $dbg/kstall_test/status
t_eq "... which has the two" "$(drains)" 2
t_ok "nor any module that comes" done_in 20 modprobe dummy
t_ok "nor one that goes" done_in 20 modprobe -r dummy
t_ok "nor who enables" done_in 20 enable kt_pair kt_block
t_eq "the hook comes back, with a stub of its own" "$(field hook block kind) $(field hook block state) $(drains)" "direct armed 2"
call block 1
t_eq "a third call is in that one" "$(field hook block hits) $(drains)" "3 2"

# The kernel has oopsed: that does not say that these two calls died.
tainted=$(cat /proc/sys/kernel/tainted)
[ $((tainted & 128)) != 0 ] || echo 128 >/proc/sys/kernel/tainted
t_ok "after a second the module is pinned" wait_until 60 pinned 1
t_eq "... and says so, once" "$(log_count 'block: 2 calls of target_block')" 1
t_eq "rmmod is refused" "$(rmmod kstall_test 2>&1 | grep -c 'in use')" 1
# Ten seconds: as long as such calls once had to live.
for ((i = 0; i < 12; i++)); do sleep 1; done
t_eq "they are not given up" "$(drains) $(log_count 'died')" "2 0"

# --- they return ---

call release
t_ok "all return: drained" wait_until 20 drained
t_ok "... and nothing pins the module" wait_until 20 pinned 0
t_eq "the call of the listener is reported, and no other" "$(ev_n kt_block) $(ev_n kt_block 'f["id"] == 2')" "1 1"
call quick 100 3
t_eq "others count as ever" "$(ev_n kt_pair 'f["id"] == 3')" 100

# --- the worker is busy, for whatever reason ---

echo 1 >$params/busy
echo 0 >$dbg/kstall_test/place &
place=$!
worker_waits() { grep -q kt_update /proc/[0-9]*/stack; }
t_ok "the worker has the lock" wait_until 20 worker_waits
t_ok "no other module waits for it" eval "done_in 20 modprobe dummy && done_in 20 modprobe -r dummy"
cat $dbg/kstall_test/status >/dev/null 2>&1 &
reader=$!
read_ended() { kill $reader; ! kill -0 $reader; }
t_ok "who reads the status file can be interrupted" wait_until 20 read_ended
echo 0 >$params/busy
wait $reader || :
wait $place
t_eq "it goes on" $? 0

# --- rmmod while it is armed, and a call in it ---

call block 1
rmmod kstall_test &
rmmod=$!
asleep() { grep -q '^State:.*[IS] (' /proc/$rmmod/status && grep -q going /sys/module/kstall_test/initstate; }
t_ok "rmmod waits, and is no load" wait_until 20 asleep
t_ok "no module that comes waits for it" done_in 20 modprobe dummy
modprobe -r dummy
call release
ended() { ! kill -0 $rmmod; }
t_ok "the call returns: rmmod ends" wait_until 20 ended
wait $rmmod
t_eq "it has removed the module" "$? $(grep -c '^kstall_test ' /proc/modules)" "0 0"
