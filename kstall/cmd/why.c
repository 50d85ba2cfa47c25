// SPDX-License-Identifier: GPL-2.0
/* kstall why: the steps of a job, and where their time went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/child.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/recording.h"
#include "cmd/report.h"
#include "cmd/usual.h"
#include "recorder/recorder.h"
#include "trace/gpulib.h"
#include "trace/live.h"
#include "trace/ports.h"
#include "trace/probe.h"

static void prepare(struct ks_engine *e, struct ks_report *r, const struct ks_options *o)
{
	memset(e, 0, sizeof(*e));
	memset(r, 0, sizeof(*r));
	e->by = o->by;
	e->every = o->every;
	e->step_done = ks_report_step;
	e->priv = r;
	r->keep = o->json ? 0 : o->slowest;
	r->source = o->input;
	r->inferred = o->by == KS_BY_EVERY || o->by == KS_BY_CALL;
	ks_steps_text(o, r->steps_by, sizeof(r->steps_by));
}

static void print(struct ks_report *r, struct ks_engine *e, const struct ks_options *o)
{
	ks_report_sort(r, o->json);
	if (o->json)
		ks_print_json(stdout, r, e);
	else
		ks_print_table(stdout, r, e);
	ks_report_reset(r);
	ks_engine_free(e);
}

static int why_file(struct ks_options *o)
{
	struct ks_engine *e = ks_alloc(sizeof(*e));
	struct ks_report r;

	prepare(e, &r, o);
	r.bad = ks_recording_read(e, o, o->input);
	while (ks_recording_again(o, e->markers, r.count, o->input)) {
		ks_report_reset(&r);
		ks_engine_free(e);
		prepare(e, &r, o);
		r.bad = ks_recording_read(e, o, o->input);
	}
	print(&r, e, o);
	free(e);
	return 0;
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* One screen, again and again. */
static void refresh(struct ks_report *r, struct ks_engine *e)
{
	fputs("\033[H\033[J", stdout);
	ks_report_sort(r, false);
	ks_print_table(stdout, r, e);
	fflush(stdout);
}

/* With --snapshot N */
static struct {
	struct ks_rec_config config;
	struct ks_usual usual;
	size_t times;
} judge;

static void judge_steps(size_t times)
{
	struct ks_armed armed;

	judge.times = times;
	ks_rec_configure(&judge.config, NULL);
	ks_rec_require(&judge.config, &armed);
	ks_armed_free(&armed);
}

static int copy_rings(void *unused)
{
	(void)unused;
	return !ks_rec_snapshot(&judge.config, "step", false, NULL);
}

/* A full disk ends the copying process, and this one goes on. */
static void judge_step(u64 ns)
{
	if (ks_is_unusual(&judge.usual, ns, judge.times) && !ks_in_child(judge.config.dir, copy_rings, NULL))
		ks_warn("a step took more than %zu times the median: copied what was before it to %s",
			judge.times, judge.config.dir);
}

/* For a pipe: a line a step, when it is complete. */
static void stream_step(struct ks_engine *e, struct ks_step *s)
{
	struct ks_report *r = e->priv;

	if (r->stream)
		ks_print_line(stdout, s);
	if (judge.times)
		judge_step(s->end - s->begin);
	ks_report_step(e, s);
}

static void follow_live(struct ks_session *s, struct ks_live *l, struct ks_engine *e,
			struct ks_report *r, const struct ks_options *o)
{
	bool screen = !o->json && !o->target.command && isatty(STDOUT_FILENO);
	u64 begin = ks_mono_ns(), shown = begin;
	double cpu = cpu_seconds();

	r->stream = !o->json && !o->target.command && !screen;
	for (bool over = false; !over && !ks_interrupted;) {
		usleep(100000);
		over = ks_session_over(s, &o->target) || (o->time && ks_mono_ns() - begin >= o->time);
		if (ks_gpu_look(s))
			ks_live_formats(l, s);
		ks_ports_look(s, false);
		ks_live_pass(l, e);
		r->seconds = (ks_mono_ns() - begin) / 1e9;
		r->cpu_seconds = cpu_seconds() - cpu;
		if (screen && ks_mono_ns() - shown >= NSEC) {
			refresh(r, e);
			shown = ks_mono_ns();
		}
	}
	ks_session_stop(s);
	usleep(2000);
	ks_live_pass(l, e);
	ks_engine_finish(e, 0);
	if (screen)
		fputs("\033[H\033[J", stdout);
}

static int why_live(struct ks_options *o)
{
	struct ks_engine *e = ks_alloc(sizeof(*e));
	struct ks_session s;
	struct ks_report r;
	struct ks_live *l;

	if (o->by == KS_BY_AUTO) {
		o->by = KS_BY_EVERY;
		o->every = NSEC;
	}
	prepare(e, &r, o);
	e->live = true;
	e->step_done = stream_step;
	ks_session_prepare(&s, &o->target, 1);
	if ((o->by == KS_BY_MARKER || o->by == KS_BY_NCCL) && !ks_probes_see_markers() && !o->target.command)
		ks_die("no kprobe sees markers here: --every, --step all or uprobe does without");
	l = ks_live_open(&s);
	ks_session_start(&s, &o->target);
	follow_live(&s, l, e, &r, o);
	r.bad = ks_live_bad(l);
	ks_live_close(l);
	ks_session_end(&s);
	print(&r, e, o);
	free(e);
	fflush(stdout);
	return ks_session_status(&s);
}

static void check_file_options(const struct ks_options *o)
{
	if (o->target.command)
		ks_usage("-i: a recording has no command to start");
	if (o->target.cgroup)
		ks_usage("-i: a recording has no cgroups: give -p or --comm");
	if (o->snapshot || o->time || o->target.buffer_kib)
		ks_usage("-i: --snapshot, --time and --buffer are for what goes on now");
	if (o->target.no_cuda || o->target.cuda_launch)
		ks_usage("-i: --no-cuda and --cuda-launch are for what goes on now");
}

int ks_cmd_why(struct ks_options *o, char **args)
{
	if (*args)
		o->target.command = args;
	if (*args && ks_is_recording(*args))
		ks_usage("%s is a recording, no command: did you mean -i %s", *args, *args);
	if (o->input) {
		check_file_options(o);
		return ks_in_child(o->input, (int (*)(void *))why_file, o);
	}
	if (!o->target.command && !o->target.nr_pids && !o->target.cgroup && !o->target.comm)
		ks_usage("no job: -p PID, --cgroup PATH, --comm NAME, -- COMMAND or -i FILE");
	if (o->snapshot)
		judge_steps(o->snapshot);
	return why_live(o);
}
