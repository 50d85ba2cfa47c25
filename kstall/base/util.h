/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_UTIL_H
#define KSTALL_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint8_t u8;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
#define NSEC 1000000000ULL

static inline u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }
static inline u64 max_u64(u64 a, u64 b) { return a > b ? a : b; }

/* Memory that cannot be had ends the program: one line, exit status 1. */
void *ks_alloc(size_t bytes);
void *ks_grow(void *p, size_t *room, size_t want, size_t size);
char *ks_strdup(const char *s);

/* "kstall: ..." on standard error. ks_die() exits with 1. */
void ks_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ks_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * libtracecmd, and the C library when it aborts, write to standard error, too. After ks_silence_libraries() only code that writes to
 * ks_errors() is seen.
 */
void ks_silence_libraries(void);
FILE *ks_errors(void);

/* Bounded printf that never runs over and always ends in NUL; returns @buf. */
char *ks_fmt(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* openat2(2), which the C library does not have: @resolve is RESOLVE_* of linux/openat2.h. O_CLOEXEC. */
int ks_openat2(int dir, const char *path, u64 flags, u64 resolve);

/* Bytes of the UTF-8 character that @s begins with; 0: it is none. */
size_t ks_utf8_len(const char *s);

/* Does @s begin with what moves a terminal's cursor or ends a line: C0, DEL, C1 (U+0080 to U+009F)? */
bool ks_is_control(const char *s);

#define KS_NO_CHARACTER "\xef\xbf\xbd"	/* U+FFFD, for a byte that is not UTF-8 */

/*
 * @s for terminals and other readers of UTF-8, as a task may have any name: a control becomes '?', a byte that is not UTF-8 U+FFFD.
 * At most 3 times as long; cut between characters where @buf is too small.
 */
char *ks_printable(char *buf, size_t size, const char *s);

/* Of the two in the middle the mean; 0 if there are none. @ns stays as it is. */
u64 ks_median(const u64 *ns, size_t nr);

/* "1s", "200ms", "50us", "7" (seconds) to ns; 0 if it is none. */
u64 ks_parse_time(const char *s);

/* 1234567 to "1.23 ms"; @buf has 32 bytes. */
char *ks_time(char *buf, u64 ns);

/* "1 step", "2 steps"; @buf has 64 bytes. */
char *ks_count(char *buf, u64 n, const char *what);

/* Columns of a terminal: one a character. */
int ks_columns(const char *s);

u64 ks_mono_ns(void);

/* Strings that occur often, as numbers, and printable. 0 is "". */
u32 ks_intern(const char *s);
const char *ks_string(u32 id);

#endif
