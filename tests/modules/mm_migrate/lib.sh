# shellcheck shell=bash
# shellcheck disable=SC2034 # for ../../events.sh
# What the tests of mm_migrate_trace share, on top of ../../events.sh.

MODULE=mm_migrate_trace
SYSTEM=mm_migrate
# shellcheck source=../../events.sh
. ../../events.sh

[ -d /sys/devices/system/node/node1 ] || skip_all "one NUMA node"
setting /proc/sys/kernel/numa_balancing 0

# has_thp: transparent huge pages. PREEMPT_RT has none.
has_thp() { [ -d /sys/kernel/mm/transparent_hugepage ]; }

# mm WORD…: ./mm, its output in $work/out
mm() { run out ./mm "$@"; }

# vmstat KEY
vmstat() { awk -v key="$1" '$1 == key { print $2 }' /proc/vmstat; }

# known CALLBACK: a hook is on it
known() { grep -q "^callback $1 .*here=1" /sys/kernel/debug/mm_migrate_trace/status; }

# Has the module learn the mock's callbacks, so that from then on no call is missed.
teach() {
	local callback
	./mm map 1 notify 0 list 0 notify 0 interval 0 tell "$work/taught" until "$work/learned" >/dev/null &
	wait_until 60 test -e "$work/taught"
	for callback in mock_mm_list_start mock_mm_invalidate; do
		wait_until 60 known $callback || bail "$callback is not learned"
	done
	touch "$work/learned"
	wait $!
}
