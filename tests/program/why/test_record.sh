#!/usr/bin/env bash
# description: a recording that is too big, fails halfway or lacks a CPU's part is never said to be whole; what others do is not in it
# timeout: 600
# requires: python3 trace-cmd mkfs.ext4
# tier1: 6.12
# takes: 45

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e fail.so ] || skip_all "fail.so is not built here"
[ -e $TRACEFS/kprobe_events ] || skip_all "no kprobe events"
cd "$work" || exit
fail=$tests/program/why/fail.so mm=$tests/modules/mm_migrate/mm

is_over() { ! ls -d $TRACEFS/instances/kstall-????????-* 2>/dev/null; }
said() { grep -h '^kstall: ' "$@"; }
# events FILE NAME: how many there are of it in a recording
events() { trace-cmd report -i "$1" 2>/dev/null | grep -c " $2: "; }
# in_json EXPRESSION: of "kstall why --json", as d, from standard input
in_json() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
# steps.py STEPS CALLS: steps of so many system calls
cat >steps.py <<-'END'
	import os, sys
	marker = open("/dev/null", "wb", buffering=0)
	for i in range(int(sys.argv[1])):
	    marker.write(b"kstall step %d begin" % i)
	    for _ in range(int(sys.argv[2])):
	        os.getppid()
	    marker.write(b"kstall step %d end" % i)
END

plan "$(at_length 42 37)"

# --- many threads: one write, since each costs the kernel grace periods ---

cat >threads.py <<-'END'
	import threading
	threading.stack_size(65536)
	for _ in range(999):
	    threading.Thread(target=threading.Event().wait, daemon=True).start()
	open("ready", "w").close()
	threading.Event().wait()
END
python3 threads.py &
threads=$!
at_exit kill $threads
wait_until 60 test -e ready || bail "no threads"
KS_LOG=log LD_PRELOAD=$fail "$KSTALL" record -o threads.dat -p $threads 2>threads.err &
kstall=$!
wait_until 60 session_begun || bail "record does not begin"
t_eq "1,000 threads: the kernel knows them all" "$(cat $TRACEFS/instances/kstall-*-job/set_event_pid)" \
	"$(printf '%s\n' /proc/$threads/task/* | sed 's,.*/,,' | sort -n)"
t_eq "... by one write" "$(grep -c set_event_pid log)" 1
kill -INT $kstall
wait $kstall
t_eq "... and that is all" "$? $(cat threads.err)" "0 "
KS_FAIL="set_event_pid 12" LD_PRELOAD=$fail "$KSTALL" record -o no.dat --time 1s -p $threads 2>no.err
t_eq "... a write that fails is said" "$? $(cat no.err) $(ls no.dat* 2>/dev/null)" "1 kstall: set_event_pid: Cannot allocate memory "

# --- what is there, and cannot be read, is not missing ---

for file in "/proc/$threads/task" trace; do
	KS_FAIL="$file 24" LD_PRELOAD=$fail "$KSTALL" record -o no.dat --time 1s -p $threads 2>no.err
	t_eq "$file" "$? $(sed 's,no tracing here: ,,' no.err) $(ls no.dat* 2>/dev/null)" "1 kstall: $file: Too many open files "
done
KS_FAIL="/proc/$threads/fd 13" LD_PRELOAD=$fail "$KSTALL" record -o told.dat --time 1s -p $threads 2>no.err
t_eq "/proc/$threads/fd: there is an answer, and what it lacks" "$? $(cat no.err)" "0 kstall: /proc/$threads/fd: Permission denied"

# --- an event that cannot be enabled ---

for event in sched_switch sys_exit; do
	KS_FAIL="$event 16" LD_PRELOAD=$fail "$KSTALL" record -o no.dat -- touch ran 2>no.err
	t_eq "$event cannot be enabled: there is no answer without" "$? $(sed 's/[a-z_]*://2' no.err) $(ls ran no.dat* 2>/dev/null)" \
		"1 kstall: the event $event cannot be enabled: Device or resource busy "
done
KS_FAIL="sched_waking 12" LD_PRELOAD=$fail "$KSTALL" record -o no.dat -- true 2>no.err
t_eq "another cannot: there is" "$? $(cat no.err)" "0 "
t_eq "... and what is unseen, and why" "$("$KSTALL" why -i no.dat --json | in_json '[(u["layer"], u["event"], u["why"]) for u in d["unseen"] if u["event"] == "sched_waking"]')" \
	"[('sched', 'sched_waking', 'Cannot allocate memory')]"

# --- no kprobe on what writes markers ---

