#!/usr/bin/env bash
# description: the hooked module comes late, goes at any moment and comes back, and nothing it does while it is there is lost
# tier1: 6.12
# once: modules come and go by the same code on each kernel
# shellcheck source-path=SCRIPTDIR
. ./lib.sh
plan 32

hurry
load kstall_test
mk_instance core
# The storm's calls would push out what is looked for.
echo 'id != 1' >"$INSTANCE/events/kstall_test/filter" || bail "no filter"
log_mark

# states: of the three events used here, and of their hooks
states() { echo "$(event_state kt_entry) $(event_state kt_pair) $(event_state kt_tick) $(field hook quick state)"; }
waiting="waiting-for:kstall_target waiting-for:kstall_target waiting-for:kstall_target waiting-for:kstall_target"

# --- late ---

t_ok "enabling without the target succeeds" enable kt_entry kt_pair kt_tick
t_eq "it waits for the target" "$(states)" "$waiting"
load kstall_target init_calls=7
t_eq "armed when the target has come" "$(states)" "armed armed armed armed"
seen() { echo "$(ev_n kt_entry "f[\"id\"] == $1") $(ev_n kt_pair "f[\"id\"] == $1") $(ev_n kt_tick "f[\"id\"] == $1")"; }
t_eq "what the target's init did is seen, all of it" "$(seen 99)" "7 7 7"

# --- gone while armed ---

call storm 2
t_eq "the target is not pinned" "$(awk '$1 == "kstall_target" { print $3 }' /proc/modules)" 0
t_ok "it can be unloaded under load, at once" unload kstall_target
t_eq "it is waited for again" "$(states)" "$waiting"
t_ok "no probe is left" wait_until 10 no_probes

# --- it fails to load ---

ev_clear
t_fails "the target's init fails" insmod ./kstall_target.ko init_calls=5 fail_init=1
t_eq "what it did until then is seen" "$(seen 99)" "5 5 5"
t_eq "then it is waited for" "$(states)" "$waiting"
t_ok "no probe is left" wait_until 10 no_probes

# --- 20 times ---

ev_clear
lost=0
for ((i = 1; i <= 20; i++)); do
	insmod ./kstall_target.ko init_calls=7
	call storm 2
	call quick 3 $((1000 + i))
	rmmod kstall_target || lost=$((lost + 1))
done
t_eq "20 times loaded, and unloaded under load" $lost 0
t_eq "each init was seen" "$(seen 99)" "140 140 140"
t_eq "each time 3 calls were seen" "$(ev_awk kt_entry 'f["id"] > 1000' 'c[f["id"]]++' END 'for (i in c) n += c[i] == 3; print n')" 20
t_eq "it is waited for" "$(states)" "$waiting"

# --- enabled while the target's exit runs ---

disable kt_entry kt_pair kt_tick
insmod ./kstall_target.ko exit_ms=$((3000 * ${KSTALL_TIME_SCALE:-1}))
rmmod kstall_target &
t_ok "the target's exit runs" wait_until 10 grep -q going /sys/module/kstall_target/initstate
t_ok "enabling while it runs succeeds" enable kt_entry kt_pair kt_tick
wait $!
t_eq "the target has gone: it is waited for" "$(states)" "$waiting"

# --- both go at once ---

failed=0
for ((i = 1; i <= 5; i++)); do
	is_loaded kstall_test || insmod ./kstall_test.ko
	insmod ./kstall_target.ko
	enable kt_entry kt_pair kt_tick
	call storm 2
	rmmod kstall_target &
	rmmod kstall_test || failed=$((failed + 1))
	wait $! || failed=$((failed + 1))
done
t_eq "5 times, both unloaded at once" $failed 0
t_ok "no probe is left" wait_until 10 no_probes
t_eq "nothing was refused all the time" "$(log_count 'kstall_test: hook.*cannot attach to target')" 0

# --- the target is there first ---

load kstall_target
insmod ./kstall_test.ko
enable kt_entry kt_pair kt_tick
t_eq "the target there first: armed" "$(states)" "armed armed armed armed"
ev_clear
call quick 7 7
call tick 7 7
t_eq "7 calls" "$(seen 7)" "7 7 7"
disable kt_entry kt_pair kt_tick
t_ok "disabled: nothing is armed" wait_until 10 nothing_armed

# --- one of that name which is not this kernel's own: its structures may be others ---

vendors=$(mktemp --suffix=.ko)
at_exit rm -f "$vendors"
LC_ALL=C sed 's/\x00intree=Y\x00/\x00intren=Y\x00/' kstall_target.ko >"$vendors"
absent() { log_count 'kstall_test: absent: vendor kstall_target, which is not'; }
failed="failed failed failed failed"
unload kstall_target
enable kt_entry kt_pair kt_tick
log_mark
insmod "$vendors" init_calls=5 || bail "cannot load it"
ev_clear
call quick 7 7
call tick 7 7
t_eq "a vendor's target comes: nothing is armed" "$(states) $(field hook quick reason)" "$failed vendor"
t_ok "... no probe is placed" no_probes
t_eq "... its calls are in no event" "$(seen 7) $(seen 99)" "0 0 0 0 0 0"
t_eq "... the log says why, once" "$(absent)" 1
rmmod kstall_target
t_eq "it goes: the target is waited for" "$(states)" "$waiting"
disable kt_entry kt_pair kt_tick
unload kstall_test
log_mark
insmod "$vendors"
insmod ./kstall_test.ko
refused=0
for event in kt_entry kt_pair kt_tick; do enable $event 2>/dev/null || refused=$((refused + 1)); done
t_eq "a vendor's target there first: none can be enabled" "$refused $(states) $(absent)" "3 $failed 1"
rmmod kstall_target
insmod ./kstall_target.ko
enable kt_entry kt_pair kt_tick
t_eq "then the kernel's own: armed" "$(states)" "armed armed armed armed"
disable kt_entry kt_pair kt_tick
