# shellcheck shell=bash
# What tests of one module's events share, on top of lib.sh. The test sets MODULE and SYSTEM.

# shellcheck source=lib.sh
. ../../lib.sh

work=$(mktemp -d)
at_exit rm -rf "$work"

# What is under way when block hooks are placed would end without having begun. Builtins only: nothing is read from disk afterwards.
disks_idle() { local f r w; for f in /sys/block/*/inflight; do read -r r w <"$f"; [ "$r$w" = 00 ] || return; done; }

# A session of kstall's has begun: it has named the job's threads, and its events come, all at once.
session_begun() { (cd $TRACEFS/instances && grep -q 1 kstall-*-job/events/sched/sched_switch/enable && grep -q 1 kstall-*-job/tracing_on) 2>/dev/null; }

# trace EVENT…: loads the module and records these events in an instance of this test's own
trace() {
	local event
	load "$MODULE"
	mk_instance "kstall-$$"
	wait_until 30 disks_idle
	for event; do
		ev_enable "$SYSTEM/$event"
	done
}

# run NAME command…: its output goes to $work/NAME. What it traced is then in $work/trace, where the helpers below look.
run() {
	local name=$1
	shift
	ev_clear
	"$@" >"$work/$name" 2>"$work/$name.err" || bail "$* failed: $(tail -3 "$work/$name.err" | xargs)"
	snap
}

# kernel_since VERSION: this kernel is of that version or later
kernel_since() { [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -1)" = "$1" ]; }

# Of block I/O, only that of the disks in $disks, a regular expression: the root file system's comes at any time.
disks=
snap() { grep -E "${disks:+ dev=($disks) |^#| dev= }" "$INSTANCE/trace" >"$work/trace"; }

# said KEY: the value of key= in what the program that wrote $work/out said, each time it did
said() { grep -oP "\b$1=\K\S+" "$work/out"; }

# Runs awk code over the fields f["key"] of each line of an event; f["comm"] is its last word only.
ev_awk() {
	awk -v e=" $1: " 'index($0, e) {
		split("", f)
		for (i = 5; i <= NF; i++)
			if (split($i, kv, "=") == 2)
				f[kv[1]] = kv[2]
		'"$2"'
	} END { '"${3-}"' }' "$work/trace"
}

# ev_n EVENT [CONDITION]: how many of them; the condition is awk, on f["key"]
ev_n() { ev_awk "$1" "if (${2-1}) n++" 'print n + 0'; }

# ev_sum EVENT KEY [CONDITION]
ev_sum() { ev_awk "$1" "if (${3-1}) n += f[\"$2\"]" 'printf "%.0f\n", n'; }

# ev_get EVENT KEY [CONDITION]: the values, in order
ev_get() { ev_awk "$1" "if (${3-1}) print f[\"$2\"]"; }

# Lines of the status file that say that something was lost, and what. Counters go on as long as the module is loaded: after
# losses on purpose losses_forget has later ones reported only.
status_losses() {
	awk '{
		lost = any = ""
		for (i = 3; i <= NF; i++)
			if ($i ~ /^(missed|recursed|dropped|evicted|unmatched|clamped)=/) {
				lost = lost " " $i
				any = any || $i !~ /=0$/
			}
	}
	FILENAME == ARGV[1] { known[$1, $2] = lost; next }
	any && lost != known[$1, $2]' "${losses_known:-/dev/null}" "/sys/kernel/debug/$MODULE/status"
}
losses_forget() { cp "/sys/kernel/debug/$MODULE/status" "${losses_known:=$work/losses}"; }

# all_idle: no hook is armed. A worker disarms them, some time after the last listener has gone, and frees the tables then.
all_idle() { ! grep -q '^hook.* state=armed' "/sys/kernel/debug/$MODULE/status"; }
t_all_idle() { t_ok "$1" wait_until 30 all_idle; }

# t_no_losses: the module lost nothing, invented nothing and tripped over nothing.
t_no_losses() { t_count "the status file knows of no loss" "$(status_losses)" ""; }
