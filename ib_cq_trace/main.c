// SPDX-License-Identifier: GPL-2.0
/*
 * ib_cq_trace - between an RDMA device's completion and the code that waits for it
 *
 * Completion queues that overflow, fail or are processed late; work requests that fail or take
 * long; queue pairs that enter the state ERR, with their owner and their peer;
 * registrations, page faults of memory that is not pinned, ports.
 *
 * Kernel users (NVMe-oF, NFS, IPoIB, ...) are seen completely. User verbs on most devices (NCCL on
 * mlx5) post and poll without the kernel: of them there are asynchronous events, states,
 * registrations and counters.
 *
 * What is hooked and which event needs it stands in the tables here; the probes are in wc.c, cq.c,
 * qp.c and mr.c, ports and devices in device.c, the search for failed queue pairs in sweep.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>

#include <kstall/core.h>

#include <trace/events/rdma_core.h>

#include "ib_cq_compat.h"
#include "ib_cq_trace.h"

#define CREATE_TRACE_POINTS
#include "ib_cq_trace_events.h"

KSTALL_PARAM_UINT(max_posts, 32768, 64, 1 << 22,
		  "signaled work requests that are followed at a time (64 to 4194304, default 32768)");

KSTALL_PARAM_UINT(max_qps, 8192, 64, 1 << 20,
		  "queue pairs whose connection is known at a time (64 to 1048576, default 8192)");

#define MINUTE	(60 * (u64)NSEC_PER_SEC)

struct kstall_inflight iq_qps = { .name = "qps", .rec_size = sizeof(struct iq_qp) };
/* Longer than a fabric that hangs is retried: its requests complete after the reconnect. */
struct kstall_inflight iq_posts = {
	.name = "posts", .rec_size = sizeof(struct iq_post), .max_age_ns = 10 * MINUTE,
};
struct kstall_inflight iq_scheduled = {
	.name = "scheduled", .capacity = 4096, .rec_size = sizeof(struct iq_scheduled),
	.max_age_ns = MINUTE,
};
struct kstall_inflight iq_channels = {
	.name = "channels", .capacity = 1024, .rec_size = sizeof(struct iq_channel),
	.max_age_ns = 10 * MINUTE,
};
struct kstall_fold iq_flushes = KSTALL_FOLD("flushes", 2048, struct iq_flushed, iq_emit_flushes);
struct kstall_fold iq_overflows = KSTALL_FOLD("overflows", 256, struct iq_overflow,
					      iq_emit_overflows);

/* Event queues whose interrupt is handled at a time: one a CPU. */
struct kstall_own iq_mlx5_errors = KSTALL_OWN("cq_errors", 16, sizeof(struct iq_mlx5_error),
					      MINUTE);

enum { T_QPS, T_POSTS, T_SCHEDULED, T_CHANNELS, T_FLUSHES, T_OVERFLOWS, T_MLX5_ERRORS };

static struct kstall_inflight *tables[] = {
	[T_QPS] = &iq_qps,
	[T_POSTS] = &iq_posts,
	[T_SCHEDULED] = &iq_scheduled,
	[T_CHANNELS] = &iq_channels,
	[T_FLUSHES] = &iq_flushes.table,
	[T_OVERFLOWS] = &iq_overflows.table,
	[T_MLX5_ERRORS] = &iq_mlx5_errors.table,
};

/* Different providers on one node: mlx5 and soft-RoCE, say. */
#define IQ_PROVIDERS	4
#define SLOT_BITS(first)	GENMASK_ULL((first) + IQ_PROVIDERS - 1, first)

/* Ends before beginnings: what is armed first misses nothing of what is armed later. */
enum {
	H_FREE_CQ, H_DESTROY_CQ, H_DESTROY_QP, H_DESTROYED_QP,
	H_PROCESS, H_ON_PROCESS, H_RESCHEDULE, H_SCHEDULE, H_POLLED,
	H_UVERBS_CQ, H_MLX5_CQ, H_MLX5E_CQ, H_MLX5_CQ_ERROR, H_RXE_CQ,
	H_UVERBS_QP, H_CORE_QP, H_MODIFY, H_CREATE,
	H_COMP_READ, H_COMP,
	H_ODP_MAP, H_ODP_UNMAP,
	H_POLL,
	H_POST = H_POLL + IQ_PROVIDERS,
	H_REG = H_POST + IQ_PROVIDERS,
	H_REG_DMABUF = H_REG + IQ_PROVIDERS,
	H_NR = H_REG_DMABUF + IQ_PROVIDERS,
};

