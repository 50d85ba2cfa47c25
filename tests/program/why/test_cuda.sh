#!/usr/bin/env bash
# description: calls of libcuda name a step's time: a container's library, several, one that is mapped later; without harm, and nothing stays
# timeout: 600
# requires: python3 unshare
# tier1: 6.12
# takes: 30

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e $TRACEFS/uprobe_events ] || skip_all "no uprobe events"
why=$tests/program/why
cd "$work" || exit
functions="cuCtxSynchronize_v2 cuEventSynchronize cuMemAlloc_v2 cuMemHostRegister_v2 cuMemcpyHtoD_v2 cuModuleLoadData cuStreamSynchronize"

nothing_left() { ! grep -q kstall_ $TRACEFS/{kprobe,uprobe}_events && [ -z "$(find $TRACEFS/instances -name 'kstall-*' 2>/dev/null)" ]; }
complaint() { grep -m1 '^kstall: ' "$1" | sed 's/[0-9][0-9]* probes/N probes/'; }
# probes WORD: how many functions have events that begin so, of how many libraries
probes() { sed -n "s,.*/$1_\([0-9]*\)_.*,\1,p" $TRACEFS/uprobe_events | sort | uniq -c | sed 's/ *\([0-9]*\) .*/\1/' | xargs; }
enabled() { grep -lsx 1 $TRACEFS/instances/kstall-*-job/events/kstall_*/"$1"_*/enable | grep -q .; }

# job NAME: in a mount namespace of its own, where its library is in a file system that nobody else has
job() {
	mkdir -p "$1"
	# shellcheck disable=SC2016 # for the shell inside
	unshare -m sh -c 'mount -t tmpfs none "$1" && mkdir "$1/lib" && cp "$2/libcuda.so.1" "$1/lib" && exec "$2/cuda" "$1.log" "$1" /lib/libcuda.so.1' \
		job "$work/$1" "$why" 2>"$1.err" &
	pid=$!
	at_exit kill -9 $pid
	wait_until 60 test -e "$1.log" || bail "$1 does not begin: $(<"$1.err")"
}
steps() { wc -l <"$1.log"; }
has_steps() { [ "$(steps "$1")" -ge "$2" ]; }
# more NAME N: until it has made so many steps more
more() { wait_until 120 has_steps "$1" $(($(steps "$1") + $2)) || bail "$1 does not go on: $(<"$1.err")"; }
# runs N: job a, while it makes so many steps more; else the jobs are stopped, as they spin
runs() {
	kill -CONT $a
	more a "$1"
	kill -STOP $a
}
right() { python3 "$why/cuda.py" "$@" | sed 's/^right //' | xargs; }

plan "$(at_length 33 30)"

# --- two containers, each with a library of its own, and a third one's that is mapped later ---

job a
a=$pid
job b
b=$pid
job late
late=$pid
kill -USR1 $a $b
more a 8
more b 8
kill -STOP $a $b
"$KSTALL" why -p $a,$b,$late --step marker --json >why.json 2>why.err &
kstall=$!
wait_until 60 session_begun || bail "no session: $(<why.err)"
t_eq "each library has its probes: the beginning and the end of seven functions, of two names of one once" \
	"$(probes gpu_begin), $(probes gpu_end)" "7 7, 7 7"
kill -USR1 $late
kill -CONT $a $b
three_have_probes() { [ "$(probes gpu_begin)" = "7 7 7" ]; }
t_ok "one that is mapped later has them, too" wait_until 60 three_have_probes
wait_until 60 enabled gpu_begin_2 || bail "they are not enabled"
more a 16 && more b 16 && more late 24
kill -STOP $a $b $late
tail -n 16 late.log >late.last
kill -INT $kstall
wait $kstall
t_eq "status, and nothing else is said" "$? $(<why.err)" "0 "
t_ok "nothing is left" nothing_left
for name in a b; do
	t_eq "$name: each step has the function's name first, for as long as the function measured" \
		"$(right why.json $name.log $functions)" "$functions"
done
t_eq "late: its last steps have, too" "$(right why.json late.last $functions)" "$functions"
t_eq "launches are the program's own" "$(right why.json a.log cuLaunchKernel | grep -c ^cuLaunch)" 0

# --- recorded; and with launches ---

"$KSTALL" record -o all.dat -p $a --cuda-launch 2>record.err &
kstall=$!
wait_until 60 session_begun || bail "no session: $(<record.err)"
t_eq "--cuda-launch: eight functions" "$(probes gpu_begin)" 8
runs 16
kill -INT $kstall
wait $kstall
t_eq "... and nothing is said" "$? $(<record.err)" "0 "
"$KSTALL" why -i all.dat --step marker --json >all.json 2>all.err
t_eq "a recording: the same, and launches" "$(right all.json a.log)" "${functions/cuMemAlloc/cuLaunchKernel cuMemAlloc}"
t_eq "... and nothing is said" "$(<all.err)" ""

