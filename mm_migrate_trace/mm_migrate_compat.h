/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mm_migrate_compat.h - how kernels differ in what this module reads, and what they hide
 *
 * HAVE_* come from scripts/features/; each test cites the change it asks about.
 */
#ifndef _MM_MIGRATE_COMPAT_H
#define _MM_MIGRATE_COMPAT_H

#include <kstall/compat.h>

#include <linux/compaction.h>
#include <linux/migrate_mode.h>
#include <linux/mmu_notifier.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <trace/events/migrate.h>

/* ---- why pages move ---- */

/* The first are the kernel's, in its order; what it does not call a migration is from 16 on. */
#define MM_REASON_COMPACTION		0
#define MM_REASON_MEMORY_FAILURE	1
#define MM_REASON_MEMORY_HOTPLUG	2
#define MM_REASON_SYSCALL		3
#define MM_REASON_MEMPOLICY_MBIND	4
#define MM_REASON_NUMA_MISPLACED	5
#define MM_REASON_CONTIG_RANGE		6
#define MM_REASON_LONGTERM_PIN		7
#define MM_REASON_DEMOTION		8
#define MM_REASON_DAMON			9
#define MM_REASON_OTHER			15
#define MM_REASON_DEVICE		16
#define MM_REASON_SPLIT			17
#define MM_REASON_NUMA_SCAN		18
#define MM_REASON_NONE			255

/* Numbers of the running kernel => ours, which never change. */
static inline u8 mm_reason(int reason)
{
	switch (reason) {
	case MR_COMPACTION: return MM_REASON_COMPACTION;
	case MR_MEMORY_FAILURE: return MM_REASON_MEMORY_FAILURE;
	case MR_MEMORY_HOTPLUG: return MM_REASON_MEMORY_HOTPLUG;
	case MR_SYSCALL: return MM_REASON_SYSCALL;
	case MR_MEMPOLICY_MBIND: return MM_REASON_MEMPOLICY_MBIND;
	case MR_NUMA_MISPLACED: return MM_REASON_NUMA_MISPLACED;
	case MR_CONTIG_RANGE: return MM_REASON_CONTIG_RANGE;
	case MR_LONGTERM_PIN: return MM_REASON_LONGTERM_PIN;
	case MR_DEMOTION: return MM_REASON_DEMOTION;
#ifdef HAVE_MR_DAMON
	case MR_DAMON: return MM_REASON_DAMON;
#endif
	default: return MM_REASON_OTHER;
	}
}

#ifdef HAVE_MM_MIGRATE_REASON_ENUM
#define MM_MIGRATED_REASON	enum migrate_reason
#else
#define MM_MIGRATED_REASON	int
#endif

#ifdef HAVE_MM_MIGRATE_LARGE_SPLIT
#define MM_MIGRATED_PROTO						\
	TP_PROTO(unsigned long succeeded, unsigned long failed, unsigned long thp_succeeded, \
		 unsigned long thp_failed, unsigned long thp_split, unsigned long large_split, \
		 enum migrate_mode mode, MM_MIGRATED_REASON reason)
#define MM_MIGRATED_ARGS						\
	TP_ARGS(succeeded, failed, thp_succeeded, thp_failed, thp_split, large_split, mode, reason)
#else
#define MM_MIGRATED_PROTO						\
	TP_PROTO(unsigned long succeeded, unsigned long failed, unsigned long thp_succeeded, \
		 unsigned long thp_failed, unsigned long thp_split, enum migrate_mode mode,	\
		 MM_MIGRATED_REASON reason)
#define MM_MIGRATED_ARGS						\
	TP_ARGS(succeeded, failed, thp_succeeded, thp_failed, thp_split, mode, reason)
#endif

/* ---- the outcome of a compaction ---- */

#define MM_COMPACT_SKIPPED		0
#define MM_COMPACT_DEFERRED		1
#define MM_COMPACT_PARTIAL_SKIPPED	2
#define MM_COMPACT_CONTENDED		3
#define MM_COMPACT_COMPLETE		4
#define MM_COMPACT_SUCCESS		5
#define MM_COMPACT_OTHER		6

static inline u8 mm_compact_result(unsigned long ret)
{
	switch ((enum compact_result)ret) {
	case COMPACT_SKIPPED: return MM_COMPACT_SKIPPED;
	case COMPACT_DEFERRED: return MM_COMPACT_DEFERRED;
	case COMPACT_PARTIAL_SKIPPED: return MM_COMPACT_PARTIAL_SKIPPED;
	case COMPACT_CONTENDED: return MM_COMPACT_CONTENDED;
	case COMPACT_COMPLETE: return MM_COMPACT_COMPLETE;
	case COMPACT_SUCCESS: return MM_COMPACT_SUCCESS;
	default: return MM_COMPACT_OTHER;
	}
}

/* ---- pages in a device's memory ---- */

#include <linux/swap.h>
#ifdef HAVE_SOFTLEAF
#include <linux/leafops.h>
#else
#include <linux/swapops.h>
#endif

/* @pte is not present. */
static inline bool mm_is_device_private(pte_t pte)
{
#ifdef HAVE_SOFTLEAF
	return softleaf_is_device_private(softleaf_from_pte(pte));
#else
	return is_device_private_entry(pte_to_swp_entry(pte));
#endif
}

/* ---- private to the kernel ---- */

/*
 * struct mmu_notifier_subscriptions of mm/mmu_notifier.c, the same from 5.10 to 7.3; the test
 * of notifiers compares it with the kernel's BTF.
 */
struct mm_subscriptions {
	struct hlist_head list;
	bool has_itree;
	spinlock_t lock;	/* the lists, against the callers of registration */
	unsigned long invalidate_seq;
	unsigned long active_invalidate_ranges;
	struct rb_root_cached itree;
	wait_queue_head_t wq;
	struct hlist_head deferred_list;
};

#ifdef CONFIG_X86
#include <asm/tlbflush.h>

/*
 * asm/tlbflush.h hides from modules what it declares, exported as it is: struct flush_tlb_info,
 * TLB_FLUSH_ALL and struct tlb_state_shared, the same from 6.1 to 7.2.
 */
struct mm_flush_info {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
	u64 new_tlb_gen;
	unsigned int initiating_cpu;
	u8 stride_shift;
	u8 freed_tables;
};

#define MM_FLUSH_ALL	-1UL

#ifndef HAVE_CSD_QUEUE_CPU
struct tlb_state_shared {
	bool is_lazy;
};
DECLARE_PER_CPU_SHARED_ALIGNED(struct tlb_state_shared, cpu_tlbstate_shared);
#endif

/* Then the kernel has no need of interrupts to flush what is its own. */
static inline bool mm_flush_by_broadcast(void)
{
#ifdef X86_FEATURE_INVLPGB
	return boot_cpu_has(X86_FEATURE_INVLPGB);
#else
	return false;
#endif
}
#else
static inline bool mm_flush_by_broadcast(void)
{
	return true;
}
#endif /* CONFIG_X86 */

#endif /* _MM_MIGRATE_COMPAT_H */