static struct kstall_hook hooks[H_NR] = {
	[H_FREE_CQ] = KSTALL_ENTRY("free_cq", "ib_core", "ib_free_cq", iq_destroy_cq_enter),
	[H_DESTROY_CQ] = KSTALL_ENTRY("destroy_cq", "ib_core", "ib_destroy_cq_user",
				      iq_destroy_cq_enter),
	[H_DESTROY_QP] = KSTALL_ENTRY("destroy_qp", "ib_core", "ib_destroy_qp_user",
				      iq_destroy_qp_enter),
	/* A hook of its own: that pool may run out, and the one above misses nothing. */
	[H_DESTROYED_QP] = KSTALL_PAIR("destroyed_qp", "ib_core", "ib_destroy_qp_user",
				       sizeof(struct iq_destroy_call), iq_destroyed_qp_enter,
				       iq_destroyed_qp_return, .few = true),
	[H_PROCESS] = KSTALL_PAIR("process", "ib_core", "__ib_process_cq",
				  sizeof(struct iq_process_call), iq_process_enter,
				  iq_process_return),
	[H_ON_PROCESS] = KSTALL_TRACEPOINT("on_process", "ib_core", "cq_process", iq_on_process),
	[H_RESCHEDULE] = KSTALL_TRACEPOINT("reschedule", "ib_core", "cq_reschedule",
					   iq_on_schedule),
	[H_SCHEDULE] = KSTALL_TRACEPOINT("schedule", "ib_core", "cq_schedule", iq_on_schedule),
	[H_POLLED] = KSTALL_TRACEPOINT("polled", "ib_core", "cq_poll", iq_on_poll),
	[H_UVERBS_CQ] = KSTALL_ENTRY("uverbs_cq_event", "ib_uverbs", "ib_uverbs_cq_event_handler",
				     iq_uverbs_cq_event_enter),
	[H_MLX5_CQ] = KSTALL_ENTRY("mlx5_cq_event", "mlx5_ib", "mlx5_ib_cq_event",
				   iq_mlx5_cq_event_enter),
	[H_MLX5E_CQ] = KSTALL_ENTRY("mlx5e_cq_event", "mlx5_core", "mlx5e_cq_error_event",
				    iq_mlx5e_cq_error_enter),
	[H_MLX5_CQ_ERROR] = KSTALL_PAIR("mlx5_cq_error", "mlx5_core", "cq_err_event_notifier",
					0, iq_mlx5_cq_error_enter, iq_mlx5_cq_error_return,
					.atomic = true),
	[H_RXE_CQ] = KSTALL_PAIR("rxe_cq_post", "rdma_rxe", "rxe_cq_post",
				 sizeof(struct iq_cqe_call), iq_rxe_post_enter,
				 iq_rxe_post_return, .atomic = true),
	[H_UVERBS_QP] = KSTALL_ENTRY("uverbs_qp_event", "ib_uverbs", "ib_uverbs_qp_event_handler",
				     iq_uverbs_qp_event_enter),
	[H_CORE_QP] = KSTALL_ENTRY("core_qp_event", "ib_core", "__ib_qp_event_handler",
				   iq_core_qp_event_enter),
	[H_MODIFY] = KSTALL_PAIR("modify_qp", "ib_core", "_ib_modify_qp",
				 sizeof(struct iq_modify_call), iq_modify_enter, iq_modify_return,
				 .sleeps = true),
	[H_CREATE] = KSTALL_PAIR("create_qp", "ib_core", "ib_create_qp_kernel", 0,
				 iq_create_enter, iq_create_return, .few = true),
	[H_COMP_READ] = KSTALL_PAIR("comp_read", "ib_uverbs", "ib_uverbs_comp_event_read",
				    sizeof(struct iq_read_call), iq_comp_read_enter,
				    iq_comp_read_return, .sleeps = true),
	[H_COMP] = KSTALL_ENTRY("comp_handler", "ib_uverbs", "ib_uverbs_comp_handler",
				iq_comp_enter),
	[H_ODP_MAP] = KSTALL_PAIR("odp_map", IQ_UMEM_MODULE, "ib_umem_odp_map_dma_and_lock",
				  sizeof(struct iq_odp_call), iq_odp_map_enter,
				  iq_odp_map_return, .sleeps = true),
	[H_ODP_UNMAP] = KSTALL_PAIR("odp_unmap", IQ_UMEM_MODULE, "ib_umem_odp_unmap_dma_pages",
				    sizeof(struct iq_odp_call), iq_odp_unmap_enter,
				    iq_odp_unmap_return, .sleeps = true),
	/* One for each provider, see iq_place(). */
	[H_POLL ... H_POST - 1] =
		KSTALL_PLACED("poll", NULL, sizeof(struct iq_poll_call), iq_poll_enter,
			      iq_poll_return, .atomic = true),
	[H_POST ... H_REG - 1] =
		KSTALL_PLACED("post", NULL, sizeof(struct iq_post_call), iq_post_enter,
			      iq_post_return, .atomic = true),
	[H_REG ... H_REG_DMABUF - 1] =
		KSTALL_PLACED("reg", NULL, sizeof(struct iq_mr_call), iq_reg_enter,
			      iq_reg_return, .sleeps = true),
	[H_REG_DMABUF ... H_NR - 1] =
		KSTALL_PLACED("reg_dmabuf", NULL, sizeof(struct iq_mr_call), iq_reg_dmabuf_enter,
			      iq_reg_return, .sleeps = true),
};

