// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"

void *ks_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		ks_die("out of memory");
	return p;
}

/* Room for @want elements of @size; the new ones are not cleared. */
void *ks_grow(void *p, size_t *room, size_t want, size_t size)
{
	if (want <= *room)
		return p;
	*room = want > 2 * *room ? want : 2 * *room;
	p = reallocarray(p, *room, size);
	if (!p)
		ks_die("out of memory");
	return p;
}

char *ks_strdup(const char *s)
{
	return strcpy(ks_alloc(strlen(s) + 1), s);
}

char *ks_printable(char *s)
{
	for (char *p = s; *p; p++) {
		if (ks_is_control(*p))
			*p = '?';
	}
	return s;
}

static void say(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("kstall: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void ks_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void ks_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(1);
}

char *ks_fmt(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return buf;
}

u64 ks_parse_time(const char *s)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
		{ "m", 60e9 }, { "h", 3600e9 },
	};
	char *end;
	double v = strtod(s, &end);

	if (end == s || !(v > 0))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(end, units[i].unit) && v * units[i].ns < 9e18)
			return (u64)(v * units[i].ns);
	}
	return 0;
}

char *ks_time(char *buf, u64 ns)
{
	if (ns < 1000)
		return ks_fmt(buf, 32, "%u ns", (unsigned int)ns);
	if (ns < 1000000)
		return ks_fmt(buf, 32, "%.1f us", ns / 1e3);
	if (ns < NSEC)
		return ks_fmt(buf, 32, "%.2f ms", ns / 1e6);
	return ks_fmt(buf, 32, "%.3f s", ns / 1e9);
}

u64 ks_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}
