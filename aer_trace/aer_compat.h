/* SPDX-License-Identifier: GPL-2.0 */
/*
 * aer_compat.h - how kernels differ in what this module reads
 *
 * HAVE_* come from scripts/features/; each test cites the change it asks about.
 */
#ifndef _AER_COMPAT_H
#define _AER_COMPAT_H

#include <kstall/compat.h>

#include <linux/aer.h>

/* A TLP header log: on all kernels its first four words are the header. */
#ifdef HAVE_PCIE_TLP_LOG
#define AER_TLP	pcie_tlp_log
#else
#define AER_TLP	aer_header_log_regs
#endif

/* TP_PROTO() and TP_ARGS() of the kernel's tracepoint aer_event. */
#ifdef HAVE_AER_EVENT_BUS_TYPE
#define AER_EVENT_PROTO							\
	TP_PROTO(const char *name, const u32 status, const u8 severity, const u8 tlp_valid, \
		 struct AER_TLP *tlp, const char *bus_type)
#define AER_EVENT_ARGS	TP_ARGS(name, status, severity, tlp_valid, tlp, bus_type)
#else
#define AER_EVENT_PROTO							\
	TP_PROTO(const char *name, const u32 status, const u8 severity, const u8 tlp_valid, \
		 struct AER_TLP *tlp)
#define AER_EVENT_ARGS	TP_ARGS(name, status, severity, tlp_valid, tlp)
#endif

#endif /* _AER_COMPAT_H */
