#!/usr/bin/env bash
# description: status files, parameters and filters stand whatever is written to them; a user without privileges sees and does nothing; no event holds a kernel address
# timeout: 400
# once: the files are written by the same code on each kernel
# requires: python3 setpriv
. ../../lib.sh
. ../../rxe.sh
plan 21

work=$(mktemp -d)
at_exit rm -rf "$work"
before=$(cat /sys/kernel/rcu_expedited)
echo 1 >/sys/kernel/rcu_expedited # filters and enabling wait for grace periods
at_exit eval "echo $before >/sys/kernel/rcu_expedited"

mapfile -t modules < <(our_modules)
for module in gpu_sched ttm ib_uverbs rdma_rxe; do modprobe $module || bail "no $module"; done
[ -d $TRACEFS/instances/kstall ] || at_exit rmdir $TRACEFS/instances/kstall
for module in "${modules[@]}"; do load "$module" recorder=1; done
system_of() { sed -n 's/^#define TRACE_SYSTEM //p' "../../../$1/$1_events.h"; }
systems=() pairs=()
for module in "${modules[@]}"; do
	systems+=("$(system_of "$module")")
	pairs+=("$module/${systems[-1]}")
done
mk_instance hostile
echo 16384 >"$INSTANCE/buffer_size_kb" # compacting memory below has many events

# --- root, fuzzing ---

hostile() { python3 ./hostile.py "$@" 2>&1 | head -20; }
t_eq "status files: read in odd pieces, by several at a time, and written" "$(hostile status "${pairs[@]}")" ""
t_eq "parameters: what is out of range or no number is refused and changes nothing" "$(hostile parameters "${pairs[@]}")" ""
t_eq "filters: every operator on every type of field; nonsense is refused" "$(hostile filters "$INSTANCE" "${systems[@]}")" ""

# filtered FILTER: of 11 requests with user_data 7001 to 7011, those that pass it
uring=../../modules/io_uring/uring
filtered() {
	echo "$1" >"$INSTANCE/events/io_uring_trace/io_uring_req_done/filter" || return
	ev_clear
	$uring nops 11 7001 >"$work/uring" || return
	ev_count io_uring_req_done
}
ev_enable io_uring_trace/io_uring_req_done
$uring nops 11 7001 >/dev/null
mapfile -t ids < <(ev_values io_uring_req_done user_data | sort -n)
t_eq "11 requests, by user_data" "${#ids[@]} $((ids[10] - ids[0]))" "11 10"
got='' want=''
while read -r n filter; do
	got+="$(filtered "comm == \"uring\" && ${filter/USER_DATA/user_data}") "
	want+="$n "
done <<-END
	1 USER_DATA == ${ids[4]}
	10 USER_DATA != ${ids[4]}
	4 USER_DATA < ${ids[4]}
	5 USER_DATA <= ${ids[4]}
	6 USER_DATA > ${ids[4]}
	7 USER_DATA >= ${ids[4]}
	0 pid < 0
	11 pid >= 0 && !(comm ~ "fio*")
	11 comm ~ "*rin?" && dev == ""
	0 comm != "uring" || tgid == -1
END
t_eq "the operators mean what they say" "$got" "$want"
echo 0 >"$INSTANCE/events/io_uring_trace/io_uring_req_done/filter"
ev_disable io_uring_trace/io_uring_req_done

# --- without privileges ---

nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all -- "$@"; }
cp hostile.py "$work/" && chmod -R go+rX "$work"
nobodys() { nobody python3 "$work/hostile.py" "$@" 2>&1 | sort | head -20; }

