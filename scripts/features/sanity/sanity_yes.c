// SPDX-License-Identifier: GPL-2.0
/* Must compile, or no other answer means anything. */
#include <linux/module.h>
#include <linux/tracepoint.h>

int sanity_yes(struct tracepoint *tp);
int sanity_yes(struct tracepoint *tp)
{
	return !!tp->name;
}
