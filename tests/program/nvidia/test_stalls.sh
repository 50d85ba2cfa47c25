#!/usr/bin/env bash
# description: each known stall of a training loop on a node with an NVIDIA GPU comes first in its step, has its size, and recording costs nothing
# tier1: 6.12
# takes: 60
# timeout: 900
# requires: python3 mkfs.ext4 module:null_blk
#
# ../../device/run, whole, where there is no GPU: stubs stand for PyTorch, CUDA, NCCL, nvidia-smi and the driver.
. ../../events.sh
export KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e $TRACEFS/uprobe_events ] || skip_all "no uprobe events"

load nvidia
# 2 GiB are mapped and not touched; what waits for the disk waits for its own requests, not for those that the kernel writes back.
setting /proc/sys/vm/overcommit_memory 1
setting /proc/sys/vm/dirty_writeback_centisecs 0
# Slow, with few requests at once: what waits, waits for one of these, and what an emulated processor takes to copy is little.
null_blk ks_ckpt size=320 memory_backed=1 irqmode=2 completion_nsec=100000000 submit_queues=1 hw_queue_depth=8
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0,nodiscard /dev/ks_ckpt
mkdir "$work/disk"
mount /dev/ks_ckpt "$work/disk" || bail "no file system"
at_exit umount "$work/disk"
export CHECKPOINTS=$work/disk PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$PWD PATH=$PWD:$PATH

device() { ../../device/run "$@" "$work/node" >"$work/out" 2>"$work/err"; }
row() { sed -nE "s/^$1 +//p" "$work/out"; }
# first CAUSE: in how many steps its name was first, and what that is, without numbers of processes
first() { row "$1" | sed -E 's/^([0-9]+ of [0-9]+) .* %  /\1: /; s,/[0-9]+([):]),/N\1,'; }

rounds=$(at_length 3 1)
all="$rounds of $rounds"
plan "$(at_length 17 15)"
device -r "$rounds"
status=$?
diag <"$work/out"
t_eq "the script: status, and what it finds wrong" "$status $(grep '^not as expected' "$work/out")$(<"$work/err")" "0 "
t_eq "smi: cudaMalloc waits for a lock that nvidia-smi holds" "$(first smi)" "$all: blocked nvidia: RM lock (nvidia-smi/N)"
t_eq "pin" "$(first pin)" "$all: on_cpu nvidia: pin or alloc (RM_ALLOC_MEMORY)"
t_eq "copy" "$(first copy)" "$all: on_cpu copy: H2D (1 GiB, held its caller)"
t_eq "jit" "$(first jit)" "$all: on_cpu gpu_load: module (cuModuleLoadDataEx)"
t_eq "neighbour" "$(first neighbour)" "$all: cpu_wait cpu (sh/N)"
t_eq "fsync" "$(first fsync)" "$all: blocked disk: device (ks_ckpt)"
t_eq "spin" "$(first spin)" "$all: on_cpu gpu_wait: cuCtxSynchronize"
t_eq "block: CUDA's own thread waits for the GPU, the caller for that thread" "$(first block)" "$all: blocked gpu_wait: cuEventSynchronize"
t_eq "loader" "$(first loader)" "$all: blocked read ← python3/N: sleep: clock_nanosleep"
t_eq "nccl" "$(first nccl)" "$all: on_cpu gpu_wait: cuCtxSynchronize"
t_eq "... and by --step nccl the rank that came late" "$(grep -c "^by --step nccl: $all .* coll nccl: peer (rank 1)$" "$work/out")" 1
t_eq "quota" "$(first quota)" "$all: quota quota"

# What would be wrong is seen.
cat >"$work/without" <<-END
	#!/bin/sh
	case \$1 in record) shift; set -- record --no-cuda "\$@" ;; esac
	exec "$KSTALL" "\$@"
END
chmod +x "$work/without"
KSTALL=$work/without device -r 1
t_eq "without CUDA's probes the script fails" "$?" 1
t_eq "... and says what has no name" "$(grep -oP '^not as expected: \K\w+(?= .*was first in 0)' "$work/out" | xargs)" "copy jit spin block nccl"
[ -z "$KSTALL_BRIEF" ] || exit 0

# A kernel that refuses uprobes, as the H200's has none.
cat >"$work/refused" <<-END
	#!/bin/sh
	KS_FAIL="uprobe_events 22" LD_PRELOAD=$PWD/../why/fail.so exec "$KSTALL" "\$@"
END
chmod +x "$work/refused"
KSTALL=$work/refused device -r 1
t_eq "without uprobes it is as expected" "$? $(grep '^not as expected' "$work/out")" "0 "
t_eq "... and names less" "$(sed -nE 's/^(\w+) +not named .*/\1/p' "$work/out" | xargs)" "copy jit spin block nccl"
