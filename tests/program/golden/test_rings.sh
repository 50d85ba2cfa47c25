#!/usr/bin/env bash
# description: kstall recorder shows each event, whatever its task is called, says what it cannot read, and follows no link
# host: it reads rings that the test makes up
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3 unshare
. ./lib.sh
fail=$tests/program/why/fail.so
[ -e "$fail" ] || skip_all "fail.so is not built here"
plan 29

# --- a tracefs, as far as the recorder reads it ---

export KS_TRACEFS=$work/tracefs
python3 "$here/mkdat.py" --tracefs tracefs "$here/recorder.txt" || bail "no formats"
touch tracefs/events/{drm_sched,io_uring_trace}/enable

# ring NAME: one of two CPUs, with the lines on standard input
ring() {
	local dir=tracefs/instances/$1 cpu n
	mkdir -p "$dir"/per_cpu/cpu{0,1}
	{ printf '# tracer: nop\n#\n' && cat; } >"$dir/trace"
	for cpu in 0 1; do
		n=$(grep -c "\[00$cpu\]" "$dir/trace")
		printf 'entries: %s\noverrun: %s\ncommit overrun: 0\ndropped events: 0\n' "$n" "$cpu" >"$dir/per_cpu/cpu$cpu/stats"
	done
}

# line COMM PID CPU SECONDS EVENT TEXT: as trace_print_context() and what it calls have it (kernel/trace/trace_output.c)
line() { printf '%16s-%-7d [%03d] d..1. %5d.000000: %s: %s\n' "$@"; }

# overflow COMM PID: it came in that second
overflow() {
	line "$1" "$2" 0 "$2" io_uring_sq_overflow "dev= dev_node=-1 cpu_node=0 pid=$2 tgid=$2 comm=$1 cgroup_id=1 ring=6 sqpoll=0 cause=0 sq_entries=8 queued=6 to_submit=6 submitted=3 wait_ns=0 duration_ns=0"
}

recorder() { LD_PRELOAD=$fail "$KSTALL" recorder "$@" --config conf; }
echo "dir $work/state" >conf

# --- names ---

# What could be what the kernel prints around an event; the last are two lines each.
names=(trainer 'a [001] b' '-1 [000] d..1. ' '-1 [0] d 1.1: ' '-1[0]d 1.1: a: ' '-1[0]d 1.1:a: ' $'x\n-1[0]d 1.1:a: ' $'x\n#' $'x\nCPU:')
for ((i = 0; i < ${#names[@]}; i++)); do overflow "${names[i]}" $((i + 1)); done | ring kstall-io_uring
seen() { grep -oP ' io_uring_sq_overflow: dev= .* pid=\K[0-9]+' | xargs; }
recorder show >got 2>err
same "each event is shown, whatever the task is called" "$(seen <got)" "$(seq -s ' ' ${#names[@]})"
same "what is behind a new line is counted" "$(cat err; grep '^#' got)" "# 4 lines of the rings are not understood: not shown"
recorder show --json >got 2>err
same "JSON: whose each is" "$(python3 -c 'import json, sys
for e in map(json.loads, sys.stdin):
    if e.get("fields"): print(e["fields"]["pid"], e["fields"]["comm"])' <got)" "$(for i in {1..6}; do echo "$i ${names[i - 1]}"; done)"
same "... and its processor and second" "$(python3 -c 'import json, sys
for e in map(json.loads, sys.stdin):
    if "cpu" in e: print(e["cpu"], e["mono_ns"])' <got | sort -u)" "$(seq -f '0 %g000000000' ${#names[@]})"

# --- what cannot be read is not empty ---

overflow trainer 1 | ring kstall-io_uring
touch tracefs/instances/kstall-io_uring/tracing_on
mkdir -p state
printf '%s\n' 'kstall-armed 1' "boot $(</proc/sys/kernel/random/boot_id)" 'kernel 6.12.0' 'real_ns 0' 'cpus 2' 'kept 0' 'modules -' 'head 4' '' >state/armed
printf head >>state/armed
for cpu in 0 1; do
	head -c 8192 "$KSTALL" >tracefs/instances/kstall-io_uring/per_cpu/cpu$cpu/trace_pipe_raw
	echo 'entries: 7' >tracefs/instances/kstall-io_uring/per_cpu/cpu$cpu/stats
done

# fails "FILE ERRNO" COMMAND…: what it says then, and its status
fails() { KS_FAIL=$1 recorder "${@:2}" 2>&1; echo $?; }
same "show: a ring" "$(fails "trace 5" show)" "kstall: kstall-io_uring: trace: Input/output error
1"
same "status: a processor's part" "$(fails "per_cpu/cpu1/stats 24" status)" "kstall: kstall-io_uring: its records cannot be counted: Too many open files
1"
same "... but of one that never was there is none" "$(fails "per_cpu/cpu1/stats 2" status | grep -o '[0-9]* records')" "7 records"
size() { stat -c %s "$1"; }
whole=$(size "$(recorder snapshot)")
t_range "snapshot: pages are taken whether they can be counted or not" "$(size "$(KS_FAIL="per_cpu/cpu1/stats 24" recorder snapshot)")" "$whole" $((whole + 200))
KS_FAIL="per_cpu/cpu1/trace_pipe_raw 5" recorder snapshot >part 2>err
same "... those that cannot be taken are named, in the copy, too" "$(cat err; grep -ao 'note kstall-io_uring: per_cpu/cpu1.*' "$(<part)")" \
	"kstall: kstall-io_uring: per_cpu/cpu1/trace_pipe_raw is not copied: Input/output error
note kstall-io_uring: per_cpu/cpu1/trace_pipe_raw is not in this copy, or not all of it: Input/output error"
KS_FAIL="$work/state/armed 24" recorder snapshot >got 2>&1
same "... formats that are there" "$? $(<got)" "1 kstall: $work/state/armed: Too many open files"

rm -r state
events() { grep -v '^#' "$1" | cut -d ' ' -f 3-; }
recorder show >want
few() {
	local n status
	for n in {4..16}; do
		status=0
		(ulimit -n "$n"; recorder show) >got 2>err || status=$?
		case $status in
		0) diff <(events got) <(events want) ;;
		1) [ -s err ] ;;
		*) false ;;
		esac || echo "$n: $status $(cat got err)"
	done
}
same "few open files: all of it, or what is wrong" "$(few)" ""

