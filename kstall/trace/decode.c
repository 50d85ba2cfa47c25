// SPDX-License-Identifier: GPL-2.0
/*
 * The formats are asked once; a record then costs a table look-up and some copies. What is read
 * lies inside the record, whatever the record says.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"

struct field {
	u32 offset, size;
	bool is_string, is_dynamic, is_relative, is_signed, here;
};

struct kind {
	const struct ks_type *type;
	struct field field[KS_MAX_FIELDS];
	const char *lacks;	/* the first field that the format has not */
	const char *function;	/* of a family: the event is this function's */
	u64 seen;
};

struct ks_decoder {
	struct tep_handle *tep;
	const char *group;
	struct kind *kind;	/* one a type, in the same order, and then one an event of a family */
	size_t nr_kinds, room_kinds;
	u16 *by_id;		/* index in kind plus 1 */
	u32 nr_ids;
	struct field id, flags, pid;
	u64 bad;
	char *text;		/* strings whose end is not in the record */
};

#define MAX_ID 65535
#define MAX_TEXT 4096

static void find_field(struct field *f, struct tep_format_field *tf)
{
	if (!tf || tf->offset < 0 || tf->size < 0)
		return;
	f->offset = tf->offset;
	f->size = tf->size;
	f->is_string = tf->flags & TEP_FIELD_IS_STRING;
	f->is_dynamic = tf->flags & TEP_FIELD_IS_DYNAMIC;
	f->is_relative = tf->flags & TEP_FIELD_IS_RELATIVE;
	f->is_signed = tf->flags & TEP_FIELD_IS_SIGNED;
	f->here = true;
}

/* NAME_N is element N of the array NAME; returns where N is, or NULL. */
static const char *element_of(const char *name)
{
	const char *last = strrchr(name, '_');

	return last && last[1] && !last[1 + strspn(last + 1, "0123456789")] ? last + 1 : NULL;
}

/* What the format calls it. */
static const char *whole_of(const char *name)
{
	const char *element = element_of(name);
	char whole[64];

	return element ? ks_string(ks_intern(ks_fmt(whole, sizeof(whole), "%.*s", (int)(element - name - 1), name))) : name;
}

static void find_named(struct field *f, struct tep_event *te, const char *name)
{
	struct tep_format_field *tf = tep_find_any_field(te, whole_of(name));
	u32 at;

	find_field(f, tf);
	if (!element_of(name) || !f->here)
		return;
	at = atoi(element_of(name)) * tf->elementsize;
	f->here = tf->elementsize && at + tf->elementsize <= f->size;
	f->offset += at;
	f->size = tf->elementsize;
}

static void add_kind(struct ks_decoder *d, size_t n, struct tep_event *te, const struct ks_type *type)
{
	struct kind *k = &d->kind[n];

	if (!te || te->id <= 0 || te->id > MAX_ID)
		return;
	k->type = type;
	d->by_id[te->id] = n + 1;
	for (int i = type->family; i < KS_MAX_FIELDS && type->fields[i]; i++) {
		find_named(&k->field[i], te, type->fields[i]);
		if (k->field[i].here)
			continue;
		if (!k->lacks)
			k->lacks = whole_of(type->fields[i]);
		/* A 0 for what another version calls otherwise would be a wrong answer, but for a call's arguments. */
		if (!element_of(type->fields[i]))
			d->by_id[te->id] = 0;
	}
	if (!d->id.here) {
		find_field(&d->id, tep_find_common_field(te, "common_type"));
		find_field(&d->flags, tep_find_common_field(te, "common_flags"));
		find_field(&d->pid, tep_find_common_field(te, "common_pid"));
	}
}

/* TYPE_NUMBER_FUNCTION */
static const struct ks_type *family_of(const char *name, const char **function)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		size_t len = strlen(ks_types[i].name);
		const char *end = name + len;

		if (!ks_types[i].family || strncmp(name, ks_types[i].name, len) || *end++ != '_')
			continue;
		*function = end + strspn(end, "0123456789") + 1;
		return end[strspn(end, "0123456789")] == '_' ? &ks_types[i] : NULL;
	}
	return NULL;
}

void ks_decoder_families(struct ks_decoder *d)
{
	for (int i = 0; i < tep_get_events_count(d->tep); i++) {
		struct tep_event *te = tep_get_event(d->tep, i);
		const struct ks_type *type;
		const char *function;

		if (te->id <= 0 || te->id > MAX_ID || d->by_id[te->id] || strcmp(te->system, d->group))
			continue;
		type = family_of(te->name, &function);
		if (!type)
			continue;
		d->kind = ks_grow(d->kind, &d->room_kinds, d->nr_kinds + 1, sizeof(*d->kind));
		d->kind[d->nr_kinds] = (struct kind){ .function = function };
		add_kind(d, d->nr_kinds, te, type);
		if (d->kind[d->nr_kinds].lacks)
			d->kind[type - ks_types].lacks = d->kind[d->nr_kinds].lacks;
		d->nr_kinds++;
	}
}

static const struct kind *kind_of(const struct ks_decoder *d, const struct ks_type *type)
{
	return &d->kind[type - ks_types];
}

