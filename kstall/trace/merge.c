// SPDX-License-Identifier: GPL-2.0
/* A binary heap: a record costs the logarithm of the number of CPUs. */
#include "trace/merge.h"

static bool before(const struct ks_stream *a, const struct ks_stream *b)
{
	if (a->head.ts != b->head.ts)
		return a->head.ts < b->head.ts;
	return a->order < b->order;
}

static void swap(struct ks_merge *m, size_t a, size_t b)
{
	struct ks_stream *s = m->heap[a];

	m->heap[a] = m->heap[b];
	m->heap[b] = s;
}

static void up(struct ks_merge *m, size_t i)
{
	for (; i && before(m->heap[i], m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(m, i, (i - 1) / 2);
}

static void down(struct ks_merge *m, size_t i)
{
	for (;;) {
		size_t least = i, child = 2 * i + 1;

		if (child < m->nr && before(m->heap[child], m->heap[least]))
			least = child;
		if (child + 1 < m->nr && before(m->heap[child + 1], m->heap[least]))
			least = child + 1;
		if (least == i)
			return;
		swap(m, i, least);
		i = least;
	}
}

/* As soon as it is known that records are missing, before later ones of other streams are taken. */
static bool pull(struct ks_merge *m, struct ks_stream *s)
{
	s->has_head = s->next(s, &s->head);
	if (s->has_head && s->head.missed)
		m->lost(m->priv, s->last, s->head.ts, s->head.missed);
	return s->has_head;
}

void ks_merge_add(struct ks_merge *m, struct ks_stream *s)
{
	if (s->has_head || !pull(m, s))
		return;
	m->heap = ks_grow(m->heap, &m->room, m->nr + 1, sizeof(*m->heap));
	m->heap[m->nr++] = s;
	up(m, m->nr - 1);
}

bool ks_merge_next(struct ks_merge *m, u64 until, struct ks_record *r)
{
	struct ks_stream *s;

	/* The one that was given out last is still at the top. */
	while (m->nr && !m->heap[0]->has_head) {
		if (!pull(m, m->heap[0])) {
			swap(m, 0, --m->nr);
			if (!m->nr)
				return false;
		}
		down(m, 0);
	}
	if (!m->nr || m->heap[0]->head.ts > until)
		return false;
	s = m->heap[0];
	*r = s->head;
	s->last = s->head.ts;
	s->has_head = false;
	return true;
}
