#!/usr/bin/env bash
# description: an Xid of the driver is beside its step, in the flight recorder with a copy, and counted; none of them holds the driver's module
# tier1: 6.12
# timeout: 300
# requires: python3 setpriv
# shellcheck source=../recorder/lib.sh
. ../recorder/lib.sh
# shellcheck source=../metrics/lib.sh
. ../metrics/lib.sh
plan 14

xid() { echo "0000:19:00.0 $1 $2" >/dev/nvidiactl; }
is_on() { [ "$(cat "$TRACEFS/instances/$1/events/nvidia/nvidia_dev_xid/enable")" = 1 ]; }
counted() { sample kstall_events_total 'event="xid"' 'device="0000:19:00.0"' 'cause="'"$1"'"'; }
recorded() { recorder show | sed -nE 's/.* (nvidia_dev_xid: .*)/\1/p'; }

load nvidia
configure 'ring_kib 64' 'every 1h'
at_exit remove_rings
at_exit clean_up
"$KSTALL" recorder watch --config "$work/conf" 2>"$work/watch.err" &
watch=$!
at_exit eval "kill $watch 2>/dev/null; wait $watch"
mkdir "$work/dir"
metrics --textfile "$work/dir"
t_ok "the recorder has the driver's event" wait_until 60 is_on kstall-nvidia
t_ok "... as a trigger" wait_until 60 is_on kstall-trigger
t_ok "the metrics have it" wait_until 60 is_on kstall_metrics_xid

# shellcheck disable=SC2016 # for the shell inside
"$KSTALL" record -o "$work/xid.dat" --step marker -- sh -c '
	echo "kstall step 12 begin" >$KSTALL_MARKER
	echo "0000:19:00.0 119 Timeout after 6s of waiting for RPC response" >/dev/nvidiactl
	echo "kstall step 12 end" >$KSTALL_MARKER' 2>"$work/record.err"
t_eq "record: status, and nothing is said" "$? $(<"$work/record.err")" "0 "
t_eq "why: it stands beside the step" "$("$KSTALL" why -i "$work/xid.dat" --step marker | sed -nE 's/^ *! after [0-9.]+ [mu]?s: //p')" \
	"Xid 119 of 0000:19:00.0, NVIDIA's advice: reset the GPU: Timeout after 6s of waiting for RPC response"
"$KSTALL" why -i "$work/xid.dat" --step marker --json >"$work/xid.json"
t_eq "... its code in JSON" "$(python3 -c '
import json, sys
print([(f["kind"], f["device"], f["code"], f["action"]) for f in json.load(open(sys.argv[1]))["faults"]])' "$work/xid.json")" \
	"[('Xid', '0000:19:00.0', 119, 'reset the GPU')]"
was_recorded() { [ "$(recorded)" = "nvidia_dev_xid: Xid (PCI:0000:19:00.0): 119, Timeout after 6s of waiting for RPC response" ]; }
t_ok "recorder show: the same" wait_until 60 was_recorded
copied() { [ "$(copies snapshot- | grep -c nvidia_dev_xid)" = 1 ]; }
t_ok "... and it has made a copy" wait_until 60 copied
t_ok "metrics: it is counted, by device and code" wait_until 60 has_sample kstall_events_total 'event="xid"' 'cause="119"'
t_eq "... once" "$(counted 119)" 1

# --- the driver goes, and comes back ---

"$KSTALL" why -p $$ --every 1s >"$work/why" 2>"$work/why.err" &
why=$!
wait_until 60 session_begun || bail "no session: $(<"$work/why.err")"
t_ok "recorder, metrics and a session of why do not hold the module" unload nvidia
kill -INT $why
wait $why
load nvidia
back() { is_on kstall-nvidia && is_on kstall_metrics_xid; }
wait_until 60 back || bail "they do not come back"
xid 79 "GPU has fallen off the bus."
twice() { [ "$(recorded | wc -l)" = 2 ]; }
t_ok "it is back: the next is recorded" wait_until 60 twice
t_ok "... and counted" wait_until 60 has_sample kstall_events_total 'event="xid"' 'cause="79"'
t_eq "... the first is still counted" "$(counted 119)" 1
