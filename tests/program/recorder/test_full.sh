#!/usr/bin/env bash
# description: where the disk is full the recorder records, says that no copies are made, and makes them when there is room
# tier1: 6.12
# once: the disk is asked by the same code on each kernel
. ./lib.sh
plan 11

mkdir "$work/disk"
mount -t tmpfs -o size=64k disk "$work/disk" || bail "no tmpfs"
at_exit umount "$work/disk"
mkdir "$work/disk/state"
cat /dev/zero >"$work/disk/rest" 2>/dev/null
printf '%s\n' "dir $work/disk/state" 'ring_kib 64' >"$work/conf"
load io_uring_trace
at_exit remove_rings
events() { recorder show "$@" | grep -c sq_overflow; }

recorder start 2>"$work/err"
t_eq "start: it records, whatever the disk says" "$? $(recorder status | awk '$2 == "recording" { print $1 }' | sort | xargs)" "0 kstall-io_uring kstall-slow"
t_eq "start: it says what is missing, and why" "$(cat "$work/err")" "kstall: $work/disk/state/armed.new: No space left on device
kstall: events are recorded, but no copies are made: $work/disk/state cannot be written"
t_eq "status: so, too" "$(recorder status | grep -c '^no copies are made')" 1
"$URING" short-submit >/dev/null
t_eq "what is recorded is shown" "$(events)" 1
t_eq "snapshot: why there is none" "$(recorder snapshot 2>&1)" "kstall: the formats of this boot are not in $work/disk/state: kstall recorder start keeps them there"
recorder start 2>/dev/null
t_eq "started again: nothing is lost" "$(events)" 1

mount -o remount,size=64m "$work/disk"
t_eq "room: started again without a word" "$(recorder start 2>&1)" ""
t_eq "room: no copies are missed" "$(recorder status | grep -c '^no copies')" 0
t_eq "room: the copy has what was recorded before" "$(events "$(recorder snapshot)")" 1

# --- kstall why --snapshot ---

mkdir -p /etc/kstall
cp "$work/conf" /etc/kstall/recorder.conf
at_exit rm -f /etc/kstall/recorder.conf
cat /dev/zero >"$work/disk/rest" 2>/dev/null
cat >"$work/train" <<'END2'
step() { echo "kstall step $1 begin" >&3; sleep "$2"; echo "kstall step $1 end" >&3; }
exec 3>"$KSTALL_MARKER"
for i in 1 2 3 4 5 6 7; do step $i 0.1; done
step 8 3
step 9 0.1
END2
"$KSTALL" why --step marker --snapshot 10 --json -- bash "$work/train" >"$work/why" 2>"$work/why.err"
t_eq "why --snapshot: a copy that fails ends nothing" "$? $(grep -c '"kind": "step"' "$work/why")" "0 9"
t_eq "... and it is said" "$(sed 's,/[^:]*: ,,' "$work/why.err")" "kstall: No space left on device"
