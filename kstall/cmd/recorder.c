// SPDX-License-Identifier: GPL-2.0
/* kstall recorder: what happened before the stall, or before the crash. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "cmd/command.h"
#include "recorder/recorder.h"

struct args {
	struct ks_rec_config c;
	struct ks_print print;
	const char *what;	/* DIR of save, FILE of show */
};

static int start(struct args *a)
{
	ks_rec_start(&a->c);
	return 0;
}

static int stop(struct args *a)
{
	ks_rec_stop(&a->c);
	return 0;
}

static int status(struct args *a)
{
	return ks_rec_status(&a->c);
}

static int setup_crash(struct args *a)
{
	return ks_rec_setup_crash(&a->c);
}

static int watch(struct args *a)
{
	return ks_rec_watch(&a->c);
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

static int snapshot(struct args *a)
{
	char path[PATH_MAX];

	ks_rec_snapshot(&a->c, "manual", true, path);
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
static int save(struct args *a)
{
	char from[PATH_MAX], new[PATH_MAX], to[PATH_MAX];
	FILE *in, *out;
	int fd;

	if (!a->what)
		ks_die("recorder save: where to?");
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
	struct ks_lines l = { .nr = 0 };
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
	struct ks_lines l = { .nr = 0 };
	bool refused = false;
	struct ks_rings r;

	ks_rec_lock(a->c.dir);
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

static int show(struct args *a)
{
	if (!a->what)
		return ks_in_child(a->c.dir, (int (*)(void *))show_now, a);
	return ks_in_child(a->what, (int (*)(void *))show_file, a);
}

static int print_last_boot(struct args *a)
{
	char boot[40] = "", real[32] = "0", kernel[128] = "", found[40] = "", modules[1000] = "";
	char *about = ks_copy_about(a->what);
	struct ks_lines l = { .nr = 0 };
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
static int last_boot(struct args *a)
{
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

/* ---- options ---- */

static const struct {
	const char *name;
	int (*run)(struct args *a);
	const char *what;
} commands[] = {
	{ "start", start, "record, and save first what the last boot left" },
	{ "stop", stop, "record no more; what there is can be read" },
	{ "status", status, "what is recorded and what was lost" },
	{ "show", show, "[FILE]: the events, in order across modules" },
	{ "snapshot", snapshot, "copy what there is to the disk" },
	{ "save", save, "DIR: the same, to DIR/trace.dat, for trace-cmd and KernelShark" },
	{ "last-boot", last_boot, "the events that led to the crash" },
	{ "setup-crash", setup_crash, "what keeps the rings across a crash, and whether it is in place" },
	{ "watch", watch, "record, and snapshot when a trigger comes; for the service" },
};

static int usage(FILE *out)
{
	fputs("usage: kstall recorder COMMAND [--config FILE] [--since TIME] [--module NAME] [--json]\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].what);
	return out == stdout ? 0 : 2;
}

static void options(struct args *a, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "since", required_argument, NULL, 's' },
		{ "module", required_argument, NULL, 'm' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	const char *file = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == '?')
			exit(2);
		if (c == 'c')
			file = optarg;
		if (c == 'm')
			a->print.module = optarg;
		if (c == 'j')
			a->print.json = true;
		if (c == 's')
			a->print.since = ks_parse_time(optarg);
		if (c == 's' && !a->print.since) {
			fprintf(stderr, "kstall recorder: no time: %s\n", optarg);
			exit(2);
		}
	}
	a->what = argv[optind];
	ks_rec_configure(&a->c, file);
}

int ks_cmd_recorder(int argc, char **argv)
{
	struct args a = { .what = NULL };

	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return usage(stdout);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		options(&a, argc - 1, argv + 1);
		return commands[i].run(&a);
	}
	fprintf(stderr, "kstall recorder: no command '%s'\n", argv[1]);
	return usage(stderr);
}
