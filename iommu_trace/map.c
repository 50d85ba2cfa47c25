// SPDX-License-Identifier: GPL-2.0
/* map.c - what it costs to make memory reachable for a device, translated or not */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/scatterlist.h>

#include "iommu_trace.h"
#include "iommu_trace_events.h"

/* ---- the parts of a call ---- */

void it_part_add(u64 iova_ns, u64 map_ns, u64 sync_ns, u64 bounced)
{
	struct it_parts *parts = kstall_own_find(&it_calls);

	if (!parts)
		return;
	parts->iova_ns += iova_ns;
	parts->map_ns += map_ns;
	parts->sync_ns += sync_ns;
	parts->bounced += bounced;
}

bool it_part_enter(void *data, struct pt_regs *regs)
{
	struct it_part_call *call = data;

	call->start_ns = kstall_now();
	return true;
}

KSTALL_FN(size_t, iommu_unmap_fast, struct iommu_domain *, domain, unsigned long, iova,
	  size_t, size, struct iommu_iotlb_gather *, gather);
#ifdef CONFIG_IOMMU_API
KSTALL_CHECK_FN(iommu_unmap_fast, iommu_unmap_fast);
#endif

/* What is queued waits for a flush. */
bool it_unmap_part_enter(void *data, struct pt_regs *regs)
{
	const struct iommu_iotlb_gather *gather = kstall_arg(regs, iommu_unmap_fast, gather);
	u64 key = it_queue_key((unsigned long)kstall_arg(regs, iommu_unmap_fast, domain),
			       smp_processor_id());
	struct it_part_call *call = data;
	struct kstall_slot slot;
	struct it_queue *queue;
	bool found;

	call->start_ns = kstall_now();
	if (!gather || !gather->queued ||
	    !kstall_inflight_find_or_insert(&it_queues, key, call->start_ns, &slot, &found))
		return true;
	queue = slot.rec;
	/* The kernel flushes within a second (dma-iommu.c): missed, or the domain has gone. */
	if (queue->first_ns + IT_QUEUE_MAX_NS < call->start_ns)
		*queue = (struct it_queue){ };
	if (!queue->entries++)
		queue->first_ns = call->start_ns;
	queue->bytes += kstall_arg(regs, iommu_unmap_fast, size);
	kstall_inflight_unlock(&slot);
	return true;
}

void it_iova_return(void *data, struct pt_regs *regs)
{
	const struct it_part_call *call = data;

	it_part_add(kstall_delta(kstall_now(), call->start_ns), 0, 0, 0);
}

/* ---- addresses ---- */

/* alloc_iova_fast(), alloc_iova() inside it: of an allocation for DMA, if there is one */
static void it_iova_add(u32 tries, u32 slow, u64 slow_ns)
{
	struct it_iova *iova = kstall_own_find(&it_iovas);

	if (!iova)
		return;
	iova->tries += tries;
	iova->slow += slow;
	iova->slow_ns += slow_ns;
}

void it_iova_try_return(void *data, struct pt_regs *regs)
{
	it_iova_return(data, regs);
	it_iova_add(1, 0, 0);
}

void it_iova_slow_return(void *data, struct pt_regs *regs)
{
	const struct it_part_call *call = data;

	it_iova_add(0, 1, kstall_delta(kstall_now(), call->start_ns));
}

KSTALL_FN(dma_addr_t, iommu_dma_alloc_iova, struct iommu_domain *, domain, size_t, size,
	  u64, dma_limit, struct device *, dev);

bool it_iova_dma_enter(void *data, struct pt_regs *regs)
{
	struct it_iova_call *call = data;
	struct it_iova *own;

	call->bytes = kstall_arg(regs, iommu_dma_alloc_iova, size);
	call->limit = kstall_arg(regs, iommu_dma_alloc_iova, dma_limit);
	call->dev = kstall_arg(regs, iommu_dma_alloc_iova, dev);
	call->start_ns = kstall_now();
	own = kstall_own_claim(&it_iovas, call->start_ns);
	if (own)
		*own = (struct it_iova){ };
	return own;
}

