// SPDX-License-Identifier: GPL-2.0
/*
 * aer_trace - what PCIe links lose, and what the kernel does about it
 *
 * Adds to the kernel's own ras:aer_event which device it is, how often and how fast its errors
 * come, what the kernel dropped of them, the recovery that follows, and links that have become
 * slower.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in report.c,
 * recovery.c and link.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <kstall/core.h>

#include "aer_trace.h"

#define CREATE_TRACE_POINTS
#include "aer_trace_events.h"

KSTALL_PARAM_UINT_RW(aer_correctable_per_s, 10, 0, 1000000,
		     "correctable errors of a device and type that have an event each, per second; more are folded (0 to 1000000, default 10)");

KSTALL_PARAM_UINT_RW(link_poll_ms, 1000, 0, 3600000,
		     "ms between looks at the links' status while pcie_link_change is enabled, 0: only once (0 to 3600000, default 1000)");

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

struct kstall_inflight aer_reports = {
	.name = "reports", .capacity = 256, .rec_size = sizeof(struct aer_report),
	.max_age_ns = MINUTE,
};
struct kstall_inflight aer_dpcs = {
	.name = "dpcs", .capacity = 256, .rec_size = sizeof(u64), .max_age_ns = MINUTE,
};
struct kstall_inflight aer_counts = {
	.name = "counts", .capacity = 1024, .rec_size = sizeof(struct aer_count),
	.max_age_ns = 60 * MINUTE,
};
struct kstall_inflight aer_recoveries = {
	.name = "recoveries", .capacity = 256, .rec_size = sizeof(struct aer_recover),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_inflight aer_links = {
	.name = "links", .capacity = 4096, .rec_size = sizeof(struct aer_link),
};
struct kstall_fold aer_fold = KSTALL_FOLD("folded", 1024, struct aer_cor, aer_fold_emit);

enum { T_REPORTS, T_DPCS, T_COUNTS, T_FOLDED, T_RECOVERIES, T_LINKS };

static struct kstall_inflight *tables[] = {
	[T_REPORTS] = &aer_reports,
	[T_DPCS] = &aer_dpcs,
	[T_COUNTS] = &aer_counts,
	[T_FOLDED] = &aer_fold.table,
	[T_RECOVERIES] = &aer_recoveries,
	[T_LINKS] = &aer_links,
};

enum {
	H_EVENT, H_PRINT, H_FIRMWARE, H_DPC_PROCESS, H_IRQ,
	H_RECOVERY, H_FROZEN, H_NORMAL, H_ANSWER, H_MMIO, H_SLOT_RESET, H_RESUME,
	H_RESET, H_DPC_RESET, H_DPC, H_LINK,
};

#define AER_PAIR(_name, _targets, _enter, _ret)				\
	KSTALL_PAIR(_name, NULL, _targets, sizeof(struct aer_call), _enter, _ret, .few = true)

/* None of these functions has more than a caller a root port, and one for firmware. */
static struct kstall_hook hooks[] = {
	[H_EVENT] = KSTALL_TRACEPOINT("event", NULL, "aer_event", aer_on_event),
	[H_PRINT] = AER_PAIR("print", "aer_print_error", aer_print_enter, aer_report_return),
	[H_FIRMWARE] = AER_PAIR("firmware", "__pci_print_aer|pci_print_aer|cper_print_aer",
				aer_firmware_enter, aer_report_return),
	[H_DPC_PROCESS] = AER_PAIR("dpc_process", "dpc_process_error", aer_dpc_process_enter,
				   aer_dpc_process_return),
	[H_IRQ] = AER_PAIR("irq", "aer_irq", aer_irq_enter, aer_irq_return),
	[H_RECOVERY] = AER_PAIR("recovery", "pcie_do_recovery", aer_recovery_enter,
				aer_recovery_return),
	[H_FROZEN] = AER_PAIR("frozen", "report_frozen_detected", aer_detected_enter,
			      aer_step_return),
	[H_NORMAL] = AER_PAIR("normal", "report_normal_detected", aer_detected_enter,
			      aer_step_return),
	[H_ANSWER] = KSTALL_ENTRY("answer", NULL, "pci_uevent_ers", aer_answer_enter),
	[H_MMIO] = AER_PAIR("mmio_enabled", "report_mmio_enabled", aer_mmio_enter,
			    aer_step_return),
	[H_SLOT_RESET] = AER_PAIR("slot_reset", "report_slot_reset", aer_slot_reset_enter,
				  aer_step_return),
	[H_RESUME] = AER_PAIR("resume", "report_resume", aer_resume_enter, aer_step_return),
	[H_RESET] = AER_PAIR("reset", "aer_root_reset", aer_reset_enter, aer_reset_return),
	[H_DPC_RESET] = AER_PAIR("dpc_reset", "dpc_reset_link", aer_reset_enter,
				 aer_reset_return),
	[H_DPC] = AER_PAIR("dpc", "dpc_handler", aer_dpc_enter, aer_dpc_return),
	[H_LINK] = KSTALL_TRACEPOINT("link", NULL, "pcie_link_event", aer_on_link),
};

