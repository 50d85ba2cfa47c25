/* SPDX-License-Identifier: GPL-2.0 */
/* aer_trace.h - what the module's files share */
#ifndef _AER_TRACE_H
#define _AER_TRACE_H

#include <linux/pci.h>

#include <kstall/event.h>
#include <kstall/identity.h>

#include "aer_compat.h"

#define AER_NAME_LEN	20	/* "10000:e1:00.0" is longer than most */
#define AER_DRIVER_LEN	24

/**
 * struct aer_dev - a PCIe device, copied because an event may outlive it
 * @name: its BDF
 * @root_port: the root port above it, empty: none or not known
 * @driver: bound to it, empty: none
 * @bdf: domain << 16 | bus << 8 | device << 3 | function
 * @class: PCI class code
 * @vendor: vendor ID
 * @device: device ID
 * @node: NUMA node
 */
struct aer_dev {
	char name[AER_NAME_LEN];
	char root_port[AER_NAME_LEN];
	char driver[AER_DRIVER_LEN];
	u64 bdf;
	u32 class;
	u16 vendor;
	u16 device;
	s32 node;
};

/* aer_correctable, aer_uncorrectable: source */
#define AER_NATIVE	0
#define AER_FIRMWARE	1
#define AER_DPC		2
#define AER_UNKNOWN	3

/* aer_correctable: bit of what the kernel itself dropped; above those of the status register */
#define AER_QUEUE_FULL	32

/**
 * struct aer_report - the kernel is reporting an error; key: task_struct
 * @arg: first argument of the reporting function, see aer_reported_dev()
 * @index: its second
 * @source: AER_*
 * @regs: the registers as firmware read them, NULL: not from firmware
 */
struct aer_report {
	unsigned long arg;
	unsigned long index;
	const struct aer_capability_regs *regs;
	u8 source;
};

#define AER_MINUTE	60	/* seconds, a slot each */

/**
 * struct aer_count - correctable errors of one device and type; key: aer_count_key()
 * @total: so far
 * @last_ns: the latest
 * @second_ns: begin of the second in which events are counted against the rate
 * @emitted: events in it
 * @now: the second that the newest slot stands for
 * @minute: sum of the slots
 * @slot: errors by second
 */
struct aer_count {
	u64 total;
	u64 last_ns;
	u64 second_ns;
	u32 emitted;
	u32 minute;
	u32 now;
	u32 slot[AER_MINUTE];
};

/**
 * struct aer_cor - aer_correctable; what is known of an error, or of those folded into one event
 * @folded: how many and when
 * @dev: where
 * @total: of this device and type so far
 * @since_ns: from the one before to the first of these, 0: there was none
 * @status: all bits of the reports
 * @raw_status: the register, with the masked bits
 * @mask: bits the device does not report
 * @minute: errors of this device and type in the last minute
 * @bit: the type
 * @source: AER_*
 */
struct aer_cor {
	struct kstall_folded folded;
	struct aer_dev dev;
	u64 total;
	u64 since_ns;
	u32 status;
	u32 raw_status;
	u32 mask;
	u32 minute;
	u8 bit;
	u8 source;
};

/* aer_recovery: step */
#define AER_STEP_DETECTED	0
#define AER_STEP_MMIO		1
#define AER_STEP_RESET		2
#define AER_STEP_SLOT_RESET	3
#define AER_STEP_RESUME		4
#define AER_STEP_RECOVERY	5
#define AER_STEP_DPC		6

/**
 * struct aer_recover - a task in pcie_do_recovery(); key: task_struct
 * @devices: asked so far
 * @answer: of the device that is being asked
 * @state: pci_channel_state_t
 */
struct aer_recover {
	u32 devices;
	u8 answer;
	u8 state;
};

/**
 * struct aer_link - a link; key: its port's BDF + 1. Under key 0: when to poll next
 * @next_ns: key 0
 * @speed: as in the link status register, 0: down
 * @width: lanes, 0: down
 */
struct aer_link {
	u64 next_ns;
	u8 speed;
	u8 width;
};

/* What the pair hooks carry from a function's entry to its return. */
struct aer_call {
	struct pci_dev *pdev;
	const void *result;
	u64 start_ns;
	u32 reason;
	u8 step;
};

extern struct kstall_inflight aer_reports;
extern struct kstall_inflight aer_dpcs;
extern struct kstall_inflight aer_counts;
extern struct kstall_fold aer_fold;
extern struct kstall_inflight aer_recoveries;
extern struct kstall_inflight aer_links;
extern unsigned int aer_correctable_per_s;
extern unsigned int link_poll_ms;

/* Hardware has caused it: no task has. */
extern const struct kstall_who aer_nobody;

static inline struct kstall_id aer_id(const struct aer_dev *dev)
{
	return (struct kstall_id){ .dev = dev->name, .dev_node = dev->node,
				   .cpu_node = numa_node_id(), .who = &aer_nobody };
}

static inline u64 aer_bdf(const struct pci_dev *pdev)
{
	return (u64)pci_domain_nr(pdev->bus) << 16 | PCI_DEVID(pdev->bus->number, pdev->devfn);
}

/* report.c */
void aer_dev_read(struct aer_dev *dev, struct pci_dev *pdev);
void aer_fold_emit(const struct kstall_folded *folded);
bool aer_print_enter(void *data, struct pt_regs *regs);
bool aer_firmware_enter(void *data, struct pt_regs *regs);
void aer_report_return(void *data, struct pt_regs *regs);
bool aer_dpc_process_enter(void *data, struct pt_regs *regs);
void aer_dpc_process_return(void *data, struct pt_regs *regs);
bool aer_irq_enter(void *data, struct pt_regs *regs);
void aer_irq_return(void *data, struct pt_regs *regs);
void aer_on_event(void *hook, AER_EVENT_PROTO);

/* recovery.c */
bool aer_recovery_enter(void *data, struct pt_regs *regs);
void aer_recovery_return(void *data, struct pt_regs *regs);
bool aer_detected_enter(void *data, struct pt_regs *regs);
bool aer_mmio_enter(void *data, struct pt_regs *regs);
bool aer_slot_reset_enter(void *data, struct pt_regs *regs);
bool aer_resume_enter(void *data, struct pt_regs *regs);
void aer_step_return(void *data, struct pt_regs *regs);
bool aer_reset_enter(void *data, struct pt_regs *regs);
void aer_reset_return(void *data, struct pt_regs *regs);
bool aer_answer_enter(void *data, struct pt_regs *regs);
bool aer_dpc_enter(void *data, struct pt_regs *regs);
void aer_dpc_return(void *data, struct pt_regs *regs);

/* link.c */
void aer_link_poll(void);
void aer_on_link(void *hook, struct pci_bus *bus, unsigned int reason, unsigned int width,
		 unsigned int status);

#endif /* _AER_TRACE_H */