void it_iova_dma_return(void *data, struct pt_regs *regs)
{
	const struct it_iova_call *call = data;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	u64 addr = regs_return_value(regs);
	struct kstall_iommu_iova e = { .call = call };
	struct it_iova *own = kstall_own_find(&it_iovas);
	struct it_iova iova = { };
	u8 served;

	if (own) {
		iova = *own;
		kstall_own_release(own);
	}
	if (!trace_iommu_iova_alloc_enabled() ||
	    !kstall_long_enough(&kstall_event_iommu_iova_alloc, duration_ns))
		return;
	if (!addr)
		served = IT_IOVA_FAILED;
	else
		served = iova.slow ? IT_IOVA_SLOW : IT_IOVA_CACHE;
	e.id = it_id(dev_name(call->dev), dev_to_node(call->dev));
	e.iova = &iova;
	trace_iommu_iova_alloc(duration_ns, addr, call->bytes, served, &e);
}

void it_map_return(void *data, struct pt_regs *regs)
{
	const struct it_part_call *call = data;

	it_part_add(0, kstall_delta(kstall_now(), call->start_ns), 0, 0);
}

/*
 * iommu_map_sg(): a list's only call of it. Since "iommu: generalize the batched sync after map
 * interface" (v6.16) it calls iommu_map_nosync() for each run, whose time is part of its own.
 */
void it_map_sg_part_return(void *data, struct pt_regs *regs)
{
	const struct it_part_call *call = data;
	u64 map_ns = kstall_delta(kstall_now(), call->start_ns);
	struct it_parts *parts = kstall_own_find(&it_calls);

	if (parts)
		parts->map_ns = map_ns;
}

void it_sync_part_return(void *data, struct pt_regs *regs)
{
	const struct it_part_call *call = data;

	it_part_add(0, 0, kstall_delta(kstall_now(), call->start_ns), 0);
}

/* ---- the call ---- */

static __always_inline void it_call_begin(struct it_map_call *call, struct device *dev, u8 op)
{
	call->dev = dev;
	/* One by one and last: of what the caller sets again the compiler leaves nothing. */
	call->sg = NULL;
	call->addr = 0;
	call->bytes = 0;
	call->memory = 0;
	call->nents = 0;
	call->op = op;
	call->dir = 0;
}

/*
 * All that the probe looks at has been looked at. These calls do not contain one another, except
 * dma_iova_unlink(): if there is a record it is of a call whose return was not seen, as its hook
 * was just being disarmed.
 */
static __always_inline bool it_call_start_of(struct it_map_call *call, const void *state)
{
	struct it_parts *parts;

	call->start_ns = kstall_now();
	parts = kstall_own_claim(&it_calls, call->start_ns);
	if (parts)
		*parts = (struct it_parts){ .state = state };
	return true;
}

static __always_inline bool it_call_start(struct it_map_call *call)
{
	return it_call_start_of(call, NULL);
}

static u8 it_path(struct device *dev, const struct it_parts *parts)
{
	if (parts->bounced)
		return IT_PATH_SWIOTLB;
	if (it_dma_iommu(dev))
		return IT_PATH_IOMMU;
	return it_dma_other(dev) ? IT_PATH_OTHER : IT_PATH_DIRECT;
}

/*
 * Adds up at most @nr mapped segments; a list that was merged into fewer ends with one of length
 * zero. Return: their number.
 */
static u32 it_segments(struct it_map_call *call, u32 nr)
{
	struct scatterlist *sg;
	u32 i;

	call->addr = sg_dma_address(call->sg);
	for_each_sg(call->sg, sg, min_t(u32, nr, IT_MAX_SEGMENTS), i) {
		if (!sg_dma_len(sg))
			break;
		call->bytes += sg_dma_len(sg);
	}
	return i == IT_MAX_SEGMENTS ? nr : i;
}

static __always_inline void it_call_emit(struct it_map_call *call, u64 duration_ns,
					 const struct it_parts *parts, int result, bool map)
{
	struct kstall_dma_map e = {
		.id = it_id(dev_name(call->dev), dev_to_node(call->dev)),
		.call = call,
		.parts = parts,
		.path = it_path(call->dev, parts),
	};

	if (call->op == IT_OP_SG && result > 0) {
		u32 segments = it_segments(call, result);

		if (!map) {
			call->nents = segments;
			result = segments;
		}
	}
	if (map)
		trace_dma_map_done(duration_ns, call->addr, call->bytes, result, &e);
	else
		trace_dma_unmap_done(duration_ns, call->addr, call->bytes, result, &e);
}

/* A list is walked after the clock has been read, and only for an event. */
static __always_inline void it_call_end(struct it_map_call *call, int result, bool map)
{
	static const struct it_parts none;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	struct it_parts *parts = kstall_own_find(&it_calls);

	if (kstall_long_enough(map ? &kstall_event_dma_map_done : &kstall_event_dma_unmap_done,
			       duration_ns))
		it_call_emit(call, duration_ns, parts ?: &none, result, map);
	if (parts)
		kstall_own_release(parts);
}