#define REPORT_OPTIONAL	(BIT_ULL(H_PRINT) | BIT_ULL(H_FIRMWARE) | BIT_ULL(H_DPC_PROCESS))
#define REPORT_TABLES	(BIT(T_REPORTS) | BIT(T_DPCS))

/* What pcie_do_recovery() does inside: a kernel that inlines a step has all the others. */
#define STEP_HOOKS	(BIT_ULL(H_FROZEN) | BIT_ULL(H_NORMAL) | BIT_ULL(H_ANSWER) | \
			 BIT_ULL(H_MMIO) | BIT_ULL(H_SLOT_RESET) | BIT_ULL(H_RESUME) | \
			 BIT_ULL(H_RESET) | BIT_ULL(H_DPC_RESET) | BIT_ULL(H_DPC))

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(aer_correctable, BIT_ULL(H_EVENT),
		     .optional = REPORT_OPTIONAL | BIT_ULL(H_IRQ),
		     .tables = REPORT_TABLES | BIT(T_COUNTS) | BIT(T_FOLDED), .fold = &aer_fold,
		     .rare = true),
	KSTALL_EVENT(aer_uncorrectable, BIT_ULL(H_EVENT), .optional = REPORT_OPTIONAL,
		     .tables = REPORT_TABLES, .rare = true),
	KSTALL_EVENT(aer_recovery, BIT_ULL(H_RECOVERY), .optional = STEP_HOOKS,
		     .tables = BIT(T_RECOVERIES), .rare = true),
	KSTALL_EVENT(pcie_link_change, 0, .optional = BIT_ULL(H_LINK), .tables = BIT(T_LINKS),
		     .tick = aer_link_poll, .rare = true),
};

/* Status file: which devices' errors can be seen at all? */
static void aer_show(struct seq_file *m)
{
	unsigned int devices = 0, able = 0, ports = 0, native = 0;
	struct pci_dev *pdev = NULL;

	for_each_pci_dev(pdev) {
		devices += pci_is_pcie(pdev);
		able += !!pdev->aer_cap;
		if (!pci_is_pcie(pdev) || pci_pcie_type(pdev) != PCI_EXP_TYPE_ROOT_PORT)
			continue;
		ports++;
		native += pdev->aer_cap && pci_find_host_bridge(pdev->bus)->native_aer;
	}
	seq_printf(m, "reach %u of %u PCIe devices report errors; %u of %u root ports to the kernel, the others to firmware\n",
		   able, devices, native, ports);
}

KSTALL_MODULE("aer", hooks, tables, events, aer_show);

static int __init aer_trace_init(void)
{
	return kstall_init();
}

static void __exit aer_trace_exit(void)
{
	kstall_exit();
}

module_init(aer_trace_init);
module_exit(aer_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_AUTHOR("kstall maintainers");
MODULE_DESCRIPTION("kstall: what PCIe links lose");
