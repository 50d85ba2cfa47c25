/* SPDX-License-Identifier: GPL-2.0 */
/*
 * impl.h - what the helpers' files share, and a module's own files do not see
 *
 * The files beside it are compiled into each module (scripts/kstall.mk), so that a module needs
 * no other one and nothing is exported.
 */
#ifndef _KSTALL_IMPL_H
#define _KSTALL_IMPL_H

#include <kstall/event.h>
#include <kstall/fold.h>
#include <kstall/hook.h>
#include <kstall/inflight.h>
#include <kstall/own.h>

/* hook.c */
int kstall_hooks_init(void);
void kstall_hooks_exit(void);
void kstall_hooks_sync(u64 wanted);
bool kstall_hooks_watch(void);

/* direct.c */
const char *kstall_direct_try(struct kstall_hook *hook);
bool kstall_direct_changed(const struct kstall_hook *hook);
void kstall_directs_disarm(u64 mask);
bool kstall_directs_drain(void);
void kstall_directs_show(struct seq_file *m);
void kstall_directs_exit(void);

/* event.c */
void kstall_kick_and_wait(void);
bool kstall_hook_is_optional(const struct kstall_hook *hook);
int kstall_hooks_error(u64 mask);

/* inflight.c */
/* What a table has counted since the module was loaded; see struct kstall_inflight. */
struct kstall_inflight_counts {
	u64 dropped;
	u64 unmatched;
	u64 last_loss_ns;
	u32 high_water;
};

static inline struct kstall_node *kstall_node(struct kstall_inflight *t, u32 idx)
{
	return t->nodes + (size_t)idx * t->stride;
}

static inline u32 kstall_nr_buckets(const struct kstall_inflight *t)
{
	return 1U << (64 - t->shift);
}

int kstall_inflight_alloc(struct kstall_inflight *t);
void kstall_inflight_free(struct kstall_inflight *t);
void kstall_inflight_release(struct kstall_inflight *t, struct kstall_bucket *buckets);
void kstall_inflight_age(struct kstall_inflight *t);
void kstall_inflight_evicted(struct kstall_inflight *t, u64 age_ns, u64 now);
u64 kstall_inflight_in_use(struct kstall_inflight *t);
struct kstall_inflight_counts kstall_inflight_counts(const struct kstall_inflight *t);
bool kstall_inflight_take_if(struct kstall_inflight *t, u32 b,
			     bool (*match)(const struct kstall_node *node, u64 arg),
			     u64 arg, u64 *born_ns, void *rec);

/* own.c */
static inline struct kstall_own_slot *kstall_own_nth(const struct kstall_inflight *t, u32 i)
{
	return (void *)t->buckets + (size_t)i * t->stride;
}

int kstall_own_alloc(struct kstall_inflight *t);
void kstall_own_age(struct kstall_inflight *t);
u32 kstall_own_in_use(struct kstall_inflight *t);

/* fold.c */
void kstall_fold_sweep(struct kstall_fold *fold, u64 now);

/* recorder.c */
void kstall_recorder_init(void);
void kstall_recorder_exit(void);

/* status.c */
void kstall_status_init(void);
void kstall_status_exit(void);

#endif /* _KSTALL_IMPL_H */
