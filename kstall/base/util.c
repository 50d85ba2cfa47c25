// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

size_t ks_utf8_len(const char *s)
{
	const u8 *p = (const u8 *)s;
	u8 low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
	u8 high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
	size_t len = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4 || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

bool ks_is_control(const char *s)
{
	const u8 *p = (const u8 *)s;

	return *p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0);
}

char *ks_printable(char *buf, size_t size, const char *s)
{
	size_t at = 0;

	while (*s) {
		size_t len = ks_utf8_len(s), new;
		const char *c = !len ? KS_NO_CHARACTER : ks_is_control(s) ? "?" : s;

		new = c == s ? len : strlen(c);
		if (at + new >= size)
			break;
		memcpy(buf + at, c, new);
		at += new;
		s += len ? len : 1;
	}
	buf[at] = '\0';
	return buf;
}

static FILE *own_errors;

FILE *ks_errors(void)
{
	return own_errors ? own_errors : stderr;
}

void ks_silence_libraries(void)
{
	int copy = own_errors ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int nowhere;

	own_errors = copy < 0 ? own_errors : fdopen(copy, "w");
	if (copy < 0 || !own_errors)
		return;
	setvbuf(own_errors, NULL, _IONBF, 0);
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(nowhere, STDERR_FILENO);
	close(nowhere);
}

/* A message may have a file's or a task's name in it. */
static void say(const char *fmt, va_list ap)
{
	char text[2048], plain[2048];

	vsnprintf(text, sizeof(text), fmt, ap);
	fflush(stdout);
	fprintf(ks_errors(), "kstall: %s\n", ks_printable(plain, sizeof(plain), text));
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

int ks_openat2(int dir, const char *path, u64 flags, u64 resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static int smaller(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

u64 ks_median(const u64 *ns, size_t nr)
{
	u64 *sorted, low, high;

	if (!nr)
		return 0;
	sorted = ks_alloc(nr * sizeof(*sorted));
	memcpy(sorted, ns, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), smaller);
	low = sorted[(nr - 1) / 2];
	high = sorted[nr / 2];
	free(sorted);
	return low + (high - low) / 2;
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
	if (ns < 999950)	/* above, it is rounded to 1000.0 */
		return ks_fmt(buf, 32, "%.1f us", ns / 1e3);
	if (ns < 999995000)
		return ks_fmt(buf, 32, "%.2f ms", ns / 1e6);
	return ks_fmt(buf, 32, "%.3f s", ns / 1e9);
}

char *ks_count(char *buf, u64 n, const char *what)
{
	return ks_fmt(buf, 64, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

int ks_columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

u64 ks_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}
