# shellcheck shell=bash
# shellcheck disable=SC2034 # for the tests
# What the tests of io_uring_trace share, on top of ../lib.sh.

# shellcheck source=../lib.sh
. ../lib.sh

SCRATCH=/dev/disk/by-id/virtio-scratch
SLOW=/dev/disk/by-id/virtio-slow
work=$(mktemp -d)
at_exit rm -rf "$work"

# trace EVENT…: loads the module and records these events in an instance of this test's own
trace() {
	local event
	load io_uring_trace
	mk_instance "kstall-$$"
	for event; do
		ev_enable "io_uring_trace/$event"
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

# Of block I/O, only that of the disks in $disks, a regular expression: the root file system's comes at any time.
disks=
snap() { grep -E "${disks:+ dev=($disks) |^#| dev= }" "$INSTANCE/trace" >"$work/trace"; }

# uring COMMAND…: ./uring, its output in $work/out
uring() { run out ./uring "$@"; }

# said KEY: the value of key= in what uring said, each time it did
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

# Lines of the status file that say that something was lost.
status_losses() {
	grep -E '(missed|recursed|dropped|evicted|unmatched|clamped)=[1-9]' /sys/kernel/debug/io_uring_trace/status
}

# t_no_losses: the module lost nothing, invented nothing and tripped over nothing. While events are enabled.
t_no_losses() { t_eq "the status file knows of no loss" "$(status_losses)" ""; }

# null_blk NAME [key=value…]: a disk /dev/NAME without a medium
null_blk() {
	local dir=/sys/kernel/config/nullb/$1 setting
	shift
	modprobe null_blk nr_devices=0 || bail "no null_blk"
	[ -d /sys/kernel/config/nullb ] || mount -t configfs configfs /sys/kernel/config
	mkdir "$dir" || bail "cannot make $dir"
	at_exit rmdir "$dir"
	for setting in size=64 "$@"; do
		echo "${setting#*=}" >"$dir/${setting%%=*}" || bail "null_blk: $setting"
	done
	echo 1 >"$dir/power"
	at_exit eval "echo 0 >$dir/power"
	wait_until 10 test -b "/dev/${dir##*/}" || bail "no /dev/${dir##*/}"
}