KSTALL_CHECK_PROBE(cq_schedule, iq_on_schedule);
KSTALL_CHECK_PROBE(cq_process, iq_on_process);
KSTALL_CHECK_PROBE(cq_poll, iq_on_poll);

/* Whatever writes to a queue pair's record, for each event that keeps them. */
#define QP_HOOKS	(BIT_ULL(H_MODIFY) | BIT_ULL(H_DESTROY_QP) | BIT_ULL(H_DESTROYED_QP))

static const struct kstall_event_def events[] = {
	KSTALL_EVENT(ib_cq_overflow, BIT_ULL(H_UVERBS_CQ),
		     .optional = BIT_ULL(H_RXE_CQ) | BIT_ULL(H_MLX5_CQ) |
				 BIT_ULL(H_MLX5E_CQ) | BIT_ULL(H_MLX5_CQ_ERROR) |
				 BIT_ULL(H_FREE_CQ) | BIT_ULL(H_DESTROY_CQ),
		     .tables = BIT(T_OVERFLOWS) | BIT(T_MLX5_ERRORS), .fold = &iq_overflows,
		     .rare = true),
	KSTALL_EVENT(ib_wc_error, QP_HOOKS | BIT_ULL(H_POLLED),
		     .optional = SLOT_BITS(H_POLL) | BIT_ULL(H_RXE_CQ),
		     .tables = BIT(T_QPS) | BIT(T_FLUSHES), .fold = &iq_flushes, .rare = true),
	KSTALL_EVENT(ib_wr_latency,
		     BIT_ULL(H_CREATE) | BIT_ULL(H_DESTROY_QP) | BIT_ULL(H_POLLED),
		     .optional = QP_HOOKS | SLOT_BITS(H_POLL) | SLOT_BITS(H_POST),
		     .tables = BIT(T_QPS) | BIT(T_POSTS)),
	KSTALL_EVENT(ib_cq_process, BIT_ULL(H_PROCESS) | BIT_ULL(H_SCHEDULE),
		     .optional = BIT_ULL(H_ON_PROCESS) | BIT_ULL(H_RESCHEDULE) |
				 BIT_ULL(H_FREE_CQ),
		     .tables = BIT(T_SCHEDULED)),
	KSTALL_EVENT(ib_qp_event, QP_HOOKS | BIT_ULL(H_UVERBS_QP),
		     .optional = BIT_ULL(H_CORE_QP), .tables = BIT(T_QPS), .rare = true),
	KSTALL_EVENT(ib_qp_error, QP_HOOKS,
		     .optional = BIT_ULL(H_UVERBS_QP) | BIT_ULL(H_CORE_QP),
		     .tables = BIT(T_QPS), .rare = true),
	KSTALL_EVENT(ib_comp_channel, BIT_ULL(H_COMP) | BIT_ULL(H_COMP_READ),
		     .optional = BIT_ULL(H_DESTROY_CQ), .tables = BIT(T_CHANNELS)),
	KSTALL_EVENT(ib_mr_reg, 0, .optional = SLOT_BITS(H_REG) | SLOT_BITS(H_REG_DMABUF)),
	KSTALL_EVENT(ib_odp_fault, BIT_ULL(H_ODP_MAP) | BIT_ULL(H_ODP_UNMAP)),
	KSTALL_EVENT(ib_port_event, 0, .rare = true),
};

