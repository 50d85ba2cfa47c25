// SPDX-License-Identifier: GPL-2.0
/* reset.c - jobs that hang, the resets that follow, and entities that move or are killed */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/uaccess.h>

#include "drm_sched_trace.h"
#include "drm_sched_trace_events.h"

/* ---- timeout ---- */

/*
 * The job a ring has worked on longest, which the handler is about to call hung. Nothing holds it
 * yet and job_list_lock cannot be taken here: read what is there, believe it only if the job is
 * still the first afterwards, as it is freed behind the list, and trust it no further than the
 * table knows a job of that name.
 */
static bool ds_oldest_job(struct drm_gpu_scheduler *sched, u64 *ctx, u64 *seqno)
{
	struct drm_sched_fence *sf;
	struct drm_sched_job *job;
	struct list_head *first, *still;

	if (get_kernel_nofault(first, &sched->pending_list.next) || first == &sched->pending_list)
		return false;
	job = list_entry(first, struct drm_sched_job, list);
	if (get_kernel_nofault(sf, &job->s_fence) ||
	    get_kernel_nofault(*ctx, &sf->finished.context) ||
	    get_kernel_nofault(*seqno, &sf->finished.seqno))
		return false;
	smp_rmb(); /* not before the job */
	return !get_kernel_nofault(still, &sched->pending_list.next) && still == first;
}

KSTALL_FN(void, drm_sched_job_timedout, struct work_struct *, work);

/* The work is the scheduler's. */
bool ds_timeout_enter(void *data, struct pt_regs *regs)
{
	struct ds_timeout_call *call = data;
	struct drm_gpu_scheduler *sched =
		container_of(kstall_arg(regs, drm_sched_job_timedout, work),
			     struct drm_gpu_scheduler, work_tdr.work);

	call->sched = sched;
	call->start_ns = kstall_now();
	if (!ds_oldest_job(sched, &call->ctx, &call->seqno))
		return false;
	if (!ds_job_peek(ds_key(call->ctx, call->seqno), &call->job))
		call->job = DS_JOB_UNKNOWN;
	return true;
}

void ds_timeout_return(void *data, struct pt_regs *regs)
{
	struct ds_timeout_call *call = data;
	u64 handler_ns = kstall_delta(kstall_now(), call->start_ns);
	u64 since_ns = call->job.dispatch_ns ?: call->job.submit_ns;
	struct kstall_drm_job e = ds_job_event(&call->job, call->sched, call->ctx, call->seqno);

	if (!kstall_long_enough(&kstall_event_drm_sched_job_timeout, handler_ns))
		return;
	e.age_ns = since_ns ? kstall_delta(call->start_ns, since_ns) : 0;
	trace_drm_sched_job_timeout(handler_ns, ds_key(call->ctx, call->seqno), call->job.credits,
				    0, &e);
}

/* ---- reset ---- */

KSTALL_FN(void, drm_sched_stop, struct drm_gpu_scheduler *, sched, struct drm_sched_job *, bad);
KSTALL_CHECK_FN(drm_sched_stop, drm_sched_stop);

/* There need not be a bad job. */
bool ds_stop_enter(void *data, struct pt_regs *regs)
{
	const struct drm_gpu_scheduler *sched = kstall_arg(regs, drm_sched_stop, sched);
	const struct drm_sched_job *bad = kstall_arg(regs, drm_sched_stop, bad);
	const struct drm_sched_fence *sf = bad ? bad->s_fence : NULL;
	struct ds_reset reset = {
		.start_ns = kstall_now(),
		.jobs = ds_ring_jobs(sched),
		.job = DS_JOB_UNKNOWN,
	};
	struct kstall_slot slot;

	if (sf) {
		reset.ctx = sf->finished.context;
		reset.seqno = sf->finished.seqno;
		ds_job_peek(ds_key(reset.ctx, reset.seqno), &reset.job);
	}
	if (kstall_inflight_insert(&ds_resets, (unsigned long)sched, reset.start_ns, &slot)) {
		memcpy(slot.rec, &reset, sizeof(reset));
		kstall_inflight_unlock(&slot);
	}
	return false;
}

KSTALL_FN(void, drm_sched_increase_karma, struct drm_sched_job *, bad);
KSTALL_CHECK_FN(drm_sched_increase_karma, drm_sched_increase_karma);

/* The driver says which job's fault it was. */
bool ds_karma_enter(void *data, struct pt_regs *regs)
{
	const struct drm_sched_job *bad = kstall_arg(regs, drm_sched_increase_karma, bad);
	struct kstall_slot slot;

	if (!bad || !kstall_inflight_find(&ds_resets, (unsigned long)bad->sched, &slot))
		return false;
	((struct ds_reset *)slot.rec)->guilty = true;
	kstall_inflight_unlock(&slot);
	return false;
}

#ifdef HAVE_DRM_SCHED_START_ERRNO
KSTALL_FN(void, drm_sched_start, struct drm_gpu_scheduler *, sched, int, error);
#elif defined(HAVE_DRM_SCHED_START_VOID)
KSTALL_FN(void, drm_sched_start, struct drm_gpu_scheduler *, sched);
#else
KSTALL_FN(void, drm_sched_start, struct drm_gpu_scheduler *, sched, bool, full_recovery);
#endif
KSTALL_CHECK_FN(drm_sched_start, drm_sched_start);

