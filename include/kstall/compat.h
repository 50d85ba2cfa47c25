/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - the only place that knows how kernels differ
 *
 * Every HAVE_* is the answer of one feature test in scripts/features/, compiled against the
 * headers of the kernel the module is built for. No version numbers: stable and vendor
 * kernels backport.
 */
#ifndef _KSTALL_COMPAT_H
#define _KSTALL_COMPAT_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/trace_events.h>

#include <generated/kstall_features.h>

#ifdef HAVE_TRACE_ARRAY_GET_BY_NAME_SYSTEMS
#define kstall_trace_array_get(name)	trace_array_get_by_name(name, NULL)
#else
#define kstall_trace_array_get(name)	trace_array_get_by_name(name)
#endif

#ifndef CONFIG_KRETPROBES
/* Never called: register_kretprobe() fails. */
static inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return NULL;
}
#endif

/* A direct trampoline with an ftrace_ops of its own. */
#if defined(HAVE_FTRACE_DIRECT_OPS)
#define kstall_register_direct(ops, text)	register_ftrace_direct(ops, text)
#define kstall_unregister_direct(ops, text)	unregister_ftrace_direct(ops, text, false)
#elif defined(HAVE_FTRACE_DIRECT_MULTI)
#define kstall_register_direct(ops, text)	register_ftrace_direct_multi(ops, text)
#define kstall_unregister_direct(ops, text)	unregister_ftrace_direct_multi(ops, text)
#endif

/*
 * Memory that registering @rp takes. An objpool (lib/objpool.c) gives each CPU whole pages for its
 * share of the records and for a ring in which all of them have room.
 */
static inline size_t kstall_kretprobe_bytes(const struct kretprobe *rp)
{
	size_t record = ALIGN(sizeof(struct kretprobe_instance) + rp->data_size, sizeof(long));
#ifdef HAVE_RETHOOK_OBJPOOL
	unsigned int cpus = num_possible_cpus();
	unsigned int share = rp->maxactive / cpus, more = rp->maxactive % cpus;
	size_t slot = sizeof(struct objpool_slot) +
		      roundup_pow_of_two(rp->maxactive) * sizeof(void *) + share * record;

	return more * PAGE_ALIGN(slot + record) + (cpus - more) * PAGE_ALIGN(slot);
#else
	return rp->maxactive * record;
#endif
}

#endif /* _KSTALL_COMPAT_H */