KSTALL_MODULE("ib_cq", hooks, tables, events, iq_show_devices);

/* ---- providers ---- */

/*
 * What mlx5 hands out as post_send is inline, so that it cannot be hooked at its ftrace site: it
 * only jumps to the function whose name has no "_nodrain".
 */
static unsigned long iq_hookable(unsigned long fn)
{
	char symbol[64], module[MODULE_NAME_LEN], name[MODULE_NAME_LEN + 64];
	char *end;

	if (!kstall_symbol_name(fn, symbol, sizeof(symbol), module, sizeof(module)))
		return 0;
	end = strstr(symbol, "_nodrain");
	if (!end)
		return fn;
	*end = '\0';
	snprintf(name, sizeof(name), "%s:%s", module, symbol);
	return kstall_symbol(name);
}

/* Return: true if there was no hook on the function. */
static bool iq_place(const void *op, unsigned int first)
{
	unsigned long fn = op ? iq_hookable((unsigned long)op) : 0;
	struct kstall_hook *place = NULL;
	unsigned int i;

	if (!fn)
		return false;
	for (i = first; i < first + IQ_PROVIDERS; i++) {
		if (hooks[i].addr == fn)
			return false;
		if (!hooks[i].addr && !place)
			place = &hooks[i];
	}
	if (place)
		return kstall_hook_place(place, fn);
	pr_warn_once("more than %d providers: %pS is not watched\n", IQ_PROVIDERS, op);
	return false;
}

/**
 * iq_place_provider() - hook a provider's functions
 * @ops: of one of its devices
 *
 * Under kstall.update(). Several providers may share a function, several devices do.
 *
 * Return: true if one was not hooked.
 */
bool iq_place_provider(const struct ib_device_ops *ops)
{
	bool news;

	news = iq_place(ops->poll_cq, H_POLL);
	news |= iq_place(ops->post_send, H_POST);
	news |= iq_place(ops->reg_user_mr, H_REG);
	news |= iq_place(ops->reg_user_mr_dmabuf, H_REG_DMABUF);
	return news;
}

/* kstall.update() */
static bool iq_update(u64 wanted)
{
	return iq_devices_update(READ_ONCE(kstall_event_ib_qp_error.wanted));
}

/* ---- init and exit ---- */

static int __init ib_cq_trace_init(void)
{
	int ret;

	if (kstall_module_is_vendors("ib_core")) {
		pr_err("absent: vendor ib_core, which is not the one this module was built for\n");
		return -ENODEV;
	}
	iq_posts.capacity = max_posts;
	iq_qps.capacity = max_qps;
	kstall.update = iq_update;
	ret = kstall_init();
	if (ret)
		return ret;
	ret = iq_devices_init();
	if (ret)
		kstall_exit();
	return ret;
}

static void __exit ib_cq_trace_exit(void)
{
	iq_devices_exit();
	kstall_exit();
}

module_init(ib_cq_trace_init);
module_exit(ib_cq_trace_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION("0.2.0");
MODULE_AUTHOR("kstall maintainers");
MODULE_DESCRIPTION("kstall: between an RDMA device's completion and the task that waits for it");
