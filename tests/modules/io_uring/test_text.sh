#!/usr/bin/env bash
# description: the kernel's text is, byte for byte, what it was: with the module loaded, and again when its events are disabled
# tier1: 6.12
# requires: /proc/kcore
. ./lib.sh
plan 9

# address SYMBOL
address() { awk -v s="$1" '$3 == s && $4 == "" { print $1; exit }' /proc/kallsyms; }

# text STATE: a copy of the kernel's text
text() { ./kcore "$start" "$end" >"$work/text.$1" || bail "cannot read the kernel's text"; }

# differ STATE: the functions in which the text is not what it was before
differ() {
	cmp -l "$work/text.before" "$work/text.$1" | awk '{ print $1 - 1 }' >"$work/offsets"
	[ -s "$work/offsets" ] || return 0
	python3 - "$start" "$work/offsets" <<-'END'
		import bisect, sys
		rows = (line.split() for line in open("/proc/kallsyms"))
		syms = sorted((int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tTwW")
		addrs = [a for a, _ in syms]
		start = int(sys.argv[1], 16)
		print("\n".join(sorted({syms[bisect.bisect_right(addrs, start + int(o)) - 1][1] for o in open(sys.argv[2])})))
	END
}

# Functions the module hooks, by its own account.
hooked() { awk '$1 == "hook" && /kind=(entry|pair|direct)/ && /state=armed/ { sub("target=", "", $4); print $4 }' /sys/kernel/debug/io_uring_trace/status; }

start=$(address _stext) end=$(address _etext)
mk_instance "kstall-$$"
# What tracing changes for good the first time anybody uses it is not ours.
echo 1 >"$INSTANCE/events/sched/sched_process_fork/enable"
echo 0 >"$INSTANCE/events/sched/sched_process_fork/enable"

text before
load io_uring_trace
text loaded
ev_enable io_uring_trace
hooked >"$work/hooked"
text enabled
ev_disable io_uring_trace
t_ok "every hook is disarmed after the last event" wait_until 30 all_idle
text disabled
for event in "$INSTANCE"/events/io_uring_trace/*/; do
	ev_enable "io_uring_trace/$(basename "$event")"
	ev_disable "io_uring_trace/$(basename "$event")"
done
t_ok "every hook is disarmed after each event alone" wait_until 30 all_idle
text again
unload io_uring_trace
text unloaded

t_eq "loaded: as before" "$(differ loaded)" ""
t_eq "disabled: as before" "$(differ disabled)" ""
t_eq "each event enabled and disabled: as before" "$(differ again)" ""
t_eq "unloaded: as before" "$(differ unloaded)" ""
differ enabled >"$work/changed"
t_range "enabled: functions are hooked" "$(wc -l <"$work/hooked")" 5 99
t_eq "enabled: each of them is changed" "$(grep -vxFf "$work/changed" "$work/hooked")" ""
t_ok "enabled: the sites of tracepoints are changed too" grep -qx blk_mq_start_request "$work/changed"