/* ---- single mappings ---- */

/* See IT_MAP_SINGLE. */
bool it_map_single_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, it_map_single, dev), IT_OP_SINGLE);
	call->memory = it_mapped_memory(regs);
	call->bytes = kstall_arg(regs, it_map_single, size);
	call->dir = kstall_arg(regs, it_map_single, dir);
	call->nents = 1;
	return it_call_start(call);
}

void it_map_single_return(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;
	dma_addr_t addr = regs_return_value(regs);

	call->addr = addr == DMA_MAPPING_ERROR ? 0 : addr;
	it_call_end(call, addr == DMA_MAPPING_ERROR ? -EIO : 1, true);
}

/* See IT_UNMAP_SINGLE. */
bool it_unmap_single_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, it_unmap_single, dev), IT_OP_SINGLE);
	call->addr = kstall_arg(regs, it_unmap_single, addr);
	call->bytes = kstall_arg(regs, it_unmap_single, size);
	call->dir = kstall_arg(regs, it_unmap_single, dir);
	call->nents = 1;
	return it_call_start(call);
}

/* ---- lists ---- */

KSTALL_FN(int, __dma_map_sg_attrs, struct device *, dev, struct scatterlist *, sg, int, nents,
	  enum dma_data_direction, dir);
KSTALL_FN(void, dma_unmap_sg_attrs, struct device *, dev, struct scatterlist *, sg, int, nents,
	  enum dma_data_direction, dir, unsigned long, attrs);
KSTALL_CHECK_FN(dma_unmap_sg_attrs, dma_unmap_sg_attrs);

bool it_map_sg_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, __dma_map_sg_attrs, dev), IT_OP_SG);
	call->sg = kstall_arg(regs, __dma_map_sg_attrs, sg);
	call->nents = kstall_arg(regs, __dma_map_sg_attrs, nents);
	call->dir = kstall_arg(regs, __dma_map_sg_attrs, dir);
	if (call->nents)
		call->memory = it_page_memory(sg_page(call->sg));
	return it_call_start(call);
}

void it_map_sg_return(void *data, struct pt_regs *regs)
{
	it_call_end(data, (int)regs_return_value(regs), true);
}

bool it_unmap_sg_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, dma_unmap_sg_attrs, dev), IT_OP_SG);
	call->sg = kstall_arg(regs, dma_unmap_sg_attrs, sg);
	call->dir = kstall_arg(regs, dma_unmap_sg_attrs, dir);
	call->nents = kstall_arg(regs, dma_unmap_sg_attrs, nents);
	return it_call_start(call);
}

/* The result of an unmapping is what it was given. */
void it_unmap_return(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_end(call, call->nents, false);
}

/* ---- mappings in two steps (6.16 and later) ---- */

KSTALL_FN(bool, dma_iova_try_alloc, struct device *, dev, struct dma_iova_state *, state,
	  phys_addr_t, phys, size_t, size);
KSTALL_FN(int, dma_iova_sync, struct device *, dev, struct dma_iova_state *, state,
	  size_t, offset, size_t, size);
KSTALL_FN(void, dma_iova_unlink, struct device *, dev, struct dma_iova_state *, state,
	  size_t, offset, size_t, size, enum dma_data_direction, dir, unsigned long, attrs);
KSTALL_FN(void, dma_iova_destroy, struct device *, dev, struct dma_iova_state *, state,
	  size_t, mapped_len, enum dma_data_direction, dir, unsigned long, attrs);
#ifdef HAVE_DMA_MAP_PHYS
KSTALL_CHECK_FN(dma_iova_try_alloc, dma_iova_try_alloc);
KSTALL_CHECK_FN(dma_iova_sync, dma_iova_sync);
KSTALL_CHECK_FN(dma_iova_unlink, dma_iova_unlink);
KSTALL_CHECK_FN(dma_iova_destroy, dma_iova_destroy);
#endif
/* One more argument than registers. */
KSTALL_FN(int, dma_iova_link, struct device *, dev, struct dma_iova_state *, state,
	  phys_addr_t, phys, size_t, offset, size_t, size, enum dma_data_direction, dir);

/* It begins with the address. */
static u64 it_state_addr(const struct dma_iova_state *state)
{
	return *(const u64 *)state;
}

