#!/usr/bin/env bash
# description: all modules at once under load, everybody enabling, loading and unloading at random: nothing breaks, hangs, leaks or corrupts data
# timeout: 1200
# once: what it may shake loose is looked for on each kernel before a release (Documentation/robustness.md)
# requires: fio perf bpftrace
. ../../lib.sh
. ../../rxe.sh

# KSTALL_CHURN_SECONDS makes it longer, KSTALL_CHURN_SEED repeats the choices of another run, though not their timing.
seconds=${KSTALL_CHURN_SECONDS:-90}
seed=${KSTALL_CHURN_SEED:-$RANDOM}
SCRATCH=/dev/disk/by-id/virtio-scratch
# No hist triggers: the kernel leaves them attached when their module goes, and warns (event_remove() in trace_events.c).
actors="ftrace perf bpf fentry reload target cpu tracer fio gpu rdma"
plan 22

work=$(mktemp -d)
at_exit rm -rf "$work"
mapfile -t modules < <(our_modules)
for module in gpu_sched ttm drm_ttm_helper ib_uverbs rdma_rxe dummy; do modprobe $module; done
churn=$TRACEFS/instances/churn
mkdir $churn
at_exit rmdir $churn

load_all() { for module in "${modules[@]}"; do is_loaded "$module" || modprobe "$module" || return; done; }
# A tool may still listen; it has been asked to stop.
unload_all() { for module in "${modules[@]}"; do ! is_loaded "$module" || wait_until 60 rmmod "$module" || return; done; }

# --- the parts: each calls its step again and again; a step may be refused, and is counted if it was not ---

pick() { REPLY=${*:RANDOM % $# + 1:1}; }
pause() { read -rt "0.$((RANDOM % 5))$1" _ <>"$work/never" || :; }
# briefly SECONDS COMMAND…: works until it is asked to end, or is killed: bpftrace 0.17 forgets to if asked while it attaches (see interrupt)
briefly() {
	timeout -k 20 "$@"
	[[ $? = @(124|137) ]]
}

# Where modules of 6.1 go, nobody reads the formats of their events: f_show() reads on what is freed, and the kernel dies, of any module's
# events (remove_event_file_dir() of 6.1.176 no longer clears what f_start() asks). A tool that starts holds this lock until it prints something.
case $(uname -r) in 6.1.*) lock_starts() { flock "$1" 9; } ;; *) lock_starts() { :; } ;; esac

# starts SECONDS COMMAND…: briefly, and others wait for its start
starts() {
	lock_starts -s
	briefly "$@" | { read -r _; lock_starts -u; cat; }
	return "${PIPESTATUS[0]}"
}

step_ftrace() {
	pick "${events[@]}"
	echo 1 >"$churn/events/$REPLY/enable" || return
	pause 1
	echo 0 >"$churn/events/$REPLY/enable"
}

step_perf() {
	pick "${events[@]}"
	starts $((RANDOM % 3 + 1)) perf stat -a -e "${REPLY/\//:}" sh -c 'echo started; exec sleep 3600'
}

# Memory of a map is allocated where the program runs, inside our probe.
step_bpf() {
	pick "${events[@]}"
	starts $((RANDOM % 10 + 10)) bpftrace -e "tracepoint:${REPLY/\//:} { @[nsecs, comm] = count(); } END { clear(@); }"
}

# Where a direct hook of ours is, it is refused; where it is first, ours becomes another kind.
step_fentry() {
	pick "${functions[@]}"
	starts $((RANDOM % 5 + 5)) bpftrace -e "kfunc:$REPLY { @in = count(); } kretfunc:$REPLY { @out = count(); }"
}

step_reload() {
	pick "${modules[@]}"
	pause 1
	lock_starts -x
	rmmod "$REPLY"
	lock_starts -u
	pause 1
	modprobe "$REPLY"
}

step_target() {
	pause 1
	case $((RANDOM % 2)) in
	0) rmmod mock_gpu; modprobe mock_gpu timeout_ms=2000 ;;
	1) rmmod mock_ib; rdma link delete rxe0; rmmod rdma_rxe; modprobe rdma_rxe; rdma link add rxe0 type rxe netdev dummy0; modprobe mock_ib ;;
	esac
}

step_cpu() {
	echo 0 >/sys/devices/system/cpu/cpu1/online || return
	pause 1
	echo 1 >/sys/devices/system/cpu/cpu1/online
	read -rt 3 _ <>"$work/never" || :	# others get nowhere meanwhile
}

# Others on the functions that are hooked, as a live patch would be.
step_tracer() {
	pick function function_graph
	echo 'dma_map_* drm_sched_* ib_* io_* *iotlb*' >$TRACEFS/set_ftrace_filter
	echo "$REPLY" >$TRACEFS/current_tracer || return
	pause 1
	echo nop >$TRACEFS/current_tracer
	: >$TRACEFS/set_ftrace_filter
}

# What it wrote it reads again; a block that differs is an error.
step_fio() {
	fio --name=churn --ioengine=io_uring --direct=1 --filename=$SCRATCH --size=2M --rw=randwrite --bs=4k --iodepth=8 --verify=crc32c \
		--verify_fatal=1 --verify_backlog=64 --randseed=$RANDOM || { echo "$? $(date)" >>"$work/corrupt" && return 1; }
}

