// SPDX-License-Identifier: GPL-2.0
/*
 * Evictions of ROCm's queues. Each process that uses amdkfd has a fence of the driver "amdgpu_amdkfd_fence" in a context of its own.
 * A task that wants its memory asks for the fence's signal; amdkfd takes the process's queues off the GPU and signals it; when they are back,
 * at the earliest 100 ms later, there is a new fence of that context (drivers/gpu/drm/amd/amdgpu/amdgpu_amdkfd_fence.c,
 * evict_process_worker() and restore_process_worker() in amdkfd/kfd_process.c). The timeline is the process's comm.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define MAX_EVICTIONS	1024	/* the first so many */

KS_SAME_FIELD(dma_fence_enable_signal, dma_fence_init, context);
KS_SAME_FIELD(dma_fence_signaled, dma_fence_init, context);
KS_SAME_FIELD(dma_fence_enable_signal, dma_fence_init, driver);
KS_SAME_FIELD(dma_fence_signaled, dma_fence_init, driver);

static bool is_eviction_fence(const struct ks_event *ev)
{
	return !strcmp(KS_STR(ev, dma_fence_init, driver), "amdgpu_amdkfd_fence");
}

/* The last of this context; NULL: there is none. */
static struct ks_eviction *last_of(struct ks_engine *e, u64 ctx)
{
	for (size_t i = ks_evictions(e); i-- > 0;) {
		if (e->evictions[i].ctx == ctx)
			return &e->evictions[i];
	}
	return NULL;
}

size_t ks_evictions(const struct ks_engine *e)
{
	return min_u64(e->nr_evictions, MAX_EVICTIONS);
}

static u32 task_of(struct ks_engine *e, s32 pid)
{
	const struct ks_thread *t = ks_thread_find(e, pid);
	const char *comm = t && t->comm[0] ? t->comm : e->comm_of ? e->comm_of(e, pid) : "";
	struct ks_culprit task;
	char name[KS_COMM], text[KS_TEXT];

	task = ks_task(ks_printable(name, sizeof(name), comm), pid);
	return ks_intern(ks_culprit_text(text, &task));
}

/* The current task wants its memory. */
void ks_on_evict_asked(struct ks_engine *e, const struct ks_event *ev)
{
	char process[KS_COMM];

	if (!is_eviction_fence(ev) || e->nr_evictions++ >= MAX_EVICTIONS)
		return;
	if (!e->evictions)
		e->evictions = ks_alloc(MAX_EVICTIONS * sizeof(*e->evictions));
	e->evictions[e->nr_evictions - 1] = (struct ks_eviction){
		.asked = ev->ts, .ctx = KS_NUM(ev, dma_fence_enable_signal, context),
		.process = ks_intern(ks_printable(process, sizeof(process), KS_STR(ev, dma_fence_enable_signal, timeline))),
		.pid = ev->pid,
		.by = task_of(e, ev->pid),
	};
}

/* A fence that nobody has asked is signaled when its process ends. */
void ks_on_evicted(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_eviction *x = is_eviction_fence(ev) ? last_of(e, KS_NUM(ev, dma_fence_signaled, context)) : NULL;

	if (!x || x->off)
		return;
	x->off = ev->ts;
	/* It has slept meanwhile, so its name is known: after an exec it is another one than before. */
	x->by = task_of(e, x->pid);
}

void ks_on_restored(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_eviction *x = is_eviction_fence(ev) ? last_of(e, KS_NUM(ev, dma_fence_init, context)) : NULL;

	if (x && x->off && !x->on)
		x->on = ev->ts;
}

u64 ks_eviction_in(const struct ks_eviction *x, u64 begin, u64 end)
{
	u64 from = max_u64(x->off, begin), to = x->on ? min_u64(x->on, end) : end;

	return x->off && from < to ? to - from : 0;
}
