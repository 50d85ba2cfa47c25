#!/usr/bin/env bash
# Runs in a guest: prints what kstall metrics writes of a node that has done something, after the line "page".
set -eu
cd "$(dirname "$0")"
kstall=../../../kstall/kstall
dir=$(mktemp -d)
later_than() { [ "$(sed -n 's/^kstall_metrics_passes_total //p' "$dir/kstall.prom" 2>/dev/null || echo 0)" -gt "$1" ]; }

# a disk behind the IOMMU, strictly
modprobe nvme
until [ -b /dev/nvme0n1 ]; do sleep 0.2; done
modprobe -a aer_trace drm_sched_trace ib_cq_trace io_uring_trace iommu_trace mm_migrate_trace
available() { sync; echo 3 >/proc/sys/vm/drop_caches; awk '/^MemAvailable/ { print $2 }' /proc/meminfo; }
before=$(available)
echo slurm_job_id=17 >"$dir/jobs"
$kstall metrics --textfile "$dir" --every 500ms --jobs "file:$dir/jobs" &
pid=$!
until later_than 0; do sleep 0.2; done
echo "memory: $((before - $(available))) KiB, of them the process's $(awk '/^VmRSS/ { print $2 }' /proc/$pid/status)"
for disk in /dev/nvme0n1 /dev/disk/by-id/virtio-scratch; do
	fio --name=job --ioengine=io_uring --direct=1 --filename="$disk" --size=4M --rw=randwrite --bs=4k --number_ios=200 --iodepth=8 --minimal >/dev/null
done
passes=$(sed -n 's/^kstall_metrics_passes_total //p' "$dir/kstall.prom")
until later_than $((passes + 1)); do sleep 0.2; done
echo page
cat "$dir/kstall.prom"
kill $pid
wait $pid