sleep 1000 &
asleep=$!
at_exit kill $asleep
no_kprobes() { KS_FAIL="kprobe_events 12" LD_PRELOAD=$fail "$KSTALL" "$@"; }
no_kprobes why --step marker --time 1s -p $asleep >no.out 2>no.err
t_eq "markers cannot be seen: that is said" "$? $(cat no.out no.err)" \
	"1 kstall: no kprobe sees markers here: --every, --step all or uprobe does without"
no_kprobes record -o no.dat --time 1s -p $asleep 2>no.err
t_eq "... a recording is made" "$? $(cat no.err)" "0 "
"$KSTALL" why -i no.dat --step marker >no.out 2>no.err
t_eq "... which is not called one without markers" "$? $(cat no.out no.err)" \
	"1 kstall: no.dat has no markers: no kprobe sees markers: only a command of root's has a file for them that is read"
# shellcheck disable=SC2016 # the command expands it
no_kprobes record -o no.dat -- sh -c 'for i in 1 2 3; do echo "kstall step $i" >"$KSTALL_MARKER"; done' 2>no.err
t_eq "... those of a command of root's are seen" "$? $("$KSTALL" why -i no.dat --step marker --json | in_json '[s["id"] for s in d["steps"]], [(u["layer"], u["event"]) for u in d["unseen"] if u["layer"] == "marker"]')" \
	"0 ['1', '2'] [('marker', 'step')]"

# --- what others do ---

load mock_mm
load mm_migrate_trace
# 200 waits each, of the job and of somebody else
storm="map 1 notify 0 list 0 storm 1 200 unnotify"
# shellcheck disable=SC2086 # words
"$KSTALL" record -o others.dat -- sh -c "touch begun; until [ -e done ]; do sleep 0.1; done; exec $mm $storm >/dev/null" 2>others.err &
kstall=$!
wait_until 60 test -e begun || bail "record does not begin"
# shellcheck disable=SC2086 # words
t_ok "somebody else has 200 waits" "$mm" $storm
# A wait is recorded if it contains a callback that the module knows; it has just learned of this one, and hooks it in a worker.
wait_until 60 grep -q '^hook callback0 .* state=armed' /sys/kernel/debug/mm_migrate_trace/status || bail "the callback is not hooked"
touch "done"
wait $kstall
t_eq "... while a job is recorded that has 200" "$? $(cat others.err)" "0 "
trace-cmd report -i others.dat 2>/dev/null | grep ' mm_migrate_mmu_notifier_wait: ' >waits
t_range "the job's are in the recording" "$(grep -c . waits)" 200 1000
t_eq "... and nobody else's" "$(sed 's/.* tgid=\([0-9]*\) .*/\1/' waits | sort -u | wc -l)" 1

# --- memory ---

# sizes CPUS PAGES [OPTION]: of the buffers job and all, in steps of 8 KiB since the kernel takes whole pages, and what is said
sizes() {
	KS_CPUS=$1 KS_PAGES=$2 LD_PRELOAD=$fail "$KSTALL" record -o size.dat "${@:3}" -- \
		sh -c "cat $TRACEFS/instances/kstall-*-job/buffer_size_kb $TRACEFS/instances/kstall-*-all/buffer_size_kb" 2>size.err |
		awk '{ printf "%d ", $1 - $1 % 8 }'
	said size.err | sed 's/: all together.*//'
}
[ -n "$KSTALL_BRIEF" ] || t_eq "8 CPUs, 16 GiB: the usual" "$(sizes 8 $((16 << 18)))" "8192 4096 "
t_eq "224 CPUs, 2 TiB: 1 GiB for all, and that is said" "$(sizes 224 $((2 << 28)))" \
	"3120 1560 kstall: ring buffers of 3120 and 1560 KiB a CPU, not of 8192 and 4096"
[ -n "$KSTALL_BRIEF" ] || t_eq "8 CPUs, 4 GiB: a 64th of memory" "$(sizes 8 $((4 << 18)))" \
	"5456 2728 kstall: ring buffers of 5461 and 2730 KiB a CPU, not of 8192 and 4096"
t_eq "-b: as it is" "$(sizes 224 $((4 << 18)) -b 64)" "64 64 "

# --- CPUs come and go ---

cpu=/sys/devices/system/cpu/cpu1/online
if [ -e $cpu ] && echo 0 >$cpu; then
	at_exit eval "echo 1 >$cpu"
	"$KSTALL" record -o off.dat -- python3 "$work/steps.py" 2 100 2>off.err
	t_eq "a CPU is offline: the status" "$? $(cat off.err)" "0 "
	t_eq "... the steps" "$("$KSTALL" why -i off.dat --json | in_json '[s["exact"] for s in d["steps"]]')" "[True, True]"
	"$KSTALL" record -o on.dat -- sh -c "echo 1 >$cpu; exec taskset -c 1 python3 $work/steps.py 2 100" 2>on.err
	t_eq "... it comes online: the status" "$? $(cat on.err)" "0 "
	t_eq "... the steps" "$("$KSTALL" why -i on.dat --json | in_json '[s["exact"] for s in d["steps"]]')" "[True, True]"
	t_range "... and what it did is there" "$(trace-cmd report -i on.dat 2>/dev/null | grep -c '\[001\].* sys_enter: ')" 200 100000
