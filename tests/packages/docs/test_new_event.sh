#!/usr/bin/env bash
# description: scripts/new-event writes an event that the program, its tests and the pages know, in each module; all or nothing
# requires: python3
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
# takes: 20
. ../../lib.sh
plan 13

cd ../../..
work=$(mktemp -d)
at_exit rm -rf "$work"
cp -a . "$work/tree" # with its times: what is built is not built again
cd "$work/tree" || exit

# new FILE FUNCTION EVENT LAYER
new() { scripts/new-event "$@" "a task has waited for it" >"$work/said" 2>&1; }
t_ok "aer_trace" new aer_trace/report.c pci_walk_bus aer_walk compaction
t_ok "drm_sched_trace, a function of a module" new drm_sched_trace/job.c gpu_sched:drm_sched_job_init drm_init ttm
t_ok "ib_cq_trace" new ib_cq_trace/cq.c ib_core:ib_drain_qp ib_drain mr_reg
t_ok "io_uring_trace" new io_uring_trace/ring.c io_uring_del_tctx_node io_uring_del disk
t_ok "iommu_trace" new iommu_trace/wait.c iommu_map iommu_mapped iommu
t_ok "mm_migrate_trace" new mm_migrate_trace/alloc.c lru_add_drain_all mm_lru_drain compaction
t_eq "... and what it says is left to do" "$(grep -c TODO "$work/said") $(cat ./*_trace/*_events.h | grep -c 'TODO: the kernels') $(cat tests/modules/*/test_mm_lru_drain.sh | grep -c TODO)" "2 6 1"
t_ok "the program builds" make -s -C kstall
KSTALL_HOST=1 tests/run.sh docs/events_md docs/readme golden/events golden/recorder golden/metrics kstall/streams >"$work/results" 2>&1
t_eq "its tests and the pages' pass" "$(grep -c '^ok ' "$work/results") $(grep -E '^ *not ok' "$work/results")" "6 "

# refused DESC SAYS ARGUMENT…: no file is another than before
refused() {
	local desc=$1 says=$2 before
	shift 2
	before=$(find . -type f -newer "$work/results" | wc -l)
	new "$@"
	t_eq "$desc" "$? $(cat "$work/said") $(($(find . -type f -newer "$work/results" | wc -l) - before))" "1 new-event: $says 0"
}
refused "an event that is there" "mm_lru_drain: taken, or no name of an event" mm_migrate_trace/alloc.c lru_add_drain_all mm_lru_drain compaction
refused "a layer that is not" "compact is no layer of kstall/engine/part.c" mm_migrate_trace/alloc.c lru_add_drain_all mm_drain compact
refused "a file that is not" "mm_migrate_trace/lru.c is no file of a module" mm_migrate_trace/lru.c lru_add_drain_all mm_drain compaction
sed -i '/^static struct kstall_hook hooks/s/hooks/rows/' mm_migrate_trace/main.c
refused "a place that is not found: nothing is written" \
	'mm_migrate_trace/main.c: cannot find where it belongs (no ^static struct kstall_hook hooks\[\w*\] = \{\n)' \
	mm_migrate_trace/alloc.c lru_add_drain_all mm_drain compaction
