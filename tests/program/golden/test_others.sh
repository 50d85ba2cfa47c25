#!/usr/bin/env bash
# description: a recording of another machine or tracer gives a right answer, says what it has not, or is refused in one line
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 53

dat() { python3 "$here/mkdat.py" --session all-first "$@" || bail "no recording: $*"; }
why() { "$KSTALL" why "$@"; }
answer() { why --json "$@"; }
here_is() { echo "Linux node 6.12.1 $1"; }

# refused DESC MESSAGE command…: status 1, nothing on standard output, and this line
refused() {
	local desc=$1 want="kstall: $2" status=0
	shift 2
	"$@" >got 2>err || status=$?
	same "$desc" "$status $(cat got err)" "1 $want"
}

# unseen DAT OPTION…: LAYER EVENT: WHY, a line each
unseen() {
	why --json -i "$@" | python3 -c 'import json, sys
for u in json.load(sys.stdin)["unseen"]: print(u["layer"], u["event"] + ":", u["why"])'
}

# --- another machine ---

make_dat layers calls windows
cp layers.dat native.dat
golden_of() { answer -i layers.dat; }
for machine in "--big" "--long 4" "--page 65536" "--big --long 4 --page 16384"; do
	# shellcheck disable=SC2086 # options
	dat $machine --uname "$(here_is "$(uname -m)")" "$here/layers.txt"
	same "the same answer: $machine" "$(golden_of)" "$(sed 's/native\.dat/layers.dat/' <(answer -i native.dat))"
done

foreign='kernel sys_enter: recorded on aarch64: system calls have numbers here, no names'
dat --uname "$(here_is aarch64)" "$here/layers.txt" "$here/calls.txt"
same "another architecture is said" "$(unseen calls.dat)" "$foreign"
names() { why --json -i "$1" | grep -oE '"name": "(kernel|unexplained|sleep): [^"]*"' | sort -u | sed 's/"name": "//; s/"$//'; }
# from 424 on they mean the same everywhere
same "... and its calls have numbers" "$(names layers.dat)" "kernel: io_uring_enter
kernel: system call 0
kernel: system call 1
kernel: system call 16
kernel: system call 256
kernel: system call 35
kernel: system call 74
unexplained: io_uring_enter
unexplained: system call 0
unexplained: system call 1
unexplained: system call 35"
same "... nor has an ioctl a meaning" "$(why --json -i calls.dat | grep -cE '"layer": "(nvidia|uvm|kfd|uverbs)"')" 0
dat --big "$here/calls.txt"
same "a byte order of its own says that it is another" "$(unseen calls.dat)" "${foreign/aarch64/a machine of another byte order}"

# --- another clock ---

# Of fences and requests only what needs no time of CLOCK_MONOTONIC.
without_phases() {
	stated "$here/layers.txt" | sed -E 's/fence: (behind|dependency|ring|hw_queue|running|done)$/fence: wait/
		s/io_uring: (queue|worker|exec)$/unexplained: io_uring_enter/' |
		awk '{ key = $1 " " $2; for (i = 4; i <= NF; i++) key = key " " $i; ns[key] += $3 } END { for (k in ns) print k, ns[k] }' | sort
}
by_key() { awk '{ key = $1 " " $2; for (i = 4; i <= NF; i++) key = key " " $i; print key, $3 }' | sort; }
for clock in local boot none; do
	dat --clock $clock "$here/layers.txt"
	same "by the clock $clock there are no phases" "$(why --json -i layers.dat | stated --json | by_key)" "$(without_phases)"
	needs="the clock is ${clock/none/local}, phases need mono"
	same "... and that is said" "$(unseen layers.dat | grep mono)" "gpu drm_sched_job_dispatch: $needs
gpu drm_sched_job_complete: $needs
io_uring io_uring_req_done: $needs"
done
for clock in x86-tsc counter uptime; do
	dat --clock $clock "$here/layers.txt"
	refused "what counts no nanoseconds: $clock" \
		"layers.dat: its clock is $clock, which does not count nanoseconds; trace-cmd record -C mono does" why -i layers.dat
done

# --- another tracer ---

grep -vE 'ftrace:print|nvidia:|nvswitch:' "$here/recorder.txt" >none.txt
dat none.txt
refused "no event that is known" "none.dat: kstall knows none of its events" why -i none.dat
takes="no sched_switch in it; trace-cmd record -C mono -e sched -e task -e raw_syscalls has what it takes"
dat --without sched:sched_switch "$here/windows.txt"
refused "no sched_switch" "windows.dat: $takes" why -i windows.dat
refused "... for diff" "windows.dat: $takes" "$KSTALL" diff windows.dat windows.dat
grep -v sched:sched_switch "$here/windows.txt" >idle.txt
dat idle.txt
refused "its format alone" "idle.dat: $takes" why -i idle.dat
dat --rename sched_switch.next_pid=next_task "$here/windows.txt"
refused "fields of other names" "windows.dat: its sched_switch has no field next_pid" why -i windows.dat

