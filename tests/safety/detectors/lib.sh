# shellcheck shell=bash source-path=SCRIPTDIR
# Each plants one bug that a kernel of ../../vm/debug-kernel has to report (kstall_planted.c), so that its silence elsewhere means something.
. ../../lib.sh

# Bugs are planted where somebody asked for them only.
grep -q 'kstall\.planted_bugs=1' /proc/cmdline || skip_all "would break this kernel"

plant() {
	plan 1
	t_ok "planted: $1" insmod ./kstall_planted.ko bug="$1"
	at_exit unload_if_loaded kstall_planted
}
