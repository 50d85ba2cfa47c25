// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "cmd/usual.h"

static int shorter(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static u64 median(const struct ks_usual *u)
{
	size_t nr = min_u64(u->nr, KS_LAST_STEPS);
	u64 sorted[KS_LAST_STEPS];

	memcpy(sorted, u->ns, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), shorter);
	return sorted[nr / 2];
}

bool ks_is_unusual(struct ks_usual *u, u64 ns, size_t times)
{
	bool unusual = u->nr >= KS_STEPS_BEFORE && ns / times > median(u);

	u->ns[u->nr++ % KS_LAST_STEPS] = ns;
	return unusual;
}
