// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "engine/engine.h"

static const char *const names[] = {
#include "engine/syscalls.inc"
};

/* Of calls that have the same number on every architecture (but alpha, and MIPS's are larger). */
#define FIRST_COMMON 424
/* Where the others' numbers of another architecture are kept: they name nothing here. */
#define FOREIGN 32000

s16 ks_syscall_of(const struct ks_engine *e, u64 nr)
{
	if (nr >= FOREIGN)
		return -1;
	return e->foreign_calls && nr < FIRST_COMMON ? nr + FOREIGN : nr;
}

const char *ks_syscall_name(int nr)
{
	static char other[32];

	if (nr >= 0 && (size_t)nr < ARRAY_SIZE(names) && names[nr])
		return names[nr];
	return ks_fmt(other, sizeof(other), "system call %d", nr >= FOREIGN ? nr - FOREIGN : nr);
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
