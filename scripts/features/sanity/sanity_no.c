// SPDX-License-Identifier: GPL-2.0
/* Must not compile: a missing function and a wrong pointer type are errors. */
#include <linux/module.h>
#include <linux/tracepoint.h>

#ifdef __has_attribute
static int takes_module(struct module *mod)
{
	return kstall_no_such_function(mod);
}

int sanity_no(struct tracepoint *tp)
{
	return takes_module(tp);
}
#endif
