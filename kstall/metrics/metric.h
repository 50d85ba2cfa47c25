/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kstall metrics counts. The kernel does the counting, in a histogram (hist trigger) of each
 * event; a pass reads them all, and whatever names turn up, no more than KS_MAX_SERIES come out.
 */
#ifndef KSTALL_METRIC_H
#define KSTALL_METRIC_H

#include "base/util.h"

#define KS_MAX_SERIES 300

struct ks_metric_event {
	const char *system, *name, *module;
	const char *layer;
	const char *ns;		/* field: how long; NULL: it is only counted */
	const char *cause;	/* field, or NULL */
	const char *count;	/* field: how many it stands for, or NULL: one */
	bool dev;		/* it is about a device */
	bool nested;		/* its time is within that of another event of the layer */
	bool hold;		/* rare: by it the module is held, see source_hist.c */
	bool by_line;		/* it is read and counted here: NVIDIA's module has to be free to be unloaded */
	const char *what;
};

extern const struct ks_metric_event ks_metric_events[];
extern const size_t ks_nr_metric_events;
#define KS_MAX_METRIC_EVENTS 48
#define KS_MAX_METRIC_LAYERS 24
#define KS_MAX_MODULES 7

/* Each module and layer once, in the order of the table; returns how many. */
size_t ks_metric_modules(const char *module[KS_MAX_MODULES]);
size_t ks_metric_layers(const char *layer[KS_MAX_METRIC_LAYERS]);

/* hist.c */
#define KS_LABEL 64

struct ks_hist_entry {
	char dev[KS_LABEL], cause[KS_LABEL];	/* printable */
	int log2;		/* the event's duration is up to 2^log2 ns; -1: it has none */
	u64 count, ns;
};

/* The trigger that makes the kernel count, without what the kernel adds when it shows it. */
char *ks_hist_trigger(char *buf, size_t size, const struct ks_metric_event *e);

/* Is that what @shown, the content of a trigger file, has already? */
bool ks_hist_is_set(const char *shown, const struct ks_metric_event *e);

/* Calls @fn for each entry of a hist file. Returns how many events found no room in it. */
u64 ks_hist_parse(const char *text, const struct ks_metric_event *e,
		  void (*fn)(void *priv, const struct ks_hist_entry *entry), void *priv);

/* xid_log.c: Xids and SXids, from lines of the kernel's log or of trace_pipe */
struct ks_xid {
	bool sxid;
	char dev[40], comm[32];
	u32 code;
	s32 pid;		/* 0: not known */
	const char *text;	/* in the line */
};

struct ks_xid_log;
struct ks_xid_log *ks_xid_log_new(void);	/* to be free()d */
bool ks_xid_parse(struct ks_xid *x, const char *line);

/* Counts the line if it is one; then @x is what it says. */
bool ks_xid_log_line(struct ks_xid_log *l, const char *line, struct ks_xid *x);

/* As a hist file; to be free()d. */
char *ks_xid_log_hist(const struct ks_xid_log *l, const struct ks_metric_event *e);

/* status.c: what a module's status file says */
enum ks_lost { KS_MISSED, KS_RECURSED, KS_DROPPED, KS_EVICTED, KS_TABLE_FULL, KS_NR_LOST };

struct ks_module_status {
	bool loaded;
	bool part;		/* a table of an event's could not be read: which workloads were lost in it is not known */
	char version[KS_LABEL];
	u64 lost[KS_NR_LOST], suppressed;
	const char *silent;	/* layers where, it says, nothing on this node goes; or NULL */
};

void ks_status_parse(const char *text, struct ks_module_status *st);	/* adds to it */

/* Is @layer among those where nothing goes? */
bool ks_status_silent(const struct ks_module_status *st, const char *layer);

/* "armed", "idle", "waiting", "absent" or "failed"; NULL: it does not say. */
const char *ks_status_event(const char *text, const char *event);

/* Where it comes from; what is returned is free()d. NULL: there is none or, if @error is set, it cannot be read. */
struct ks_metric_source {
	/* the hist file of @e, after setting the trigger if that is needed */
	char *(*hist)(void *priv, const struct ks_metric_event *e, int *error);
	char *(*status)(void *priv, const char *module, int *error);
	/* the name of a number in the field cause, NULL: it has none */
	const char *(*cause)(void *priv, const struct ks_metric_event *e, u64 value);
	bool tracing;		/* tracefs is there */
	void *priv;
};

/* source_hist.c: this machine's */
struct ks_metric_source *ks_metric_open(void);
void ks_metric_refresh(struct ks_metric_source *s);	/* before each pass */
void ks_metric_close(struct ks_metric_source *s);	/* the kernel counts no more */
const char *ks_metric_run_dir(void);	/* for what outlives the process, until the next boot */

/* tally.c: what is kept from pass to pass, so that a series goes on under its name */
#define KS_NR_BOUNDS 5
#define KS_MAX_HISTOGRAMS 10
#define KS_MAX_GROUPS 48
#define KS_GROUPS_AN_EVENT 12

