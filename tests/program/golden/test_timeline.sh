#!/usr/bin/env bash
# description: kstall timeline draws each slice where it belongs, on its track, with its cause and its arrows
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 17

make_dat layers windows

# draw BEGIN OPTION…: as lines
draw() {
	local begin=$1
	shift
	"$KSTALL" timeline "$@" -o out.pftrace >said && python3 "$here/slices.py" out.pftrace "$begin"
}

golden "threads, steps, requests and jobs" timeline-layers.want draw 5000000000 layers.dat
golden "--comm: a program, its thread and its child" timeline-windows.want draw 7000000000 --comm app windows.dat
same "it says how many other tracks there are" "$(sed -E 's/[0-9]+ slices/N slices/' said)" \
	"out.pftrace: N slices of threads, 0 other tracks; open it in https://ui.perfetto.dev"
"$KSTALL" timeline layers.dat >said
same "to out.pftrace without -o" "$(sed -E 's/[0-9]+ slices/N slices/' said) $(ls out.pftrace)" \
	"out.pftrace: N slices of threads, 10 other tracks; open it in https://ui.perfetto.dev out.pftrace"

# --- threads that have another name, a number that is used again, a thread that does nothing ---

cat >names.txt <<'END'
1000 0 1 0 ftrace:print buf=kstall task 100 100 R -1 bash
1000 0 1 0 ftrace:print buf=kstall task 101 100 S 202 idle
1001 0 100 0 task:task_newtask pid=300 comm=bash clone_flags=0
1200 1 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_state=0 next_pid=300 next_comm=bash
1300 1 300 0 raw_syscalls:sys_enter id=59
1400 1 300 0 sched:sched_process_exec filename=/bin/trainer pid=300 old_pid=300
1500 1 300 0 raw_syscalls:sys_exit id=59
1600 1 300 0 raw_syscalls:sys_enter id=1
1700 1 300 0 sched:sched_switch prev_pid=300 prev_comm=trainer prev_state=1 next_pid=0 next_comm=swapper
2000 1 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_state=0 next_pid=300 next_comm=trainer
2100 1 300 0 sched:sched_process_exit pid=300
2200 1 300 0 sched:sched_switch prev_pid=300 prev_comm=trainer prev_state=16 next_pid=0 next_comm=swapper
2300 0 100 0 task:task_newtask pid=300 comm=helper clone_flags=0x10000
2400 1 0 0 sched:sched_switch prev_pid=0 prev_comm=swapper prev_state=0 next_pid=300 next_comm=helper
2600 1 300 0 raw_syscalls:sys_enter id=1
3000 1 300 0 raw_syscalls:sys_enter id=1
END
python3 "$here/mkdat.py" --ties --session all-first names.txt || bail "no recording"
draw 1000 names.dat >drawn
same "each has its own name, and its process" "$(grep '/300' drawn)" "track bash/300 of 300
track helper/300 of 100
track process bash/300
track process trainer/300
track trainer/300 of 300
1 - 200  bash/300 of 300  cpu_wait: cpu
200 - 300  bash/300 of 300  on_cpu: user
300 - 500  bash/300 of 300  on_cpu: kernel: execve
500 - 600  bash/300 of 300  on_cpu: user
600 - 700  trainer/300 of 300  on_cpu: kernel: write
700 - 1000  trainer/300 of 300  blocked: unexplained: write
1000 - 1100  trainer/300 of 300  on_cpu: kernel: write
1100 - 1200  trainer/300 of 300  on_cpu: exit
1300 - 1400  helper/300 of 100  cpu_wait: cpu
1400 - 1600  helper/300 of 100  on_cpu: user
1600 - 2000  helper/300 of 100  on_cpu: kernel: write"
same "what a thread does to the end is drawn, be it all the time" "$(grep -v '/300\|^track' drawn)" "0 - 2000  bash/100 of 100  on_cpu: user
0 - 2000  idle/101 of 100  blocked: unexplained: futex"

# --- the file ---

is_whole() { cmp "$1" whole.pftrace && echo yes; }
"$KSTALL" timeline -o whole.pftrace layers.dat >said
echo before >kept.pftrace
python3 "$here/mkdat.py" --without sched "$here/windows.txt" || bail "no recording"
t_fails "a recording that is refused when it is read" "$KSTALL" timeline -o kept.pftrace windows.dat
same "... leaves the file that was there, and no other" "$(cat kept.pftrace) $(ls kept.pftrace*)" "before kept.pftrace"
ln -s kept.pftrace link.pftrace
"$KSTALL" timeline -o link.pftrace layers.dat >said
same "a link stays one" "$(readlink link.pftrace) $(is_whole kept.pftrace)" "kept.pftrace yes"
mkdir far
elsewhere=$(mktemp -d -p /dev/shm)	# of another file system
at_exit rm -rf "$elsewhere"
ln -s "$elsewhere" there
echo before >"$elsewhere/far.pftrace"
ln -s ../there/far.pftrace far/link.pftrace
"$KSTALL" timeline -o ./far/..//far/link.pftrace layers.dat >said
same "a link to another file system" "$(is_whole "$elsewhere/far.pftrace") $(ls -A "$elsewhere")" "yes far.pftrace"
ln -s around around
same "a link to itself" "$("$KSTALL" timeline -o around layers.dat 2>&1)" "kstall: around: Too many levels of symbolic links"
chown -h 65534 link.pftrace there
same "a link that another user has made is not followed" "$("$KSTALL" timeline -o link.pftrace layers.dat 2>&1)" \
	"kstall: link.pftrace: link.pftrace is a link of user 65534: name the file itself"
same "... nor one on the way to the file" "$("$KSTALL" timeline -o there/far.pftrace layers.dat 2>&1)" \
	"kstall: there/far.pftrace: there is a link of user 65534: name the file itself"
"$KSTALL" timeline -o /dev/fd/3 layers.dat 3>through >said
same "what the shell has opened" "$(is_whole through)" yes
mkfifo pipe
cat pipe >through &
"$KSTALL" timeline -o pipe layers.dat >said
wait $!
same "a pipe stays one" "$([ -p pipe ] && is_whole through)" yes
(umask 027 && "$KSTALL" timeline -o mode.pftrace layers.dat >said)
same "its mode is the user's" "$(stat -c %a mode.pftrace)" 640
same "no directory: one line" "$("$KSTALL" timeline -o no/dir layers.dat 2>&1)" "kstall: no/dir: No such file or directory"
