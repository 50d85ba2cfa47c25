// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms in a tracefs instance of our own. They outlive the process that made them: one that
 * was killed goes on where it was.
 *
 * A hist trigger does not hold the module of its event (6.1 to 7.2): rmmod would leave the event's
 * tracepoint registered, and warn. A trigger that disables an event does hold that event's module,
 * so each module gets one on an event that is rare; it disables what nobody has enabled.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event-parse.h>
#include <tracefs.h>

#include "base/xid.h"
#include "metrics/metric.h"

#define INSTANCE "kstall_metrics"
#define XIDS "kstall_metrics_xid"
#define NVIDIA "/sys/module/nvidia"
#define DEBUGFS "/sys/kernel/debug"

struct machine {
	struct ks_metric_source s;
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	size_t formats;		/* how many events it knows */
	int format_error[KS_MAX_METRIC_EVENTS];
	int log;		/* /dev/kmsg, or -1 */
	bool xid_on;		/* the driver's events come */
	int xid_error;		/* why neither they nor the log can be read */
	struct ks_xid_log *xids;
	bool ready;		/* what was in the log when we began has been read */
	struct tracefs_instance *xid_instance;
	int xid_pipe;		/* its events, or -1 */
};

static char *file_of(struct machine *m, const struct ks_metric_event *e, const char *name)
{
	char path[192];

	return tracefs_instance_get_file(m->instance, ks_fmt(path, sizeof(path), "events/%s/%s/%s",
							     e->system, e->name, name));
}

static char *read_of(struct machine *m, const struct ks_metric_event *e, const char *name, int *error)
{
	char *file = file_of(m, e, name);
	char *text = file ? ks_file_read(file) : NULL;

	*error = text ? 0 : ks_read_error();
	tracefs_put_tracing_file(file);
	return text;
}