extern const int ks_bounds[KS_NR_BOUNDS];	/* powers of two, in ns */

struct ks_group {
	const struct ks_metric_event *event;	/* NULL: the rest of its layer */
	const char *layer;
	char dev[KS_LABEL], cause[KS_LABEL];
	u64 count, ns;
	bool has_ns, now;	/* this pass has seen it */
};

struct ks_event_tally {
	bool now, histogram;
	bool unread;		/* in this pass: its state is not known */
	size_t groups;
	u64 bucket[KS_NR_BOUNDS + 1], ns;
	const char *state;
};

struct ks_tally {
	struct ks_event_tally event[KS_MAX_METRIC_EVENTS];
	struct ks_group group[KS_MAX_GROUPS];
	struct ks_group rest[KS_MAX_METRIC_LAYERS];
	struct ks_module_status module[KS_MAX_MODULES];
	const char *reach[KS_MAX_METRIC_LAYERS];
	char **folded;		/* names of what has no series of its own */
	struct ks_hist_entry *entry;	/* of the event that is counted */
	size_t nr_groups, nr_histograms, nr_folded, room_folded, nr_entries, room_entries, current;
	const struct ks_metric_source *source;
	bool changed;		/* somebody got a series since that was saved */
	u64 passes;
	size_t unread;		/* files that could not be read in this pass */
	char why[256], said[256];	/* the first of them; the last message about it */
};

void ks_tally_pass(struct ks_tally *t, struct ks_metric_source *s);
void ks_tally_free(struct ks_tally *t);

/* What ks_metric_events[@event] has, or gets now: a series, a histogram. NULL or false: there is no room. */
struct ks_group *ks_tally_group(struct ks_tally *t, size_t event, const char *dev,
				const char *cause);
bool ks_tally_histogram(struct ks_tally *t, size_t event);

/* series.c: which workloads have a series, from process to process */
void ks_series_load(struct ks_tally *t, const char *path);	/* one that cannot be read ends the program */
bool ks_series_save(struct ks_tally *t, const char *path);	/* if it has changed; false: errno says why not */

/* file.c; ks_file_read() returns NULL if it cannot be read (errno says why), else text to be freed */
char *ks_file_read(const char *path);
int ks_read_error(void);	/* errno after that, or 0: the file is not there, or has gone */
bool ks_file_replace(const char *path, const char *text, size_t len);	/* it has a '/' */

/* workload.c: the jobs on this node */
#define KS_MAX_WORKLOADS 8	/* of which Prometheus hears */
#define KS_WORKLOAD 256	/* as long as the name of a directory */

struct ks_workload {
	char workload[KS_WORKLOAD], slurm_job_id[KS_WORKLOAD], pod[KS_WORKLOAD],
	     namespace[KS_WORKLOAD];
	u64 gpus, rdma;		/* devices it holds, says kubelet */
	s64 since;		/* when it began, in seconds */
};

struct ks_workloads {
	struct ks_workload *job;
	size_t nr, room;
	bool known;		/* the source answered, and was understood */
	char why[256], said[256];	/* it was not; the last message about it */
};

/* @source: slurm, kubernetes[:NAMESPACE,...], file:PATH or command:COMMAND; false: none of these. */
bool ks_workloads_valid(const char *source);
bool ks_workloads_is_dir(const char *source);	/* file: names a directory, which never answers */
void ks_workloads_read(struct ks_workloads *w, const char *source);
void ks_workloads_free(struct ks_workloads *w);

/* For a source: it has found @j, once or more often; or it cannot say. */
void ks_workloads_add(struct ks_workloads *w, struct ks_workload *j);
void ks_workloads_fail(struct ks_workloads *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* @path of the node, which a container has below $KSTALL_ROOT; returns @buf. */
char *ks_host_path(char *buf, size_t size, const char *path);

/* Calls @fn for each directory in @path. A directory that is not there, or is gone, has none; one that cannot be read is a failure. */
typedef void (*ks_dir_fn)(void *priv, const char *path, const char *name);
void ks_each_dir(struct ks_workloads *w, const char *path, ks_dir_fn fn, void *priv);

/* slurm.c, pods.c: the sources that know their layouts */
void ks_slurm_read(struct ks_workloads *w);
void ks_pods_read(struct ks_workloads *w, const char *namespaces);

/* expose.c: as Prometheus wants it, or OpenMetrics. Returns text to be freed and its length. */
char *ks_expose(const struct ks_tally *t, const struct ks_workloads *w, bool openmetrics,
		size_t *len);

/* serve.c: answers GET and HEAD of /metrics. */
typedef char *(*ks_page_fn)(void *priv, bool openmetrics, size_t *len);

/* NULL: @address is not ADDRESS:PORT, both numbers. */
struct ks_server *ks_serve_open(const char *address, ks_page_fn page, void *priv);
void ks_serve(struct ks_server *s, int ms);	/* waits so long at most for something to do */
void ks_serve_close(struct ks_server *s);

#endif
