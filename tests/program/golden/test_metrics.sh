#!/usr/bin/env bash
# description: kstall metrics shows what the kernel counted, each under its name and in seconds
# host: it reads counters that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 3

mkdir all
(cd all && awk '/^==> / { file = $2; next } file { print >file }' "$here/counters.txt")
printf '%s\n' "slurm_job_id=17" "namespace=ml pod=trainer-3" >jobs.txt

page() { "$METRICS" --jobs file:jobs.txt "$@" | sed -E 's/^(kstall_metrics_cpu_seconds_total) [0-9]+\.[0-9]{9}$/\1 CPU/'; }

golden "each counter has its name, labels, value and unit" metrics.want page all

# A page has ten histograms at most: one page a module has them all.
histograms() {
	local system
	for system in io_uring_trace drm_sched ib_cq iommu_trace aer mm_migrate; do
		mkdir $system
		ln all/$system.*.hist $system
		page $system | grep -E '_seconds(_bucket|_sum|_count| )' | grep -vE '^(# .* )?kstall_(stall|metrics_cpu)_seconds'
	done
}
golden "each event's histogram" metrics-histograms.want histograms

same "OpenMetrics has the same, without _total in the names of families" "$(page --openmetrics all)" \
	"$(sed -E 's/^(# (HELP|TYPE) \w+)_total /\1 /' "$here/metrics.want" && echo '# EOF')"
