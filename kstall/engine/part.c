// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/part.h"

#define MAX_SHARED (KS_MAX_PARTS + 128)	/* from here on there are no culprits */
#define MAX_PHASES (2 * KS_MAX_PARTS)	/* from here on there are no phases */
#define SLOTS 4096			/* more than twice as many as there can be parts */
#define FEW 24				/* of so many parts each is looked at */

const char *const ks_state_name[KS_NR_STATES] = {
	[KS_UNKNOWN] = "unknown",
	[KS_ON_CPU] = "on_cpu",
	[KS_CPU_WAIT] = "cpu_wait",
	[KS_QUOTA] = "quota",
	[KS_BLOCKED] = "blocked",
	[KS_ABSENT] = "absent",
	[KS_COLLECTIVE] = "coll",
};

const char *const ks_layer_name[KS_NR_LAYERS] = {
	[KS_NONE] = "none",
	[KS_USER] = "user",
	[KS_KERNEL] = "kernel",
	[KS_UNEXPLAINED] = "unexplained",
	[KS_SLEEP] = "sleep",
	[KS_EXIT] = "exit",
	[KS_CPU] = "cpu",
	[KS_QUOTA_LAYER] = "quota",
	[KS_ABSENT_LAYER] = "absent",
	[KS_UNKNOWN_LAYER] = "unknown",
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
	[KS_LOCK] = "lock",
	[KS_RECLAIM] = "reclaim",
	[KS_GPU_WAIT] = "gpu_wait",
	[KS_COPY] = "copy",
	[KS_GPU_MEM] = "gpu_mem",
	[KS_GPU_LOAD] = "gpu_load",
	[KS_GPU_GRAPH] = "gpu_graph",
	[KS_GPU_LAUNCH] = "gpu_launch",
	[KS_GPU_INIT] = "gpu_init",
	[KS_NCCL] = "nccl",
};

static const struct ks_form named = { "{name}", NULL, 0, { "name" } };
static const struct ks_form task = { "{comm}/{tid}", "{comm}, {n} tasks", 1 << 0, { "comm", "tid" } };
static const struct ks_form nameless = { "task {tid}", "{n} tasks", 0, { "comm", "tid" } };

struct ks_culprit ks_named(const char *name)
{
	if (!*name)
		return (struct ks_culprit){ 0 };
	return (struct ks_culprit){ .form = &named, .strings = 1 << 0, .v = { ks_intern(name) } };
}

struct ks_culprit ks_task(const char *comm, s32 tid)
{
	if (!*comm)
		return (struct ks_culprit){ .form = &nameless, .v = { 0, tid } };
	return (struct ks_culprit){ .form = &task, .strings = 1 << 0, .v = { ks_intern(comm), tid } };
}

bool ks_same_name(const struct ks_what *a, const struct ks_what *b)
{
	return a->state == b->state && a->layer == b->layer && a->phase == b->phase &&
	       !memcmp(&a->via, &b->via, sizeof(a->via));
}

bool ks_same_part(const struct ks_what *a, const struct ks_what *b)
{
	return ks_same_name(a, b) && !memcmp(&a->culprit, &b->culprit, sizeof(a->culprit));
}

void ks_via_any(struct ks_what *what)
{
	for (size_t i = 0; i < KS_HOPS; i++)
		what->via.hop[i].tid = 0;
}

static u32 hash_of(const struct ks_what *w)
{
	const u64 k = 0x9e3779b97f4a7c15ULL;
	u64 h = w->state | w->layer << 8 | (u64)w->phase << 16;

	h = (h ^ w->via.call ^ (u64)w->via.nr << 32) * k;
	for (size_t i = 0; i < KS_HOPS; i++)
		h = (h ^ h >> 29 ^ (u32)w->via.hop[i].tid ^ (u64)w->via.hop[i].comm << 32) * k;
	h = (h ^ h >> 29 ^ (uintptr_t)w->culprit.form ^ w->culprit.many) * k;
	for (size_t i = 0; i < KS_VALUES; i++)
		h = (h ^ h >> 29 ^ w->culprit.v[i]) * k;
	return h >> 40;
}

