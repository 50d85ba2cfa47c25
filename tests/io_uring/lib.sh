# shellcheck shell=bash
# shellcheck disable=SC2034 # for the tests
# What the tests of io_uring_trace share, on top of ../events.sh.

MODULE=io_uring_trace
SYSTEM=io_uring_trace
# shellcheck source=../events.sh
. ../events.sh

SCRATCH=/dev/disk/by-id/virtio-scratch
SLOW=/dev/disk/by-id/virtio-slow

# uring COMMAND…: ./uring, its output in $work/out
uring() { run out ./uring "$@"; }

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