# --- a directory that others may change ---

rm -rf state
mkdir state
echo mine >mine
ln -s "$work/mine" state/armed.new
tell() { for command in "$@"; do echo "$command: $(recorder "$command" 2>&1) $?"; done; }
all=(start stop status show snapshot last-boot watch)
chown 65534 state
same "a user's directory is refused" "$(tell "${all[@]}")" \
	"$(printf "%s: kstall: $work/state: it belongs to user 65534, who could put links in it (chown root) 1\n" "${all[@]}")"
chown 0 state
chmod 1777 state
same "... and one that anybody may write to" "$(tell "${all[@]}")" \
	"$(printf "%s: kstall: $work/state: others may write to it, who could put links in it (chmod go-w) 1\n" "${all[@]}")"
chmod 700 state
ln -s "$work/mine" state/armed
mkdir above
for above in 777:0 755:65534; do
	chmod "${above%:*}" above
	chown "${above#*:}" above
	mkdir above/state
	echo "dir $work/above/state" >conf
	same "... or in whose place others may put another (mode:owner $above)" "$(tell "${all[@]}")" \
		"$(printf "%s: kstall: $work/above/state: others may change names in $work/above, who could put another directory in its place 1\n" "${all[@]}")"
	rmdir above/state
done
echo "dir $work/state" >conf
same "no link in it is followed: to be read" "$(tell snapshot)" "snapshot: kstall: $work/state/armed: Too many levels of symbolic links 1"
mkdir state/.part.a.dat
ln -s "$work/mine" state/.part.a.dat/new
printf '%s\n' 'cpus 2' | tee state/.part.a.dat/about >state/.part.a.dat/head
same "... or written" "$(tell last-boot)" "last-boot: kstall: $work/state/.part.a.dat/new: Too many levels of symbolic links 1"
same "... and the file is as it was" "$(<mine)" mine
rm -r state

# --- setup-crash ---

