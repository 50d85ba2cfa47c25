#!/usr/bin/env bash
# description: each wait for the IOMMU's queue is reported, once, with what it waited for
# tier1: 6.12
# arm64: SMMUv3's queue
# timeout: 400
. ./lib.sh
plan 9

e=iommu_inv_wait s=iommu_iotlb_sync
declare -A waits=([intel_iommu]=qi_submit_sync [amd_iommu]='iommu_completion_wait*' [viommu]='__viommu_sync_req*'
	[arm_smmu]='*arm_smmu_cmdq_issue_cmdlist')
mode DMA
trace $e $s
count_calls "${waits[$DRIVER]}"
[ "$DRIVER" != intel_iommu ] || ev_enable intel_iommu/qi_submit
: >"$calls/trace"
maps single 4096 100
t_eq "as many as the function is called" "$(ev_n $e)" "$(calls '\w+(\.[a-z.0-9]+)?')"
t_eq "whom they waited for" "$(ev_awk $e 'print f["dev"], f["driver"], f["result"]' | sort -u)" "$IOMMU $DRIVER 0"
t_eq "who waited" "$(ev_get $e tgid | sort -u)" $$
t_eq "it takes time" "$(ev_n $e 'f["duration_ns"] == 0')" 0
t_eq "in µs, too" "$(ev_n $e 'f["duration_us"] != int(f["duration_ns"] / 1000)')" 0
case $DRIVER in
intel_iommu)
	t_eq "a wait for each unmapping" "$(ev_n $e 'f["what"] == "iotlb"')" 100
	t_eq "its commands" "$(ev_sum $e commands)" "$(grep -c ' qi_submit: ' "$INSTANCE/trace")"
	t_range "it is most of a flush" "$(ev_sum $e duration_ns)" 1 "$(ev_sum $s duration_ns)"
	;;
arm_smmu)
	t_eq "a wait for each unmapping" "$(ev_n $e 'f["what"] == "iotlb"')" 100
	t_eq "its commands: a page is one" "$(ev_awk $e 'print f["commands"]' | sort -u)" 1
	t_range "it is most of a flush" "$(ev_sum $e duration_ns)" 1 "$(ev_sum $s duration_ns)"
	;;
*)
	# what is emulated has mappings flushed, too
	t_range "a wait for each unmapping" "$(ev_n $e)" 100 10000
	t_eq "its commands are not known" "$(ev_awk $e 'print f["what"], f["commands"]' | sort -u)" "other 0"
	t_skip "it is most of a flush" "mappings wait, too"
	;;
esac
t_no_losses
