# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top, failed: of demo-guest
# The stop of `make demo`, and the first of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# A disk that takes 10 ms for anything, and a training loop: each step has a job on the GPU, some write a checkpoint, some share
# their processor with another program. In one of them the GPU job waits for somebody else's.
make_step() {
	local dir=/sys/kernel/config/nullb/disk0 setting

	modprobe null_blk nr_devices=0
	[ -d /sys/kernel/config/nullb ] || mount -t configfs configfs /sys/kernel/config
	mkdir $dir
	for setting in size=64 irqmode=2 completion_nsec=10000000 submit_queues=1 power=1; do
		echo "${setting#*=}" >"$dir/${setting%%=*}"
	done
	ln -s "$top/tests/program/why/trainer" "$top/kstall/kstall" .
	cat >train <<-'END'
		fast=gpu_running=20000+pipe=2000
		save=$fast+fsync
		busy=$fast+hog=10000
		slow=$fast+fsync+gpu_dependency=400000
		exec ./trainer -o measured -d /dev/disk0 24 \
		  $fast,$save,$fast,$busy,$fast,$save,$fast,$busy,$slow,$save,$fast,$busy
	END
}

title "kstall why: one step of many was slow, and this is what took it"
modprobe mock_gpu
make_step

run 'modprobe -a drm_sched_trace io_uring_trace mm_migrate_trace ib_cq_trace'
tell "A training loop that computes on a GPU, reads from a loader, writes checkpoints and shares its processors. It \
marks its steps, by a line to trace_marker. Most take some 30 ms, but not all. Which layer took the time?"
run "./kstall why --slowest 2 --step marker -- sh train"
expect 'blocked +fence: dependency ' "the dependency of the slow step's GPU job"
tell "The slowest steps, and each one's largest part first: the GPU job of this step had to wait for another one. The parts of a \
step add up to the step, to the nanosecond: nothing was estimated. The program itself, which took the time of what it waited for, says:"
run "grep gpu_dependency measured | tr ' ' '\\n' | grep -E '^(step|wall|gpu_dependency)='"
expect '^gpu_dependency=' "what the program measured"

run 'rmmod drm_sched_trace io_uring_trace mm_migrate_trace ib_cq_trace'
rmmod mock_gpu
echo 0 >/sys/kernel/config/nullb/disk0/power
rmdir /sys/kernel/config/nullb/disk0
