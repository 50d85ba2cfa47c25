/* SPDX-License-Identifier: GPL-2.0 */
/*
 * aer_trace_events.h - the module's events
 *
 * Both the fields and the TP_PROTO() arguments (what rawtracepoint: and raw_tp programs see)
 * are ABI: they are only ever added to, at the end. Documentation/events.md is generated
 * from the comments here.
 *
 * In arguments a device is one number: domain << 16 | bus << 8 | device << 3 | function.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM aer

#ifndef _AER_TRACE_EVENTS_TYPES
#define _AER_TRACE_EVENTS_TYPES

#include "aer_trace.h"

KSTALL_DECLARE_EVENT(aer_correctable);
KSTALL_DECLARE_EVENT(aer_uncorrectable);
KSTALL_DECLARE_TIMED_EVENT(aer_recovery);
KSTALL_DECLARE_EVENT(pcie_link_change);

/* AER_NATIVE … */
#define aer_show_source(val)						\
	__print_symbolic(val, { 0, "native" }, { 1, "firmware" }, { 2, "dpc" }, { 3, "-" })

/* The names that sysfs and the kernel's log use. */
#define aer_show_cor(val)						\
	__print_flags(val, "|", { 0x1, "RxErr" }, { 0x40, "BadTLP" }, { 0x80, "BadDLLP" }, \
		      { 0x100, "Rollover" }, { 0x1000, "Timeout" }, { 0x2000, "NonFatalErr" }, \
		      { 0x4000, "CorrIntErr" }, { 0x8000, "HeaderOF" })

#define aer_cor_name(bit)						\
	((bit) == 0 ? "RxErr" : (bit) == 6 ? "BadTLP" : (bit) == 7 ? "BadDLLP" : \
	 (bit) == 8 ? "Rollover" : (bit) == 12 ? "Timeout" : (bit) == 13 ? "NonFatalErr" : \
	 (bit) == 14 ? "CorrIntErr" : (bit) == 15 ? "HeaderOF" :	\
	 (bit) == AER_QUEUE_FULL ? "queue_full" : "?")

#define aer_show_uncor(val)						\
	__print_flags(val, "|", { 0x1, "Undefined" }, { 0x10, "DLP" }, { 0x20, "SDES" }, \
		      { 0x1000, "TLP" }, { 0x2000, "FCP" }, { 0x4000, "CmpltTO" }, \
		      { 0x8000, "CmpltAbrt" }, { 0x10000, "UnxCmplt" }, { 0x20000, "RxOF" }, \
		      { 0x40000, "MalfTLP" }, { 0x80000, "ECRC" }, { 0x100000, "UnsupReq" }, \
		      { 0x200000, "ACSViol" }, { 0x400000, "UncorrIntErr" }, \
		      { 0x800000, "BlockedTLP" }, { 0x1000000, "AtomicOpBlocked" }, \
		      { 0x2000000, "TLPBlockedErr" }, { 0x4000000, "PoisonTLPBlocked" }, \
		      { 0x8000000, "DMWrReqBlocked" }, { 0x10000000, "IDECheck" }, \
		      { 0x20000000, "MisIDETLP" }, { 0x40000000, "PCRC_CHECK" }, \
		      { 0x80000000, "TLPXlatBlocked" })

#define aer_show_severity(val)						\
	__print_symbolic(val, { 0, "nonfatal" }, { 1, "fatal" })

/* AER_STEP_* */
#define aer_show_step(val)						\
	__print_symbolic(val, { 0, "error_detected" }, { 1, "mmio_enabled" }, { 2, "reset" }, \
			 { 3, "slot_reset" }, { 4, "resume" }, { 5, "recovery" }, \
			 { 6, "dpc" })

/* pci_ers_result_t */
#define aer_show_answer(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "none" }, { 2, "can_recover" },	\
			 { 3, "need_reset" }, { 4, "disconnect" }, { 5, "recovered" },	\
			 { 6, "no_aer_driver" })

/* pci_channel_state_t */
#define aer_show_state(val)						\
	__print_symbolic(val, { 0, "-" }, { 1, "normal" }, { 2, "frozen" }, { 3, "failed" })

/* pcie_link_change: means; the kernel's reasons, counted from 1 */
#define AER_MEANS_POLL		0
#define AER_MEANS_REASON	1

