// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "engine/engine.h"

static const char *const names[] = {
#include "engine/syscalls.inc"
};

const char *ks_syscall_name(int nr)
{
	static char other[32];

	if (nr >= 0 && (size_t)nr < ARRAY_SIZE(names) && names[nr])
		return names[nr];
	return ks_fmt(other, sizeof(other), "system call %d", nr);
}

bool ks_syscall_is(int nr, const char *name)
{
	return nr >= 0 && !strcmp(ks_syscall_name(nr), name);
}

/* Sleep that the program has asked for. */
bool ks_syscall_sleeps(int nr)
{
	return ks_syscall_is(nr, "nanosleep") || ks_syscall_is(nr, "clock_nanosleep");
}
