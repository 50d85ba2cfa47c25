// SPDX-License-Identifier: GPL-2.0
/* ttm.c - buffers pushed out of the GPU's memory: the task that did it, and the owner */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pid.h>
#include <linux/pid_namespace.h>

#include "drm_sched_trace.h"
#include "drm_sched_trace_events.h"

#ifdef HAVE_TTM_BO_H
#include <drm/ttm/ttm_bo.h>
#else
#include <drm/ttm/ttm_bo_api.h>
#endif
#include <drm/drm_device.h>
#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_tt.h>

/* ---- a buffer's owner ---- */

/* It has more arguments than are in registers. */
KSTALL_FN(int, ttm_bo_init_reserved, struct ttm_device *, bdev, struct ttm_buffer_object *, bo);

bool ds_bo_init_enter(void *data, struct pt_regs *regs)
{
	unsigned long bo = (unsigned long)kstall_arg(regs, ttm_bo_init_reserved, bo);
	struct kstall_slot slot;

	if (!kstall_inflight_insert(&ds_bos, bo, kstall_now(), &slot))
		return false;
	kstall_who_read(slot.rec, current);
	kstall_inflight_unlock(&slot);
	return false;
}

KSTALL_FN(void, ttm_bo_release, struct kref *, kref);

/* May run twice. */
bool ds_bo_release_enter(void *data, struct pt_regs *regs)
{
	struct ttm_buffer_object *bo = container_of(kstall_arg(regs, ttm_bo_release, kref),
						    struct ttm_buffer_object, kref);
	struct kstall_who who;

	kstall_inflight_take(&ds_bos, (unsigned long)bo, &who);
	if (bo->ttm)
		kstall_inflight_take(&ds_bos, (unsigned long)bo->ttm, &who);
	return false;
}

/* Buffers live as long as a job does, which may be for weeks. @rec: of ds_bos */
bool ds_owner_gone(const void *rec)
{
	const struct kstall_who *who = rec;
	bool gone;

	rcu_read_lock();
	gone = !pid_task(find_pid_ns(who->tgid, &init_pid_ns), PIDTYPE_TGID);
	rcu_read_unlock();
	return gone;
}

static void ds_bo_owner(const void *key, struct kstall_who *who)
{
	struct kstall_slot slot;

	memset(who, 0, sizeof(*who));
	if (!kstall_inflight_find(&ds_bos, (unsigned long)key, &slot))
		return;
	*who = *(struct kstall_who *)slot.rec;
	kstall_inflight_unlock(&slot);
}

/* Mock drivers and qxl leave one or the other empty. */
static struct kstall_id ds_bo_id(const struct ttm_buffer_object *bo)
{
	struct kstall_id id = KSTALL_ID_CURRENT;
	struct device *dev = bo->base.dev ? bo->base.dev->dev : bo->bdev->pool.dev;

	if (dev) {
		id.dev = dev_name(dev);
		id.dev_node = dev_to_node(dev);
	}
	return id;
}

/* ---- eviction ---- */

KSTALL_FN(int, ttm_bo_handle_move_mem, struct ttm_buffer_object *, bo, struct ttm_resource *, mem,
	  bool, evict);

/* The buffer is reserved; the one place through which every eviction goes on all kernels. */
bool ds_move_enter(void *data, struct pt_regs *regs)
{
	struct ds_move_call *call = data;
	const struct ttm_resource *mem = kstall_arg(regs, ttm_bo_handle_move_mem, mem);

	call->bo = kstall_arg(regs, ttm_bo_handle_move_mem, bo);
	if (!kstall_arg(regs, ttm_bo_handle_move_mem, evict) || !call->bo->resource)
		return false;
	call->from = call->bo->resource->mem_type;
	call->to = mem->mem_type;
	call->start_ns = kstall_now();
	return true;
}

/* -EMULTIHOP: it has to go through another memory, and comes again. */
void ds_move_return(void *data, struct pt_regs *regs)
{
	const struct ds_move_call *call = data;
	struct kstall_drm_bo e = { .from = call->from, .to = call->to };
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	int ret = regs_return_value(regs);

	if (ret == -EMULTIHOP || !kstall_long_enough(&kstall_event_ttm_bo_evict, duration_ns))
		return;
	e.id = ds_bo_id(call->bo);
	ds_bo_owner(call->bo, &e.owner);
	trace_ttm_bo_evict(duration_ns, 0, call->bo->base.size, ret, &e);
}

/* ---- swapping ---- */

/*
 * Of what DS_SWAPOUT names. A buffer that is deleted already is freed instead, which since 6.12
 * looks the same at return (ttm_bo_swapout_cb()).
 */
bool ds_swapout_enter(void *data, struct pt_regs *regs)
{
	struct ds_swap_call *call = data;

	call->bo = kstall_arg(regs, ds_swapout, bo);
	if (call->bo->deleted)
		return false;
	call->tt = call->bo->ttm;
	call->from = call->bo->resource ? call->bo->resource->mem_type : 0;
	call->id = ds_bo_id(call->bo);
	ds_bo_owner(call->bo, &call->owner);
	call->start_ns = kstall_now();
	return call->tt;
}

static void ds_swap_emit(struct ds_swap_call *call, bool out, s64 ret, u64 bytes)
{
	struct kstall_drm_bo e = {
		.id = call->id, .owner = call->owner, .from = call->from, .out = out,
	};
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);

	if (kstall_long_enough(&kstall_event_ttm_bo_swap, duration_ns))
		trace_ttm_bo_swap(duration_ns, 0, bytes, ret < 0 ? ret : 0, &e);
}

/*
 * Return value: pages, or why not, -EBUSY being the way past each buffer that cannot be swapped.
 * The buffer may be gone, what was read of it at entry holds. Its pages' owner is kept for swapin.
 */
void ds_swapout_return(void *data, struct pt_regs *regs)
{
	struct ds_swap_call *call = data;
	s64 ret = DS_SWAPOUT_RET(regs);
	struct kstall_slot slot;

	if (!ret || ret == -EBUSY || ret == -EALREADY || ret == -ENOSPC)
		return;
	if (ret > 0 &&
	    kstall_inflight_insert(&ds_bos, (unsigned long)call->tt, kstall_now(), &slot)) {
		memcpy(slot.rec, &call->owner, sizeof(call->owner));
		kstall_inflight_unlock(&slot);
	}
	ds_swap_emit(call, true, ret, ret > 0 ? ret << PAGE_SHIFT : 0);
}

KSTALL_FN(int, ttm_tt_swapin, struct ttm_tt *, ttm);
KSTALL_CHECK_FN(ttm_tt_swapin, ttm_tt_swapin);

/* Back in, for the current task. */
bool ds_swapin_enter(void *data, struct pt_regs *regs)
{
	struct ds_swap_call *call = data;

	call->tt = kstall_arg(regs, ttm_tt_swapin, ttm);
	call->id = KSTALL_ID_CURRENT;
	call->from = 0;
	ds_bo_owner(call->tt, &call->owner);
	call->start_ns = kstall_now();
	return true;
}

void ds_swapin_return(void *data, struct pt_regs *regs)
{
	struct ds_swap_call *call = data;
	struct kstall_who who;

	kstall_inflight_take(&ds_bos, (unsigned long)call->tt, &who);
	ds_swap_emit(call, false, (int)regs_return_value(regs),
		     (u64)call->tt->num_pages << PAGE_SHIFT);
}