#define aer_show_means(val)						\
	__print_symbolic(val, { 0, "poll" }, { 1, "retrain" }, { 2, "add_bus" },	\
			 { 3, "bwctrl_enable" }, { 4, "bwctrl_irq" }, { 5, "hotplug" })

/**
 * struct kstall_aer_cor - rest of aer_correctable
 * @id: identity
 * @cor: the error
 */
struct kstall_aer_cor {
	struct kstall_id id;
	const struct aer_cor *cor;
};

/**
 * struct kstall_aer_uncor - rest of aer_uncorrectable
 * @id: identity
 * @dev: the device
 * @source: AER_*
 * @mask: bits it does not report
 * @first_error: bit, -1: not known
 * @tlp: header of the packet, zero: none
 * @tlp_type: what it is, empty: none
 * @tlp_requester: bus, device and function that the request came from
 * @tlp_completer: of a completion, the function that answered
 * @tlp_tag: its tag
 * @tlp_bytes: payload, or what was asked for
 * @tlp_addr: address of a memory or I/O request
 */
struct kstall_aer_uncor {
	struct kstall_id id;
	const struct aer_dev *dev;
	u8 source;
	u32 mask;
	s32 first_error;
	u32 tlp[4];
	const char *tlp_type;
	u16 tlp_requester;
	u16 tlp_completer;
	u8 tlp_tag;
	u32 tlp_bytes;
	u64 tlp_addr;
};

/**
 * struct kstall_aer_recovery - rest of aer_recovery
 * @id: identity
 * @dev: the device
 * @step: AER_STEP_*
 * @state: pci_channel_state_t
 * @reason: DPC status of the port
 */
struct kstall_aer_recovery {
	struct kstall_id id;
	const struct aer_dev *dev;
	u8 step;
	u8 state;
	u32 reason;
};

/**
 * struct kstall_aer_link - rest of pcie_link_change
 * @id: identity
 * @dev: the port
 * @bus: number of the bus below it
 * @from_mts: MT/s a lane before
 * @from_width: lanes before
 * @to_mts: MT/s a lane now
 * @to_width: lanes now
 * @max_mts: what the port is capable of
 * @max_width: lanes it has
 */
struct kstall_aer_link {
	struct kstall_id id;
	const struct aer_dev *dev;
	u8 bus;
	u32 from_mts;
	u32 from_width;
	u32 to_mts;
	u32 to_width;
	u32 max_mts;
	u32 max_width;
};

/* The device, after the identity, which is part of what is printed. */
#define AER_DEV_FIELDS							\
	__field(u16, vendor)						\
	__field(u16, device)						\
	__field(u32, class)						\
	KSTALL_NAME_FIELD(driver)					\
	KSTALL_NAME_FIELD(root_port)

#define AER_DEV_ASSIGN(_d)						\
	do {								\
		__entry->vendor = (_d)->vendor;				\
		__entry->device = (_d)->device;				\
		__entry->class = (_d)->class;				\
		KSTALL_NAME_ASSIGN(driver, (_d)->driver);		\
		KSTALL_NAME_ASSIGN(root_port, (_d)->root_port);		\
	} while (0)

#define AER_DEV_FMT	KSTALL_ID_FMT " id=%04x:%04x class=%06x driver=%s root_port=%s"
#define AER_DEV_ARGS							\
	KSTALL_ID_ARGS, __entry->vendor, __entry->device, __entry->class, __entry->driver, \
	__entry->root_port

#endif /* _AER_TRACE_EVENTS_TYPES */

#if !defined(_AER_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _AER_TRACE_EVENTS_H

#include <linux/tracepoint.h>

