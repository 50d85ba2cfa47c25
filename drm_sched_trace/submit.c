// SPDX-License-Identifier: GPL-2.0
/*
 * submit.c - tasks that wait for the GPU: for fences, and in the submission of a job
 *
 * A submission is the ioctl in which a job was submitted. What its task waited in is known from the
 * outermost of: a wait for a fence, the validation of a buffer, a reservation lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "drm_sched_trace.h"
#include "drm_sched_trace_events.h"

/* ---- the submission ---- */

/* drm_ioctl(struct file *, unsigned int, unsigned long), sleeps */
bool ds_ioctl_enter(void *data, struct pt_regs *regs)
{
	struct ds_submit_call *call = data;
	struct kstall_slot slot;

	call->start_ns = kstall_now();
	if (!kstall_inflight_insert(&ds_submits, (unsigned long)current, call->start_ns, &slot))
		return false;
	kstall_inflight_unlock(&slot);
	return true;
}

/* The task has submitted a job. */
void ds_submit_note(const struct drm_sched_job *job, const struct ds_job *rec)
{
	struct kstall_slot slot;
	struct ds_submit *s;

	if (!kstall_inflight_find(&ds_submits, (unsigned long)current, &slot))
		return;
	s = slot.rec;
	s->jobs++;
	s->ctx = job->s_fence->finished.context;
	s->seqno = job->s_fence->finished.seqno;
	s->client_id = rec->client_id;
	s->priority = rec->priority;
	strscpy(s->ring, job->sched->name, sizeof(s->ring));
	strscpy(s->dev, job->sched->dev ? dev_name(job->sched->dev) : "", sizeof(s->dev));
	s->dev_node = job->sched->dev ? dev_to_node(job->sched->dev) : NUMA_NO_NODE;
	kstall_inflight_unlock(&slot);
}

void ds_ioctl_return(void *data, struct pt_regs *regs)
{
	struct ds_submit_call *call = data;
	struct kstall_drm_submit e = { .job.id = KSTALL_ID_CURRENT };
	struct ds_submit s;
	u64 blocked_ns;

	if (!kstall_inflight_take(&ds_submits, (unsigned long)current, &s))
		return;
	blocked_ns = s.ns[DS_IN_FENCE] + s.ns[DS_IN_VALIDATION] + s.ns[DS_IN_LOCK];
	if (!s.jobs || !blocked_ns ||
	    !kstall_long_enough(&kstall_event_drm_sched_submit_block, blocked_ns))
		return;
	e.total_ns = kstall_delta(kstall_now(), call->start_ns);
	e.job.id.dev = s.dev;
	e.job.id.dev_node = s.dev_node;
	e.job.ring = s.ring;
	e.job.fence_ctx = s.ctx;
	e.job.fence_seqno = s.seqno;
	e.job.client_id = s.client_id;
	e.job.priority = s.priority;
	e.ns = s.ns;
	trace_drm_sched_submit_block(blocked_ns, ds_key(s.ctx, s.seqno), s.jobs, 0, &e);
}

/* A wait of the current task begins. Return: true if it is in a submission and in no other. */
static bool ds_in_begin(u8 what)
{
	struct kstall_slot slot;
	struct ds_submit *s;
	bool outermost;

	if (!kstall_inflight_find(&ds_submits, (unsigned long)current, &slot))
		return false;
	s = slot.rec;
	outermost = !s->inside;
	if (outermost)
		s->inside = what;
	kstall_inflight_unlock(&slot);
	return outermost;
}

/* It ends; it counts if the task slept. */
static void ds_in_end(const struct ds_in_call *call, bool slept)
{
	u64 ns = kstall_delta(kstall_now(), call->start_ns);
	struct kstall_slot slot;
	struct ds_submit *s;

	if (!call->counts || !kstall_inflight_find(&ds_submits, (unsigned long)current, &slot))
		return;
	s = slot.rec;
	if (slept)
		s->ns[s->inside] += ns;
	s->inside = DS_IN_NOTHING;
	kstall_inflight_unlock(&slot);
}

static bool ds_in_enter(struct ds_in_call *call, u8 what)
{
	call->counts = ds_in_begin(what);
	call->nvcsw = current->nvcsw;
	call->start_ns = kstall_now();
	return call->counts;
}

/* ttm_bo_validate(struct ttm_buffer_object *, ...) */
bool ds_validate_enter(void *data, struct pt_regs *regs)
{
	return ds_in_enter(data, DS_IN_VALIDATION);
}

