// SPDX-License-Identifier: GPL-2.0
/*
 * recovery.c - what the kernel does about an uncorrectable error, step by step
 *
 * All steps of one recovery happen in one task, inside pcie_do_recovery() (drivers/pci/pcie/err.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/uaccess.h>

#include "aer_trace.h"
#include "aer_trace_events.h"

static bool aer_call_begin(struct aer_call *call, struct pci_dev *pdev, const void *result, u8 step)
{
	call->pdev = pdev;
	call->result = result;
	call->start_ns = kstall_now();
	call->reason = 0;
	call->step = step;
	return true;
}

static void aer_recovery_emit(const struct aer_call *call, const struct aer_recover *rec, u8 answer)
{
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	struct kstall_aer_recovery e = { .step = call->step, .state = rec->state };
	struct aer_dev dev;

	if (!kstall_long_enough(&kstall_event_aer_recovery, duration_ns))
		return;
	aer_dev_read(&dev, call->pdev);
	e.id = aer_id(&dev);
	e.dev = &dev;
	e.reason = call->reason;
	trace_aer_recovery(duration_ns, dev.bdf, rec->devices, answer, &e);
}

/* ---- the whole ---- */

KSTALL_FN(pci_ers_result_t, pcie_do_recovery, struct pci_dev *, dev, pci_channel_state_t, state);

bool aer_recovery_enter(void *data, struct pt_regs *regs)
{
	struct aer_recover rec = {
		.state = (__force u8)kstall_arg(regs, pcie_do_recovery, state),
	};
	struct aer_call *call = data;
	u64 key = (unsigned long)current;
	struct kstall_slot slot;

	aer_call_begin(call, kstall_arg(regs, pcie_do_recovery, dev), NULL, AER_STEP_RECOVERY);
	if (kstall_inflight_insert(&aer_recoveries, key, call->start_ns, &slot)) {
		*(struct aer_recover *)slot.rec = rec;
		kstall_inflight_unlock(&slot);
	}
	return true;
}

void aer_recovery_return(void *data, struct pt_regs *regs)
{
	struct aer_recover rec = { };

	kstall_inflight_take(&aer_recoveries, (unsigned long)current, &rec);
	aer_recovery_emit(data, &rec, regs_return_value(regs));
}

/* ---- its steps ---- */

/* Of all steps: pci_walk_bridge() calls them for each device, with what is merged or NULL. */
KSTALL_FN(int, report_step, struct pci_dev *, dev, void *, data);

static bool aer_step_begin(struct aer_call *call, struct pt_regs *regs, u8 step)
{
	return aer_call_begin(call, kstall_arg(regs, report_step, dev),
			      kstall_arg(regs, report_step, data), step);
}

/* report_normal_detected(), report_frozen_detected() */
bool aer_detected_enter(void *data, struct pt_regs *regs)
{
	struct kstall_slot slot;

	if (kstall_inflight_find(&aer_recoveries, (unsigned long)current, &slot)) {
		struct aer_recover *rec = slot.rec;

		rec->devices++;
		rec->answer = 0;
		kstall_inflight_unlock(&slot);
	}
	return aer_step_begin(data, regs, AER_STEP_DETECTED);
}

KSTALL_FN(void, pci_uevent_ers, struct pci_dev *, pdev, enum pci_ers_result, err_type);
KSTALL_CHECK_FN(pci_uevent_ers, pci_uevent_ers);

/* Inside a step: the device's answer. */
bool aer_answer_enter(void *data, struct pt_regs *regs)
{
	struct kstall_slot slot;

	if (kstall_inflight_find(&aer_recoveries, (unsigned long)current, &slot)) {
		((struct aer_recover *)slot.rec)->answer =
			(__force u8)kstall_arg(regs, pci_uevent_ers, err_type);
		kstall_inflight_unlock(&slot);
	}
	return false;
}

bool aer_mmio_enter(void *data, struct pt_regs *regs)
{
	return aer_step_begin(data, regs, AER_STEP_MMIO);
}

bool aer_slot_reset_enter(void *data, struct pt_regs *regs)
{
	return aer_step_begin(data, regs, AER_STEP_SLOT_RESET);
}

bool aer_resume_enter(void *data, struct pt_regs *regs)
{
	/* Resuming has no result. */
	return aer_call_begin(data, kstall_arg(regs, report_step, dev), NULL, AER_STEP_RESUME);
}

/*
 * A driver's answer to later steps is only seen merged with those of the devices before it: from
 * "recovered", which they begin with, to what it says, unless one before has said worse.
 */
void aer_step_return(void *data, struct pt_regs *regs)
{
	const struct aer_call *call = data;
	struct aer_recover rec = { };
	struct kstall_slot slot;
	pci_ers_result_t merged;

	if (kstall_inflight_find(&aer_recoveries, (unsigned long)current, &slot)) {
		rec = *(struct aer_recover *)slot.rec;
		kstall_inflight_unlock(&slot);
	}
	if (call->step != AER_STEP_DETECTED) {
		rec.answer = 0;
		if (call->result &&
		    !get_kernel_nofault(merged, (const pci_ers_result_t *)call->result))
			rec.answer = (__force u8)merged;
	}
	aer_recovery_emit(call, &rec, rec.answer);
}

KSTALL_FN(pci_ers_result_t, aer_root_reset, struct pci_dev *, dev);

/* dpc_reset_link(), too, which has the same argument. */
bool aer_reset_enter(void *data, struct pt_regs *regs)
{
	return aer_call_begin(data, kstall_arg(regs, aer_root_reset, dev), NULL, AER_STEP_RESET);
}

void aer_reset_return(void *data, struct pt_regs *regs)
{
	struct aer_recover rec = { };
	struct kstall_slot slot;

	if (kstall_inflight_find(&aer_recoveries, (unsigned long)current, &slot)) {
		rec = *(struct aer_recover *)slot.rec;
		kstall_inflight_unlock(&slot);
	}
	aer_recovery_emit(data, &rec, regs_return_value(regs));
}

/* ---- containment ---- */

KSTALL_FN(irqreturn_t, dpc_handler, int, irq, void *, context);

/* The context is the port. Its status says why it has cut the link; the handler reads it next. */
bool aer_dpc_enter(void *data, struct pt_regs *regs)
{
	struct pci_dev *pdev = kstall_arg(regs, dpc_handler, context);
	struct aer_call *call = data;
	u16 status;

	aer_call_begin(call, pdev, NULL, AER_STEP_DPC);
	if (!pci_read_config_word(pdev, pdev->dpc_cap + PCI_EXP_DPC_STATUS, &status))
		call->reason = status;
	return true;
}

void aer_dpc_return(void *data, struct pt_regs *regs)
{
	struct aer_recover rec = { .state = (__force u8)pci_channel_io_frozen };

	aer_recovery_emit(data, &rec, 0);
}