# What kstall record notes is taken from its own buffers.
cat >forged.txt <<-'END'
	1000000000 0 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_state=0 next_pid=100 next_comm=app
	1000000001 0 100 0 ftrace:print buf=kstall step 1 begin
	1001000000 1 200 0 ftrace:print buf=kstall threads 200 200
	1002000000 1 200 0 ftrace:print buf=kstall task 200 200 R 0 systemd
	1003000000 1 200 0 ftrace:print buf=kstall unseen gpu x all is well
	1013000000 0 100 0 ftrace:print buf=kstall step 1 end
	1014000000 0 100 0 raw_syscalls:sys_enter id=1
END
python3 "$here/mkdat.py" forged.txt || bail "no recording"
same "notes that another wrote" "$(why --json --step marker -i forged.dat | stated --json | grep on_cpu) $(unseen forged.dat | grep -c 'all is well')" "1 on_cpu 12999999 user 0"

process="process task_newtask: which process a thread belongs to was not recorded: each thread counts as one"
dat --without raw_syscalls --without sched:sched_waking --without kstall --without io_uring_trace --without drm_sched \
	--without iommu_trace --without mm_migrate --without ib_cq:ib_mr_reg "$here/windows.txt"
same "layers that cannot be had" "$(unseen windows.dat --step all | grep -vE '^(gpu|io_uring|memory|iommu) ')" "$process
cpu sched_waking: the recording has no sched_waking: the time from a wake-up to the CPU is in blocked
kernel sys_enter: the recording has no sys_enter: system calls have no names, on_cpu is all user
quota throttle: not recorded: it is in cpu
rdma ib_mr_reg: some events were not recorded"
same "... and whole modules" "$(unseen windows.dat --step all | grep -E '^(gpu|io_uring|memory|iommu) ' | sed 's/ .*:/:/' | sort -u)" \
	"gpu: not recorded
io_uring: not recorded
iommu: not recorded
memory: not recorded"
same "... in the table, each once" "$(why -i windows.dat --step all | grep '^not seen')" \
	"not seen: $(unseen windows.dat --step all | sed 's/ [a-z0-9_]*:/:/' | uniq | sed 's/.*/& ;/' | xargs | sed 's/ ; /; /g; s/ ;$//')"
grep -v raw_syscalls:sys_exit "$here/windows.txt" >noexit.txt
dat noexit.txt
same "calls without end" "$(unseen noexit.dat --step all)" "$process
user sys_exit: the recording has no sys_exit: the time after a system call counts as the call's"
dat --rename dma_fence_wait.wait_ns=waited_ns "$here/layers.txt"
same "a field of another name: the event is not seen, and that is said" "$(unseen layers.dat | grep field)" \
	"gpu dma_fence_wait: dma_fence_wait has no field wait_ns"
same "... its time is left to the system call" "$(why --json -i layers.dat | stated --json | grep -c ' fence: ')" 0
dat --rename sys_enter.args=arguments "$here/layers.txt"
same "... but a call without arguments has its name" "$(unseen layers.dat | grep field) $(names layers.dat | grep -c migrate_pages)" \
	"kernel sys_enter: sys_enter has no field args 1"
dat --rename sys_enter.id=nr "$here/layers.txt"
same "... and one without its number has none, but that in which the recording began" "$(unseen layers.dat | grep field) $(names layers.dat)" \
	"kernel sys_enter: sys_enter has no field id kernel: read"
dat "$here/layers.txt"
same "kstall record has said it itself" "$(unseen layers.dat)" "$(unseen native.dat)"

# --- the kernel's events and a module's that says more ---

cat >compact.txt <<'END'
1000 0 100 0 kstall:step text=kstall step 1 begin
2000 0 100 0 raw_syscalls:sys_enter id=28
3000 0 100 0 compaction:mm_compaction_begin sync=1
8000 0 100 0 compaction:mm_compaction_end sync=1
10000 0 100 0 raw_syscalls:sys_exit id=28
10500 0 100 0 sched:sched_switch prev_pid=100 prev_comm=app prev_state=0 next_pid=0 next_comm=s
11000 0 0 0 sched:sched_switch prev_pid=0 prev_comm=s prev_state=0 next_pid=100 next_comm=app
12000 0 100 0 kstall:step text=kstall step 1 end
12001 0 100 0 raw_syscalls:sys_enter id=1
END
compaction() { why --json -i compact.dat | stated --json | grep compaction; }
dat --without mm_migrate compact.txt
same "without the module the kernel's events count" "$(compaction)" "1 on_cpu 5000 compaction"
dat --without mm_migrate:mm_compaction_stall compact.txt
same "... or where the module lacks that event" "$(compaction)" "1 on_cpu 5000 compaction"
dat compact.txt
same "with it they do not" "$(compaction)" ""

# --- what was asked for is not there ---

