// SPDX-License-Identifier: GPL-2.0
/* Events as lines: those of copies, by the formats that are in them; and printing. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <trace-cmd.h>
#include <trace-seq.h>

#include "base/json.h"
#include "recorder/recorder.h"

#define MARK "kstall recorder boot="

static char *fields_of(struct ks_lines *l, struct tep_event *te, struct tep_record *record,
		       const char *text)
{
	char *fields = NULL;
	size_t size;
	FILE *f;
	bool good;

	/* Another driver's event may be a sentence. */
	if (!l->json || (te->print_fmt.format && !strchr(te->print_fmt.format, '=')))
		return NULL;
	f = open_memstream(&fields, &size);
	if (!f)
		ks_die("out of memory");
	good = ks_fields_json(f, te, record, text);
	fclose(f);
	if (good)
		return fields;
	l->unclear++;
	free(fields);
	return NULL;
}

void ks_lines_add(struct ks_lines *l, u64 ts, int cpu, struct tep_event *te,
		  struct tep_record *record, const char *text)
{
	size_t size = 3 * strlen(text) + 1;

	l->line = ks_grow(l->line, &l->room, l->nr + 1, sizeof(*l->line));
	l->line[l->nr] = (struct ks_line){
		ts, l->nr, cpu, 0, ks_strdup(te->system), ks_strdup(te->name),
		ks_printable(ks_alloc(size), size, text), fields_of(l, te, record, text),
	};
	l->nr++;
}

void ks_lines_note(struct ks_lines *l, const char *fmt, ...)
{
	char text[1200];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	strcat(text, "\n");
	if (l->notes && strstr(l->notes, text))
		return;
	n = l->notes ? strlen(l->notes) : 0;
	l->notes = ks_grow(l->notes, &l->notes_room, n + strlen(text) + 1, 1);
	strcpy(l->notes + n, text);
}

/* ---- of a copy ---- */

struct reading {
	struct ks_lines *lines;
	const char *ring;
	int index;
	char boot[40];
	s64 offset;		/* of the ring's clock to CLOCK_MONOTONIC */
};

static bool fits(const struct tep_event *te, const struct tep_record *record)
{
	for (struct tep_format_field *f = te->format.fields; f; f = f->next) {
		if (f->offset < 0 || f->size < 0 || f->offset + f->size > record->size)
			return false;
	}
	return true;
}

/* The ring of a module has no other one's events. */
static bool at_home(const char *ring, const char *system)
{
	struct ks_rec_event e = { system, .when = KS_REC_ALWAYS };
	char home[40];

	if (!strcmp(ring, "kstall") || !strcmp(ring, "kstall-slow") || !strcmp(system, "ftrace"))
		return true;
	return !strcmp(ring, ks_ring_name(home, sizeof(home), &e));
}

/* Written when a boot begins to record: the records' boot and clock. */
bool ks_read_mark(const char *text, u64 ts, char *boot, s64 *offset)
{
	static const char local[] = " clock=local mono_ns=";
	const char *at = strstr(text, MARK);

	if (!at)
		return false;
	ks_fmt(boot, 37, "%.36s", at + strlen(MARK));
	at = strstr(at, local);
	*offset = at ? (s64)(strtoull(at + strlen(local), NULL, 10) - ts) : 0;
	return true;
}

static bool is_mark(struct reading *r, u64 ts, const char *text)
{
	char boot[40];

	if (!ks_read_mark(text, ts, boot, &r->offset))
		return false;
	if (strcmp(boot, r->boot) && !r->lines->foreign)
		r->lines->foreign = ks_strdup(boot);
	return true;
}

/* Lines from @first on by one clock. */
void ks_lines_to_mono(struct ks_lines *l, size_t first, int ring, s64 offset)
{
	for (size_t i = first; i < l->nr; i++) {
		if (l->line[i].ring == ring)
			l->line[i].ts += offset;
	}
}

