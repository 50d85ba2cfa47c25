#!/usr/bin/env bash
# description: a hang, and a step that takes long, make one copy of what was before them
# timeout: 300
# once: the copies are made by the same code on each kernel
# requires: python3
. ./lib.sh
plan 21

configure 'ring_kib 64' 'every 1h'
load mock_gpu timeout_ms=1000 reset_ms=10
at_exit remove_rings

# --- the service: modules come while it runs ---

# the addresses of modules are not compared, as where the same one is given again
kptr=$(</proc/sys/kernel/kptr_restrict)
at_exit eval "echo $kptr >/proc/sys/kernel/kptr_restrict"
echo 2 >/proc/sys/kernel/kptr_restrict
"$KSTALL" recorder watch --config "$work/conf" 2>"$work/watch.err" &
watch=$!
at_exit eval "kill $watch 2>/dev/null; wait $watch"
armed() { [ -e "$work/state/armed" ] && [ -d "$TRACEFS/instances/kstall-trigger" ]; }
t_ok "watch: started" wait_until 30 armed
load io_uring_trace
load drm_sched_trace
on() { [ "$(cat "$TRACEFS/instances/$1/events/drm_sched/drm_sched_job_timeout/enable")" = 1 ]; }
t_ok "watch: it finds modules that come later" wait_until 30 on kstall-drm_sched
t_ok "watch: and their triggers" wait_until 30 on kstall-trigger

# --- a module that is away for less than a look lasts ---

reload() { unload drm_sched_trace; load drm_sched_trace; }
kill -STOP $watch
reload
t_fails "reloaded: the kernel has its events off" on kstall-drm_sched
kill -CONT $watch
t_ok "reloaded: they are recorded again" wait_until 30 on kstall-drm_sched
t_ok "reloaded: and are triggers again" wait_until 30 on kstall-trigger
echo 0 >"$TRACEFS/instances/kstall-drm_sched/events/drm_sched/enable"
t_ok "switched off by somebody: on again" wait_until 30 on kstall-drm_sched
recorder stop
reload
sleep 3 # three looks
t_fails "recorder stop: the service leaves it so" on kstall-drm_sched
recorder start
wait_until 30 on kstall-trigger || bail "the trigger stays off"

# --- a hang ---

"$URING" short-submit >/dev/null
"$URING" short-submit >/dev/null
hang() { ../../modules/drm_sched/gpu entity 2 1 run 1000 once flags h job 0 await 0 60000 >/dev/null; }
hang
copied() { [ "$(copies snapshot- | grep -c job_timeout)" = 1 ]; }
t_ok "a hang makes a copy" wait_until 30 copied
# until the copy is there it may still be reading
copy=$work/state/$(copies snapshot-)
recorder show "$copy" >"$work/copy"
t_eq "with what was before it, and the reset after it" "$(awk '{ print $4 }' "$work/copy" | grep -vE 'dispatch|writeback|dep_wait|submit' | sort | uniq -c | xargs)" \
	"1 drm_sched_job_timeout: 1 drm_sched_reset: 2 io_uring_sq_overflow:"
t_eq "whole, root's only, of this boot" "$(stat -c %a "$copy")" 600
hang
told() { [ "$(recorder show | grep -c job_timeout)" = 2 ]; }
t_ok "a second hang is recorded" wait_until 30 told
sleep 1 # the service wakes at once and would copy within that

# --- the clock is set, as NTP does after the service has started ---

real() { grep -am1 '^real_ns ' "$work/state/armed" | cut -c9-; }
was=$(real)
day=86400
moved() { local by=$((($(real) - was) / 1000000000 - $1)); [ ${by#-} -lt 600 ]; }
date -s "@$(($(date +%s) + day))" >/dev/null
t_ok "the clock is set: last-boot will go by it" wait_until 30 moved $day
date -s "@$(($(date +%s) - day))" >/dev/null
t_ok "... and when it is set back" wait_until 30 moved 0
kill $watch
wait $watch
t_eq "the service ends well" "$?" 0
t_eq "but makes no other copy: one an hour" "$(copies snapshot- | grep -c .)" 1
t_eq "nothing of the service is left" "$(ls -d "$TRACEFS/instances/kstall-trigger" 2>/dev/null)" ""
t_eq "it said what it did" "$(grep -c 'drm_sched_job_timeout: copied what was before it' "$work/watch.err")" 1

# --- kstall why --snapshot ---

mkdir -p /etc/kstall
cp "$work/conf" /etc/kstall/recorder.conf
at_exit rm -f /etc/kstall/recorder.conf
cat >"$work/train" <<'END2'
step() { echo "kstall step $1 begin" >&3; sleep "$2"; echo "kstall step $1 end" >&3; }
exec 3>"$KSTALL_MARKER"
for i in 1 2 3 4 5 6 7; do step $i 0.2; done
"$1" short-submit >/dev/null
step 8 6
for i in 9 10; do step $i 0.2; done
END2
"$KSTALL" why --step marker --snapshot 10 -- bash "$work/train" "$URING" >"$work/why" 2>"$work/why.err"
t_eq "a step of more than 10 times the median makes a copy, once" "$(copies snapshot- | grep -c -- '-step.dat$')" 1
t_eq "it is said" "$(grep -c 'a step took more than 10 times the median' "$work/why.err")" 1
t_eq "with what was before it" "$(recorder show "$work/state/$(copies snapshot- | grep step)" | grep -c sq_overflow)" 1
diag <"$work/why.err"
