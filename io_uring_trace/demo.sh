# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top, failed: of demo-guest
# This module's stop of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# A disk that takes 1 ms for anything, and four requests at a time.
make_disk() {
	local dir=/sys/kernel/config/nullb/fast0 setting

	modprobe null_blk nr_devices=0
	[ -d /sys/kernel/config/nullb ] || mount -t configfs configfs /sys/kernel/config
	mkdir $dir
	for setting in size=64 irqmode=2 completion_nsec=1000000 hw_queue_depth=4 submit_queues=1 power=1; do
		echo "${setting#*=}" >"$dir/${setting%%=*}"
	done
}

# A disk that writes 6 MB/s, with a file system.
make_file_system() {
	slow_disk
	mke2fs -q -F /dev/ks_slow
	mkdir -p /mnt/slow
	mount /dev/ks_slow /mnt/slow
	sysctl -q vm.dirty_bytes=8388608
}

make_jobs() {
	cat >direct.fio <<-'END'
		[checkpoint]
		ioengine=io_uring
		direct=1
		filename=/dev/fast0
		size=64M
		rw=write
		bs=64k
		number_ios=1009
	END
	cat >buffered.fio <<-'END'
		[checkpoint]
		ioengine=io_uring
		filename=/mnt/slow/checkpoint
		size=20M
		rw=write
		bs=256k
		end_fsync=1
	END
	ln -s "$top/tests/modules/io_uring/uring" small-ring
	ln -s "$top"/tools/*.bt .
}

# blk PART: the average that io_uring_blk.bt printed
blk() { value "^@spent_us\[fast0, $1\]:.*average \K\d+"; }

title "io_uring_trace: the program waits for its I/O, but for which part of it?"
make_disk
make_file_system
make_jobs

run 'modprobe io_uring_trace'
run 'grep -E "event io_uring_req|hook submit " /sys/kernel/debug/io_uring_trace/status'
expect 'hook submit .*state=idle' "an idle hook"
tell "Loaded and unused it costs nothing: no hook is armed until somebody enables an event."

part "1. A checkpoint of 1009 writes, to a disk that does four at a time in 1 ms each"
tell "How long does a write take? With 4 of them in flight, then with 64:"
for depth in 4 64; do
	run "bpftrace -e 'tracepoint:io_uring_trace:io_uring_req_done { @us = hist(args->total_ns / 1000); }' \\
      -c '/usr/bin/fio --iodepth=$depth --output=log direct.fio'"
	expect '^@us:' "a histogram"
done

tell "Many times longer. Is it the disk? With 4 in flight, then with 64:"
run "./io_uring_blk.bt -c '/usr/bin/fio --iodepth=4 --output=log direct.fio' | grep -E 'requests|spent'"
expect '^@requests\[fast0, exact\]: 1009$' "1009 requests, each traced back to its io_uring request"
device=$(blk device) tag=$(blk tag)
run "./io_uring_blk.bt -c '/usr/bin/fio --iodepth=64 --output=log direct.fio'"
expect '^@requests\[fast0, exact\]: 1009$' "1009 requests, each traced back to its io_uring request"
tell "No: the disk took $device us a write with 4 in flight and takes $(blk device) us with 64. But now a write \
waits $(blk tag) us, instead of $tag us, for one of its four slots. And before that?"
run "./io_uring_lat.bt -c '/usr/bin/fio --iodepth=64 --output=log direct.fio'"
expect '^@wq_us\[fio, .*, WRITE\]: count 1009,' "1009 writes"
tell "Before that it waits $(value '^@wq_us.*average \K\d+') us for a worker thread: a write that finds no slot is \
handed to one, and those sleep, all of them, until a slot is free. The program sees a slow disk; \
it has a long queue."

part "2. A checkpoint through the page cache, to a disk that writes 6 MB/s"
run "./io_uring_lat.bt -c '/usr/bin/fio --output=log buffered.fio'"
expect '^@exec_us\[fio, .*, WRITE\]: count 80,' "80 writes"
tell "These writes only copy to memory, and most do so in a few ms. What held the others?"
run "./writeback.bt -c '/usr/bin/fio --output=log buffered.fio'"
expect '^@throttled_us\[fio, ' "the throttling of a writer"
tell "The kernel did, until the disk caught up; and fsync waited for the rest."

part "3. Rings too small for what a program does with them"
cat >three <<-'END'
	fio --iodepth=4 --output=log direct.fio
	./small-ring sqpoll-wait 5 50
	./small-ring cq-overflow 100 reap
END
run 'cat three'
run "./io_uring_sat.bt -c '/bin/sh three'"
expect '^@sq_overflow\[small-ring, .*, sqpoll_wait\]: 5$' "five waits for room in the submission ring"
expect '^@cq_overflow\[small-ring, .*, 4\]: 12$' "twelve completions that did not fit"
tell "fio is well, it does not appear. The other programs do, with the cause: five times a submitter slept \
until there was room in its submission ring of 8, and twelve completions found their ring of 4 full."

run 'rmmod io_uring_trace'

umount /mnt/slow
rmdir /mnt/slow
echo 0 >/sys/kernel/config/nullb/fast0/power
rmdir /sys/kernel/config/nullb/fast0