"$KSTALL" record -o none.dat -p $a --no-cuda 2>record.err &
kstall=$!
wait_until 60 session_begun || bail "no session: $(<record.err)"
t_eq "--no-cuda: no probes" "$(probes gpu_begin)" ""
runs 8
kill -INT $kstall
wait $kstall
t_eq "... and nothing is said" "$? $(<record.err)" "0 "
"$KSTALL" why -i none.dat --step marker --json >none.json 2>none.err
t_eq "... a recording says nothing of CUDA" "$(grep -c 'gpu_wait\|copy' none.json)" 0

# --- a command, which maps it when it runs ---

mkdir root
cp "$why/libcuda.so.1" root
commands=("record -o command.dat" "why --step marker --json")
for command in "${commands[@]::$(at_length 2 1)}"; do
	"$KSTALL" $command -- "$why/cuda" "$work/command.log" "$work/root" /libcuda.so.1 >command.json 2>command.err &
	kstall=$!
	wait_until 60 test -e command.log || bail "no command: $(<command.err)"
	child=$(pgrep -x cuda -n)
	kill -USR1 "$child"
	t_ok "${command%% *}: a command's library has probes" wait_until 60 enabled gpu_begin
	more command 24
	tail -n 16 command.log >command.last
	kill "$child"
	wait $kstall
	t_eq "... status" "$? $(<command.err)" "0 "
	[ "${command%% *}" = why ] || "$KSTALL" why -i command.dat --step marker --json >command.json
	t_eq "... its steps have names" "$(right command.json command.last $functions)" "$functions"
	rm command.log
done

# --- killed ---

"$KSTALL" record -o killed.dat -p $a 2>killed.err &
kstall=$!
wait_until 60 enabled gpu_end || bail "no session: $(<killed.err)"
kill -9 $kstall
wait $kstall 2>/dev/null
t_ok "after kill -9 the guardian removes everything" wait_until 60 nothing_left
runs 8
t_eq "... and the job lives" "$(kill -0 $a && echo yes)" yes

# --- a kernel where return probes kill ---

KS_SECCOMP=1 LD_PRELOAD=$why/fail.so "$KSTALL" record -o entries.dat -p $a 2>entries.err &
kstall=$!
wait_until 60 enabled gpu_only || bail "no session: $(<entries.err)"
t_eq "where return probes kill: beginnings only" "$(probes gpu_only), $(probes gpu_begin), $(probes gpu_end)" "7, , "
runs 8
kill -INT $kstall
wait $kstall
t_eq "... which is said once" "$? $(grep -c . entries.err) $(<entries.err)" \
	"0 1 kstall: of calls of the GPU's library only the beginnings are seen: a return probe kills a process under seccomp (Linux from 6.11 until cf6cb56ef244)"
"$KSTALL" why -i entries.dat --step marker --json >entries.json
t_eq "... and by the recording" "$(grep -c '"layer": "gpu_wait", "event": "gpu_end"' entries.json)" 1
t_eq "... no time has a call's name" "$(grep -c '"name": "\(gpu_\|copy\|pin\)' entries.json)" 0
t_range "... it is shown beside" "$(grep -c '"culprit": "since cuEventSynchronize"' entries.json)" 1 999

# --- a library that is none ---

mkdir -p odd
cp "$why/fail.so" odd/libcuda.so.1
cat >map.py <<'END'
import mmap, sys, time
f = open(sys.argv[1], "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
print("mapped", flush=True)
time.sleep(1000)
END
python3 map.py odd/libcuda.so.1 >map.out &
map=$!
at_exit kill $map
wait_until 60 grep -q mapped map.out
"$KSTALL" record -o odd.dat -p $map --time 1s 2>odd.err
t_eq "a library without a known function: one line" "$? $(<odd.err)" \
	"0 kstall: $work/odd/libcuda.so.1: it has no function that is known: its calls are not seen"
"$KSTALL" why -i odd.dat --step all --json >odd.json
t_eq "... and by the recording" "$(grep -c "\"layer\": \"gpu_wait\", .*: \"$work/odd/libcuda.so.1: it has no function" odd.json)" 1
KS_FAIL="uprobe_events 22" LD_PRELOAD=$why/fail.so "$KSTALL" record -o refused.dat -p $a --time 1s 2>refused.err
t_eq "probes that are refused: lines that say so" "$? $(complaint refused.err)" \
	"0 kstall: of calls of the GPU's library only the beginnings are seen: Invalid argument"
t_ok "nothing is left" nothing_left
kill -CONT $a $b $late
more a 8 && more b 8 && more late 8
t_eq "the jobs live" "$(kill -0 $a $b $late && echo yes)" yes
