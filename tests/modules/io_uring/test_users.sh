#!/usr/bin/env bash
# description: perf, trace-cmd, ftrace's histograms and bpftrace each see the events, with the right values
# timeout: 420
# once: the listeners are the same on each kernel, and tools/start has bpftrace on each
# requires: perf trace-cmd bpftrace
. ./lib.sh
plan 21

load io_uring_trace
mk_instance "kstall-$$"
ev=io_uring_trace:io_uring_req_done
nops=(./uring nops 11 7001)
want=$(seq 7001 7011 | xargs)

# t_all DESC OUTPUT: the user_data of the 11 NOPs
t_all() { t_eq "$1" "$(grep -oP 'user_data[=:] ?\K\d+' <<<"$2" | sort -n | xargs)" "$want"; }

# --- perf ---

perf record -q -o "$work/perf" -e $ev "${nops[@]}" >/dev/null 2>"$work/err" || cat "$work/err"
t_all "perf record, perf script" "$(perf script -i "$work/perf" -F comm,event,trace 2>/dev/null)"
t_eq "perf script: names of opcodes, as the kernel prints them" "$(perf script -i "$work/perf" 2>/dev/null | grep -c 'opcode=NOP')" 11
t_eq "perf stat: counts" "$(perf stat -x, -e $ev "${nops[@]}" 2>&1 >/dev/null | grep -oP '^\d+(?=,.*io_uring_req_done)')" 11
perf stat -x, -e $ev --filter 'user_data == 7003 || user_data == 7005' "${nops[@]}" >/dev/null 2>"$work/stat"
t_eq "perf stat with a filter" "$(grep -oP '^\d+(?=,.*io_uring_req_done)' "$work/stat")" 2
t_ok "perf record of the whole system of events" perf record -q -o "$work/perf" -e 'io_uring_trace:*' "${nops[@]}"
t_all "perf record of the whole system: values" "$(perf script -i "$work/perf" -F event,trace 2>/dev/null | grep req_done)"
if perf trace -h 2>&1 | grep -q -- --event; then
	t_all "perf trace" "$(perf trace -e $ev "${nops[@]}" 2>&1 >/dev/null | tr ',()' '   ')"
else
	t_skip "perf trace" "this perf has none"
fi

# --- trace-cmd ---

(cd "$work" && trace-cmd record -q -o trace.dat -e $ev "$OLDPWD"/uring nops 11 7001) >"$work/out" 2>&1 || cat "$work/out"
t_all "trace-cmd record, report" "$(trace-cmd report -i "$work/trace.dat" 2>/dev/null | grep io_uring_req_done)"
t_eq "trace-cmd report: names of opcodes" "$(trace-cmd report -i "$work/trace.dat" 2>/dev/null | grep -c 'opcode=NOP')" 11

# --- ftrace ---

t_ok "ftrace: the whole system of events" ev_enable io_uring_trace
ev_disable io_uring_trace
hist=$INSTANCE/events/io_uring_trace/io_uring_req_done
echo 'hist:keys=user_data:vals=total_ns' >"$hist/trigger"
"${nops[@]}" >/dev/null
cp "$hist/hist" "$work/hist"
echo '!hist:keys=user_data:vals=total_ns' >"$hist/trigger"
t_eq "hist: trigger" "$(grep -oP '^\{ user_data: +\K\d+' "$work/hist" | sort -n | xargs) $(grep -oP 'Hits: \K\d+' "$work/hist")" "$want 11"
t_eq "hist: trigger: sums" "$(grep -c 'total_ns: *[1-9]' "$work/hist")" 11

# --- bpftrace ---

# bpf PROGRAM: runs it around the NOPs
bpf() { bpftrace -c "${nops[*]}" -e "$1" >"$work/bpf" 2>&1 || { tail -5 "$work/bpf"; false; }; }
keys() { grep -oP '^@u\[\K\d+(?=\]: 1$)' "$work/bpf" | sort -n | xargs; }
value() { grep -oP "^@$1: \K.*" "$work/bpf"; }

t_ok "bpftrace: args->field" bpf '
	tracepoint:io_uring_trace:io_uring_req_done {
		@u[args->user_data] = count();
		@parts = sum(args->total_ns - args->queue_ns - args->wq_ns - args->exec_ns);
	}
	tracepoint:io_uring_trace:io_uring_req_done
	/args->opcode == 0 && args->result == 0 && !args->punted && args->comm == "uring"/ {
		@nops = count();
	}'
t_eq "bpftrace: each once, with the right values" "$(keys) $(value nops) $(value parts)" "$want 11 0"
t_ok "bpftrace: the whole system of events" bpf 'tracepoint:io_uring_trace:* { @[probe] = count(); }'
t_ok "bpftrace: the whole system: counts" grep -qF '@[tracepoint:io_uring_trace:io_uring_req_done]: 11' "$work/bpf"

# Whoever attaches to a raw tracepoint does not wait for the hooks: somebody else has them armed here.
raw=('bpftrace rawtracepoint' 'bpftrace rawtracepoint: values' 'bpftrace rawtracepoint alone arms the hooks' 'and disarms them')
if bpftrace -l 'rawtracepoint:sched_switch' 2>/dev/null | grep -q .; then
	ev_enable io_uring_trace/io_uring_req_done
	program='
		rawtracepoint:io_uring_req_done {
			@u[arg1] = count();
			if (arg2 == 0 && arg3 == 0 && arg0 > 0) { @nops = count(); }
		}'
	t_ok "${raw[0]}" bpf "$program"
	t_eq "${raw[1]}" "$(keys) $(value nops)" "$want 11"
	ev_disable io_uring_trace/io_uring_req_done
	hooks() { grep -E '^hook (complete|submit|issue|punt) ' /sys/kernel/debug/io_uring_trace/status | grep -c "state=$1"; }
	armed() { [ "$(hooks armed)" = 4 ]; }
	idle() { [ "$(hooks idle)" = 4 ]; }
	wait_until 30 idle
	bpftrace -e "$program" >"$work/bpf" 2>&1 &
	bpftrace=$!
	at_exit eval "kill $bpftrace 2>/dev/null"
	wait_until 60 armed
	"${nops[@]}" >/dev/null
	interrupt $bpftrace
	t_eq "${raw[2]}" "$(keys) $(value nops)" "$want 11"
	t_ok "${raw[3]}" wait_until 30 idle
else
	for t in "${raw[@]}"; do t_skip "$t" "this bpftrace cannot"; done
fi
t_no_losses
