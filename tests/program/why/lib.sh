# shellcheck shell=bash
# shellcheck disable=SC2034 # for ../../events.sh
# What the tests of `kstall why` share, on top of those of ib_cq_trace.

# shellcheck source=../../modules/ib_cq/lib.sh
. ../../modules/ib_cq/lib.sh

KSTALL=$PWD/../../../kstall/kstall
CGROUP=/sys/fs/cgroup/kstall-$$

# causes: everything that trainer needs for its stalls is made; sets $causes to those that can be had here, $trainer to its options.
# What is not there is named.
causes() {
	local why=()
	causes=pipe,hog trainer=()
	[ -d /sys/devices/system/node/node1 ] && load mock_mm && causes+=,notifier || why+=("notifier: one NUMA node")
	setting /proc/sys/kernel/numa_balancing 0
	setting /proc/sys/vm/compaction_proactiveness 0
	setting /proc/sys/kernel/task_delayacct 1
	# ../../modules/mm_migrate/test_alloc.sh has it: taking all large pieces of memory takes an emulated machine longer than a step
	why+=("compaction: trainer cannot provoke it at will")
	load mock_gpu
	causes+=,gpu_dependency,gpu_ring,gpu_running
	late_disk && causes+=,fsync trainer+=(-d /dev/ks_late)
	if echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$CGROUP"; then
		at_exit rmdir "$CGROUP"
		causes+=,quota trainer+=(-g "$CGROUP")
	else
		why+=("quota: no cgroup")
	fi
	if modprobe -nq sch_ingress && lossy_link; then causes+=,rdma; else why+=("rdma: no soft-RoCE"); fi
	[ ${#why[@]} = 0 ] || printf '# not here: %s\n' "${why[@]}"
}

# A disk that takes 40 ms for anything.
late_disk() { modprobe -nq null_blk && null_blk ks_late irqmode=2 completion_nsec=40000000 submit_queues=1; }

# Of two packets one is lost, and sent again after 268 ms.
lossy_link() {
	soft_roce_link
	load mock_ib peer=rxe1
	echo open >$DO && "$LINK" loses ok random determ drop 2 && at_exit eval "echo close >$DO"
}

modules() { for module; do load "$module"; done; }

# results FILE: of check.py, as this test's own
results() {
	local line name why
	while read -r line; do
		case $line in "#"*) continue ;; esac
		name=${line%: *}
		mapfile -t why < <(grep "^# $name: " "$1")
		if [ -n "${why[*]}" ]; then t_fail "$line" "${why[@]}"; else t_pass "$line"; fi
	done <"$1"
}
