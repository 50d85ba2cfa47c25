// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - how long CPUs wait for an IOMMU to do what its queue of commands says
 *
 * Each driver has a function of its own that waits, and none of their types is known here: a
 * probe reads the arguments' values, and what a command is from its first word.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "iommu_trace.h"
#include "iommu_trace_events.h"

static bool it_wait_enter(struct it_wait_call *call, struct pt_regs *regs, u32 commands, u8 what)
{
	call->unit = regs_get_kernel_argument(regs, 0);
	call->commands = commands;
	call->what = what;
	call->start_ns = kstall_now();
	return true;
}

static void it_wait_emit(const struct it_wait_call *call, int result)
{
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	struct kstall_iommu_wait e = { .call = call };
	struct it_unit unit;

	if (!kstall_long_enough(&kstall_event_iommu_inv_wait, duration_ns))
		return;
	it_unit_find(call->unit, &unit);
	e.id = it_id(unit.name, unit.node);
	e.driver = unit.driver;
	trace_iommu_inv_wait(duration_ns, 0, call->commands, result, &e);
}

void it_wait_return(void *data, struct pt_regs *regs)
{
	it_wait_emit(data, (int)regs_return_value(regs));
}

/* Of functions whose result the compiler may have dropped. */
void it_wait_blind_return(void *data, struct pt_regs *regs)
{
	it_wait_emit(data, 0);
}

/* First word of a descriptor of VT-d */
static u8 it_intel_what(u64 qw0)
{
	switch (qw0 & 0xf) {
	case 1:
		return IT_INV_CONFIG;
	case 2:
	case 6:
		return IT_INV_IOTLB;
	case 3:
	case 8:
		return IT_INV_DEVTLB;
	case 4:
		return IT_INV_INTERRUPT;
	case 7:
		return IT_INV_CONFIG;
	case 9:
		return IT_INV_PAGE_RESPONSE;
	default:
		return IT_INV_OTHER;
	}
}

/* qi_submit_sync(struct intel_iommu *, struct qi_desc *, unsigned int count, options) */
bool it_wait_intel_enter(void *data, struct pt_regs *regs)
{
	const u64 *desc = (const u64 *)regs_get_kernel_argument(regs, 1);
	u32 count = regs_get_kernel_argument(regs, 2);

	return it_wait_enter(data, regs, count,
			     count ? it_intel_what(*desc) : IT_INV_OTHER);
}

/* iommu_completion_wait(struct amd_iommu *): all that was queued before */
bool it_wait_amd_enter(void *data, struct pt_regs *regs)
{
	return it_wait_enter(data, regs, 0, IT_INV_OTHER);
}

/* First word of a command of SMMUv3 */
static u8 it_smmu_what(u64 word)
{
	switch (word & 0xff) {
	case 0x03 ... 0x06:
		return IT_INV_CONFIG;
	case 0x10 ... 0x30:
		return IT_INV_IOTLB;
	case 0x40:
		return IT_INV_DEVTLB;
	case 0x41:
	case 0x44:
		return IT_INV_PAGE_RESPONSE;
	default:
		return IT_INV_OTHER;
	}
}

/*
 * drivers/iommu/arm/arm-smmu-v3/arm-smmu-v3.c, the one function through which all commands go:
 *	6.1	arm_smmu_cmdq_issue_cmdlist(smmu, u64 *cmds, int n, bool sync)
 *	6.12	arm_smmu_cmdq_issue_cmdlist(smmu, cmdq, u64 *cmds, int n, bool sync)
 *	7.2	arm_smmu_cmdq_issue_cmdlist(smmu, cmdq, struct arm_smmu_cmd *, int n, bool sync)
 * The queue is a struct arm_smmu_cmdq, and struct arm_smmu_cmd is two u64.
 * Told apart by what comes third, a small number or a pointer. Without sync nobody waits for the
 * commands; with it, the function polls until the hardware has done the CMD_SYNC it appends.
 */
bool it_wait_smmu_enter(void *data, struct pt_regs *regs)
{
	int queue = regs_get_kernel_argument(regs, 2) >= PAGE_SIZE ? 1 : 0;
	const u64 *commands = (const u64 *)regs_get_kernel_argument(regs, 1 + queue);
	u32 n = (u32)regs_get_kernel_argument(regs, 2 + queue);

	if (!(regs_get_kernel_argument(regs, 3 + queue) & 1))
		return false;
	return it_wait_enter(data, regs, n, n ? it_smmu_what(*commands) : IT_INV_OTHER);
}

/* __viommu_sync_req(struct viommu_dev *): all requests that were queued before */
bool it_wait_virtio_enter(void *data, struct pt_regs *regs)
{
	return it_wait_enter(data, regs, 0, IT_INV_OTHER);
}