/**
 * aer_correctable - a device reported an error that the link has mended
 *
 * One event for each type in a report, so that counts add up by type. The first ten a second of a
 * device and type (parameter aer_correctable_per_s) come one by one, further ones folded: one
 * event 100 ms after the last of them, in a storm without end every second. The sum of count is
 * the number of errors the kernel has processed, as in the device's aer_dev_correctable. No task
 * has caused it: pid, tgid and cgroup_id are 0, comm is empty.
 *
 * @dev: BDF of the device that saw the error, often the port above the culprit
 * @vendor: its vendor ID, 0: it could not be found
 * @device: its device ID
 * @class: its PCI class code, 24 bits
 * @driver: its driver, empty: none
 * @root_port: BDF of the root port above it
 * @source: native (the kernel read it), firmware (APEI), dpc, - (not known)
 * @bit: the type, a bit of the status register; 32 is queue_full
 * @error: its name: RxErr BadTLP BadDLLP Rollover Timeout NonFatalErr CorrIntErr HeaderOF;
 *	queue_full: the kernel's queue of 128 reports of this root port was full, and it dropped
 *	one, whatever it was
 * @status: all bits of the report, without the masked ones; of a folded event, of all its reports
 * @mask: bits the device does not report
 * @count: errors in this event
 * @total: errors of this device and type since the event was enabled
 * @since_ns: since the one before, 0: the first
 * @last_minute: errors of this device and type in the last 60 s
 * @first_mono_ns: CLOCK_MONOTONIC of the first of @count
 * @last_mono_ns: and of the last
 * @raw_status: the status register, with the masked bits; of a folded event, of all its reports
 *
 * Arguments: since_ns, bdf, count, bit, struct.
 * Overhead: none but when errors come; then a tracepoint probe, entry and return of two functions
 * and two reads of configuration space, beside the kernel's own five.
 * Reach: 6.1 and later. Errors that reach the kernel: its own, or those that firmware passes on. Not
 * those whose source the kernel does not find, nor what root ports drop while an error is pending.
 * A full queue is not noticed by interrupts that come while a probe runs on the same CPU; the
 * status file counts them as missed by the hook irq.
 */
KSTALL_TRACE_EVENT(aer_correctable,
	TP_PROTO(u64 since_ns, u64 bdf, u64 count, int bit, const struct kstall_aer_cor *e),
	TP_ARGS(since_ns, bdf, count, bit, e),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		AER_DEV_FIELDS
		__field(u8, source)
		__field(u8, bit)
		KSTALL_NAME_FIELD(error)
		__field(u32, status)
		__field(u32, mask)
		__field(u64, count)
		__field(u64, total)
		__field(u64, since_ns)
		__field(u32, last_minute)
		__field(u64, first_mono_ns)
		__field(u64, last_mono_ns)
		__field(u32, raw_status)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&e->id);
		AER_DEV_ASSIGN(&e->cor->dev);
		__entry->source = e->cor->source;
		__entry->bit = bit;
		KSTALL_NAME_ASSIGN(error, aer_cor_name(bit));
		__entry->status = e->cor->status;
		__entry->mask = e->cor->mask;
		__entry->count = count;
		__entry->total = e->cor->total;
		__entry->since_ns = since_ns;
		__entry->last_minute = e->cor->minute;
		__entry->first_mono_ns = e->cor->folded.first_ns;
		__entry->last_mono_ns = e->cor->folded.last_ns;
		__entry->raw_status = e->cor->raw_status;
	),
	TP_printk(AER_DEV_FMT " source=%s error=%s errors=%s status=%#x mask=%#x count=%llu total=%llu since_ns=%llu last_minute=%u first_mono_ns=%llu last_mono_ns=%llu raw_status=%#x",
		  AER_DEV_ARGS, aer_show_source(__entry->source),
		  __entry->error, aer_show_cor(__entry->status), __entry->status,
		  __entry->mask, __entry->count, __entry->total, __entry->since_ns,
		  __entry->last_minute, __entry->first_mono_ns, __entry->last_mono_ns,
		  __entry->raw_status)
);

/**
 * aer_uncorrectable - a device reported an error that has lost data
 *
 * One event a report. No task has caused it: pid, tgid and cgroup_id are 0, comm is empty.
 *
 * @dev: BDF of the device that saw the error
 * @vendor: its vendor ID, 0: it could not be found
 * @device: its device ID
 * @class: its PCI class code, 24 bits
 * @driver: its driver, empty: none
 * @root_port: BDF of the root port above it
 * @source: native (the kernel read it), firmware (APEI), dpc, - (not known)
 * @severity: nonfatal or fatal (1); after a fatal one the link is reset
 * @status: bits of the report without the masked ones; 0: fatal, and the kernel has taken the link
 *	for dead and read nothing
 * @mask: bits the device does not report
 * @first_error: bit of the error that came first, -1: not known
 * @tlp0: first word of the packet's header; all 0: there is none
 * @tlp1: second word
 * @tlp2: third word
 * @tlp3: fourth word
 * @tlp_type: what the packet was: MRd, MWr, CfgRd0, Cpl, CplD, Msg …; empty: there is none
 * @tlp_requester: bus << 8 | device << 3 | function that its request came from
 * @tlp_completer: of a completion, the function that sent it
 * @tlp_tag: tag of the request
 * @tlp_bytes: its data, sent or asked for
 * @tlp_addr: address of a memory, I/O or atomic request
 *
 * Arguments: 0, bdf, status, severity, struct.
 * Overhead: none but when errors come; then two reads of configuration space.
 * Reach: 6.1 and later; as aer_correctable. The four words are decoded, no prefixes and not the
 * longer headers of PCIe 6's flit mode.
 */