echo '0000000000000000 T reserve_mem_find_by_name' >kallsyms
# setup LINE: setup-crash on a kernel that was started with this
setup() {
	echo "$1" >cmdline
	# shellcheck disable=SC2016 # for the inner shell
	LD_PRELOAD='' unshare -m sh -c 'mount --bind kallsyms /proc/kallsyms && mount --bind cmdline /proc/cmdline &&
		LD_PRELOAD=$1 exec "$2" recorder setup-crash --config conf' sh "$fail" "$KSTALL" 2>&1
}
entries() { grep -oP 'reserve_mem=[0-9]+M:4096:ks_\K\S+ trace_instance=\S+' | sed -E 's/^(\S+) trace_instance=kstall-\1\^traceoff@ks_\1$/\1/' | xargs; }
same "setup-crash: an entry a ring" "$(setup '' | entries)" "io_uring drm_sched ib_cq iommu aer slow mm_migrate"
touch tracefs/events/{nvidia,nvswitch}/enable
setup '' >got
same "... the kernel takes 8: those with errors first" "$(entries <got)" "io_uring drm_sched ib_cq iommu aer nvidia nvswitch slow"
same "... which there is no memory for" "$(grep '^The kernel reserves' got)" \
	"The kernel reserves memory 8 times at most: there is none for kstall-mm_migrate, of which a crash leaves nothing."
printf '%s\n' "dir $work/state" 'sched:sched_process_hang always' 'aer:other always' >conf
setup '' >got
line=$(grep '^reserve_mem=' got)
for name in io_uring drm_sched ib_cq iommu aer nvidia nvswitch sched; do
	mkdir -p tracefs/instances/kstall-$name
	touch tracefs/instances/kstall-$name/last_boot_info
done
same "... all that it takes are in place" "$(entries <got); $(setup "$line" | grep -E '^kstall-|^The kernel reserves')" \
	"io_uring drm_sched ib_cq iommu aer nvidia nvswitch sched; The kernel reserves memory 8 times at most: there is none for kstall-slow, kstall-mm_migrate, of which a crash leaves nothing.
$(printf 'kstall-%s: in place\n' io_uring drm_sched ib_cq iommu aer nvidia nvswitch sched)"
printf '%s\n' "dir $work/state" 'page_isolation:test_pages_isolated always' 'page_isolated:other always' >conf
rm tracefs/events/{nvidia,nvswitch}/enable
line=$(setup '' | grep '^reserve_mem=')
memory() { grep -oP 'reserve_mem=[0-9]+M:4096:\K\S+' <<<"$line"; }
same "... each with a name that the kernel takes, of less than 16 bytes, and its own" \
	"$(memory | grep -c '^ks_page_iso') $(memory | sort -u | grep -cE '^.{4,15}$')" "2 8"
same "... by which each ring finds its own" "$(grep -oP '@\K\S+' <<<"$line")" "$(memory)"
mkdir -p tracefs/instances/kstall-page_isolation
line='reserve_mem=1M:4096:ks_page_isolation trace_instance=kstall-page_isolation^traceoff@ks_page_isolation'
same "... one that has a longer one is not in place" "$(setup "$line" | grep '^kstall-page_isolation')" \
	"kstall-page_isolation: reserve_mem= takes a name of less than 16 bytes, and its memory has a longer one"
same "... the kernel's log cannot be read: that is said" \
	"$(KS_FAIL="/dev/kmsg 1" setup 'trace_instance=kstall-slow' | grep '^kstall-slow\|kmsg' | sort -u)" \
	"kstall-slow: on the command line, but its memory was not reserved
kstall: what the kernel said is not known: /dev/kmsg: Operation not permitted"
same "... of what cannot be read nothing is said but that" "$(for file in /proc/kallsyms /proc/cmdline; do KS_FAIL="$file 13" recorder setup-crash 2>&1; done)" \
	"kstall: /proc/kallsyms: Permission denied
kstall: /proc/cmdline: Permission denied"

# --- no tracefs ---

# refused COMMAND…: what it says, and its status
refused() { "$@" --config conf 2>&1; echo $?; }
mkdir empty
for command in last-boot setup-crash; do
	same "$command: where nothing can be looked at, that is said" "$(KS_TRACEFS=$work/empty LD_PRELOAD=$fail refused "$KSTALL" recorder $command)" \
		"$(KS_TRACEFS=$work/empty LD_PRELOAD=$fail refused "$KSTALL" recorder status)"
done
