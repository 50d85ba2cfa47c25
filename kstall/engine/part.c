// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "engine/part.h"

const char *const ks_state_name[KS_NR_STATES] = {
	[KS_UNKNOWN] = "unknown",
	[KS_ON_CPU] = "on_cpu",
	[KS_CPU_WAIT] = "cpu_wait",
	[KS_QUOTA] = "quota",
	[KS_BLOCKED] = "blocked",
	[KS_ABSENT] = "absent",
};

const char *const ks_layer_name[KS_NR_LAYERS] = {
	[KS_NONE] = "none",
	[KS_USER] = "user",
	[KS_KERNEL] = "kernel",
	[KS_UNEXPLAINED] = "unexplained",
	[KS_SLEEP] = "sleep",
	[KS_CPU] = "cpu",
	[KS_QUOTA_LAYER] = "quota",
	[KS_ABSENT_LAYER] = "absent",
	[KS_FENCE] = "fence",
	[KS_GPU_SUBMIT] = "gpu_submit",
	[KS_TTM] = "ttm",
	[KS_IO_URING] = "io_uring",
	[KS_IO_URING_SQ] = "io_uring_sq",
	[KS_DISK] = "disk",
	[KS_WRITEBACK] = "writeback",
	[KS_DIRTY_THROTTLE] = "dirty_throttle",
	[KS_NOTIFIER] = "notifier",
	[KS_MIGRATION] = "migration",
	[KS_COMPACTION] = "compaction",
	[KS_HUGE_PAGE] = "huge_page",
	[KS_PIN] = "pin",
	[KS_TLB] = "tlb",
	[KS_DMA_MAP] = "dma_map",
	[KS_IOMMU] = "iommu",
	[KS_RDMA] = "rdma",
	[KS_MR_REG] = "mr_reg",
	[KS_ODP] = "odp",
	[KS_NVIDIA] = "nvidia",
	[KS_UVM] = "uvm",
	[KS_KFD] = "kfd",
	[KS_UVERBS] = "uverbs",
};

static bool same(const struct ks_what *a, const struct ks_what *b)
{
	return a->state == b->state && a->layer == b->layer && a->phase == b->phase;
}

void ks_parts_add(struct ks_parts *p, struct ks_what what, u64 ns, u64 count)
{
	p->sum += ns;
	if (p->nr >= KS_MAX_PARTS)
		what.culprit = 0;
	for (size_t i = p->nr; i-- > 0;) {
		if (same(&p->part[i].what, &what) && p->part[i].what.culprit == what.culprit) {
			p->part[i].ns += ns;
			p->part[i].count += count;
			return;
		}
	}
	p->part = ks_grow(p->part, &p->room, p->nr + 1, sizeof(*p->part));
	p->part[p->nr++] = (struct ks_part){ what, ns, count };
}

void ks_parts_free(struct ks_parts *p)
{
	free(p->part);
	memset(p, 0, sizeof(*p));
}

static int larger(const void *a, const void *b)
{
	const struct ks_part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return memcmp(&x->what, &y->what, sizeof(x->what));
}

void ks_parts_summary(const struct ks_parts *p, struct ks_parts *out)
{
	struct ks_parts sorted = { .part = ks_alloc(p->nr * sizeof(*p->part)), .nr = p->nr };

	if (p->nr)
		memcpy(sorted.part, p->part, p->nr * sizeof(*p->part));
	qsort(sorted.part, sorted.nr, sizeof(*sorted.part), larger);
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sorted.nr; i++) {
		struct ks_part *s = &sorted.part[i];

		for (size_t j = 0; j < out->nr; j++) {
			if (same(&out->part[j].what, &s->what))
				s->what.culprit = out->part[j].what.culprit;
		}
		ks_parts_add(out, s->what, s->ns, s->count);
	}
	if (out->nr)
		qsort(out->part, out->nr, sizeof(*out->part), larger);
	free(sorted.part);
}

bool ks_part_is_stall(const struct ks_what *what)
{
	return what->layer != KS_USER && what->layer != KS_SLEEP && what->layer != KS_ABSENT_LAYER;
}

char *ks_part_name(char *buf, const struct ks_what *what)
{
	if (!what->phase)
		return ks_fmt(buf, 96, "%s", ks_layer_name[what->layer]);
	return ks_fmt(buf, 96, "%s: %s", ks_layer_name[what->layer], ks_string(what->phase));
}
