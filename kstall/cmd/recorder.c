// SPDX-License-Identifier: GPL-2.0
/* kstall recorder: what happened before the stall, or before the crash. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "cmd/options.h"
#include "recorder/recorder.h"
#include "trace/tracing.h"

struct args {
	struct ks_rec_config c;
	struct ks_print print;
	const char *what;	/* DIR of save, FILE of show */
};

static struct args *configure(const struct ks_options *o, char **what)
{
	struct args *a = ks_alloc(sizeof(*a));

	a->print = (struct ks_print){ .since = o->since, .module = o->module, .json = o->json };
	a->what = *what;
	ks_rec_configure(&a->c, o->config);
	return a;
}

/* For what is of no use without tracing. */
static struct args *configure_live(const struct ks_options *o, char **what)
{
	ks_need_tracing();
	return configure(o, what);
}

static int start(struct ks_options *o, char **what)
{
	ks_rec_start(&configure_live(o, what)->c);
	return 0;
}

static int stop(struct ks_options *o, char **what)
{
	ks_rec_stop(&configure_live(o, what)->c);
	return 0;
}

static int status(struct ks_options *o, char **what)
{
	return ks_rec_status(&configure_live(o, what)->c);
}

static int events(struct ks_options *o, char **what)
{
	ks_rec_print_events(&configure(o, what)->c);
	return 0;
}

static int setup_crash(struct ks_options *o, char **what)
{
	return ks_rec_setup_crash(&configure_live(o, what)->c);
}

static int watch(struct ks_options *o, char **what)
{
	return ks_rec_watch(&configure_live(o, what)->c);
}

/* The last one's file name, to be shown or copied on. */
static char *newest(const char *dir, const char *prefix, char *path)
{
	char **list = ks_copies(dir, prefix);
	bool any = *list;

	for (char **p = list; *p; p++)
		ks_fmt(path, PATH_MAX, "%s/%s", dir, *p);
	ks_copies_free(list);
	return any ? path : NULL;
}

static int snapshot(struct ks_options *o, char **what)
{
	char path[PATH_MAX];

	ks_rec_snapshot(&configure_live(o, what)->c, "manual", true, path);
	puts(path);
	return 0;
}

static void copy_to(FILE *in, FILE *out, const char *name)
{
	static char buf[1 << 16];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), in))) {
		if (fwrite(buf, n, 1, out) != 1)
			ks_die("%s: %s", name, strerror(errno));
	}
	if (ferror(in) || fflush(out) || fsync(fileno(out)))
		ks_die("%s: %s", name, strerror(errno));
}

