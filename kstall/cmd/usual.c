// SPDX-License-Identifier: GPL-2.0
#include "cmd/usual.h"

bool ks_is_unusual(struct ks_usual *u, u64 ns, size_t times)
{
	bool unusual = u->nr >= KS_STEPS_BEFORE && ns / times > ks_median(u->ns, min_u64(u->nr, KS_LAST_STEPS));

	u->ns[u->nr++ % KS_LAST_STEPS] = ns;
	return unusual;
}