static int one_record(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *priv)
{
	struct reading *r = tracecmd_get_private(handle);
	struct tep_handle *tep = tracecmd_get_tep(handle);
	struct tep_event *te = tep_find_event_by_record(tep, record);
	struct trace_seq s;

	(void)priv;
	(void)cpu;	/* counts on from ring to ring */
	if (!te) {
		r->lines->unknown++;
		return 0;
	}
	if (!fits(te, record) || !at_home(r->ring, te->system)) {
		r->lines->bad++;
		return 0;
	}
	trace_seq_init(&s);
	tep_print_event(tep, &s, record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	if (!is_mark(r, record->ts, s.buffer)) {
		ks_lines_add(r->lines, record->ts, record->cpu, te, record, s.buffer);
		r->lines->line[r->lines->nr - 1].ring = r->index;
	}
	trace_seq_destroy(&s);
	return 0;
}

static void read_rings(struct ks_lines *l, struct tracecmd_input *in, const char *boot)
{
	int nr = tracecmd_buffer_instances(in);
	struct tracecmd_input **handles = ks_alloc((nr > 0 ? nr : 0) * sizeof(*handles));
	struct reading *r = ks_alloc((nr > 0 ? nr : 0) * sizeof(*r));
	size_t first = l->nr;

	for (int i = 0; i < nr; i++) {
		r[i] = (struct reading){ l, tracecmd_buffer_instance_name(in, i), i };
		ks_fmt(r[i].boot, sizeof(r[i].boot), "%s", boot);
		handles[i] = tracecmd_buffer_instance_handle(in, i);
		if (!handles[i])
			ks_die("ring %d is damaged", i);
		tracecmd_set_private(handles[i], &r[i]);
	}
	if (nr > 0)
		tracecmd_iterate_events_multi(handles, nr, one_record, NULL);
	for (int i = 0; i < nr; i++) {
		ks_lines_to_mono(l, first, i, r[i].offset);
		tracecmd_close(handles[i]);
	}
	free(handles);
	free(r);
}

static void notes_of(struct ks_lines *l, const char *about)
{
	const char *note = ks_about_find(about, "note");

	while (note) {
		ks_lines_note(l, "%.*s", (int)strcspn(note, "\n"), note);
		note = strchr(note, '\n');
		note = note ? ks_about_find(note + 1, "note") : NULL;
	}
}

bool ks_lines_file(struct ks_lines *l, const char *file)
{
	char boot[40] = "", refused[400] = "", *about = ks_copy_about(file);
	struct tracecmd_input *in;

	ks_about_get(boot, sizeof(boot), about, "boot");
	notes_of(l, about);
	if (*ks_about_get(refused, sizeof(refused), about, "refused")) {
		ks_lines_note(l, "%s", refused);
		free(about);
		return false;
	}
	free(about);
	ks_silence_libraries();
	in = tracecmd_open(file, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in)
		ks_die("%s: not a copy of the recorder's, or damaged", file);
	read_rings(l, in, boot);
	tracecmd_close(in);
	return true;
}

/* ---- printing ---- */

static int by_time(const void *a, const void *b)
{
	const struct ks_line *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* As RFC 3339 has it, with @between date and time of day: local, and how far that is from UTC. */
static char *wall(char *buf, size_t size, s64 ns, char between)
{
	time_t t = ns / (s64)NSEC;
	struct tm *tm = localtime(&t);
	char date[16], time[16], zone[8];

	strftime(date, sizeof(date), "%F", tm);
	strftime(time, sizeof(time), "%T", tm);
	strftime(zone, sizeof(zone), "%z", tm);
	return ks_fmt(buf, size, "%s%c%s.%06lld%.3s:%s", date, between, time,
		      (long long)(ns % (s64)NSEC) / 1000, zone, zone + 3);
}

static void print_json(const struct ks_line *line, const struct ks_print *p)
{
	char time[48], module[64];

	printf("{\"time\": \"%s\", \"mono_ns\": %llu, \"cpu\": %d, ", wall(time, sizeof(time), (s64)line->ts + p->real_ns, 'T'),
	       (unsigned long long)line->ts, line->cpu);
	printf("\"system\": \"%s\", \"module\": \"%s\", \"event\": \"%s\", \"fields\": {%s}", line->system,
	       ks_rec_in_table(line->system) ? ks_rec_module(module, sizeof(module), line->system) : "", line->event,
	       line->fields ? line->fields : "");
	if (!line->fields) {
		fputs(", \"text\": ", stdout);
		ks_json_string(stdout, line->text);
	}
	puts("}");
}

static void print_notes(const struct ks_lines *l, bool json)
{
	const char *note = l->notes;

	for (size_t n; note && *note; note += n + 1) {
		n = strcspn(note, "\n");
		if (json) {
			char text[1200];

			fputs("{\"note\": ", stdout);
			ks_json_string(stdout, ks_fmt(text, sizeof(text), "%.*s", (int)n, note));
			puts("}");
		} else {
			printf("# %.*s\n", (int)n, note);
		}
	}
}

static bool wanted(const struct ks_line *line, const struct ks_print *p, u64 until)
{
	const char *end = strstr(line->system, "_trace");
	size_t n;

	if (p->since && line->ts + p->since < until)
		return false;
	if (!p->module)
		return true;
	n = end ? (size_t)(end - line->system) : strlen(line->system);
	return !strncmp(p->module, line->system, n) &&
	       (!p->module[n] || !strcmp(p->module + n, "_trace"));
}

static void note_count(struct ks_lines *l, u64 nr, const char *what)
{
	if (nr)
		ks_lines_note(l, "%llu %s", (unsigned long long)nr, what);
}

static void note_counts(struct ks_lines *l)
{
	note_count(l, l->unknown, "records are of no event whose format was kept (a module loaded after the recorder started): not shown");
	note_count(l, l->bad, "records do not fit their event's format, they are damaged: not shown");
	note_count(l, l->unread, "lines of the rings are not understood: not shown");
	note_count(l, l->others, "records are of events that the recorder did not ask for: not shown");
	note_count(l, l->unclear, "records have a text in which fields cannot be separated: JSON has it as \"text\"");
}

void ks_lines_print(struct ks_lines *l, const struct ks_print *p)
{
	u64 until = p->until;
	char time[48];

	qsort(l->line, l->nr, sizeof(*l->line), by_time);
	if (!until && l->nr)
		until = l->line[l->nr - 1].ts;
	note_counts(l);
	print_notes(l, p->json);
	for (size_t i = 0; i < l->nr; i++) {
		const struct ks_line *line = &l->line[i];

		if (!wanted(line, p, until))
			continue;
		if (p->json)
			print_json(line, p);
		else
			printf("%s [%03d] %s: %s\n",
			       wall(time, sizeof(time), (s64)line->ts + p->real_ns, ' '), line->cpu,
			       line->event, line->text);
	}
}

void ks_lines_free(struct ks_lines *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->line[i].system);
		free(l->line[i].event);
		free(l->line[i].text);
		free(l->line[i].fields);
	}
	free(l->line);
	free(l->notes);
	free(l->foreign);
	memset(l, 0, sizeof(*l));
}
