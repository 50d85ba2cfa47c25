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

/* Whose events of a kind are of use: what everybody writes of them costs everybody. */
enum ks_whose {
	KS_JOBS,	/* that the job's own threads have written */
	KS_EVERYBODYS,	/* it tells of the job, whoever's thread or interrupt has written it */
};

/* The kinds of events that are read; the table is in events.c. */
struct ks_type {
	const char *system, *name;
	void (*fn)(struct ks_engine *e, const struct ks_event *ev);
	const char *fields[KS_MAX_FIELDS];
	enum ks_whose whose;
	/* For those of kstall's modules: fields begin with pid, tgid, comm, dev, duration. */
	enum ks_carve carve;
	enum ks_layer layer;
	const char *phase;
	struct ks_form form;	/* its values: dev, and the two fields after the duration */
	/* For those of the kernel: */
	enum ks_span span;
	bool family;		/* each of its events is of one function, which is the first field: NAME_NUMBER_FUNCTION */
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

#define KS_F_HARDIRQ 0x08
#define KS_F_SOFTIRQ 0x10
#define KS_IN_IRQ(flags) ((flags) & (KS_F_HARDIRQ | KS_F_SOFTIRQ))

extern const struct ks_type ks_types[];
extern const size_t ks_nr_types;
const struct ks_type *ks_type_find(const char *system, const char *name);

/* The module's event that is read instead; NULL: there is none, anywhere. */
const struct ks_type *ks_type_of_module(const struct ks_type *type);

/* What one of kstall's modules offers in the first fields. */
enum { KS_EV_PID, KS_EV_TGID, KS_EV_COMM, KS_EV_DEV, KS_EV_NS, KS_EV_MORE };

#endif