KSTALL_TRACE_EVENT(aer_uncorrectable,
	TP_PROTO(u64 none, u64 bdf, u32 status, int severity, const struct kstall_aer_uncor *u),
	TP_ARGS(none, bdf, status, severity, u),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		AER_DEV_FIELDS
		__field(u8, source)
		__field(u8, severity)
		__field(u32, status)
		__field(u32, mask)
		__field(s32, first_error)
		__field(u32, tlp0)
		__field(u32, tlp1)
		__field(u32, tlp2)
		__field(u32, tlp3)
		KSTALL_NAME_FIELD(tlp_type)
		__field(u16, tlp_requester)
		__field(u16, tlp_completer)
		__field(u8, tlp_tag)
		__field(u32, tlp_bytes)
		__field(u64, tlp_addr)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&u->id);
		AER_DEV_ASSIGN(u->dev);
		__entry->source = u->source;
		__entry->severity = severity;
		__entry->status = status;
		__entry->mask = u->mask;
		__entry->first_error = u->first_error;
		__entry->tlp0 = u->tlp[0];
		__entry->tlp1 = u->tlp[1];
		__entry->tlp2 = u->tlp[2];
		__entry->tlp3 = u->tlp[3];
		KSTALL_NAME_ASSIGN(tlp_type, u->tlp_type);
		__entry->tlp_requester = u->tlp_requester;
		__entry->tlp_completer = u->tlp_completer;
		__entry->tlp_tag = u->tlp_tag;
		__entry->tlp_bytes = u->tlp_bytes;
		__entry->tlp_addr = u->tlp_addr;
	),
	TP_printk(AER_DEV_FMT " source=%s severity=%s errors=%s status=%#x mask=%#x first_error=%d tlp=%08x:%08x:%08x:%08x tlp_type=%s tlp_requester=%#x tlp_completer=%#x tlp_tag=%#x tlp_bytes=%u tlp_addr=%#llx",
		  AER_DEV_ARGS, aer_show_source(__entry->source),
		  aer_show_severity(__entry->severity), aer_show_uncor(__entry->status),
		  __entry->status, __entry->mask, __entry->first_error, __entry->tlp0,
		  __entry->tlp1, __entry->tlp2, __entry->tlp3, __entry->tlp_type,
		  __entry->tlp_requester, __entry->tlp_completer, __entry->tlp_tag,
		  __entry->tlp_bytes, __entry->tlp_addr)
);

/**
 * aer_recovery - a step of the recovery from an uncorrectable error, and the whole of it
 *
 * Fires at each step's end, for each device asked, and last with step=recovery for the device the
 * recovery was for. Nothing of the device works meanwhile. No task has caused it: pid, tgid and
 * cgroup_id are 0, comm is empty.
 *
 * @dev: BDF of the device that is asked or reset
 * @vendor: its vendor ID
 * @device: its device ID
 * @class: its PCI class code, 24 bits
 * @driver: its driver, empty: none
 * @root_port: BDF of the root port above it
 * @step: error_detected, mmio_enabled, reset (of the link, by its port), slot_reset, resume,
 *	recovery (the whole), dpc (containment: from the port's cutting the link to its end)
 * @state: of the channel: normal (after a nonfatal error), frozen (fatal), failed, or -
 * @answer: none, can_recover, need_reset, disconnect, recovered, no_aer_driver, or - where there
 *	is none; of error_detected the driver's own, of mmio_enabled and slot_reset as merged with
 *	those of the devices before, of recovery the result
 * @duration_ns: how long the step took
 * @devices: devices asked so far in this recovery
 * @reason: dpc: the port's DPC status register; else 0
 *
 * Arguments: duration_ns, bdf, devices, answer, struct.
 * Parameter: aer_recovery_min_ns.
 * Overhead: none but in a recovery.
 * Reach: 6.1 and later. A driver's own resets are not recoveries. Containment (dpc) is written
 * from the kernel's source and has not been run: nothing at hand emulates it.
 */
