#!/usr/bin/env bash
# description: a name keeps its letters in a table, in JSON and in a timeline, and brings no control and no broken character there
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 10

none=$'\xef\xbf\xbd'	# U+FFFD
csi=$'\xc2\x9b'	# U+009B, which begins a command of a terminal
cut=$'a训练数据\xe5\x8a'	# what the kernel leaves of a name of 19 bytes

# the job of NAME, with a step ID of ATTRIBUTES, held by a device
recording() {
	cat <<END
1000 0 1 0 ftrace:print buf=kstall task 100 100 R -1 $1
1500 0 1 0 ftrace:print buf=kstall unseen la${csi}yer ev${csi}ent because of a${csi}2J
2000 0 100 0 ftrace:print buf=kstall step $2 begin $3
3000 0 100 0 sched:sched_switch prev_pid=100 prev_comm=$1 prev_state=1 next_pid=0 next_comm=swapper
6000 1 0 8 io_uring_trace:io_uring_block_rq pid=100 tgid=100 comm=$1 dev=${4:-vda} ring=1 user_data=1 device_ns=2000 tag_ns=0 sched_ns=0 queue_mono_ns=1 attribution=1
6100 1 0 8 sched:sched_waking comm=$1 pid=100
6200 0 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_state=0 next_pid=100 next_comm=$1
7000 0 100 0 ftrace:print buf=kstall step $2 end
END
}
job() { recording "$@" >job.txt && python3 "$here/mkdat.py" --session all-first job.txt; }
fields() {
	"$KSTALL" why --json -i job.dat | python3 -c 'import json, sys
for s in json.loads(sys.stdin.buffer.read().decode())["steps"]:
    print(s["comm"], s["id"], s["attributes"], s["culprit"]["what"])'
}
table() { "$KSTALL" why -i job.dat "$@"; }
controls() { LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]'; }

job 训练数据 épo "größe=7 naïve=☃" grün
same "JSON: letters" "$(fields)" "训练数据 épo größe=7 naïve=☃ grün"
same "the table: the same" "$(table | grep '^step')" "step épo of 训练数据/100: 5.0 us (größe=7 naïve=☃)"
same "--comm finds it" "$(table --comm 训练数据 2>&1 | sed 1q)" "$(table | sed 1q)"

job "$cut" $'1\xff2' $'a=\xc3' $'v\xc0\xaf'
same "JSON: what is no character" "$(fields)" "a训练数据$none$none 1${none}2 a=$none v$none$none"
same "the table: the same" "$(table | grep '^step')" "step 1${none}2 of a训练数据$none$none/100: 5.0 us (a=$none)"
same "--comm finds that, too" "$(table --comm "$cut" 2>&1 | sed 1q)" "$(table | sed 1q)"
"$KSTALL" timeline job.dat >said
same "the timeline: strings are UTF-8" "$(python3 "$here/slices.py" out.pftrace 0 2>&1 | grep '^track' | sort)" \
	"track a训练数据$none$none/100 of 100
track process a训练数据$none$none/100
track steps of a训练数据$none$none/100
track steps of a训练数据$none$none/100 > steps of a训练数据$none$none/100
track v$none$none
track v$none$none > v$none$none"

job $'x\x1b[2J'"$csi"2J $'1\x7f'"$csi" $'k=\x1b]0;x\x07'"$csi" $'v\x1b'"$csi"
same "no control comes through" "$(table | controls) $("$KSTALL" why --json -i job.dat | controls)" "0 0"
cp job.dat $'job\e[31m.dat'
same "... nor from the names of files" \
	"$("$KSTALL" diff job.dat $'job\e[31m.dat' | controls) $("$KSTALL" timeline -o $'out\e[31m.pftrace' job.dat | controls)" "0 0"
same "... but the rest of the name" "$(table | grep -E '^step|^not seen')" "step 1?? of x?[2J?2J/100: 5.0 us (k=?]0;x??)
not seen: la?yer: because of a?2J"