mapfile -t files < <(
	find /sys/module/*_trace/parameters $TRACEFS/instances/hostile/events/*/enable $TRACEFS/instances/kstall/trace -type f
	for module in "${modules[@]}"; do echo "/sys/kernel/debug/$module/status"; done
	for system in "${systems[@]}"; do ls $TRACEFS/events/"$system"/*/{enable,filter,format,id,trigger}; done
)
t_range "there is much to be tried" ${#files[@]} 200 9999
t_eq "root can read all of it" "$(python3 ./hostile.py files "${files[@]}" | grep -c ' read$')" ${#files[@]}
t_eq "others: nothing" "$(nobodys files "${files[@]}" /sys/kernel/debug $TRACEFS)" ""
mount -o remount,mode=755 /sys/kernel/debug
t_eq "where debugfs is open to all: not the status files" "$(nobodys files /sys/kernel/debug/*_trace/status)" ""
t_eq "... though one gets there" "$(nobody ls -d /sys/kernel/debug/*_trace/status 2>&1 | wc -l)" ${#modules[@]}
mount -o remount,mode=700 /sys/kernel/debug
t_fails "others: cannot unload" nobody rmmod "${modules[0]}"

# Where perf is open to all, others may count what their own tasks do, but not have us place hooks for it.
paranoid=/proc/sys/kernel/perf_event_paranoid
at_exit eval "echo $(<$paranoid) >$paranoid"
mapfile -t ids < <(for system in "${systems[@]}"; do cat $TRACEFS/events/"$system"/*/id; done)
control=$(<$TRACEFS/events/sched/sched_switch/id)
for level in 2 -1; do
	echo $level >$paranoid
	t_eq "perf_event_paranoid=$level, others: cannot count or record" "$(nobodys perf "${ids[@]}")" ""
	t_eq "... but they can the kernel's own" "$(nobodys perf "$control" | sed 's/.* //' | xargs)" "$([ $level = 2 ] && echo counted || echo counted recorded)"
done
t_eq "root can" "$(python3 ./hostile.py perf "${ids[@]:0:3}" | wc -l)" 6
perf stat -e io_uring_trace:io_uring_req_done -o "$work/stat" setpriv --reuid=65534 $uring nops 11 7001 >/dev/null
t_eq "root can for a program of somebody else's" "$(awk '/io_uring_req_done/ { print $1 }' "$work/stat")" 11
t_eq "nothing of it stays armed" "$(grep -hE '^event .* users=[1-9]' /sys/kernel/debug/*_trace/status | grep -cvE 'overflow|error|sq_full|kill|reset|timeout|event|recovery|fault|correctable|link_change|inversion')" 0

# --- addresses ---

t_eq "formats: no pointers; whatever has 64 bits is printed" "$(hostile formats "${systems[@]}")" ""
load mock_gpu timeout_ms=2000
load mock_dma
at_exit rxe_down
rxe_up || bail "no rxe0"
load mock_ib
ev_clear
for system in "${systems[@]}"; do ev_enable "$system"; done
{
	$uring nops 11 7001
	fio --name=x --ioengine=io_uring --direct=1 --filename=/dev/disk/by-id/virtio-scratch --size=64k --rw=randwrite --bs=4k --iodepth=8
	../../modules/drm_sched/gpu entity 2 1 entity 1 3 run 100 jobs 20 0 fence dep 0 job 1 signal 0 await 1 1000 bo 1 populate 0
	echo write 20 1 >/sys/kernel/debug/mock_ib/do
	echo single 4096 20 >/sys/kernel/debug/mock_dma/do
	echo 1 >/proc/sys/vm/compact_memory
} >"$work/load" 2>&1
for system in "${systems[@]}"; do ev_disable "$system"; done
t_eq "events of five modules are seen" "$(grep -hoE ': (io_uring_req_done|drm_sched_job_complete|ib_wr_latency|dma_map_done|mm_migrate_batch): ' "$INSTANCE/trace" | sort -u | wc -l)" 5
# In hexadecimal or decimal, what is neither a user's address nor a small negative number.
python3 - "$INSTANCE/trace" >"$work/addresses" <<-'END'
	import re, sys
	for line in open(sys.argv[1], errors="replace"):
	    for word in re.findall(r"0x[0-9a-f]{16}\b|\b[0-9a-f]{16}\b|\b[0-9]{19,20}\b", line):
	        value = int(word, 16 if re.search("[a-fx]", word) or len(word) == 16 else 10)
	        if 0xff00000000000000 <= value < 0xfffffffffffff000:
	            print(line.strip())
END
t_eq "no event holds a kernel address" "$(head -5 "$work/addresses")" ""