KSTALL_TRACE_EVENT(aer_recovery,
	TP_PROTO(u64 duration_ns, u64 bdf, u32 devices, int answer,
		 const struct kstall_aer_recovery *r),
	TP_ARGS(duration_ns, bdf, devices, answer, r),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		AER_DEV_FIELDS
		__field(u8, step)
		__field(u8, state)
		__field(u8, answer)
		__field(u64, duration_ns)
		__field(u32, devices)
		__field(u32, reason)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&r->id);
		AER_DEV_ASSIGN(r->dev);
		__entry->step = r->step;
		__entry->state = r->state;
		__entry->answer = answer;
		__entry->duration_ns = duration_ns;
		__entry->devices = devices;
		__entry->reason = r->reason;
	),
	TP_printk(AER_DEV_FMT " step=%s state=%s answer=%s duration_ns=%llu devices=%u reason=%#x",
		  AER_DEV_ARGS, aer_show_step(__entry->step),
		  aer_show_state(__entry->state), aer_show_answer(__entry->answer),
		  __entry->duration_ns, __entry->devices, __entry->reason)
);

/**
 * pcie_link_change - a link's speed or width fell or recovered
 *
 * The argument to_total_mts is to_mts times to_width. No task has caused it: pid, tgid and
 * cgroup_id are 0, comm is empty.
 *
 * @dev: BDF of the port at the link's upper end
 * @vendor: its vendor ID
 * @device: its device ID
 * @class: its PCI class code, 24 bits
 * @driver: its driver
 * @root_port: BDF of the root port above it, or itself
 * @bus: number of the bus below it, where the device at the other end is
 * @means: how it is known: poll (of the link status, every link_poll_ms), or the kernel said so:
 *	retrain, add_bus, bwctrl_enable, bwctrl_irq (the port's own interrupt), hotplug
 * @from_mts: million transfers a second and lane before (2500, 5000, 8000 …), 0: it was down
 * @from_width: lanes before
 * @to_mts: and now, 0: it is down
 * @to_width: lanes now
 * @max_mts: what the port is capable of; the device may be capable of less
 * @max_width: lanes the port has
 *
 * Arguments: 0, bdf, to_total_mts, means, struct.
 * Parameter: link_poll_ms (default 1000, 0: never), for all users.
 * Overhead: while enabled, two reads of configuration space of each port every link_poll_ms.
 * Reach: 6.1 and later. Before 7.0 changes that are over before the next poll are not seen. What a
 * link was is known from 0.1 s after enabling on. Tried with links that go down and come up; that
 * one trains to less nothing at hand emulates: it is the same comparison of the same register.
 */
KSTALL_TRACE_EVENT(pcie_link_change,
	TP_PROTO(u64 none, u64 bdf, u64 to_total_mts, int means, const struct kstall_aer_link *l),
	TP_ARGS(none, bdf, to_total_mts, means, l),
	TP_STRUCT__entry(
		KSTALL_ID_FIELDS
		AER_DEV_FIELDS
		__field(u8, bus)
		__field(u8, means)
		__field(u32, from_mts)
		__field(u32, from_width)
		__field(u32, to_mts)
		__field(u32, to_width)
		__field(u32, max_mts)
		__field(u32, max_width)
	),
	TP_fast_assign(
		KSTALL_ID_ASSIGN(&l->id);
		AER_DEV_ASSIGN(l->dev);
		__entry->bus = l->bus;
		__entry->means = means;
		__entry->from_mts = l->from_mts;
		__entry->from_width = l->from_width;
		__entry->to_mts = l->to_mts;
		__entry->to_width = l->to_width;
		__entry->max_mts = l->max_mts;
		__entry->max_width = l->max_width;
	),
	TP_printk(AER_DEV_FMT " bus=%02x means=%s from_mts=%u from_width=%u to_mts=%u to_width=%u max_mts=%u max_width=%u",
		  AER_DEV_ARGS, __entry->bus, aer_show_means(__entry->means),
		  __entry->from_mts, __entry->from_width, __entry->to_mts, __entry->to_width,
		  __entry->max_mts, __entry->max_width)
);

#endif /* _AER_TRACE_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE aer_trace_events
/* See kstall_class_reg(). Not undone: define_trace.h reads this file once more a stage. */
#define trace_event_reg kstall_class_reg
#include <trace/define_trace.h>