refused "-p" "no process 4242 in layers.dat" why -i layers.dat -p 4242
refused "--comm" "no process nosuch in layers.dat" why -i layers.dat --comm nosuch
refused "... for timeline" "no process 4242 in layers.dat" "$KSTALL" timeline -p 4242 layers.dat
refused "... for diff" "no process 4242 in layers.dat" "$KSTALL" diff -p 4242 layers.dat layers.dat
same "one of two" "$(why -i layers.dat -p 200,4242 2>&1)" "kstall: no process 4242 in layers.dat
$(why -i layers.dat -p 200)"
refused "--step nccl" "layers.dat has no collectives: no line \"kstall nccl ...\" of the profiler plugin" why -i layers.dat --step nccl
refused "--step uprobe" "layers.dat has no call of a function: it has to be recorded with --step uprobe:..." \
	why -i layers.dat --step uprobe:/bin/true:main
dat noexit.txt
grep -v 'kstall step' noexit.txt >unmarked.txt
dat unmarked.txt
refused "--step marker" "unmarked.dat has no markers: no line \"kstall step ...\"" why -i unmarked.dat --step marker
same "without -i" "$(why layers.dat 2>&1; echo $?)" \
	"kstall why: layers.dat is a recording, no command: did you mean -i layers.dat (see kstall why --help)
2"

# --- steps that nobody has chosen ---

dat unmarked.txt
same "shorter than a second: the whole" "$(why -i unmarked.dat 2>err)" "$(why -i unmarked.dat --step all)"
same "... and that is said" "$(cat err)" "kstall: unmarked.dat: no step of a second has ended in it, so the whole is one (--step all)"
same "... by diff, too, for both" "$("$KSTALL" diff layers.dat unmarked.dat 2>err; cat err)" \
	"$("$KSTALL" diff --step all layers.dat unmarked.dat
	echo "kstall: layers.dat: no step of a second has ended in it, so the whole is one (--step all)")"
same "what was chosen stays" "$(why -i unmarked.dat --every 1s 2>&1 | sed 1q)" "No step has ended (steps by every 1.000 s)."

# --- of a job that kstall recorded, a child ---

cat >child.txt <<'END'
1000 0 1 0 ftrace:print buf=kstall task 100 100 R -1 app
2000 0 100 0 task:task_newtask pid=101 comm=app clone_flags=0
3000 1 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_prio=120 prev_state=0 next_pid=101 next_comm=app next_prio=120
4000 1 101 0 sched:sched_process_exec filename=/bin/child pid=101 old_pid=101
5000 1 101 0 sched:sched_switch prev_pid=101 prev_comm=child prev_prio=120 prev_state=1 next_pid=0 next_comm=swapper next_prio=120
9000 1 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_prio=120 prev_state=0 next_pid=300 next_comm=other next_prio=120
END
dat child.txt
same "by its number" "$(why --json -i child.dat --step all -p 101 | stated --tid)" "101-all absent 1000 absent
101-all all 8000 
101-all blocked 4000 unexplained
101-all cpu_wait 1000 cpu
101-all on_cpu 2000 user"
refused "another's task is none of the job's" "no process 300 in child.dat" why -i child.dat --step all -p 300

# --- at the same time ---

# ties: on one of eight CPUs a request is complete, and in the same ns its thread is woken up; on all others, something else happens
ties() {
	local n t=1000000 cpu other
	echo "$t 0 1 0 ftrace:print buf=kstall task 100 100 R -1 app"
	echo "$((t + 1)) 0 100 0 ftrace:print buf=kstall step 1 begin"
	for n in {1..40}; do
		t=$((t + 1000000)) cpu=$((n * 5 % 8))
		echo "$t $cpu 100 0 raw_syscalls:sys_enter id=426"
		echo "$((t + 10)) $cpu 100 0 sched:sched_switch prev_pid=100 prev_comm=app prev_state=1 next_pid=0 next_comm=swapper"
		echo "$((t + 500)) $cpu 0 8 sched:sched_waking comm=app pid=100"
		echo "$((t + 500)) $cpu 0 8 io_uring_trace:io_uring_req_done pid=100 tgid=100 comm=app dev= total_ns=495 ring=1 user_data=$n queue_ns=5 wq_ns=0 exec_ns=490 submit_mono_ns=$((t + 5)) opcode=22 fd=3"
		for other in {0..7}; do echo "$((t + 500)) $other $((200 + other)) 0 raw_syscalls:sys_enter id=1"; done
		echo "$((t + 510)) $cpu 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_state=0 next_pid=100 next_comm=app"
		echo "$((t + 520)) $cpu 100 0 raw_syscalls:sys_exit id=426"
	done
	echo "$((t + 600)) 0 100 0 ftrace:print buf=kstall step 1 end"
}
ties >ties.txt
for order in all-first job-first; do
	dat --ties --session $order ties.txt
	same "the cause comes first, with the buffers $order" "$(why --json -i ties.dat | stated --json | grep blocked)" "1 blocked 19600 io_uring: exec"
done
python3 "$here/mkdat.py" --ties --instances "$here/../kstall/streams/long-wait-in-windows.txt" || bail "no recording"
same "a measured wait has its name, with its end and the switch in two buffers" "$(why --json --every 1s -p 100 -i long-wait-in-windows.dat |
	python3 -c 'import json, sys; print(sum(p["ns"] for s in json.load(sys.stdin)["steps"] for p in s["parts"] if p["layer"] == "fence"))')" 6000000000
