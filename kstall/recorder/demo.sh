# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top, failed: of demo-guest
# A stop of `make tour`: a node that crashes. Its guest reboots, and each boot comes here again; how far it is stands on a disk,
# where the recorder's copies are, too.

state=/var/lib/kstall
disk=/dev/disk/by-id/virtio-scratch
mkdir -p $state
mount $disk $state 2>/dev/null || { mkfs.ext4 -q $disk && mount $disk $state; }
ln -s "$top/kstall/kstall" .

before_the_crash() {
	title "kstall recorder: the node crashed, and nobody had watched. What happened before?"
	slow_disk
	modprobe mock_gpu timeout_ms=2000 reset_ms=100
	ln -s "$top/tests/modules/drm_sched/gpu" trainer
	cat >train <<-'END2'
		dd if=/dev/zero of=/dev/ks_slow bs=64k count=20 conv=fsync 2>/dev/null
		./trainer entity 2 1 run 1000 once flags h job 0 await 0 60000 >/dev/null
	END2
	run 'modprobe -a drm_sched_trace io_uring_trace'
	run './kstall recorder start'
	run './kstall recorder status | grep recording'
	expect '^kstall-drm_sched +recording .* survives a reboot' "a ring that survives a reboot"
	tell "Errors of each module are recorded into a ring of its own, what takes long into another; all of them in memory \
that a reboot leaves alone. Now the job: it writes a checkpoint to a slow disk, and then a job on the GPU hangs."
	# not after the job: what is written to the disk has events, too
	echo "$failed" >$state/before
	sync
	run 'sh train'
	tell "Nobody looks. And then the kernel dies."
	printf '\n%s# echo c >/proc/sysrq-trigger%s\n' "$green" "$off"
	echo c >/proc/sysrq-trigger
}

after_the_crash() {
	part "After the reboot"
	failed=$(<$state/before)
	run './kstall recorder last-boot >story; cut -c12-126 story'
	expect 'writeback_wait_done: ' "the slow checkpoint"
	expect 'drm_sched_job_timeout: dev=mock_gpu ' "the job that hung"
	expect 'drm_sched_reset: ' "the reset after it"
	run "grep -oE '(writeback_wait_done|job_timeout):' story | uniq | xargs"
	expect '^writeback_wait_done: job_timeout:$' "their order"
	tell "In order, across modules, up to the end: decoded with the formats that were kept before the crash, since this boot's \
may have other numbers for the same events."
}

if [ -e $state/before ]; then after_the_crash; else before_the_crash; fi
umount $state