/* ww_mutex_lock(struct ww_mutex *, ...), ww_mutex_lock_interruptible(...) */
bool ds_lock_enter(void *data, struct pt_regs *regs)
{
	return ds_in_enter(data, DS_IN_LOCK);
}

void ds_in_return(void *data, struct pt_regs *regs)
{
	const struct ds_in_call *call = data;

	ds_in_end(call, current->nvcsw != call->nvcsw);
}

/* ---- waits for fences ---- */

/*
 * A wait for several ends up in waits for one; the outermost has the event, with the name of the
 * first unsignaled fence in it.
 */
static bool ds_wait_enter(struct ds_in_call *call, struct dma_fence *f, u8 kind)
{
	struct ds_fence_wait wait = { .kind = kind };
	struct kstall_slot slot;
	struct ds_fence_wait *outer;
	bool nested;

	ds_in_enter(call, DS_IN_FENCE);
	if (f) {
		wait.named = true;
		wait.ctx = f->context;
		wait.seqno = f->seqno;
		ds_fence_names(f, wait.driver, sizeof(wait.driver), wait.timeline,
			       sizeof(wait.timeline));
	}
	nested = kstall_inflight_find(&ds_fence_waits, (unsigned long)current, &slot);
	if (!nested &&
	    !kstall_inflight_insert(&ds_fence_waits, (unsigned long)current, call->start_ns, &slot))
		return call->counts;
	outer = slot.rec;
	wait.kind = nested ? outer->kind : kind;
	if (!nested || (f && !outer->named))
		*outer = wait;
	kstall_inflight_unlock(&slot);
	call->outermost = !nested;
	return call->outermost || call->counts;
}

KSTALL_FN(signed long, dma_fence_wait_timeout, struct dma_fence *, fence, bool, intr,
	  signed long, timeout);
KSTALL_CHECK_FN(dma_fence_wait_timeout, dma_fence_wait_timeout);

bool ds_wait_one_enter(void *data, struct pt_regs *regs)
{
	struct dma_fence *f = kstall_arg(regs, dma_fence_wait_timeout, fence);
	struct ds_in_call *call = data;

	call->outermost = false;
	return !ds_fence_is_signaled(f) && ds_wait_enter(call, f, DS_WAIT_SINGLE);
}

KSTALL_FN(signed long, dma_fence_wait_any_timeout, struct dma_fence **, fences, u32, count,
	  bool, intr, signed long, timeout, u32 *, idx);
KSTALL_CHECK_FN(dma_fence_wait_any_timeout, dma_fence_wait_any_timeout);

/* It names the first. */
bool ds_wait_any_enter(void *data, struct pt_regs *regs)
{
	struct dma_fence **fences = kstall_arg(regs, dma_fence_wait_any_timeout, fences);
	struct ds_in_call *call = data;

	call->outermost = false;
	return kstall_arg(regs, dma_fence_wait_any_timeout, count) &&
	       ds_wait_enter(call, fences[0], DS_WAIT_ANY);
}

/* dma_resv_wait_timeout(struct dma_resv *resv, ...) */
bool ds_wait_resv_enter(void *data, struct pt_regs *regs)
{
	struct ds_in_call *call = data;

	call->outermost = false;
	return ds_wait_enter(call, NULL, DS_WAIT_RESV);
}

/* drm_syncobj_wait_ioctl(), drm_syncobj_timeline_wait_ioctl() */
bool ds_wait_syncobj_enter(void *data, struct pt_regs *regs)
{
	struct ds_in_call *call = data;

	call->outermost = false;
	return ds_wait_enter(call, NULL, DS_WAIT_SYNCOBJ);
}

void ds_wait_return(void *data, struct pt_regs *regs)
{
	const struct ds_in_call *call = data;
	u64 wait_ns = kstall_delta(kstall_now(), call->start_ns);
	bool slept = current->nvcsw != call->nvcsw;
	struct ds_fence_wait wait;
	struct kstall_drm_wait e = { .id = KSTALL_ID_CURRENT, .wait = &wait };

	ds_in_end(call, slept);
	if (!call->outermost ||
	    !kstall_inflight_take(&ds_fence_waits, (unsigned long)current, &wait) ||
	    !slept || !trace_dma_fence_wait_enabled() ||
	    !kstall_long_enough(&kstall_event_dma_fence_wait, wait_ns))
		return;
	/* The ioctls return an int. */
	trace_dma_fence_wait(wait_ns, ds_key(wait.ctx, wait.seqno), 0,
			     wait.kind == DS_WAIT_SYNCOBJ ? (int)regs_return_value(regs)
							  : (long)regs_return_value(regs),
			     &e);
}
