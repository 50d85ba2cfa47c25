// SPDX-License-Identifier: GPL-2.0
/* mr.c - memory of programs: its registration, and the faults of what is not pinned */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "ib_cq_compat.h"

#include "ib_cq_trace.h"
#include "ib_cq_trace_events.h"

/* ---- registration ---- */

/* Operations, of which kernels differ in the arguments behind these. They sleep. */
KSTALL_FN(struct ib_mr *, reg_user_mr, struct ib_pd *, pd, u64, start, u64, length,
	  u64, virt_addr, int, access);
KSTALL_FN(struct ib_mr *, reg_user_mr_dmabuf, struct ib_pd *, pd, u64, offset, u64, length,
	  u64, virt_addr, int, fd, int, access);

bool iq_reg_enter(void *data, struct pt_regs *regs)
{
	struct iq_mr_call *call = data;

	call->pd = kstall_arg(regs, reg_user_mr, pd);
	call->addr = kstall_arg(regs, reg_user_mr, start);
	call->bytes = kstall_arg(regs, reg_user_mr, length);
	call->access = kstall_arg(regs, reg_user_mr, access);
	call->dmabuf = false;
	call->start_ns = kstall_now();
	return true;
}

bool iq_reg_dmabuf_enter(void *data, struct pt_regs *regs)
{
	struct iq_mr_call *call = data;

	call->pd = kstall_arg(regs, reg_user_mr_dmabuf, pd);
	call->addr = kstall_arg(regs, reg_user_mr_dmabuf, offset);
	call->bytes = kstall_arg(regs, reg_user_mr_dmabuf, length);
	call->access = kstall_arg(regs, reg_user_mr_dmabuf, access);
	call->dmabuf = true;
	call->start_ns = kstall_now();
	return true;
}

void iq_reg_return(void *data, struct pt_regs *regs)
{
	const struct iq_mr_call *call = data;
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	const struct ib_mr *mr = (void *)regs_return_value(regs);
	struct ib_device *ibdev = call->pd->device;
	struct kstall_ib_mr r = {
		.id = KSTALL_ID_CURRENT, .addr = call->addr, .access = call->access,
	};
	u32 lkey = IS_ERR_OR_NULL(mr) ? 0 : mr->lkey;
	int result = IS_ERR(mr) ? PTR_ERR(mr) : 0;

	r.id.dev = dev_name(&ibdev->dev);
	r.id.dev_node = ibdev_to_node(ibdev);
	if (call->dmabuf)
		r.kind = IQ_MR_DMABUF;
	else
		r.kind = call->access & IB_ACCESS_ON_DEMAND ? IQ_MR_ODP : IQ_MR_MEMORY;
	if (kstall_long_enough(&kstall_event_ib_mr_reg, duration_ns))
		trace_ib_mr_reg(duration_ns, lkey, call->bytes, result, &r);
}

/* ---- on-demand paging ---- */

KSTALL_FN(int, ib_umem_odp_map_dma_and_lock, struct ib_umem_odp *, umem_odp, u64, start,
	  u64, bytes, u64, access_mask, bool, fault);
KSTALL_FN(void, ib_umem_odp_unmap_dma_pages, struct ib_umem_odp *, umem_odp, u64, start,
	  u64, bound);
#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
KSTALL_CHECK_FN(ib_umem_odp_map_dma_and_lock, ib_umem_odp_map_dma_and_lock);
KSTALL_CHECK_FN(ib_umem_odp_unmap_dma_pages, ib_umem_odp_unmap_dma_pages);
#endif

/* Sleeps, in a worker that serves the device's fault. Without @fault it is a look only. */
bool iq_odp_map_enter(void *data, struct pt_regs *regs)
{
	struct iq_odp_call *call = data;

	call->umem = kstall_arg(regs, ib_umem_odp_map_dma_and_lock, umem_odp);
	call->addr = kstall_arg(regs, ib_umem_odp_map_dma_and_lock, start);
	call->bytes = kstall_arg(regs, ib_umem_odp_map_dma_and_lock, bytes);
	call->write = iq_odp_for_writing(kstall_arg(regs, ib_umem_odp_map_dma_and_lock,
						    access_mask));
	call->start_ns = kstall_now();
	return kstall_arg(regs, ib_umem_odp_map_dma_and_lock, fault);
}

static void iq_odp_emit(const struct iq_odp_call *call, u8 op, struct task_struct *task, int result)
{
	u64 duration_ns = kstall_delta(kstall_now(), call->start_ns);
	const struct ib_umem_odp *odp = call->umem;
	struct kstall_ib_mr r = {
		.id = iq_id(odp->umem.ibdev, NULL), .addr = call->addr, .kind = op,
		.write = call->write,
	};

	r.id.task = task;
	if (kstall_long_enough(&kstall_event_ib_odp_fault, duration_ns))
		trace_ib_odp_fault(duration_ns, (u32)(call->addr >> PAGE_SHIFT), call->bytes,
				   result, &r);
}

void iq_odp_map_return(void *data, struct pt_regs *regs)
{
	const struct iq_odp_call *call = data;
	const struct ib_umem_odp *odp = call->umem;
	struct task_struct *task;

	rcu_read_lock();
	/* The process may be gone while its memory is being unregistered. */
	task = pid_task(odp->tgid, PIDTYPE_PID);
	iq_odp_emit(call, IQ_ODP_MAP, task ?: current, (int)regs_return_value(regs));
	rcu_read_unlock();
}

/* In MMU notifiers. */
bool iq_odp_unmap_enter(void *data, struct pt_regs *regs)
{
	struct iq_odp_call *call = data;

	call->umem = kstall_arg(regs, ib_umem_odp_unmap_dma_pages, umem_odp);
	call->addr = kstall_arg(regs, ib_umem_odp_unmap_dma_pages, start);
	call->bytes = kstall_arg(regs, ib_umem_odp_unmap_dma_pages, bound) - call->addr;
	call->write = false;
	call->start_ns = kstall_now();
	return true;
}

void iq_odp_unmap_return(void *data, struct pt_regs *regs)
{
	iq_odp_emit(data, IQ_ODP_UNMAP, current, 0);
}
