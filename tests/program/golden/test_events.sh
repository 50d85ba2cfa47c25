#!/usr/bin/env bash
# description: each row of the program's table of events is an event of the modules, with the fields that it has
# host: it reads files of the repository
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3 cc
. ./lib.sh
table=$here/../../../kstall/events.def

# wrong EXPRESSION: what is said of the table with that changed in it
wrong() {
	sed -E "$1" "$table" >changed.def
	cmp -s changed.def "$table" && echo "nothing was changed"
	python3 "$here/events.py" changed.def
}
# compiles EXPRESSION FILE: does a file of the program, with that changed in the table
compiles() {
	rm -rf kstall
	mkdir kstall
	cp -a "$here/../../../kstall"/{base,engine,recorder,metrics} kstall
	sed -E "$1" "$table" >kstall/events.def
	if cc -std=gnu11 -D_GNU_SOURCE -Ikstall -fsyntax-only "kstall/$2" >said 2>&1; then
		echo yes
	else
		grep -oE 'KS_[a-z_]+' said | sed 1q
	fi
}

plan 10
same "the table and the modules agree" "$(python3 "$here/events.py")" ""
same "an event without a row is seen" "$(wrong '/^EVENT\(aer, aer_recovery/,/true\)\)$/d')" "aer_recovery: no row"
same "... a row apart from those of its system" "$(wrong 's/EVENT\(iommu_trace, iommu_fq_flush/EVENT(iommu_traces, iommu_fq_flush/')" "iommu_trace: its rows do not stand together"
same "... a duration that another has" "$(wrong 's/ttm_bo_evict, duration_ns/ttm_bo_evict, wait_ns/')" "ttm_bo_evict: no field wait_ns"
same "... a field that the event has not" "$(wrong 's/\(src_node, dst_node\)/(src_node, to_node)/')" \
	"mm_migrate_batch: no field to_node
mm_migrate_batch: a culprit's text has dst_node"
same "... a cause that it has not" "$(wrong 's/"tlb", (.*)"reason"/"tlb", \1"why"/')" "mm_tlb_shootdown: no field why"
same "... a module's event by another name" "$(wrong 's/"mm_compaction_stall"\)\)/"mm_compaction"))/')" \
	"mm_compaction_begin: the module's event mm_compaction has no row
mm_compaction_end: the module's event mm_compaction has no row"
same "the engine compiles" "$(compiles '' engine/done.c)" yes
same "... but not with a field that it reads by another name" "$(compiles 's/, tag_ns,/, tag_us,/' engine/done.c)" KS_io_uring_block_rq__tag_ns
same "... nor without one that two events share" "$(compiles 's/block_rq_complete, NONE/block_rq_completed, NONE/' engine/block.c)" KS_block_rq_complete__dev