else
	for t in "offline: the status" "the steps" "online: the status" "the steps" "what it did is there"; do t_skip "$t" "one CPU"; done
fi

# --- a disk that is too small ---

scratch=/dev/disk/by-id/virtio-scratch
mkdir small
if [ -e $scratch ]; then
	mkfs.ext4 -q -F -m 0 $scratch 20M
	mount $scratch small
else
	mount -t tmpfs -o size=20m tmpfs small
fi || bail "no small disk"
at_exit umount small
echo former >small/full.dat
room=$(df -k --output=avail small | tail -1)
# some 100 bytes a system call
if [ -z "$KSTALL_BRIEF" ]; then
	"$KSTALL" record -o small/half.dat -- python3 "$work/steps.py" 10 $((room * 6 / 10)) 2>half.err
	t_eq "a recording of more than half the disk: the status" "$? $(cat half.err)" "0 "
	t_range "... it is that large" "$(($(stat -c %s small/half.dat) * 100 / room / 1024))" 51 95
	t_eq "... and whole" "$("$KSTALL" why -i small/half.dat --json | in_json '[s["exact"] for s in d["steps"]].count(True)')" 10
	rm small/half.dat
fi
# the write that fails takes long, and a CPU that had few events has several pages of them meanwhile
meanwhile=true
[ ! -e $scratch ] || meanwhile="dd if=$scratch of=/dev/null bs=4k count=200 iflag=direct status=none"
KS_FULL=$meanwhile LD_PRELOAD=$fail "$KSTALL" record -o small/full.dat -- python3 "$work/steps.py" 20 $((room * 8 / 10)) 2>full.err
t_eq "one that does not fit: the status" "$? $(head -1 full.err)" "1 kstall: small/full.dat: No space left on device: the recording ends here"
"$KSTALL" why -i small/full.dat --json >full.json
t_eq "... there are steps, and it is known that events are missing" \
	"$(in_json 'sum(s["exact"] for s in d["steps"]) >= 3, d["cost"]["lost"] > 0' <full.json)" "True True"
t_eq "... nothing else is left" "$(ls -I lost+found small)" full.dat
former=$(sha1sum threads.dat)
KS_FAIL="pwrite 5" LD_PRELOAD=$fail "$KSTALL" record -o threads.dat -- true 2>eio.err
t_eq "a disk that fails" "$? $(cat eio.err)" "1 kstall: threads.dat: Input/output error"
t_eq "... the recording that was there stays" "$(sha1sum threads.dat)" "$former"
KS_FAIL="per_cpu/cpu0/stats 5" LD_PRELOAD=$fail "$KSTALL" record -o uncounted.dat -- true 2>eio.err
t_eq "what was lost cannot be counted: that is said" "$? $(cat eio.err)" "1 kstall: events may be lost, they cannot be counted: Input/output error"
(ulimit -f 1000; exec "$KSTALL" record -o limit.dat -- true) 2>limit.err
t_eq "a file may not be that large" "$? $(cat limit.err)" "1 kstall: limit.dat: File too large"

# --- whose end it is that ends a recording ---

sleep 1000 &
first=$!
"$KSTALL" record -o reuse.dat -p $first 2>reuse.err &
kstall=$!
wait_until 60 session_begun || bail "record does not begin"
kill -STOP $kstall
kill $first
wait $first 2>/dev/null
echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
sleep 1000 &
second=$!
kill -CONT $kstall
t_eq "another process gets the PID" "$second" "$first"
ended() { ! kill -0 $kstall; }
t_ok "... the recording ends all the same" wait_until 20 is_over
kill -INT $kstall 2>/dev/null
kill $second

# --- the command outlives the recording ---

"$KSTALL" record -o long.dat --time 0.1s -- sh -c "until [ -e let_go ]; do sleep 0.1; done; exit 7" 2>long.err &
kstall=$!
wait_until 60 test -s long.err
t_eq "--time: the recording is there, and kstall waits" "$(test -s long.dat && is_over && kill -0 $kstall && cat long.err)" \
	"kstall: the command goes on without being traced, and kstall waits for its end"
touch let_go
wait $kstall
t_eq "... it exits as the command does" $? 7
