// SPDX-License-Identifier: GPL-2.0
/*
 * The values in a printed event. A task may have a name that reads like fields, so the event's
 * print format says what can stand where, and the record what its strings are, where there is one.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "recorder/recorder.h"

#define MAX_PIECES 64
#define MAX_STEPS 100000

/* " ring=%08x" is a literal, a conversion, and a key in the literal. */
struct piece {
	const char *literal;
	int bytes;
	char kind;		/* of the conversion: d or x, a number; s, anything; '\0': none */
	int key, key_bytes;	/* in the literal; key_bytes 0: none */
};

struct split {
	struct piece piece[MAX_PIECES];
	int nr;
	const char *const *known;	/* the strings of the record; NULL, or an entry: not known */
	const char *at[MAX_PIECES], *found[MAX_PIECES];	/* where the literals are */
	int ways, steps;
};

/* ---- the format ---- */

static void find_key(struct piece *p)
{
	int end = p->bytes, i;

	while (end > 0 && p->literal[end - 1] != '=')
		end--;
	for (i = end - 1; i > 0 && (isalnum((u8)p->literal[i - 1]) || p->literal[i - 1] == '_');)
		i--;
	if (end - 1 > i) {
		p->key = i;
		p->key_bytes = end - 1 - i;
	}
}

static char kind_of(char conversion)
{
	if (strchr("diu", conversion))
		return 'd';
	return strchr("xX", conversion) ? 'x' : 's';
}

/* "%%" ends a piece without a conversion. */
static bool parse(struct split *s, const char *format)
{
	while (*format && s->nr < MAX_PIECES) {
		struct piece *p = &s->piece[s->nr++];

		p->literal = format;
		p->bytes = strcspn(format, "%");
		format += p->bytes;
		if (format[0] == '%' && format[1] == '%') {
			p->bytes++;
			format += 2;
		} else if (*format) {
			format += 1 + strspn(format + 1, "#0123456789-+ .hlzjt");
			if (!*format)
				return false;
			p->kind = kind_of(*format);
			/* %pI6c and the like */
			format += *format == 'p' ? 1 + strspn(format + 1, "IiMSsFfKkUbBhcCdn46") : 1;
		}
		find_key(p);
	}
	return !*format;
}

/* ---- the text ---- */

static size_t number(const char *at, char kind)
{
	size_t blank = strspn(at, " "), sign = at[blank] == '-', n;

	at += blank + sign;
	if (kind == 'd')
		n = strspn(at, "0123456789");
	else
		n = strspn(at, "0123456789abcdefABCDEFxX");
	return n ? blank + sign + n : 0;
}

static void found(struct split *s)
{
	if (!s->ways++) {
		memcpy(s->found, s->at, sizeof(s->at));
		return;
	}
	/* two strings side by side are one value */
	for (int i = 0; i < s->nr; i++) {
		if (s->piece[i].key_bytes && s->at[i] != s->found[i])
			return;
	}
	s->ways--;
}

/* Every way in which the pieces from @i on can be what stands at @at. */
static void match(struct split *s, int i, const char *at)
{
	const struct piece *p = &s->piece[i];
	size_t n;

	if (s->ways > 1 || s->steps++ > MAX_STEPS)
		return;
	if (i == s->nr) {
		if (!*at)
			found(s);
		return;
	}
	if (strncmp(at, p->literal, p->bytes))
		return;
	s->at[i] = at;
	at += p->bytes;
	if (!p->kind) {
		match(s, i + 1, at);
	} else if (p->kind != 's') {
		n = number(at, p->kind);
		if (n)
			match(s, i + 1, at + n);
	} else if (s->known && s->known[i]) {
		n = strlen(s->known[i]);
		if (!strncmp(at, s->known[i], n))
			match(s, i + 1, at + n);
	} else {
		for (n = 0; n <= strlen(at); n++)
			match(s, i + 1, at + n);
	}
}

/* ---- printing ---- */

static void put_text(FILE *out, const char *s, size_t n)
{
	char *text = strndup(s, n);

	ks_json_string(out, text ? text : "");
	free(text);
}

/* What not every reader of JSON has room for stays a string. */
static bool is_number(const struct piece *p, const char *s, size_t n)
{
	return p->kind == 'd' && n <= 18 && number(s, 'd') == n && !isblank((u8)*s);
}

static void put_values(FILE *out, const struct split *s)
{
	const char *sep = "", *end;

	for (int i = 0, next; i < s->nr; i++) {
		const struct piece *p = &s->piece[i];
		const char *value = s->found[i] + p->key + p->key_bytes + 1;

		if (!p->key_bytes)
			continue;
		for (next = i + 1; next < s->nr && !s->piece[next].key_bytes;)
			next++;
		end = next < s->nr ? s->found[next] + s->piece[next].key : strchr(value, '\0');
		if (end > value && end[-1] == ' ')
			end--;
		fputs(sep, out);
		put_text(out, p->literal + p->key, p->key_bytes);
		fputs(": ", out);
		if (is_number(p, value, end - value))
			fprintf(out, "%.*s", (int)(end - value), value);
		else
			put_text(out, value, end - value);
		sep = ", ";
	}
}

/* ---- the record ---- */

static const char *string_of(const struct tep_print_arg *a)
{
	if (a->type == TEP_PRINT_FIELD)
		return a->field.name;
	return a->type == TEP_PRINT_STRING ? a->string.string : NULL;
}

/* A string of the record's, as long as it is printed; NULL: no string. */
static char *known_string(struct tep_event *te, struct tep_record *record,
			  const struct tep_print_arg *a)
{
	const char *name = string_of(a), *raw;
	struct tep_format_field *f = name ? tep_find_any_field(te, name) : NULL;
	int bytes;

	if (!f || !(f->flags & TEP_FIELD_IS_STRING))
		return NULL;
	raw = tep_get_field_raw(NULL, te, name, record, &bytes, 0);
	if (!raw || bytes < 0 || raw < (char *)record->data ||
	    bytes > (char *)record->data + record->size - raw)
		return NULL;
	return strndup(raw, bytes);
}

static void find_known(struct split *s, struct tep_event *te, struct tep_record *record,
		       char **known)
{
	const struct tep_print_arg *a = te->print_fmt.args;

	for (int i = 0; i < s->nr && a; i++) {
		if (!s->piece[i].kind)
			continue;
		if (s->piece[i].kind == 's')
			known[i] = known_string(te, record, a);
		a = a->next;
	}
}

bool ks_fields_json(FILE *out, struct tep_event *te, struct tep_record *record, const char *text)
{
	struct split *s = ks_alloc(sizeof(*s));
	char *known[MAX_PIECES] = { NULL };
	bool good;

	if (te->print_fmt.format && parse(s, te->print_fmt.format)) {
		if (record)
			find_known(s, te, record, known);
		s->known = (const char *const *)known;
		match(s, 0, text);
	}
	good = s->ways == 1 && s->steps <= MAX_STEPS;
	if (good)
		put_values(out, s);
	for (int i = 0; i < MAX_PIECES; i++)
		free(known[i]);
	free(s);
	return good;
}