bool ds_start_enter(void *data, struct pt_regs *regs)
{
	const struct drm_gpu_scheduler *sched = kstall_arg(regs, drm_sched_start, sched);
	struct kstall_drm_job e;
	struct ds_reset reset;
	u64 reset_ns;

	if (!kstall_inflight_take(&ds_resets, (unsigned long)sched, &reset)) {
		kstall_inflight_unmatched(&ds_resets);
		return false;
	}
	reset_ns = kstall_delta(kstall_now(), reset.start_ns);
	if (!kstall_long_enough(&kstall_event_drm_sched_reset, reset_ns))
		return false;
	e = ds_job_event(&reset.job, sched, reset.ctx, reset.seqno);
	trace_drm_sched_reset(reset_ns, ds_key(reset.ctx, reset.seqno), reset.jobs, reset.guilty,
			      &e);
	return false;
}

/* ---- entities ---- */

/* An entity's ring is chosen when a job is armed: has it changed since its last job? */
void ds_migrate_check(const struct drm_sched_job *job, const struct ds_job *rec)
{
	const struct drm_sched_fence *sf = job->s_fence;
	struct ds_home old, new = { .sched = job->sched };
	struct kstall_drm_move e = { .from_ring = old.ring };
	struct kstall_slot slot;

	strscpy(new.ring, job->sched->name, sizeof(new.ring));
	if (!kstall_inflight_find(&ds_homes, sf->scheduled.context, &slot)) {
		if (!kstall_inflight_insert(&ds_homes, sf->scheduled.context, rec->submit_ns,
					    &slot))
			return;
		memcpy(slot.rec, &new, sizeof(new));
	}
	memcpy(&old, slot.rec, sizeof(old));
	memcpy(slot.rec, &new, sizeof(new));
	kstall_inflight_unlock(&slot);
	if (old.sched == new.sched)
		return;
	e.job = ds_job_event(rec, job->sched, sf->finished.context, sf->finished.seqno);
	trace_drm_sched_entity_migrate(0, ds_key(sf->finished.context, sf->finished.seqno), 0, 0,
				       &e);
}

static bool ds_entity_enter(struct ds_entity_call *call, struct drm_sched_entity *ent)
{
	struct kstall_slot slot;

	if (!ent->rq)
		return false;
	call->ent = ent;
	call->start_ns = kstall_now();
	call->nvcsw = current->nvcsw;
	strscpy(call->ring, ent->rq->sched->name, sizeof(call->ring));
	if (kstall_inflight_insert(&ds_entities, (unsigned long)ent, call->start_ns, &slot))
		kstall_inflight_unlock(&slot);
	return true;
}

KSTALL_FN(long, drm_sched_entity_flush, struct drm_sched_entity *, entity, long, timeout);
KSTALL_CHECK_FN(drm_sched_entity_flush, drm_sched_entity_flush);

/* Sleeps. */
bool ds_flush_enter(void *data, struct pt_regs *regs)
{
	struct ds_entity_call *call = data;

	call->op = DS_ENTITY_FLUSH;
	return ds_entity_enter(call, kstall_arg(regs, drm_sched_entity_flush, entity));
}

KSTALL_FN(void, drm_sched_entity_fini, struct drm_sched_entity *, entity);
KSTALL_CHECK_FN(drm_sched_entity_fini, drm_sched_entity_fini);

/* May sleep. */
bool ds_fini_enter(void *data, struct pt_regs *regs)
{
	struct drm_sched_entity *ent = kstall_arg(regs, drm_sched_entity_fini, entity);
	struct ds_entity_call *call = data;
	struct ds_home home;

	kstall_inflight_take(&ds_homes, ent->fence_context, &home);
	call->op = DS_ENTITY_FINI;
	return trace_drm_sched_entity_kill_enabled() && ds_entity_enter(call, ent);
}

KSTALL_FN(void, drm_sched_rq_remove_entity, struct drm_sched_rq *, rq,
	  struct drm_sched_entity *, entity);
KSTALL_CHECK_DECLARED(drm_sched_rq_remove_entity);

/* The last step before an entity's queue is emptied; drm_sched_entity_kill() may be inlined. */
bool ds_remove_enter(void *data, struct pt_regs *regs)
{
	struct drm_sched_entity *ent = kstall_arg(regs, drm_sched_rq_remove_entity, entity);
	struct kstall_slot slot;

	if (!kstall_inflight_find(&ds_entities, (unsigned long)ent, &slot))
		return false;
	((struct ds_removed *)slot.rec)->jobs = spsc_queue_count(&ent->job_queue);
	kstall_inflight_unlock(&slot);
	return false;
}

/* The caller still has the entity. Jobs that are still queued are not lost yet (6.1's flush). */
void ds_entity_return(void *data, struct pt_regs *regs)
{
	struct ds_entity_call *call = data;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	struct kstall_drm_entity e = { .id = KSTALL_ID_CURRENT, .ring = call->ring };
	struct ds_removed removed = { };
	u32 left;

	if (!kstall_inflight_take(&ds_entities, (unsigned long)call->ent, &removed))
		return;
	left = spsc_queue_count(&call->ent->job_queue);
	e.jobs_lost = removed.jobs > left ? removed.jobs - left : 0;
	if (!e.jobs_lost && current->nvcsw == call->nvcsw)
		return;
	e.fence_ctx = call->ent->fence_context + 1;
	if (kstall_long_enough(&kstall_event_drm_sched_entity_kill, duration_ns))
		trace_drm_sched_entity_kill(duration_ns, e.fence_ctx, e.jobs_lost, call->op, &e);
}