/* DIR/trace.dat is the new one or the one that was there. */
static int save(struct ks_options *o, char **what)
{
	struct args *a = configure_live(o, what);
	char from[PATH_MAX], new[PATH_MAX], to[PATH_MAX];
	FILE *in, *out;
	int fd;

	ks_rec_mkdir(a->what);
	ks_rec_snapshot(&a->c, "save", true, from);
	ks_fmt(to, sizeof(to), "%s/trace.dat", a->what);
	fd = mkostemp(ks_fmt(new, sizeof(new), "%s/.trace.dat.XXXXXX", a->what), O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	in = fopen(from, "r");
	if (!out || !in)
		ks_die("%s: %s", out ? from : new, strerror(errno));
	copy_to(in, out, new);
	fclose(in);
	if (fclose(out) || rename(new, to))
		ks_die("%s: %s", to, strerror(errno));
	puts(to);
	return 0;
}

/* ---- show, last-boot ---- */

static int refuse(struct ks_lines *l, const char *boot)
{
	ks_die("not shown: the rings are of boot %s, the formats kept of boot %s; ids would name the wrong events",
	       l->foreign, boot);
}

/* Adds every copy of that boot; returns how many. */
static int add_copies(struct args *a, struct ks_lines *l, const char *prefix, const char *boot,
		      bool *refused)
{
	char **list = ks_copies(a->c.dir, prefix), path[PATH_MAX], of[40];
	int nr = 0;

	for (char **p = list; *p; p++) {
		char *about = ks_copy_about(ks_fmt(path, sizeof(path), "%s/%s", a->c.dir, *p));
		bool same = about && !strcmp(ks_about_get(strcpy(of, ""), sizeof(of), about,
							  "boot"), boot);

		free(about);
		if (!same)
			continue;
		nr++;
		*refused |= !ks_lines_file(l, path);
		if (l->foreign)
			refuse(l, boot);
	}
	ks_copies_free(list);
	return nr;
}

static int show_file(struct args *a)
{
	struct ks_lines l = { .json = a->print.json };
	char *about = ks_copy_about(a->what), real[32] = "0", boot[40] = "";
	bool good;

	if (!about)
		ks_die("%s: not a copy of the recorder's, or not all of it", a->what);
	a->print.real_ns = strtoll(ks_about_get(real, sizeof(real), about, "real_ns"), NULL, 10);
	ks_about_get(boot, sizeof(boot), about, "boot");
	good = ks_lines_file(&l, a->what);
	if (l.foreign)
		refuse(&l, boot);
	ks_lines_print(&l, &a->print);
	ks_lines_free(&l);
	free(about);
	return good ? 0 : 1;
}

static int show_now(struct args *a)
{
	struct ks_lines l = { .json = a->print.json };
	bool refused = false;
	struct ks_rings r;

	ks_need_tracing();
	ks_rec_lock_if(a->c.dir);
	a->print.real_ns = ks_real_ns();
	a->print.until = ks_mono_ns();
	add_copies(a, &l, "snapshot-", ks_boot_id(), &refused);
	ks_rings_open(&r, &a->c, false);
	if (!r.nr)
		ks_die("no rings: kstall recorder start makes them");
	ks_lines_live(&l, &a->c, &r);
	ks_rings_close(&r);
	ks_lines_print(&l, &a->print);
	ks_lines_free(&l);
	return 0;
}

static int show(struct ks_options *o, char **what)
{
	struct args *a = configure(o, what);

	if (!a->what)
		return ks_in_child(a->c.dir, (int (*)(void *))show_now, a);
	return ks_in_child(a->what, (int (*)(void *))show_file, a);
}

static int print_last_boot(struct args *a)
{
	char boot[40] = "", real[32] = "0", kernel[128] = "", found[40] = "", modules[1000] = "";
	char *about = ks_copy_about(a->what);
	struct ks_lines l = { .json = a->print.json };
	bool refused = false;

	ks_about_get(boot, sizeof(boot), about, "boot");
	ks_about_get(kernel, sizeof(kernel), about, "kernel");
	ks_about_get(modules, sizeof(modules), about, "modules");
	ks_about_get(found, sizeof(found), about, "found_by");
	a->print.real_ns = strtoll(ks_about_get(real, sizeof(real), about, "real_ns"), NULL, 10);
	ks_lines_note(&l, "boot %s, Linux %s; %s", boot, kernel, modules);
	if (strcmp(found, ks_boot_id()))
		ks_lines_note(&l, "not the boot before this one, which left nothing");
	add_copies(a, &l, "last-boot-", boot, &refused);
	add_copies(a, &l, "snapshot-", boot, &refused);
	ks_lines_print(&l, &a->print);
	ks_lines_free(&l);
	free(about);
	return refused ? 1 : 0;
}

/* Saved by now if the recorder has been started; else what is in the rings is saved first. */
static int last_boot(struct ks_options *o, char **what)
{
	struct args *a = configure_live(o, what);
	char path[PATH_MAX];
	struct ks_rings r;

	ks_rec_lock(a->c.dir);
	ks_copies_finish(a->c.dir);
	ks_rings_open(&r, &a->c, false);
	ks_rec_keep_last_boot(&a->c, &r);
	ks_rings_close(&r);
	a->what = newest(a->c.dir, "last-boot-", path);
	if (!a->what)
		ks_die("nothing of the last boot: its rings were not in memory that a reboot leaves alone (kstall recorder setup-crash)");
	return ks_in_child(a->what, (int (*)(void *))print_last_boot, a);
}

/* ---- the commands ---- */

const struct ks_command ks_recorder_commands[] = {
	{ "recorder start", NULL, 0, 0, KS_RECORDER, false, "record, and save first what the last boot left", start },
	{ "recorder stop", NULL, 0, 0, KS_RECORDER, false, "record no more; what there is can be read", stop },
	{ "recorder status", NULL, 0, 0, KS_RECORDER, false, "what is recorded and what was lost", status },
	{ "recorder events", NULL, 0, 0, KS_RECORDER, false, "what is recorded of which event, and what that costs", events },
	{ "recorder show", "[FILE]", 0, 1, KS_RECORDER | KS_SHOW, false, "the events, in order across modules", show },
	{ "recorder snapshot", NULL, 0, 0, KS_RECORDER, false, "copy what there is to the disk", snapshot },
	{ "recorder save", "DIR", 1, 1, KS_RECORDER, false, "the same, to DIR/trace.dat, for trace-cmd and KernelShark",
	  save },
	{ "recorder last-boot", NULL, 0, 0, KS_RECORDER | KS_SHOW, false, "the events that led to the crash", last_boot },
	{ "recorder setup-crash", NULL, 0, 0, KS_RECORDER, false,
	  "what keeps the rings across a crash, and whether it is in place", setup_crash },
	{ "recorder watch", NULL, 0, 0, KS_RECORDER, false, "record, and snapshot when a trigger comes; for the service",
	  watch },
	{ }
};