static struct ks_part *find_among_few(const struct ks_parts *p, const struct ks_what *what)
{
	for (size_t i = p->nr; i-- > 0;) {
		if (ks_same_part(&p->part[i].what, what))
			return &p->part[i];
	}
	return NULL;
}

/* Where @what is in the table, or where it would be. */
static u16 *slot_of(const struct ks_parts *p, const struct ks_what *what)
{
	u32 i = hash_of(what) % SLOTS;

	while (p->slot[i] && !ks_same_part(&p->part[p->slot[i] - 1].what, what))
		i = (i + 1) % SLOTS;
	return &p->slot[i];
}

static struct ks_part *find(const struct ks_parts *p, const struct ks_what *what)
{
	u16 *slot;

	if (!p->slot)
		return find_among_few(p, what);
	slot = slot_of(p, what);
	return *slot ? &p->part[*slot - 1] : NULL;
}

static struct ks_part *append(struct ks_parts *p, const struct ks_what *what)
{
	p->part = ks_grow(p->part, &p->room, p->nr + 1, sizeof(*p->part));
	p->part[p->nr++] = (struct ks_part){ .what = *what };
	if (p->slot) {
		*slot_of(p, what) = p->nr;
	} else if (p->nr > FEW) {
		p->slot = ks_alloc(SLOTS * sizeof(*p->slot));
		for (size_t i = 0; i < p->nr; i++)
			*slot_of(p, &p->part[i].what) = i + 1;
	}
	return &p->part[p->nr - 1];
}

static struct ks_culprit shared(const struct ks_culprit *c)
{
	struct ks_culprit s = { 0 };

	if (!c->form || !c->form->many)
		return s;
	s.form = c->form;
	s.many = 1;
	s.strings = c->strings & c->form->shared;
	for (size_t i = 0; i < KS_VALUES; i++)
		s.v[i] = c->form->shared & 1 << i ? c->v[i] : 0;
	return s;
}

/* What is merged when there are too many parts. Never the state and the layer. */
static struct ks_part *find_coarse(struct ks_parts *p, struct ks_what *what)
{
	struct ks_part *part;

	what->culprit = shared(&what->culprit);
	part = find(p, what);
	if (part || p->nr < MAX_SHARED)
		return part;
	what->culprit = (struct ks_culprit){ 0 };
	part = find(p, what);
	if (part || p->nr < MAX_PHASES)
		return part;
	what->via = (struct ks_via){ 0 };
	what->phase = ks_intern("(others)");
	return find(p, what);
}

void ks_parts_add(struct ks_parts *p, struct ks_what what, u64 ns, u64 count)
{
	struct ks_part *part = find(p, &what);

	if (!part && p->nr >= KS_MAX_PARTS)
		part = find_coarse(p, &what);
	if (!part)
		part = append(p, &what);
	part->ns += ns;
	part->count += count;
}

void ks_parts_free(struct ks_parts *p)
{
	free(p->part);
	free(p->slot);
	memset(p, 0, sizeof(*p));
}

static int larger(const void *a, const void *b)
{
	const struct ks_part *x = a, *y = b;

	int order;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	/* Not by the form's address, which differs from run to run. */
	order = memcmp(&x->what, &y->what, offsetof(struct ks_what, culprit));
	return order ? order : memcmp(x->what.culprit.v, y->what.culprit.v, sizeof(x->what.culprit.v));
}

/* The culprit of @largest; if that stands for several, it says for how many. */
static struct ks_culprit culprit_of(const struct ks_parts *p, const struct ks_part *largest)
{
	struct ks_culprit c = largest->what.culprit;
	u64 nr = 0;

	if (!c.many)
		return c;
	for (size_t i = 0; i < p->nr; i++) {
		struct ks_culprit s = shared(&p->part[i].what.culprit);

		if (ks_same_name(&p->part[i].what, &largest->what) && !memcmp(&s, &c, sizeof(c)))
			nr += p->part[i].count;
	}
	c.many = min_u64(max_u64(nr, 1), UINT32_MAX);
	return c;
}