bool it_link_alloc_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, dma_iova_try_alloc, dev), IT_OP_LINK_ALLOC);
	call->state = kstall_arg(regs, dma_iova_try_alloc, state);
	call->dir = DMA_NONE;
	return it_call_start(call);
}

/* Tried in vain where nothing is translated: then the parts are mapped one by one. */
void it_link_alloc_return(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;
	struct it_parts *parts;

	if (regs_return_value(regs) & 1) {
		call->addr = it_state_addr(call->state);
		it_call_end(call, 1, true);
		return;
	}
	parts = kstall_own_find(&it_calls);
	if (parts)
		kstall_own_release(parts);
}

bool it_link_sync_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, dma_iova_sync, dev), IT_OP_LINK_SYNC);
	call->addr = it_state_addr(kstall_arg(regs, dma_iova_sync, state)) +
		     kstall_arg(regs, dma_iova_sync, offset);
	call->dir = DMA_NONE;
	return it_call_start(call);
}

bool it_link_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, dma_iova_link, dev), IT_OP_LINK);
	call->addr = it_state_addr(kstall_arg(regs, dma_iova_link, state)) +
		     kstall_arg(regs, dma_iova_link, offset);
	call->bytes = kstall_arg(regs, dma_iova_link, size);
	call->dir = kstall_arg(regs, dma_iova_link, dir);
	call->nents = 1;
	return it_call_start_of(call, kstall_arg(regs, dma_iova_link, state));
}

void it_link_return(void *data, struct pt_regs *regs)
{
	it_call_end(data, (int)regs_return_value(regs) ?: 1, true);
}

/* dma_iova_link() calls it where it fails, and since 7.3 dma_iova_destroy(): part of that call. */
bool it_unlink_enter(void *data, struct pt_regs *regs)
{
	const struct it_parts *outer = kstall_own_find(&it_calls);
	struct it_map_call *call = data;

	if (outer && outer->state == kstall_arg(regs, dma_iova_unlink, state))
		return false;
	it_call_begin(call, kstall_arg(regs, dma_iova_unlink, dev), IT_OP_LINK);
	call->addr = it_state_addr(kstall_arg(regs, dma_iova_unlink, state)) +
		     kstall_arg(regs, dma_iova_unlink, offset);
	call->bytes = kstall_arg(regs, dma_iova_unlink, size);
	call->dir = kstall_arg(regs, dma_iova_unlink, dir);
	call->nents = 1;
	return it_call_start(call);
}

bool it_destroy_enter(void *data, struct pt_regs *regs)
{
	struct it_map_call *call = data;

	it_call_begin(call, kstall_arg(regs, dma_iova_destroy, dev), IT_OP_LINK);
	call->addr = it_state_addr(kstall_arg(regs, dma_iova_destroy, state));
	call->bytes = kstall_arg(regs, dma_iova_destroy, mapped_len);
	call->dir = kstall_arg(regs, dma_iova_destroy, dir);
	call->nents = 1;
	return it_call_start_of(call, kstall_arg(regs, dma_iova_destroy, state));
}

/* ---- bounce buffers ---- */

KSTALL_FN(void, swiotlb_bounce, struct device *, dev, phys_addr_t, tlb_addr, size_t, size,
	  enum dma_data_direction, dir);

bool it_bounce_enter(void *data, struct pt_regs *regs)
{
	struct it_bounce_call *call = data;

	call->dev = kstall_arg(regs, swiotlb_bounce, dev);
	call->bytes = kstall_arg(regs, swiotlb_bounce, size);
	call->dir = kstall_arg(regs, swiotlb_bounce, dir);
	call->start_ns = kstall_now();
	return true;
}

void it_bounce_return(void *data, struct pt_regs *regs)
{
	const struct it_bounce_call *call = data;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	const struct io_tlb_mem *mem = call->dev->dma_io_tlb_mem;
	struct kstall_dma_bounce e = { .call = call };

	it_part_add(0, 0, 0, call->bytes);
	if (!trace_dma_bounce_enabled() ||
	    !kstall_long_enough(&kstall_event_dma_bounce, duration_ns))
		return;
	e.id = it_id(dev_name(call->dev), dev_to_node(call->dev));
	if (mem) {
		e.pool_slots = mem->nslabs;
		e.pool_used = it_pool_used(mem);
	}
	trace_dma_bounce(duration_ns, 0, call->bytes, call->dir, &e);
}
