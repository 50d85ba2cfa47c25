/* SPDX-License-Identifier: GPL-2.0 */
/*
 * core.h - all of kstall's helpers; for a module's main file, and no other
 *
 * The main file is to events' state what CREATE_TRACE_POINTS makes it to tracepoints: where
 * KSTALL_DECLARE_EVENT() and its like stand, state and parameters are defined.
 */
#ifndef _KSTALL_CORE_H
#define _KSTALL_CORE_H

#include <kstall/kstall.h>
#include <kstall/hook.h>
#include <kstall/inflight.h>
#include <kstall/own.h>
#include <kstall/fold.h>
#include <kstall/event.h>
#include <kstall/identity.h>

#define __KSTALL_DEFINE_EVENT(_name, _ns)				\
	__KSTALL_DECLARE_EVENT(_name);					\
	struct kstall_event kstall_event_##_name = {			\
		.name = #_name, .min_ns = (_ns),			\
	};								\
	int kstall_reg_##_name(void)					\
	{								\
		return kstall_event_reg(&kstall_event_##_name);		\
	}								\
	void kstall_unreg_##_name(void)					\
	{								\
		kstall_event_unreg(&kstall_event_##_name);		\
	}

#undef KSTALL_DECLARE_EVENT
#define KSTALL_DECLARE_EVENT(_name)	__KSTALL_DEFINE_EVENT(_name, 0)

#undef KSTALL_DECLARE_TIMED_EVENT_MIN
#define KSTALL_DECLARE_TIMED_EVENT_MIN(_name, _ns)			\
	__KSTALL_DEFINE_EVENT(_name, _ns)				\
	module_param_named(_name##_min_ns, kstall_event_##_name.min_ns, ullong, 0600); \
	MODULE_PARM_DESC(_name##_min_ns,				\
			 "emit " #_name " only if it took at least this many ns, " \
			 "for all its users (0 or more, default " #_ns ")")

#undef KSTALL_DECLARE_TIMED_EVENT
#define KSTALL_DECLARE_TIMED_EVENT(_name)	KSTALL_DECLARE_TIMED_EVENT_MIN(_name, 0)

#endif /* _KSTALL_CORE_H */
