#!/usr/bin/env bash
# description: a direct hook counts exactly beside every other user of its function, steps aside for BPF, and is in the stack
# shellcheck source-path=SCRIPTDIR
. ./lib.sh

load kstall_target
# shellcheck disable=SC2086 # nothing: it is the default
load kstall_test ${KSTALL_DIRECT:+direct=1}
mk_instance core
hurry
kind() { echo "$(field hook quick_pair kind) $(field hook quick_pair not_direct)"; }

enable kt_pair
if [ "$(field hook quick_pair not_direct)" = kernel ]; then
	plan 2
	t_eq "no direct trampolines on this kernel: a return probe, and the status file says why" "$(kind)" "pair kernel"
	call quick 200 1
	t_eq "200 calls" "$(ev_n kt_pair 'f["id"] == 1')" 200
	exit
fi
plan 29

t_eq "direct" "$(kind)" "direct "
t_eq "no memory a call" "$(field hook quick_pair bytes)" 0
# ours N [RESULT]: calls that were told since the last time, all with that result
ours() {
	local n
	n=$(ev_n kt_pair "f[\"id\"] == 3 && f[\"result\"] == ${1:-7}")
	[ "$(ev_n kt_pair)" = "$n" ] || n="$n of $(ev_n kt_pair)"
	ev_clear
	echo "$n"
}
call quick 200 3
t_eq "200 calls" "$(ours)" 200

# --- the stack ---

echo stacktrace >"$INSTANCE/events/kstall_test/kt_pair/trigger"
call quick 1 3
echo '!stacktrace' >"$INSTANCE/events/kstall_test/kt_pair/trigger"
stack=$(sed -n 's/^ => \([^ ]*\).*/\1/p' "$INSTANCE/trace" | xargs)
t_ok "a stack goes through it, to the end" grep -qE 'kstall_direct_[0-9]+ .*target_quick .*(do_quick|run|call_write) .*vfs_write .*do_syscall_64' <<<"$stack "
ev_clear
diag <<<"$stack"

# --- kprobes, return probes, the function and the function_graph tracer on the same function ---

probes=$TRACEFS/kprobe_events
echo 'p:kstall/p kstall_target:target_quick' >>$probes
# shellcheck disable=SC2016 # ftrace's
echo 'r:kstall/r kstall_target:target_quick result=$retval' >>$probes
at_exit eval "echo 0 >$TRACEFS/events/kstall/enable; echo '-:kstall/p' >>$probes; echo '-:kstall/r' >>$probes"
profile() { awk '$1 == "p" || $1 == "r" { print $1, $2, $3 }' $TRACEFS/kprobe_profile | sort | xargs; }
echo 1 >$TRACEFS/events/kstall/enable
call quick 200 3
t_eq "with a kprobe and a return probe: 200 calls" "$(ours)" 200
t_eq "... for them, too" "$(profile)" "p 200 0 r 200 0"
echo 0 >$TRACEFS/events/kstall/enable
enable kt_entry
call quick 200 3
t_eq "with a hook of ours at the entry: 200 calls" "$(ev_n kt_entry) $(ev_n kt_pair)" "200 200"
disable kt_entry
ev_clear

# traced TRACER PATTERN: lines it has of 200 calls
traced() {
	local n
	echo target_quick >$TRACEFS/set_ftrace_filter
	echo "$1" >$TRACEFS/current_tracer
	echo >$TRACEFS/trace
	call quick 200 3
	n=$(grep -c "$2" $TRACEFS/trace)
	echo nop >$TRACEFS/current_tracer
	echo >$TRACEFS/set_ftrace_filter
	echo "$n"
}
t_eq "the function tracer: 200 calls" "$(traced function ': target_quick')" 200
t_eq "... for us, too" "$(ours)" 200
t_eq "the function_graph tracer: 200 calls" "$(traced function_graph 'target_quick')" 200
t_eq "... for us, too" "$(ours)" 200
t_eq "alone again: direct" "$(kind)" "direct "

# --- BPF: only one of us ---

if command -v bpftrace >/dev/null && [ -e /sys/kernel/btf/kstall_target ]; then
	work=$(mktemp -d)
	at_exit rm -rf "$work"
	program='BEGIN { printf("ready\n"); } kfunc:kstall_target:target_quick { @in = count(); } kretfunc:kstall_target:target_quick { @out = count(); }'
	bpf_start() {
		rm -f "$work/bpf"
		bpftrace -e "$program" >"$work/bpf" 2>&1 &
		bpf=$!
		wait_until 60 eval "grep -q ready $work/bpf || ! kill -0 $bpf"
		sleep 2 # BEGIN runs before the rest is attached
	}
	bpf_end() {
		interrupt $bpf
		grep -oE '^@(in|out): [0-9]+' "$work/bpf" | sort | xargs
	}
	t_fails "ours first: BPF's fentry and fexit are refused" timeout 60 bpftrace -e "$program"
	call quick 100 3
	t_eq "... and we count all" "$(ours)" 100
	t_ok "direct=0 steps aside" eval "echo 0 >$params/direct"
	t_eq "... to a return probe, its listener still there" "$(kind) $(event_state kt_pair) $(field event kt_pair users)" "pair off armed 1"
	bpf_start
	t_ok "then they are not" kill -0 $bpf
	call quick 200 3
	t_eq "... we count all" "$(ours)" 200
	t_ok "direct=1 while they are there" eval "echo 1 >$params/direct"
	t_eq "... does not push them aside" "$(kind)" "pair busy"
	call quick 200 3
	t_eq "... we count all" "$(ours)" 200
	t_eq "... and they" "$(bpf_end)" "@in: 400 @out: 400"
	disable kt_pair
	wait_until 10 hook_is quick_pair idle
	enable kt_pair
	t_eq "armed anew without them: direct" "$(kind)" "direct "
else
	for ((i = 0; i < 11; i++)); do t_skip "beside BPF" "no bpftrace, or no types of a module"; done
fi

# --- a live patch of the function, in both orders ---

patch=/sys/kernel/livepatch/kstall_patch
patched() { [ "$(cat $patch/transition)" = 0 ]; }
unpatched() { [ ! -e $patch ]; }
patch_in() { insmod ./kstall_patch.ko && wait_until 60 patched; }
patch_out() { echo 0 >$patch/enabled && wait_until 60 unpatched && rmmod kstall_patch; }
if [ -e kstall_patch.ko ]; then
	ev_clear
	t_ok "a live patch comes" patch_in
	call quick 200 3
	t_eq "... it is what runs, and 200 calls are reported" "$(ours 1007)" 200
	disable kt_pair
	wait_until 10 hook_is quick_pair idle
	enable kt_pair
	t_eq "armed while it is there: direct" "$(kind)" "direct "
	call quick 200 3
	t_eq "... it is what runs, and 200 calls are reported" "$(ours 1007)" 200
	t_ok "it goes" patch_out
	call quick 200 3
	t_eq "... 200 calls, as before" "$(ours)" 200
else
	for ((i = 0; i < 6; i++)); do t_skip "a live patch" "this kernel has none"; done
fi