step_gpu() { ../../modules/drm_sched/gpu entity 2 1 entity 1 3 run 100 jobs 20 0 fence dep 0 job 1 signal 0 await 1 1000 bo 1 populate 0; }
step_rdma() { echo write 20 1 >/sys/kernel/debug/mock_ib/do; }

actor() {
	RANDOM=$2
	exec 9>"$work/starts"
	set +e
	while [ ! -e "$work/stop" ]; do
		"step_$1" >>"$work/$1.out" 2>&1 && echo >>"$work/$1"
	done
}
steps() { { wc -l <"$work/$1" || echo 0; } 2>/dev/null; }

# --- before: everything was loaded once, and is gone ---

t_ok "all of them can be loaded at once" load_all
mapfile -t events < <(for module in "${modules[@]}"; do
	awk '$1 == "event" && !/state=absent/ { print $2 }' "/sys/kernel/debug/$module/status"
done | while read -r event; do (cd $TRACEFS/events && echo */"$event"); done)
echo "# ${#modules[@]} modules, ${#events[@]} events, $seconds s, seed $seed"
mkfifo "$work/never"
modprobe mock_gpu timeout_ms=2000
rxe_up || bail "no rxe0"
modprobe mock_ib
for event in "${events[@]}"; do echo 1 >"$churn/events/$event/enable"; done
mapfile -t functions < <(sed -nE '/ state=armed/s/^hook .* kind=(direct|entry|pair) target=([^ ]*).*/\2/p' /sys/kernel/debug/*_trace/status |
	sed '/:/!s/^/vmlinux:/' | sort -u)
step_fio >/dev/null
step_gpu >/dev/null
step_rdma
t_eq "all events are enabled" "$(cat /sys/kernel/debug/*_trace/status | grep -c '^event .* users=[1-9]')" ${#events[@]}
t_range "and some are seen" "$(grep -c ' dev=' $churn/trace)" 100 99999999
for event in "${events[@]}"; do echo 0 >"$churn/events/$event/enable"; done
t_ok "and can be unloaded" unload_all

# kib WHAT: of /proc/meminfo, after all that is about to be freed was
kib() { awk -v what="$1:" '$1 == what { print $2 }' /proc/meminfo; }
settle() { : >$churn/trace; sync; echo 3 >/proc/sys/vm/drop_caches; sleep 3; }
settle
slab=$(kib SUnreclaim) percpu=$(kib Percpu) vmalloc=$(kib VmallocUsed)

# --- all at once ---

load_all
pids=()
for actor in $actors; do
	actor "$actor" $((seed + ${#pids[@]})) &
	pids+=($!)
done
# On a machine that is busy with other things each takes part at least once all the same.
some_idle() { for actor in $actors; do [ "$(steps "$actor")" != 0 ] || return 0; done; return 1; }
begin=$SECONDS
while [ $((SECONDS - begin)) -lt "$seconds" ] || { some_idle && [ $((SECONDS - begin)) -lt $((seconds + 600)) ]; }; do
	read -rt 5 _ <>"$work/never" || :
	# a reader gets an answer
	cat /sys/kernel/debug/*_trace/status >"$work/status" 2>/dev/null
done
touch "$work/stop"
some_left() { for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null && return; done; }
none_left() { ! some_left; }
if t_ok "all come to an end" wait_until 120 none_left; some_left; then
	# shellcheck disable=SC2009 # the other way round
	ps -eo pid,ppid,stat,wchan:30,args | grep -v ' \[' | diag
	for pid in $(pgrep -g 0); do cat "/proc/$pid/comm" "/proc/$pid/stack"; done | diag
	bail "somebody does not"
fi
for actor in $actors; do
	t_range "$actor took part" "$(steps "$actor")" 1 99999999
	[ "$(steps "$actor")" != 0 ] || tail -3 "$work/$actor.out" | diag
done
t_eq "no data was corrupted" "$(cat "$work/corrupt" 2>/dev/null)" ""

# --- after ---

echo 1 >/sys/devices/system/cpu/cpu1/online 2>/dev/null
echo nop >$TRACEFS/current_tracer
t_ok "all of them can be unloaded" unload_all
settle
# Of what each load and each listener takes (some 100 KiB) nothing may stay; bpftrace and perf leave caches behind, and what they
# let go of is freed by workers, later.
most=(16384 1024 4096)
grown() { echo $(($(kib SUnreclaim) - slab)) $(($(kib Percpu) - percpu)) $(($(kib VmallocUsed) - vmalloc)); }
flat() { read -r a b c < <(grown); [ "$a" -le "${most[0]}" ] && [ "$b" -le "${most[1]}" ] && [ "$c" -le "${most[2]}" ]; }
wait_until 60 flat
read -r slab percpu vmalloc < <(grown)
echo "# steps: $(for actor in $actors; do echo "$actor=$(steps "$actor")"; done | xargs)"
t_range "KiB that slabs have grown by" "$slab" -999999 "${most[0]}"
t_range "KiB that per-CPU memory has grown by" "$percpu" -999999 "${most[1]}"
t_range "KiB that vmalloc has grown by" "$vmalloc" -999999 "${most[2]}"
t_eq "nothing of ours is left" "$(grep -E "$(IFS='|'; echo "${modules[*]}")" /proc/modules /sys/kernel/debug/kprobes/list $TRACEFS/enabled_functions)" ""
rxe_down
for module in mock_ib mock_gpu rdma_rxe; do rmmod $module; done
