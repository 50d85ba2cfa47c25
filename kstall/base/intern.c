// SPDX-License-Identifier: GPL-2.0
/*
 * Strings as numbers. A culprit's name may be new with each step (a fence has a number), so the
 * table is bounded: what no longer fits is "(too many to name)".
 */
#include <string.h>

#include "base/util.h"

#define SLOTS (1 << 20)		/* a power of two */
#define MAX_STRINGS (SLOTS / 2)

static u32 *slots;
static char **strings;
static size_t room;
static u32 count;

static u64 hash_of(const char *s)
{
	u64 h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (u8)*s++) * 0x100000001b3ULL;
	return h ^ (h >> 29);
}

static u32 add(const char *s)
{
	strings = ks_grow(strings, &room, count + 1, sizeof(*strings));
	strings[count] = ks_strdup(s);
	return count++;
}

u32 ks_intern(const char *s)
{
	char plain[512];
	u32 i;

	if (!slots) {
		slots = ks_alloc(SLOTS * sizeof(*slots));
		add("");
		add("(too many to name)");
	}
	if (!*s)
		return 0;
	ks_printable(plain, sizeof(plain), s);
	for (i = hash_of(plain) & (SLOTS - 1); slots[i]; i = (i + 1) & (SLOTS - 1)) {
		if (!strcmp(strings[slots[i]], plain))
			return slots[i];
	}
	if (count >= MAX_STRINGS)
		return 1;
	return slots[i] = add(plain);
}

const char *ks_string(u32 id)
{
	return id < count ? strings[id] : "";
}
