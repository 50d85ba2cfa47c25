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

static bool it_wait_enter(struct it_wait_call *call, unsigned long unit, u32 commands, u8 what)
{
	call->unit = unit;
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

/* A struct qi_desc begins with the command. */
KSTALL_FN(int, qi_submit_sync, unsigned long, iommu, const u64 *, desc, unsigned int, count);

bool it_wait_intel_enter(void *data, struct pt_regs *regs)
{
	const u64 *desc = kstall_arg(regs, qi_submit_sync, desc);
	u32 count = kstall_arg(regs, qi_submit_sync, count);

	return it_wait_enter(data, kstall_arg(regs, qi_submit_sync, iommu), count,
			     count ? it_intel_what(*desc) : IT_INV_OTHER);
}

KSTALL_FN(int, iommu_completion_wait, unsigned long, iommu);

/* All that was queued before. */
bool it_wait_amd_enter(void *data, struct pt_regs *regs)
{
	return it_wait_enter(data, kstall_arg(regs, iommu_completion_wait, iommu), 0, IT_INV_OTHER);
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
 * arm_smmu_cmdq_issue_cmdlist() (drivers/iommu/arm/arm-smmu-v3/arm-smmu-v3.c), the one function
 * through which all commands go: in 6.1 without a queue, in 6.12 with a struct arm_smmu_cmdq, in
 * 7.2 with struct arm_smmu_cmd, which is two u64, in place of u64.
 */
KSTALL_FN(int, it_smmu_issue_61, unsigned long, smmu, const u64 *, cmds, unsigned long, n,
	  bool, sync);
KSTALL_FN(int, it_smmu_issue, unsigned long, smmu, void *, cmdq, const u64 *, cmds, int, n,
	  bool, sync);

/*
 * They differ in what comes third, a small number or a pointer. Without sync no CPU waits for the
 * commands; with it, the function polls until the hardware has done the CMD_SYNC it appends.
 */
bool it_wait_smmu_enter(void *data, struct pt_regs *regs)
{
	bool queue = kstall_arg(regs, it_smmu_issue_61, n) >= PAGE_SIZE;
	const u64 *cmds = queue ? kstall_arg(regs, it_smmu_issue, cmds) :
				  kstall_arg(regs, it_smmu_issue_61, cmds);
	u32 n = queue ? kstall_arg(regs, it_smmu_issue, n) :
			(u32)kstall_arg(regs, it_smmu_issue_61, n);

	if (queue ? !kstall_arg(regs, it_smmu_issue, sync) :
		    !kstall_arg(regs, it_smmu_issue_61, sync))
		return false;
	return it_wait_enter(data, kstall_arg(regs, it_smmu_issue, smmu), n,
			     n ? it_smmu_what(*cmds) : IT_INV_OTHER);
}

KSTALL_FN(int, __viommu_sync_req, unsigned long, viommu);

/* All requests that were queued before. */
bool it_wait_virtio_enter(void *data, struct pt_regs *regs)
{
	return it_wait_enter(data, kstall_arg(regs, __viommu_sync_req, viommu), 0, IT_INV_OTHER);
}