void ks_parts_summary(const struct ks_parts *p, struct ks_parts *out)
{
	struct ks_parts sorted = { .part = ks_alloc(p->nr * sizeof(*p->part)), .nr = p->nr };

	if (p->nr)
		memcpy(sorted.part, p->part, p->nr * sizeof(*p->part));
	qsort(sorted.part, sorted.nr, sizeof(*sorted.part), larger);
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sorted.nr; i++) {
		const struct ks_part *s = &sorted.part[i];
		size_t j = 0;

		while (j < out->nr && !ks_same_name(&out->part[j].what, &s->what))
			j++;
		if (j == out->nr) {
			out->part = ks_grow(out->part, &out->room, j + 1, sizeof(*out->part));
			out->part[out->nr++] = (struct ks_part){ .what = s->what };
			out->part[j].what.culprit = culprit_of(&sorted, s);
		}
		out->part[j].ns += s->ns;
		out->part[j].count += s->count;
	}
	if (out->nr)
		qsort(out->part, out->nr, sizeof(*out->part), larger);
	free(sorted.part);
}

/* It runs on the GPU, or has run and holds nobody. */
static bool is_own_work(const char *phase)
{
	return !strcmp(phase, "gpu") || !strcmp(phase, "kernel") || !strcmp(phase, "late");
}

bool ks_part_is_stall(const struct ks_what *what)
{
	if (what->via.nr)
		return true;
	if (what->layer == KS_NCCL)
		return !is_own_work(ks_string(what->phase));
	return what->layer != KS_USER && what->layer != KS_SLEEP && what->layer != KS_ABSENT_LAYER &&
	       what->layer != KS_UNKNOWN_LAYER;
}

char *ks_via_text(char *buf, const struct ks_via *via)
{
	size_t at = 0;

	*buf = '\0';
	if (!via->nr)
		return buf;
	at = strlen(ks_fmt(buf, KS_TEXT, "%s", via->call ? ks_string(via->call) : "wait"));
	for (u32 i = 0; i < via->nr && i < KS_HOPS; i++) {
		ks_fmt(buf + at, KS_TEXT - at, " ← %s", ks_string(via->hop[i].comm));
		at += strlen(buf + at);
		if (via->hop[i].tid)
			ks_fmt(buf + at, KS_TEXT - at, "/%d", via->hop[i].tid);
		at += strlen(buf + at);
	}
	if (via->nr > KS_HOPS)
		ks_fmt(buf + at, KS_TEXT - at, " ← …");
	return buf;
}

char *ks_part_name(char *buf, const struct ks_what *what)
{
	size_t at = strlen(ks_via_text(buf, &what->via));

	ks_fmt(buf + at, KS_TEXT - at, "%s%s%s%s", at ? ": " : "", ks_layer_name[what->layer],
	       what->phase ? ": " : "", ks_string(what->phase));
	return buf;
}

/* KS_VALUES: it has none of that name. */
static size_t value_called(const struct ks_form *form, const char *name, size_t len)
{
	size_t i = 0;

	while (i < KS_VALUES && (!form->value[i] || strncmp(form->value[i], name, len) || form->value[i][len]))
		i++;
	return i;
}

/* "{NAME}" of that length; one without a value stays as it is. */
static int put_value(char *at, size_t room, const struct ks_culprit *c, const char *name, size_t len)
{
	size_t i = value_called(c->form, name + 1, len - 2);

	if (len == 3 && name[1] == 'n')
		return snprintf(at, room, "%u", c->many);
	if (i == KS_VALUES)
		return snprintf(at, room, "%.*s", (int)len, name);
	if (c->strings & 1 << i)
		return snprintf(at, room, "%s", ks_string(c->v[i]));
	return snprintf(at, room, "%lld", (long long)c->v[i]);
}

char *ks_culprit_text(char *buf, const struct ks_culprit *c)
{
	const char *fmt = !c->form ? "" : c->many ? c->form->many : c->form->one;
	size_t at = 0;

	while (*fmt && at + 1 < KS_TEXT) {
		if (*fmt == '{') {
			size_t len = strcspn(fmt, "}") + 1;
			int n = put_value(buf + at, KS_TEXT - at, c, fmt, len);

			at += n > 0 ? min_u64(n, KS_TEXT - at - 1) : 0;
			fmt += len;
		} else {
			buf[at++] = *fmt++;
		}
	}
	buf[at] = '\0';
	return buf;
}
