// SPDX-License-Identifier: GPL-2.0
/* kstall metrics: what Prometheus is to know of this node. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options.h"
#include "metrics/metric.h"

struct service {
	const struct ks_options *o;
	struct ks_metric_source *source;
	struct ks_tally tally;
	struct ks_workloads jobs;
	u64 passed;		/* when */
	bool failed, unsaved;	/* the metrics, the file of series: which failure has been reported */
	char file[4096], series[4096];
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static void pass(struct service *s)
{
	ks_metric_refresh(s->source);
	ks_tally_pass(&s->tally, s->source);
	/* Before anybody sees them: a kill must not change which workloads have a series. */
	if (!ks_series_save(&s->tally, s->series) && !s->unsaved) {
		ks_warn("%s is not written: %s", s->series, strerror(errno));
		s->unsaved = true;
	}
	if (s->o->jobs)
		ks_workloads_read(&s->jobs, s->o->jobs);
	s->passed = ks_mono_ns();
}

static char *page(void *priv, bool openmetrics, size_t *len)
{
	struct service *s = priv;

	/* A client that asks again and again gets the same. */
	if (ks_mono_ns() - s->passed > NSEC)
		pass(s);
	return ks_expose(&s->tally, s->o->jobs ? &s->jobs : NULL, openmetrics, len);
}

/* The file is whole or it is the one before: node_exporter does not look at the temporary name. */
static void write_file(struct service *s)
{
	size_t len;
	char *text = ks_expose(&s->tally, s->o->jobs ? &s->jobs : NULL, false, &len);
	bool good = ks_file_replace(s->file, text, len);

	if (!good && !s->failed)
		ks_warn("%s is not written: %s", s->file, strerror(errno));
	if (good && s->failed)
		ks_warn("%s is written again", s->file);
	s->failed = !good;
	free(text);
}

/* Until the next pass is due. */
static void wait_for(struct ks_server *server, u64 due)
{
	u64 now;

	while (!stopped && (now = ks_mono_ns()) < due) {
		int ms = min_u64((due - now) / 1000000 + 1, 1 << 30);

		if (server)
			ks_serve(server, ms);
		else
			poll(NULL, 0, ms);
	}
}

static void run(struct service *s, struct ks_server *server)
{
	u64 due = ks_mono_ns();

	while (!stopped) {
		pass(s);
		if (s->o->textfile)
			write_file(s);
		due = max_u64(due + s->o->every, ks_mono_ns());
		wait_for(server, due);
	}
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = stop }, old;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	/* Under nohup a terminal that closes ends nothing. */
	sigaction(SIGHUP, NULL, &old);
	if (old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

int ks_cmd_metrics(struct ks_options *o, char **args)
{
	struct service *s = ks_alloc(sizeof(*s));
	struct ks_server *server = NULL;

	(void)args;
	if (!o->textfile && !o->listen)
		ks_usage("one is missing of --textfile DIR and --listen ADDRESS:PORT");
	if (o->jobs && !ks_workloads_valid(o->jobs))
		ks_usage("--jobs %s: not slurm, kubernetes[:NAMESPACE,...], file:PATH or command:COMMAND", o->jobs);
	if (o->jobs && ks_workloads_is_dir(o->jobs))
		ks_usage("--jobs %s: it is a directory, not a file", o->jobs);
	if (o->listen && !(server = ks_serve_open(o->listen, page, s)))
		ks_usage("--listen %s: not ADDRESS:PORT, numbers, the port from 1 to 65535", o->listen);
	catch_signals();
	s->o = o;
	if (o->textfile)
		ks_fmt(s->file, sizeof(s->file), "%s/kstall.prom", o->textfile);
	s->source = ks_metric_open();
	ks_fmt(s->series, sizeof(s->series), "%s/series", ks_metric_run_dir());
	ks_series_load(&s->tally, s->series);
	run(s, server);
	/* What is no longer counted must not look as if it stood still. */
	if (o->textfile)
		unlink(s->file);
	ks_serve_close(server);
	ks_metric_close(s->source);
	ks_tally_free(&s->tally);
	ks_workloads_free(&s->jobs);
	free(s);
	return 0;
}