/* What a module's event says is said twice otherwise. */
static void prefer_modules(struct ks_decoder *d)
{
	for (u32 id = 0; id <= MAX_ID; id++) {
		const struct ks_type *more = d->by_id[id] ? ks_type_of_module(d->kind[d->by_id[id] - 1].type) : NULL;

		if (more && kind_of(d, more)->type)
			d->by_id[id] = 0;
	}
}

struct ks_decoder *ks_decoder_new(struct tep_handle *tep, const char *group)
{
	struct ks_decoder *d = ks_alloc(sizeof(*d));

	d->tep = tep;
	d->group = group;
	d->nr_kinds = d->room_kinds = ks_nr_types;
	d->kind = ks_alloc(ks_nr_types * sizeof(*d->kind));
	d->by_id = ks_alloc((MAX_ID + 1) * sizeof(*d->by_id));
	d->text = ks_alloc(KS_MAX_FIELDS * MAX_TEXT);
	for (size_t i = 0; i < ks_nr_types; i++) {
		const char *system = strcmp(ks_types[i].system, "kstall") ? ks_types[i].system : group;

		if (!ks_types[i].family)
			add_kind(d, i, tep_find_event_by_name(tep, system, ks_types[i].name), &ks_types[i]);
	}
	ks_decoder_families(d);
	prefer_modules(d);
	return d;
}

void ks_decoder_free(struct ks_decoder *d)
{
	if (!d)
		return;
	free(d->kind);
	free(d->by_id);
	free(d->text);
	free(d);
}

u64 ks_decoder_bad(const struct ks_decoder *d)
{
	return d->bad;
}

bool ks_decoder_has(const struct ks_decoder *d, const struct ks_type *type)
{
	return kind_of(d, type)->type;
}

const char *ks_decoder_lacks(const struct ks_decoder *d, const struct ks_type *type)
{
	return kind_of(d, type)->lacks;
}

u64 ks_decoder_seen(const struct ks_decoder *d, const struct ks_type *type)
{
	return kind_of(d, type)->seen;
}

/* In the byte order of the machine that recorded. */
static bool number(const struct ks_decoder *d, const struct field *f, const struct ks_record *r,
		   u64 *out)
{
	if (!f->here || f->offset > r->size || f->size > r->size - f->offset)
		return false;
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return false;
	*out = tep_read_number(d->tep, (const char *)r->data + f->offset, f->size);
	if (f->is_signed && f->size < 8) {
		u64 sign = 1ULL << (8 * f->size - 1);

		*out = (*out ^ sign) - sign;
	}
	return true;
}

/* Where a string lies: in place, to the record's end (print), or where an offset says. */
static bool place(const struct ks_decoder *d, const struct field *f, const struct ks_record *r, u32 *offset, u32 *len)
{
	u64 loc;

	*offset = f->offset;
	*len = f->size;
	if (f->is_dynamic) {
		if (!number(d, f, r, &loc))
			return false;
		*offset = loc & 0xffff;
		*len = (loc >> 16) & 0xffff;
		if (f->is_relative)
			*offset += f->offset + f->size;
	}
	if (*offset > r->size)
		return false;
	if (!*len || *len > r->size - *offset)
		*len = r->size - *offset;
	return true;
}

static const char *string(struct ks_decoder *d, int i, const struct field *f,
			  const struct ks_record *r)
{
	char *copy = d->text + i * MAX_TEXT;
	u32 offset, len;
	const char *p;

	if (!f->here || !place(d, f, r, &offset, &len))
		return NULL;
	p = (const char *)r->data + offset;
	if (memchr(p, '\0', len))
		return p;
	len = min_u64(len, MAX_TEXT - 1);
	memcpy(copy, p, len);
	copy[len] = '\0';
	return copy;
}

static bool fill(struct ks_decoder *d, const struct kind *k, const struct ks_record *r,
		 struct ks_event *ev)
{
	for (int i = 0; i < KS_MAX_FIELDS; i++) {
		const struct field *f = &k->field[i];
		bool text = f->is_string || (f->here && !f->size);

		ev->num[i] = 0;
		ev->str[i] = ks_no_text;
		if (!f->here)
			continue;
		if (text) {
			ev->str[i] = string(d, i, f, r);
			if (!ev->str[i])
				return false;
		} else if (!number(d, f, r, &ev->num[i])) {
			return false;
		}
	}
	return true;
}

/*
 * A function in user mode is in no interrupt, but its event's flags may say so: trace_event_buffer_reserve() takes one from the
 * preempt count, which no tracepoint has raised there, and 0 becomes all bits.
 */
bool ks_decode(struct ks_decoder *d, const struct ks_record *r, struct ks_event *ev)
{
	u64 id, pid, flags;
	struct kind *k;

	if (!number(d, &d->id, r, &id) || !number(d, &d->pid, r, &pid) ||
	    !number(d, &d->flags, r, &flags)) {
		d->bad += d->id.here;
		return false;
	}
	if (id > MAX_ID || !d->by_id[id])
		return false;
	k = &d->kind[d->by_id[id] - 1];
	ev->type = k->type;
	ev->ts = r->ts;
	ev->cpu = r->cpu;
	ev->pid = pid;
	ev->flags = k->type->family ? 0 : flags;
	ev->own = r->own;
	if (!fill(d, k, r, ev)) {
		d->bad++;
		return false;
	}
	if (k->function)
		ev->str[0] = k->function;
	k->seen++;
	return true;
}