static bool write_trigger(struct machine *m, const struct ks_metric_event *e, const char *trigger,
			  int flags)
{
	char *file = file_of(m, e, "trigger");
	int fd = file ? open(file, O_WRONLY | flags | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : write(fd, trigger, strlen(trigger));

	tracefs_put_tracing_file(file);
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(trigger);
}

static bool hold_module(struct machine *m, const char *module)
{
	char trigger[192], *shown;
	bool held = false;
	int error;

	for (size_t i = 0; i < ks_nr_metric_events; i++) {
		const struct ks_metric_event *e = &ks_metric_events[i];

		if (!e->hold || strcmp(e->module, module))
			continue;
		ks_fmt(trigger, sizeof(trigger), "disable_event:%s:%s", e->system, e->name);
		shown = read_of(m, e, "trigger", &error);
		held = shown && (strstr(shown, trigger) ||
				 write_trigger(m, e, trigger, O_APPEND));
		free(shown);
	}
	return held;
}

static bool set_trigger(struct machine *m, const struct ks_metric_event *e)
{
	char trigger[320];

	ks_hist_trigger(trigger, sizeof(trigger), e);
	return hold_module(m, e->module) && write_trigger(m, e, trigger, O_APPEND);
}

/* A trigger with other keys, of another version, would count on: it goes. False: errno says why it cannot be. */
static bool ask_for(struct machine *m, const struct ks_metric_event *e, const char *shown)
{
	if (ks_hist_is_set(shown, e))
		return true;
	if (strstr(shown, "hist:"))
		write_trigger(m, e, "", O_TRUNC);
	return set_trigger(m, e);
}

static char *kernel_hist(struct machine *m, const struct ks_metric_event *e, int *error)
{
	char *shown = read_of(m, e, "trigger", error);
	bool counts = shown && ask_for(m, e, shown);

	if (shown && !counts)
		*error = ks_read_error();
	free(shown);
	return counts ? read_of(m, e, "hist", error) : NULL;
}

static bool has_xid_event(struct machine *m)
{
	return tracefs_event_file_exists(m->xid_instance, "nvidia", "nvidia_dev_xid", "enable");
}

static bool can_see_xids(struct machine *m)
{
	return m->log >= 0 || m->xid_on;
}

static char *xid_hist(struct machine *m, const struct ks_metric_event *e, int *error)
{
	if (access(NVIDIA, F_OK))
		return NULL;
	if (can_see_xids(m))
		return ks_xid_log_hist(m->xids, e);
	*error = m->xid_error;
	return NULL;
}

static char *hist(void *priv, const struct ks_metric_event *e, int *error)
{
	struct machine *m = priv;

	if (e->by_line)
		return xid_hist(m, e, error);
	/* A number would have no name, and the series another. */
	*error = m->format_error[e - ks_metric_events];
	return *error ? NULL : kernel_hist(m, e, error);
}

static char *status(void *priv, const char *module, int *error)
{
	char path[128], *text;

	(void)priv;
	text = ks_file_read(ks_fmt(path, sizeof(path), DEBUGFS "/%s/status", module));
	*error = text ? 0 : ks_read_error();
	return text;
}

static const char *symbol(const struct tep_print_arg *arg, const char *field, u64 value)
{
	const struct tep_print_arg *what = arg->symbol.field;

	while (what && what->type == TEP_PRINT_TYPE)
		what = what->typecast.item;
	if (!what || what->type != TEP_PRINT_FIELD || strcmp(what->field.name, field))
		return NULL;
	for (struct tep_print_flag_sym *s = arg->symbol.symbols; s; s = s->next) {
		if (strtoull(s->value, NULL, 0) == value)
			return s->str;
	}
	return NULL;
}

/* As the event itself prints it. */
static const char *cause(void *priv, const struct ks_metric_event *e, u64 value)
{
	struct machine *m = priv;
	struct tep_event *event = NULL;

	if (m->tep)
		event = tep_find_event_by_name(m->tep, e->system, e->name);
	for (struct tep_print_arg *a = event ? event->print_fmt.args : NULL; a; a = a->next) {
		const char *name = a->type == TEP_PRINT_SYMBOL ? symbol(a, e->cause, value) : NULL;

		if (name)
			return name;
	}
	return NULL;
}

/* Not read: it is tried again with the next pass. */
static bool learn_format(struct machine *m, size_t event)
{
	const struct ks_metric_event *e = &ks_metric_events[event];
	char *text = read_of(m, e, "format", &m->format_error[event]);

	if (text)
		tep_parse_event(m->tep, text, strlen(text), e->system);
	free(text);
	return !m->format_error[event];
}

/* Modules come and go, and their formats with them. */
static void learn_formats(struct machine *m)
{
	size_t found = 0;
	bool all = true;

	for (size_t i = 0; i < ks_nr_metric_events; i++)
		found += tracefs_event_file_exists(m->instance, ks_metric_events[i].system, ks_metric_events[i].name, "format");
	if (found == m->formats)
		return;
	tep_free(m->tep);
	m->tep = tep_alloc();
	if (!m->tep)
		ks_die("out of memory");
	for (size_t i = 0; i < ks_nr_metric_events; i++)
		all &= learn_format(m, i);
	m->formats = all ? found : SIZE_MAX;
}

static bool have_instance(struct machine *m)
{
	char *dir = m->instance ? tracefs_instance_get_dir(m->instance) : NULL;
	bool there = dir && !access(dir, F_OK);

	tracefs_put_tracing_file(dir);
	if (there)
		return true;
	if (m->instance)
		tracefs_instance_free(m->instance);
	m->instance = tracefs_tracing_dir() ? tracefs_instance_create(INSTANCE) : NULL;
	if (!m->instance)
		return false;
	/* Nothing is ever recorded in its ring buffer. */
	tracefs_instance_file_write(m->instance, "buffer_size_kb", "4");
	return true;
}

/* systemd says where RuntimeDirectory= is. */
const char *ks_metric_run_dir(void)
{
	const char *dir = getenv("RUNTIME_DIRECTORY");

	return dir && dir[0] == '/' ? dir : "/run/kstall-metrics";
}

/* Not in tracefs, which may have to be unmounted. It ends with the process. */
static void lock_out_others(void)
{
	char lock[4096];
	int fd;

	mkdir(ks_metric_run_dir(), 0700);
	ks_fmt(lock, sizeof(lock), "%s/lock", ks_metric_run_dir());
	fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		ks_die("%s: %s", lock, geteuid() ? "it takes root (sudo)" : strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		ks_die("another kstall metrics is counting");
}

/* For readers of this program's log; the page has no pids. */
static void tell_xid(const struct ks_xid *x)
{
	const char *action = x->sxid ? "" : ks_xid_action(x->code);
	char who[64] = "";

	if (x->pid)
		ks_fmt(who, sizeof(who), ", pid %d %s", x->pid, x->comm);
	ks_warn("%s %u of %s%s%s%s: %.*s", x->sxid ? "SXid" : "Xid", x->code, x->dev, who,
		*action ? ", NVIDIA's advice: " : "", action, (int)strcspn(x->text, "\n"), x->text);
}

/* Each time anew: when the module goes, the kernel disables its events. */
static bool enable_xids(struct machine *m)
{
	char *text = tracefs_event_file_read(m->xid_instance, "nvidia", "nvidia_dev_xid", "enable", NULL);
	bool on = text && *text == '1';

	if (text && !on) {
		on = !tracefs_event_enable(m->xid_instance, "nvidia", "nvidia_dev_xid");
		tracefs_event_enable(m->xid_instance, "nvswitch", "nvswitch_dev_sxid");
	}
	if (!on)
		m->xid_error = errno;
	free(text);
	return on;
}

static bool make_xid_instance(struct machine *m)
{
	if (m->xid_instance)
		return true;
	m->xid_instance = tracefs_instance_create(XIDS);
	if (m->xid_instance)
		tracefs_instance_file_write(m->xid_instance, "buffer_size_kb", "16");
	return m->xid_instance;
}

/*
 * An event in a small buffer, neither a trigger nor anything else that would keep the module or be left behind by it; and the log.
 * What could not be opened before may be now.
 */
static void open_xids(struct machine *m)
{
	if (m->log < 0)
		m->log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	m->xid_error = errno;
	if (!m->s.tracing || m->xid_pipe >= 0)
		return;
	if (make_xid_instance(m))
		m->xid_pipe = tracefs_instance_file_open(m->xid_instance, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (m->xid_pipe < 0)
		m->xid_error = errno;
}

static void close_xids(struct machine *m)
{
	if (m->xid_pipe >= 0)
		close(m->xid_pipe);
	if (!m->xid_instance)
		return;
	tracefs_event_disable(m->xid_instance, NULL, NULL);
	tracefs_instance_destroy(m->xid_instance);
	tracefs_instance_free(m->xid_instance);
}

static void read_pipe(struct machine *m)
{
	char buf[8192], *save;
	struct ks_xid x;
	ssize_t n;

	while (m->xid_pipe >= 0 && (n = read(m->xid_pipe, buf, sizeof(buf) - 1)) > 0) {
		buf[n] = '\0';
		for (char *p = strtok_r(buf, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
			if (ks_xid_log_line(m->xids, p, &x) && m->log < 0)
				tell_xid(&x);
		}
	}
}

/*
 * A record a read(); EPIPE: older ones were overwritten. It has the pid. It counts where the driver has no event; then what is
 * there when we begin is counted, too, but has happened before.
 */
static void read_log(struct machine *m, bool count)
{
	char record[2048];
	struct ks_xid x;
	ssize_t n;

	while (m->log >= 0 && ((n = read(m->log, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE))) {
		record[n > 0 ? n : 0] = '\0';
		if ((count ? ks_xid_log_line(m->xids, record, &x) : ks_xid_parse(&x, record)) && m->ready)
			tell_xid(&x);
	}
	m->ready |= m->log >= 0;
}

static void read_xids(struct machine *m)
{
	if (access(NVIDIA, F_OK))
		return;
	open_xids(m);
	m->xid_on = m->xid_pipe >= 0 && has_xid_event(m) && enable_xids(m);
	read_pipe(m);
	read_log(m, !m->xid_on);
}

void ks_metric_refresh(struct ks_metric_source *s)
{
	struct machine *m = s->priv;
	bool was = s->tracing;
	int error;

	s->tracing = have_instance(m);
	error = errno;
	read_xids(m);
	if (s->tracing)
		learn_formats(m);
	if (was && !s->tracing)
		ks_warn("no tracing here: %s", tracefs_tracing_dir() ? strerror(error) :
			"tracefs is not mounted, or /proc/mounts cannot be read");
	if (!was && s->tracing)
		ks_warn("tracing is back");
}

struct ks_metric_source *ks_metric_open(void)
{
	struct machine *m = ks_alloc(sizeof(*m));

	m->s = (struct ks_metric_source){ hist, status, cause, true, m };
	lock_out_others();
	m->log = -1;
	m->xids = ks_xid_log_new();
	m->xid_pipe = -1;
	return &m->s;
}

void ks_metric_close(struct ks_metric_source *s)
{
	struct machine *m = s->priv;

	for (size_t i = 0; m->instance && i < ks_nr_metric_events; i++) {
		const struct ks_metric_event *e = &ks_metric_events[i];

		if (tracefs_event_file_exists(m->instance, e->system, e->name, "trigger"))
			write_trigger(m, e, "", O_TRUNC);
	}
	if (m->instance) {
		if (tracefs_instance_destroy(m->instance))
			ks_warn("the instance " INSTANCE " stays: %s", strerror(errno));
		tracefs_instance_free(m->instance);
	}
	close_xids(m);
	if (m->log >= 0)
		close(m->log);
	free(m->xids);
	tep_free(m->tep);
	free(m);
}
