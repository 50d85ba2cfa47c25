/* SPDX-License-Identifier: GPL-2.0 */
/* An event as the engine sees it, wherever it comes from. */
#ifndef KSTALL_EVENT_H
#define KSTALL_EVENT_H

#include "base/util.h"
#include "engine/part.h"

#define KS_MAX_FIELDS 14

struct ks_engine;
struct ks_event;

/* How an event that says how long something took is laid into the thread's time. */
enum ks_carve {
	KS_NO_CARVE,
	KS_INTERVAL,   /* [end - duration, end] */
	KS_ASLEEP_SUM, /* so much of the sleep of the system call that ends with it */
};

/* What a thread begins with one event and ends with another. */
enum ks_span {
	KS_SPAN_LOCK,
	KS_SPAN_RECLAIM,
	KS_SPAN_CGROUP_RECLAIM,
	KS_SPAN_COMPACTION,
	KS_SPAN_MIGRATION,
	KS_NR_SPANS
};

/* The tasks whose events of a kind are of use: an event that everybody writes costs everybody. */
enum ks_whose {
	KS_JOBS,	/* that the job's own threads have written */
	KS_EVERYBODYS,	/* it is of the job, even if another thread or an interrupt has written it */
};

/* The kinds of events that are read: rows of events.def. */
struct ks_type {
	const char *system, *name;
	void (*fn)(struct ks_engine *e, const struct ks_event *ev);
	const char *fields[KS_MAX_FIELDS];
	enum ks_whose whose;
	/* For those of kstall's modules: fields begin with pid, tgid, comm, dev, duration. */
	enum ks_carve carve;
	enum ks_layer layer;
	const char *phase;
	struct ks_form form;	/* its values: dev, and the first two fields after the duration */
	/* For those of the kernel: */
	enum ks_span span;
	bool family;		/* each of its events is of one function, which is the first field: NAME_NUMBER_FUNCTION */
	const char *only_with;	/* a file; without it this node has none, or none of interest */
	const char *filter;	/* of those that are recorded */
	const char *module_has;	/* an event of a module that says the same and more: where it is, this one is not read */
};

struct ks_event {
	const struct ks_type *type;
	u64 ts;
	int cpu;
	s32 pid;		/* the task that ran when it was written */
	u32 flags;		/* common_flags */
	u64 num[KS_MAX_FIELDS];
	const char *str[KS_MAX_FIELDS];	/* never NULL */
	bool own;		/* from a buffer that only kstall reads */
};

/*
 * The place of a field among those that are read of an event: KS_FIELD(block_rq_issue, sector). Each has one by its row in
 * events.def; a name that is not there does not compile.
 */
#define KS_FIELD(event, field) KS_##event##__##field
#define KS_NUM(ev, event, field) ((ev)->num[KS_FIELD(event, field)])
#define KS_STR(ev, event, field) ((ev)->str[KS_FIELD(event, field)])

/* For what reads two kinds of events alike. */
#define KS_SAME_FIELD(event, other, field) \
	_Static_assert((int)KS_FIELD(event, field) == (int)KS_FIELD(other, field), "both have it at one place")

/* KS_EACH(m, a, x, y): m(a, x) m(a, y); up to 64. */
#define KS_EACH(m, a, ...) __VA_OPT__(KS_SCAN4(KS_EACH_STEP(m, a, __VA_ARGS__)))
#define KS_EACH_STEP(m, a, x, ...) m(a, x) __VA_OPT__(KS_EACH_AGAIN KS_PARENS(m, a, __VA_ARGS__))
#define KS_EACH_AGAIN() KS_EACH_STEP
#define KS_PARENS ()
#define KS_SCAN4(...) KS_SCAN3(KS_SCAN3(KS_SCAN3(KS_SCAN3(__VA_ARGS__))))
#define KS_SCAN3(...) KS_SCAN2(KS_SCAN2(KS_SCAN2(KS_SCAN2(__VA_ARGS__))))
#define KS_SCAN2(...) KS_SCAN1(KS_SCAN1(KS_SCAN1(KS_SCAN1(__VA_ARGS__))))
#define KS_SCAN1(...) __VA_ARGS__

/* Lists of fields as events.def has them, "(a, b)", and whether others come before them. */
#define KS_OPEN(...) __VA_ARGS__
#define KS_AND(...) __VA_OPT__(, __VA_ARGS__)
#define KS_THESE(duration, fields) KS_OPEN fields
#define KS_AFTER_ID(duration, fields) pid, tgid, comm, dev, duration KS_AND fields

/* A row that is read has a part: KS_THESE or KS_AFTER_ID, the fields, and what else there is. */
#define KS_ROW(m, system, event, duration, ...) __VA_OPT__(KS_ROW_(m, system, event, duration, __VA_ARGS__))
#define KS_ROW_(m, ...) m(__VA_ARGS__)

#define EVENT(system, event, duration, part) KS_ROW(KS_PLACES, system, event, duration, part)
#define READ(fn, fields, ...) KS_THESE, fields
#define OWN(fn, fields, ...) KS_AFTER_ID, fields
#define INTERVAL(layer, phase, fields, ...) KS_AFTER_ID, fields
#define ASLEEP(layer, phase, fields, ...) KS_AFTER_ID, fields
#define BEGIN(span, fields, module) KS_THESE, fields
#define END(span, layer, phase, module) KS_THESE, ()
#define KS_PLACES(system, event, duration, all, fields) KS_PLACES_OF(event, all(duration, fields))
#define KS_PLACES_OF(event, ...) KS_##event = -1, KS_EACH(KS_PLACE, event, __VA_ARGS__)
#define KS_PLACE(event, field) KS_##event##__##field,
enum ks_field {
#include "events.def"
};

#define KS_F_HARDIRQ 0x08
#define KS_F_SOFTIRQ 0x10
#define KS_IN_IRQ(flags) ((flags) & (KS_F_HARDIRQ | KS_F_SOFTIRQ))

/* The text of a number, and of a field that is not there: empty. An empty text is another one. */
extern const char ks_no_text[];

extern const struct ks_type ks_types[];
extern const size_t ks_nr_types;
const struct ks_type *ks_type_find(const char *system, const char *name);

/* The module's event that is read instead; NULL: there is none, anywhere. */
const struct ks_type *ks_type_of_module(const struct ks_type *type);

/* What any event of kstall's modules has in its first fields (KS_AFTER_ID), before its own. */
enum { KS_EV_PID, KS_EV_TGID, KS_EV_COMM, KS_EV_DEV, KS_EV_NS, KS_EV_MORE };

#endif
